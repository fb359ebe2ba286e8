// The wire log: what goes between the stand-in and the app, newest last, and the faults one can plant there.

import { h, reconcile } from "../dom/dom.js";
import { clockTime } from "../text/dates.js";
import { icon } from "../dom/icons.js";
import { control } from "../client/connection.js";

const SLOW_ACK_MS = 1000;
// How long Slack waits for an ack.
const ACK_MS = 3000;

export function renderWire(list, see) {
  const followed = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const now = Date.parse(see.now);
  reconcile(list, (see.wire ?? []).map((line) => (line.what === "call" ? call(line) : envelope(line, now))), { key: (line) => line.key, signature: (line) => JSON.stringify(line), build: row });
  if (followed) list.scrollTop = list.scrollHeight;
}

function call(line) {
  return {
    key: String(line.seq), at: line.at, from: "app", what: line.method,
    result: line.ok ? "ok" : (line.error ?? "failed"), tone: line.ok ? "good" : "bad", detail: line.args ?? {},
  };
}

function envelope(line, now) {
  const took = Math.round(line.ack_ms ?? 0);
  const missed = line.late ? "acked too late" : (now - Date.parse(line.sent_at) < ACK_MS ? "waiting for the ack" : "no ack");
  const name = line.kind && line.kind !== line.type ? `${line.type} / ${line.kind}` : line.type;
  return {
    key: String(line.seq), at: line.sent_at, from: "slack", what: line.retry_attempt ? `${name} (retry ${line.retry_attempt})` : name,
    result: line.acked ? `acked in ${took} ms` : missed,
    tone: line.acked ? (took > SLOW_ACK_MS ? "slow" : "good") : "bad", detail: line.payload_summary ?? {},
  };
}

function row(line) {
  const date = new Date(line.at);
  const detail = typeof line.detail === "string" ? line.detail : JSON.stringify(line.detail, null, 2);
  const short = typeof line.detail === "string" ? line.detail : JSON.stringify(line.detail);
  return h(
    "details",
    { class: `wire-row tone-${line.tone}` },
    h(
      "summary",
      {},
      h("time", { datetime: line.at }, Number.isNaN(date.getTime()) ? String(line.at) : clockTime(date, true)),
      h("span", { class: `way from-${line.from}` }, line.from === "app" ? "App → Slack" : "Slack → app"),
      h("b", {}, line.what),
      h("span", { class: "wire-result" }, line.result),
      h("span", { class: "wire-short" }, short.slice(0, 300)),
    ),
    h("pre", {}, detail),
  );
}

const FAULTS = [
  ["Next post: rate limited", { method: "chat.postMessage", effect: "429", seconds: 2 }],
  ["Next post: fails with 503", { method: "chat.postMessage", effect: "503" }],
  ["Next post: works, answer lost", { method: "chat.postMessage", effect: "reset_after" }],
  ["Next edit: fails with 500", { method: "chat.update", effect: "500" }],
  ["Next modal: opens 4 s late", { method: "views.open", effect: "delay", seconds: 4 }],
  ["Next click: ack lost", { method: "block_actions", effect: "lost_ack" }],
  ["Next command: ack lost", { method: "slash_commands", effect: "lost_ack" }],
  ["Next click: delivered twice", { method: "block_actions", effect: "duplicate" }],
];

/** The fault switches: each plants one fault or cuts the connection; `said(text)` reports what was done. */
export function faultTools(attempt) {
  const select = h("select", { "aria-label": "Fault" }, FAULTS.map(([text], index) => h("option", { value: String(index) }, text)));
  const plant = () => {
    const [text, fault] = FAULTS[Number(select.value)];
    return attempt(() => control("faults", { ...fault, times: 1 }), `Planted. ${text}.`);
  };
  const cut = () => attempt(() => control("disconnect", { reason: "refresh_requested" }), "The app was told to reconnect.");
  const clear = () => attempt(() => control("faults", undefined, "DELETE"), "No faults are planted.");
  return h(
    "div",
    { class: "fault-tools" },
    h("span", { class: "select compact" }, select, icon("chevron")),
    h("button", { type: "button", class: "button small", onclick: plant }, "Plant fault"),
    h("button", { type: "button", class: "button small", onclick: clear }, "Clear faults"),
    h("button", { type: "button", class: "button small", onclick: cut }, "Disconnect app"),
  );
}
