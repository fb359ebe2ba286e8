// Three lines for a newcomer.

import { h } from "../dom/dom.js";
import { icon } from "../dom/icons.js";

export function fillHint(panel, page, dismiss) {
  const ask = () => {
    page.playIn("U0ALICE", "card-ops");
    page.insert("/card topup ");
  };
  const link = (text, act) => h("button", { type: "button", class: "text-link", onclick: act }, text);
  panel.append(
    h("div", { class: "hint-head" }, icon("bulb"), h("b", {}, "You play the whole team. Try this:"), h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss the hint", onclick: dismiss }, icon("close"))),
    h(
      "ol",
      {},
      h("li", {}, "As Alice, send ", link("/card topup", ask), " and ask for money on a card."),
      h("li", {}, "Switch to ", link("Bob", () => page.playIn("U0BOB", "card-approvals")), " in the left rail (or press Alt+2) and open #card-approvals."),
      h("li", {}, "Read what will happen and press Approve. Alice cannot: nobody approves their own request."),
    ),
  );
}
