// Small helpers of the viewer: nodes, figures, control calls. All text enters as text nodes.

export const $ = (id) => document.getElementById(id);
const GOOD = new Set(["ACTIVE", "done", "credited", "settled", "delivered"]);
const BAD = new Set(["BLOCKED", "DELETED", "EXPIRED", "rejected", "refunded", "declined"]);
const drawn = new Map();

export function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export function badge(text) {
  const tone = GOOD.has(text) ? "good" : BAD.has(text) ? "bad" : "wait";
  return element("span", { className: `badge ${tone}` }, text ?? "not yet known");
}

export function money(text) {
  if (text === null || text === undefined) return "–";
  const [whole, part = ""] = String(text).replace("-", "").split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return `${String(text).startsWith("-") ? "−" : ""}${grouped}.${part.padEnd(2, "0")}`;
}

export const time = (stamp) => (stamp ? stamp.replace("T", " ").slice(5, 19) : "–");
export const short = (text) => (text && text.length > 18 ? `${text.slice(0, 7)}…${text.slice(-4)}` : text ?? "–");

export function notice(text, bad = false) {
  const box = $("notice");
  box.hidden = !text;
  box.className = bad ? "bad" : "";
  box.textContent = text;
}

let afterEach = async () => {};
export const refreshWith = (refresh) => { afterEach = refresh; };

// `text` is a body as somebody typed it.
export async function send(path, body, method = "POST", text = undefined) {
  const sent = method === "POST" ? text ?? (body ? JSON.stringify(body) : undefined) : undefined;
  const response = await fetch(`/_control/${path}`, { method, body: sent });
  const answer = await response.json();
  if (!response.ok) {
    notice(answer.error, true);
    return null;
  }
  await afterEach();
  return answer;
}

export const act = (label, name, path, body) =>
  element("button", { type: "button", ariaLabel: name, onclick: () => send(path, body) }, label);

// columns: [title, value(row) -> node or text, class]. Redrawn only when its rows changed, so that
// focus and open details survive a refresh.
export function table(id, rows, columns, empty) {
  const now = JSON.stringify(rows);
  if (drawn.get(id) === now) return;
  drawn.set(id, now);
  if (!rows.length) {
    $(id).replaceChildren(element("p", { className: "empty" }, empty));
    return;
  }
  const head = element("tr", {}, ...columns.map(([title, , kind]) => element("th", { scope: "col", className: kind ?? "" }, title)));
  const body = rows.map((row) => element("tr", {}, ...columns.map(([, value, kind]) => {
    const shown = value(row);
    const sign = kind === "number signed" ? (String(shown).startsWith("−") ? " minus" : " plus") : "";
    return element("td", { className: (kind ?? "") + sign }, shown ?? "–");
  })));
  $(id).replaceChildren(element("table", {}, element("thead", {}, head), element("tbody", {}, ...body)));
}

export function copyable(text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    notice(`Copied ${text}`);
  };
  return element("button", { type: "button", title: text, ariaLabel: `Copy ${text}`, onclick: copy }, short(text));
}

export function buttons(...nodes) {
  const shown = nodes.filter(Boolean);
  return shown.length ? element("span", { className: "acts" }, ...shown) : "";
}

