// Every element that holds a value: text, numbers, selects, choices, dates, files.
// A value is plain, as `POST /_control/act/submit` takes it: a string, a list of strings, or null.

import { h, uid } from "../dom/dom.js";
import { icon } from "../dom/icons.js";
import { plainText, textNodes } from "../text/mrkdwn.js";
import { picker } from "./picker.js";

/** What people have entered and not yet sent, by surface, block and element; it outlives every redraw. */
export class Values {
  #kept = new Map();

  get(scope, block, action) {
    return this.#kept.get(scope)?.get(`${block}\n${action}`);
  }

  has(scope, block, action) {
    return this.#kept.get(scope)?.has(`${block}\n${action}`) ?? false;
  }

  set(scope, block, action, value) {
    if (!this.#kept.has(scope)) this.#kept.set(scope, new Map());
    this.#kept.get(scope).set(`${block}\n${action}`, value);
  }

  forget(scope) {
    this.#kept.delete(scope);
  }
}

const optionValue = (option) => option?.value ?? null;
const optionValues = (options) => (options ?? []).map(optionValue);

const INITIAL = {
  plain_text_input: (e) => e.initial_value ?? null,
  number_input: (e) => e.initial_value ?? null,
  email_text_input: (e) => e.initial_value ?? null,
  url_text_input: (e) => e.initial_value ?? null,
  static_select: (e) => optionValue(e.initial_option),
  external_select: (e) => optionValue(e.initial_option),
  multi_static_select: (e) => optionValues(e.initial_options),
  multi_external_select: (e) => optionValues(e.initial_options),
  radio_buttons: (e) => optionValue(e.initial_option),
  checkboxes: (e) => optionValues(e.initial_options),
  users_select: (e) => e.initial_user ?? null,
  conversations_select: (e) => e.initial_conversation ?? null,
  channels_select: (e) => e.initial_channel ?? null,
  multi_users_select: (e) => e.initial_users ?? [],
  multi_conversations_select: (e) => e.initial_conversations ?? [],
  multi_channels_select: (e) => e.initial_channels ?? [],
  datepicker: (e) => e.initial_date ?? null,
  timepicker: (e) => e.initial_time ?? null,
  datetimepicker: (e) => e.initial_date_time ?? null,
  file_input: () => null,
};

export function isField(type) {
  return Object.hasOwn(INITIAL, type);
}

export function initialValue(element) {
  return INITIAL[element.type](element);
}

/** Every element of `blocks` that holds a value, with the block it stands in. */
function held(blocks) {
  return blocks.flatMap((block) => [block.element ?? [], block.accessory ?? [], block.elements ?? []].flat()
    .filter((each) => each.action_id && isField(each.type) && each.type !== "file_input")
    .map((each) => [block.block_id, each]));
}

/** What a view's controls hold now, as `act/submit` and `act/click` take it. */
export function viewValues(blocks, scope, values) {
  const all = {};
  for (const [blockId, element] of held(blocks)) {
    const kept = values.has(scope, blockId, element.action_id);
    all[blockId] = { ...all[blockId], [element.action_id]: kept ? values.get(scope, blockId, element.action_id) : initialValue(element) };
  }
  return all;
}

/**
 * The control for `element`. `place` is `{ctx, blockId, attributes, commit}`: `attributes` name the control
 * (id or aria-label), `commit(value)` is called when the person has made a choice, not at each key.
 */
export function field(element, place) {
  const { ctx, blockId } = place;
  const scope = [ctx.scope, blockId, element.action_id];
  if (!ctx.values.has(...scope)) ctx.values.set(...scope, initialValue(element));
  const bound = {
    ...place,
    value: () => ctx.values.get(...scope),
    keep: (value) => ctx.values.set(...scope, value),
    labels: ctx.memory(`labels\n${scope.join("\n")}`),
  };
  bound.attributes = { "data-focus": `${blockId}\n${element.action_id}`, ...place.attributes };
  return BUILDERS[element.type](element, bound);
}

const TEXT_TYPES = { number_input: "text", email_text_input: "email", url_text_input: "url" };

function textField(element, at) {
  const multiline = element.multiline === true;
  const control = h(multiline ? "textarea" : "input", {
    ...at.attributes,
    ...(multiline ? { rows: 3 } : { type: TEXT_TYPES[element.type] ?? "text", autocomplete: "off" }),
    inputmode: element.type === "number_input" ? (element.is_decimal_allowed ? "decimal" : "numeric") : null,
    placeholder: plainText(element.placeholder) || null,
    maxlength: element.max_length ?? null,
    value: at.value() ?? "",
  });
  const triggers = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  control.addEventListener("input", () => {
    at.keep(control.value === "" ? null : control.value);
    if (triggers.includes("on_character_entered")) at.commit(at.value());
  });
  control.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || multiline || !triggers.includes("on_enter_pressed") || !at.dispatches) return;
    event.preventDefault();
    event.stopPropagation();
    at.commit(at.value());
  });
  return control;
}

function optionNode(option, chosen) {
  const text = [plainText(option.text), plainText(option.description)].filter(Boolean).join(" — ");
  return h("option", { value: option.value, selected: chosen.includes(option.value) }, text);
}

function singleSelect(element, at, options, groups) {
  const value = at.value();
  const select = h(
    "select",
    at.attributes,
    h("option", { value: "", selected: value === null }, plainText(element.placeholder) || "Select an option"),
    groups
      ? groups.map((group) => h("optgroup", { label: plainText(group.label) }, group.options.map((option) => optionNode(option, [value]))))
      : options.map((option) => optionNode(option, [value])),
  );
  select.addEventListener("change", () => {
    at.keep(select.value === "" ? null : select.value);
    if (select.value !== "") at.commit(select.value);
  });
  return h("span", { class: "select" }, select, icon("chevron"));
}

/** The options of a select, or of the answer to a suggestion, each with its group. */
export function staticOptions(element) {
  return element.option_groups
    ? element.option_groups.flatMap((group) => group.options.map((option) => ({ ...option, group: plainText(group.label) })))
    : (element.options ?? []);
}

const pickable = (option) => ({ value: option.value, label: plainText(option.text), description: plainText(option.description), group: option.group });

/** People, channels and conversations as options. */
function worldOptions(element, world) {
  if (element.type.includes("users")) return world.people.filter((each) => !each.deleted).map((each) => ({ value: each.id, text: world.nameOf(each) }));
  return world.channels.filter((each) => !each.is_im).map((each) => ({ value: each.id, text: `#${each.name}` }));
}

function search(options, minimum = 0) {
  return { minimum, source: async (query) => options.filter((each) => each.label.toLowerCase().includes(query.toLowerCase())) };
}

function pickerField(element, at, { source, minimum }, known) {
  const several = element.type.startsWith("multi_");
  for (const option of known) at.labels[option.value] = option.label;
  const values = [at.value() ?? []].flat();
  return picker({
    source, minimum, several,
    most: element.max_selected_items,
    placeholder: plainText(element.placeholder) || (several ? "Select options" : "Search …"),
    attributes: at.attributes,
    chosen: values.map((value) => ({ value, label: at.labels[value] ?? value })),
    change: (options) => {
      for (const option of options) at.labels[option.value] = option.label;
      const picked = options.map((option) => option.value);
      at.keep(several ? picked : (picked[0] ?? null));
      at.commit(at.value());
    },
  });
}

function externalField(element, at) {
  const known = [element.initial_option ?? [], element.initial_options ?? []].flat().map(pickable);
  const source = async (query) => (await at.ctx.suggest(at.blockId, element.action_id, query)).map(pickable);
  return pickerField(element, at, { source, minimum: element.min_query_length ?? 3 }, known);
}

function choices(element, at) {
  const several = element.type === "checkboxes";
  const name = uid("choice");
  const current = () => [at.value() ?? []].flat();
  const rows = (element.options ?? []).map((option, index) => {
    const [textId, noteId] = [uid("choice"), uid("choice")];
    const control = h("input", {
      type: several ? "checkbox" : "radio", name, value: option.value, checked: current().includes(option.value),
      "aria-labelledby": textId, "aria-describedby": option.description ? noteId : null,
      "data-focus": `${at.attributes["data-focus"]}\n${index}`,
    });
    control.addEventListener("change", () => {
      const rest = current().filter((value) => value !== option.value);
      at.keep(several ? (control.checked ? [...rest, option.value] : rest) : option.value);
      at.commit(at.value());
    });
    return h(
      "label",
      { class: "choice" },
      control,
      h("span", {}, h("span", { id: textId }, textNodes(option.text, at.ctx.world)), option.description ? h("small", { id: noteId }, textNodes(option.description, at.ctx.world)) : null),
    );
  });
  const { "data-focus": _focus, ...naming } = at.attributes;
  return h("div", { class: "choices", role: several ? "group" : "radiogroup", ...naming }, rows);
}

function moment(type) {
  return (element, at) => {
    const control = h("input", { ...at.attributes, type, value: toInput(type, at.value()) });
    control.addEventListener("change", () => {
      at.keep(fromInput(type, control.value));
      if (at.value() !== null) at.commit(at.value());
    });
    return control;
  };
}

// A datetimepicker's value is Unix seconds; the browser's control holds local wall-clock time.
function toInput(type, value) {
  if (value === null || type !== "datetime-local") return value ?? "";
  const date = new Date(value * 1000);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function fromInput(type, text) {
  if (text === "") return null;
  return type === "datetime-local" ? Math.floor(new Date(text).getTime() / 1000) : text;
}

function fileField(element, at) {
  const accept = (element.filetypes ?? []).map((type) => `.${type}`).join(",");
  const note = h("small", { class: "hint" }, "The stand-in takes no files here: what you choose is not sent.");
  return h("div", { class: "file-field" }, h("input", { ...at.attributes, type: "file", multiple: (element.max_files ?? 10) > 1, accept: accept || null }), note);
}

const fixed = (element, at) => singleSelect(element, at, staticOptions(element), element.option_groups);
const ofWorld = (element, at) => singleSelect(element, at, worldOptions(element, at.ctx.world), null);
const multiFixed = (element, at) => {
  const options = staticOptions(element).map(pickable);
  return pickerField(element, at, search(options), options);
};
const multiOfWorld = (element, at) => {
  const options = worldOptions(element, at.ctx.world).map(pickable);
  return pickerField(element, at, search(options), options);
};

const BUILDERS = {
  plain_text_input: textField,
  number_input: textField,
  email_text_input: textField,
  url_text_input: textField,
  static_select: fixed,
  users_select: ofWorld,
  conversations_select: ofWorld,
  channels_select: ofWorld,
  external_select: externalField,
  multi_external_select: externalField,
  multi_static_select: multiFixed,
  multi_users_select: multiOfWorld,
  multi_conversations_select: multiOfWorld,
  multi_channels_select: multiOfWorld,
  radio_buttons: choices,
  checkboxes: choices,
  datepicker: moment("date"),
  timepicker: moment("time"),
  datetimepicker: moment("datetime-local"),
  file_input: fileField,
};
