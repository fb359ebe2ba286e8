// Building and patching DOM nodes. Data only ever becomes text nodes, attributes or properties, never markup.

const SVG = "http://www.w3.org/2000/svg";
// Set as properties because their attributes only hold the initial state of a control.
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate"]);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** An HTML element: `h("button", {class: "x", onclick: f}, "Save")`. */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

let counter = 0;
export function uid(prefix = "n") {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** The address if a person may be sent there, else null: `javascript:` and the like never become a link. */
export function safeUrl(url) {
  try {
    const parsed = new URL(String(url), location.href);
    return ["http:", "https:", "mailto:"].includes(parsed.protocol) ? parsed.href : null;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/**
 * Make `parent` show `items`, building a node only where an item is new or its signature changed.
 * Nodes that stay are not detached, so focus, caret, scroll and what a person is typing survive an update.
 */
export function reconcile(parent, items, { key, signature, build }) {
  const before = parent.kept ?? new Map();
  const after = new Map();
  const focus = rememberFocus(parent);
  for (const item of items) {
    const name = key(item);
    const mark = signature(item);
    const old = before.get(name);
    if (old && old.mark === mark) after.set(name, old);
    else after.set(name, { mark, node: build(item) });
  }
  const staying = new Set([...after.values()].map((entry) => entry.node));
  for (const child of [...parent.childNodes]) if (!staying.has(child)) child.remove();
  let cursor = parent.firstChild;
  for (const { node } of after.values()) {
    if (node === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node, cursor);
  }
  parent.kept = after;
  focus();
}

/** Notes which `data-focus` control has the focus inside `parent`; the function returned puts it back. */
export function rememberFocus(parent) {
  const active = document.activeElement;
  const mark = parent.contains(active) ? active.dataset?.focus : undefined;
  if (!mark) return () => undefined;
  const selection = "selectionStart" in active ? [active.selectionStart, active.selectionEnd] : null;
  return () => {
    if (parent.contains(document.activeElement) && document.activeElement === active) return;
    const again = parent.querySelector(`[data-focus="${CSS.escape(mark)}"]`);
    if (!again) return;
    again.focus({ preventScroll: true });
    // Number, email and date inputs have no selection to restore.
    if (selection && selection[0] !== null && again.selectionStart !== null) again.setSelectionRange(...selection);
  };
}

const FOCUSABLE =
  "a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), [tabindex='0']";

export function focusables(node) {
  return [...node.querySelectorAll(FOCUSABLE)].filter((each) => each.offsetParent !== null);
}

/** Keeps Tab inside `node`. */
export function trapTab(event, node) {
  if (event.key !== "Tab") return;
  const all = focusables(node);
  if (all.length === 0) return;
  const [first, last] = [all[0], all[all.length - 1]];
  if (event.shiftKey && (document.activeElement === first || document.activeElement === node)) {
    event.preventDefault();
    last.focus();
  } else if (!event.shiftKey && document.activeElement === last) {
    event.preventDefault();
    first.focus();
  }
}
