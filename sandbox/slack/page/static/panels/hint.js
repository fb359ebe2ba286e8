// What to try: the steps of the tour, ticked off as they happen. Without a tour, how the page is used.

import { h } from "../dom/dom.js";
import { icon } from "../dom/icons.js";

const ALONE = [{ say: "Choose a person on the left and write as them: what the app answers appears here.", done_in: "" }];

/** Has a message of that channel, as far as this person sees it, the words? */
function happened(step, see) {
  const channel = see.channels.find((each) => each.name === step.done_in || each.id === step.done_in);
  return Boolean(channel?.messages.some((each) => each.text.includes(step.done_text)));
}

/** How many steps are behind us: those up to the last that anybody played here has seen happen. */
function progress(steps, page) {
  const memory = page.memory("tour");
  const last = steps.findLastIndex((step) => step.done_in && happened(step, page.see()));
  memory.done = Math.max(last + 1, memory.done ?? 0);
  return memory.done;
}

function link(step, page) {
  if (step.address) return h("a", { href: step.address, target: "_blank", rel: "noopener", class: "text-link" }, step.go);
  const go = () => page.playIn(step.user, step.channel, step.types);
  return h("button", { type: "button", class: "text-link", onclick: go }, step.go);
}

function line(step, nth, done, page) {
  const [before, after] = step.say.split("{go}");
  const standing = nth < done ? "done" : nth === done ? "now" : "later";
  return h(
    "li",
    { class: standing, "aria-current": standing === "now" ? "step" : null },
    nth < done ? icon("check") : null,
    before,
    after === undefined ? null : link(step, page),
    after ?? "",
  );
}

/** Draws the steps into the panel where they have changed. */
export function renderHint(panel, page, dismiss) {
  const see = page.see();
  if (!see) return;
  const steps = see.tour?.length ? see.tour : ALONE;
  const done = progress(steps, page);
  const mark = JSON.stringify([steps, done]);
  if (panel.dataset.mark === mark) return;
  panel.dataset.mark = mark;
  const title = done >= steps.length && see.tour?.length ? "You have seen it all once. Now try your own." : "You play the whole team. Try this:";
  panel.replaceChildren(
    h("div", { class: "hint-head" }, icon("bulb"), h("b", {}, title), h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss the hint", onclick: dismiss }, icon("close"))),
    h("ol", {}, ...steps.map((step, nth) => line(step, nth, done, page))),
  );
}
