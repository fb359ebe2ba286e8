// Things that float over the page: toasts, the overflow menu and the confirm dialog.

import { h, trapTab, uid } from "../dom/dom.js";
import { icon } from "../dom/icons.js";
import { plainText, textNodes } from "../text/mrkdwn.js";

const TOAST_MS = { failure: 9000, note: 3500 };

/** Says a failure (or, with `kind` "note", a fact) until it is dismissed or some seconds have gone by. */
export function toast(text, kind = "failure") {
  const tray = document.getElementById("toasts");
  const again = [...tray.children].find((each) => each.dataset.text === text);
  again?.remove();
  const dismiss = h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: () => node.remove() }, icon("close"));
  const node = h("div", { class: `toast ${kind}`, role: kind === "failure" ? "alert" : "status" }, icon(kind === "failure" ? "warning" : "info"), h("span", {}, text), dismiss);
  node.dataset.text = text;
  tray.append(node);
  setTimeout(() => node.remove(), TOAST_MS[kind]);
}

let closeOpenMenu = () => undefined;

/** A menu under `anchor`. `items` are `{label, description, href, pick}`. */
export function openMenu(anchor, name, items) {
  closeOpenMenu();
  const menu = h("div", { class: "menu", role: "menu", "aria-label": name });
  const close = () => {
    menu.remove();
    anchor.setAttribute("aria-expanded", "false");
    document.removeEventListener("pointerdown", outside, true);
    closeOpenMenu = () => undefined;
  };
  const outside = (event) => {
    if (!menu.contains(event.target) && event.target !== anchor) close();
  };
  menu.append(...items.map((item) => menuItem(item, close)));
  menu.addEventListener("keydown", (event) => menuKeys(event, menu, anchor, close));
  document.body.append(menu);
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  document.addEventListener("pointerdown", outside, true);
  closeOpenMenu = close;
  menu.firstElementChild?.focus();
}

function menuItem(item, close) {
  const pick = () => {
    close();
    item.pick();
  };
  const content = [h("span", {}, item.label), item.description ? h("small", {}, item.description) : null];
  if (item.href) return h("a", { role: "menuitem", href: item.href, target: "_blank", rel: "noopener noreferrer", tabindex: "-1", onclick: pick }, content);
  return h("button", { type: "button", role: "menuitem", tabindex: "-1", onclick: pick }, content);
}

function menuKeys(event, menu, anchor, close) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: (at + 1) % items.length, ArrowUp: (at - 1 + items.length) % items.length, Home: 0, End: items.length - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    items[to].focus();
  } else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    event.stopPropagation();
    close();
    anchor.focus();
  }
}

/** Puts a floating box under its anchor, or above where there is no room below. */
export function place(box, anchor) {
  const at = anchor.getBoundingClientRect();
  const size = box.getBoundingClientRect();
  const below = at.bottom + 6 + size.height <= innerHeight;
  box.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - 6 - size.height)}px`;
  box.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
}

/** Asks what a Block Kit `confirm` object asks; resolves to whether the person confirmed. */
export function confirmDialog(question, world) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const [title, text] = [uid("confirm"), uid("confirm")];
    const finish = (answer) => {
      shade.remove();
      before?.focus?.();
      resolve(answer);
    };
    const style = question.style === "danger" ? "danger" : "primary";
    const yes = h("button", { type: "button", class: `button ${style}`, onclick: () => finish(true) }, plainText(question.confirm) || "Yes");
    const no = h("button", { type: "button", class: "button", onclick: () => finish(false) }, plainText(question.deny) || "Cancel");
    const box = h(
      "div",
      { class: "confirm", role: "alertdialog", "aria-modal": "true", "aria-labelledby": title, "aria-describedby": text },
      h("h2", { id: title }, textNodes(question.title, world)),
      h("div", { id: text, class: "confirm-text" }, textNodes(question.text, world)),
      h("div", { class: "confirm-buttons" }, no, yes),
    );
    const shade = h("div", { class: "shade confirm-shade" }, box);
    shade.addEventListener("keydown", (event) => {
      trapTab(event, box);
      event.stopPropagation();
      if (event.key === "Escape") finish(false);
    });
    document.body.append(shade);
    // The safe answer has the focus: Enter alone must not confirm.
    no.focus();
  });
}
