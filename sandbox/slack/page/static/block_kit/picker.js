// A searchable list of options: external selects and everything of which several may be chosen.

import { h, uid } from "../dom/dom.js";
import { icon } from "../dom/icons.js";
import { place } from "./popups.js";

const SUGGEST_DELAY_MS = 150;

/**
 * `source(query)` answers options `{value, label, description, group}`; `chosen` are the first ones.
 * `change(options)` is called with all that are chosen, one at most unless `several`.
 */
export function picker({ source, chosen, several, most, minimum, placeholder, attributes, change }) {
  let picked = [...chosen];
  let options = [];
  let active = -1;
  let turn = 0;
  let timer = null;
  const listId = uid("list");
  const input = h("input", {
    type: "text", role: "combobox", autocomplete: "off", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": listId, placeholder, ...attributes,
  });
  const list = h("div", { class: "picker-list", role: "listbox", id: listId, "aria-multiselectable": several ? "true" : null, hidden: true });
  const tokens = h("span", { class: "tokens" });
  const root = h("div", { class: `picker ${several ? "several" : ""}` }, tokens, input, icon("chevron"), list);

  const show = (visible) => {
    list.hidden = !visible;
    input.setAttribute("aria-expanded", String(visible));
    if (visible) place(list, root);
    else input.removeAttribute("aria-activedescendant");
  };
  const drawChosen = () => {
    if (!several) input.value = picked[0]?.label ?? "";
    else tokens.replaceChildren(...picked.map((option) => token(option, () => toggle(option))));
  };
  const toggle = (option) => {
    const has = picked.some((each) => each.value === option.value);
    if (!several) picked = [option];
    else if (has) picked = picked.filter((each) => each.value !== option.value);
    else if (!most || picked.length < most) picked = [...picked, option];
    if (several) input.value = "";
    drawChosen();
    show(false);
    change(picked);
  };
  const drawList = (text) => {
    list.replaceChildren(...listRows(options, picked, active, toggle, text));
    list.style.width = `${root.offsetWidth}px`;
    show(true);
    const current = list.querySelector(".active");
    if (current) input.setAttribute("aria-activedescendant", current.id);
    current?.scrollIntoView({ block: "nearest" });
  };
  const search = async (query) => {
    turn += 1;
    const mine = turn;
    if (query.length < minimum) {
      options = [];
      drawList(`Type at least ${minimum} character${minimum === 1 ? "" : "s"}`);
      return;
    }
    drawList("Searching …");
    const found = await source(query);
    // A slower answer to an older query must not replace a newer one.
    if (mine !== turn || document.activeElement !== input) return;
    options = found;
    active = options.length ? 0 : -1;
    drawList("No matches");
  };
  const searchSoon = (query) => {
    clearTimeout(timer);
    timer = setTimeout(() => search(query), SUGGEST_DELAY_MS);
  };

  // A list that opened with the focus alone would cover the form as soon as a modal opens.
  input.addEventListener("click", () => {
    if (!several) input.select();
    if (list.hidden) search(several ? input.value : "");
  });
  input.addEventListener("input", () => searchSoon(input.value));
  input.addEventListener("blur", () => {
    clearTimeout(timer);
    turn += 1;
    show(false);
    if (!several && input.value.trim() === "" && picked.length) {
      picked = [];
      change(picked);
    }
    if (several) input.value = "";
    drawChosen();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && several && !input.value && picked.length) toggle(picked[picked.length - 1]);
    else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      show(false);
    } else if (event.key === "Enter" && !list.hidden && options[active]) {
      event.preventDefault();
      toggle(options[active]);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) {
        search(several ? input.value : "");
        return;
      }
      if (options.length) active = (active + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length;
      drawList("No matches");
    }
  });
  drawChosen();
  return root;
}

function token(option, remove) {
  return h(
    "span",
    { class: "token" },
    option.label,
    h("button", { type: "button", "aria-label": `Remove ${option.label}`, onclick: remove }, icon("close")),
  );
}

function listRows(options, picked, active, toggle, otherwise) {
  if (options.length === 0) return [h("div", { class: "picker-note" }, otherwise)];
  let group = null;
  return options.flatMap((option, index) => {
    const selected = picked.some((each) => each.value === option.value);
    const row = h(
      "div",
      { role: "option", id: uid("option"), class: index === active ? "active" : null, "aria-selected": String(selected) },
      h("span", {}, option.label),
      option.description ? h("small", {}, option.description) : null,
      selected ? icon("check") : null,
    );
    // Before the input loses the focus, which would close the list.
    row.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      toggle(option);
    });
    const head = option.group && option.group !== group ? [h("div", { class: "picker-group" }, option.group)] : [];
    group = option.group;
    return [...head, row];
  });
}
