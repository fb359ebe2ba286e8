// Where a person writes: drafts kept per person and place, completion of slash commands and mentions.

import { h, uid } from "../dom/dom.js";
import { Attachments } from "./attachments.js";
import { icon } from "../dom/icons.js";

const DRAFTS = "standin-drafts";
const MOST_LINES_PX = 220;

/** Unsent texts by person and place; they survive a switch of user and a reload of the page. */
export class Drafts {
  #texts = new Map(Object.entries(JSON.parse(sessionStorage.getItem(DRAFTS) ?? "{}")));

  get(key) {
    return this.#texts.get(key) ?? "";
  }

  set(key, text) {
    if (text) this.#texts.set(key, text);
    else this.#texts.delete(key);
    sessionStorage.setItem(DRAFTS, JSON.stringify(Object.fromEntries(this.#texts)));
  }
}

/** `{label, token, detail}` of everyone and every group a text may mention. */
function mentionable(world) {
  const people = world.people.filter((each) => !each.deleted);
  const app = people.filter((each) => each.is_bot);
  const rest = people.filter((each) => !each.is_bot);
  return [
    ...app.map((each) => ({ label: `@${world.nameOf(each)}`, token: `<@${each.id}>`, detail: "App" })),
    ...rest.map((each) => ({ label: `@${world.nameOf(each)}`, token: `<@${each.id}>`, detail: each.name })),
    ...world.groups.map((each) => ({ label: `@${each.handle}`, token: `<!subteam^${each.id}>`, detail: "User group" })),
  ];
}

/** What is sent for what was typed: full names and handles as ids; the stand-in escapes the rest. */
export function withIds(text, world) {
  const known = mentionable(world).sort((one, other) => other.label.length - one.label.length);
  return known.reduce((written, each) => written.replaceAll(new RegExp(`${quote(each.label)}(?![\\w-])`, "gi"), each.token), text);
}

function quote(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function completions(text, caret, world, commands) {
  const before = text.slice(0, caret);
  if (/^\/\S*$/.test(before)) {
    return commands
      .filter((each) => each.command.startsWith(before))
      .map((each) => ({ from: 0, insert: `${each.command} `, label: each.command, hint: each.usage_hint, detail: each.description }));
  }
  const mention = /(?:^|\s)(@[\w .-]{0,30})$/.exec(before);
  if (!mention || text.startsWith("/")) return [];
  const typed = mention[1].toLowerCase();
  return mentionable(world)
    .filter((each) => each.label.toLowerCase().startsWith(typed) && each.label.toLowerCase() !== typed)
    .map((each) => ({ from: caret - mention[1].length, insert: `${each.label} `, label: each.label, hint: "", detail: each.detail }));
}

/** A composer. `place()` says `{draftKey, placeholder, world, commands, locked}`; `send(text, files)` resolves to success. */
export function composer({ label, drafts, place, send }) {
  const listId = uid("complete");
  const box = h("textarea", {
    rows: 1, "aria-label": label, "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-controls": listId,
    enterkeyhint: "send", "data-focus": `composer\n${label}`,
  });
  const list = h("div", { class: "completions", role: "listbox", id: listId, "aria-label": "Suggestions", hidden: true });
  const usage = h("div", { class: "usage", hidden: true });
  const button = h("button", { type: "submit", class: "send", "aria-label": "Send" }, icon("send"));
  const attached = new Attachments(label, () => grow());
  const line = h("div", { class: "composer-box" }, attached.button, box, button);
  const form = h("form", { class: "composer" }, list, usage, attached.node, line);
  const state = { key: null, found: [], active: 0, dismissed: null };

  const grow = () => {
    box.style.height = "auto";
    box.style.height = `${Math.min(MOST_LINES_PX, box.scrollHeight)}px`;
    button.disabled = box.value.trim() === "" && attached.files.length === 0;
  };
  const complete = () => {
    const { world, commands } = place();
    state.found = world && state.dismissed !== box.value && document.activeElement === box ? completions(box.value, box.selectionStart, world, commands) : [];
    state.active = Math.min(state.active, Math.max(0, state.found.length - 1));
    drawCompletions(list, box, state, accept);
    const command = commands?.find((each) => box.value.startsWith(`${each.command} `));
    usage.hidden = !command || state.found.length > 0;
    if (command) usage.replaceChildren(h("code", {}, command.command), " ", command.usage_hint ?? command.description ?? "");
  };
  const changed = () => {
    drafts.set(state.key, box.value);
    grow();
    complete();
  };
  const accept = (item) => {
    const after = box.value.slice(box.selectionStart).replace(/^\s+/, "");
    box.value = box.value.slice(0, item.from) + item.insert + after;
    const caret = item.from + item.insert.length;
    box.setSelectionRange(caret, caret);
    box.focus();
    changed();
  };
  const submit = async () => {
    const [text, key, files] = [box.value.trim(), state.key, attached.files];
    if ((!text && files.length === 0) || place().locked) return;
    box.value = "";
    attached.set([]);
    changed();
    if (await send(text, files)) return;
    // Refused: give the text back, unless something new has been typed meanwhile.
    if (!drafts.get(key)) drafts.set(key, text);
    if (state.key === key && !box.value) {
      box.value = text;
      attached.set(files);
      changed();
    }
  };

  attached.takeFrom(form);
  box.addEventListener("input", changed);
  box.addEventListener("click", complete);
  box.addEventListener("focus", complete);
  box.addEventListener("blur", () => {
    state.found = [];
    drawCompletions(list, box, state, accept);
  });
  box.addEventListener("keydown", (event) => composerKeys(event, box, state, { accept, complete, submit }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return {
    node: form,
    focus: () => box.focus({ preventScroll: true }),
    insert: (text) => {
      box.value = text;
      box.focus();
      changed();
    },
    /** Follows the person and place; a text being typed is only touched when the place has changed. */
    render: () => {
      const { draftKey, placeholder, locked } = place();
      box.placeholder = placeholder;
      box.disabled = Boolean(locked);
      if (state.key === draftKey) return;
      state.key = draftKey;
      state.dismissed = null;
      attached.set([]);
      box.value = drafts.get(draftKey);
      grow();
      complete();
    },
  };
}

function composerKeys(event, box, state, { accept, complete, submit }) {
  const open = state.found.length > 0;
  const current = state.found[state.active];
  if (event.isComposing) return;
  if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    state.active = (state.active + (event.key === "ArrowDown" ? 1 : -1) + state.found.length) % state.found.length;
    complete();
  } else if (open && event.key === "Escape") {
    event.stopPropagation();
    state.dismissed = box.value;
    complete();
  } else if (open && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) && box.value.trim() !== current.insert.trim()) {
    event.preventDefault();
    accept(current);
  } else if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    submit();
  }
}

function drawCompletions(list, box, state, accept) {
  list.hidden = state.found.length === 0;
  list.replaceChildren(...state.found.map((item, index) => {
    const row = h(
      "div",
      { role: "option", id: `${list.id}-${index}`, "aria-selected": String(index === state.active) },
      h("b", {}, item.label), item.hint ? h("code", {}, item.hint) : null, item.detail ? h("small", {}, item.detail) : null,
    );
    row.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      accept(item);
    });
    return row;
  }));
  if (list.hidden) box.removeAttribute("aria-activedescendant");
  else box.setAttribute("aria-activedescendant", `${list.id}-${state.active}`);
}
