// Times as Slack shows them to the person who is played: in the zone of their profile, with the habits of this browser.

import { h } from "../dom/dom.js";

const DAY_MS = 86_400_000;

let timeZone; // undefined is the zone of this browser

/** From now on, times are in this zone; one that the browser does not know changes nothing. */
export function useZone(name) {
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: name });
    timeZone = name;
  } catch {
    timeZone = undefined;
  }
}

function format(date, options) {
  return new Intl.DateTimeFormat(undefined, { ...options, timeZone }).format(date);
}

export function fromTs(ts) {
  return new Date(Number.parseFloat(ts) * 1000);
}

export function clockTime(date, seconds = false) {
  return format(date, { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) });
}

export function fullTime(date) {
  return format(date, { dateStyle: "full", timeStyle: "long" });
}

export function sameDay(one, other) {
  return number(one) === number(other);
}

function pretty(date, otherwise) {
  const days = Math.round((Date.parse(number(date)) - Date.parse(number(new Date()))) / DAY_MS);
  return { "-1": "Yesterday", 0: "Today", 1: "Tomorrow" }[days] ?? otherwise;
}

const LONG = { year: "numeric", month: "long", day: "numeric" };

export function dayName(date) {
  return pretty(date, format(date, { weekday: "long", month: "long", day: "numeric" }));
}

export function ago(date) {
  const seconds = (date.getTime() - Date.now()) / 1000;
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const steps = [[60, "second", 1], [3600, "minute", 60], [86_400, "hour", 3600], [2_592_000, "day", 86_400]];
  for (const [below, unit, size] of steps) {
    if (Math.abs(seconds) < below) return relative.format(Math.round(seconds / size), unit);
  }
  return relative.format(Math.round(seconds / 2_592_000), "month");
}

/** `2026-03-02`, the day that it is then in the zone of the person. */
function number(date) {
  const parts = new Intl.DateTimeFormat("en-US", { year: "numeric", month: "2-digit", day: "2-digit", timeZone });
  const found = Object.fromEntries(parts.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${found.year}-${found.month}-${found.day}`;
}

const TOKENS = {
  date_num: number,
  date_slash: (date) => number(date).replaceAll("-", "/"),
  date: (date) => format(date, LONG),
  date_short: (date) => format(date, { ...LONG, month: "short" }),
  date_long: (date) => format(date, { ...LONG, weekday: "long" }),
  date_long_full: (date) => format(date, { ...LONG, weekday: "long" }),
  date_pretty: (date) => pretty(date, format(date, LONG)),
  date_short_pretty: (date) => pretty(date, format(date, { ...LONG, month: "short" })),
  date_long_pretty: (date) => pretty(date, format(date, { ...LONG, weekday: "long" })),
  day_divider_pretty: (date) => dayName(date),
  time: (date) => clockTime(date),
  time_secs: (date) => clockTime(date, true),
  ago,
};

/** The text of a Slack date format such as `{date_short} at {time}`, or null if a token in it is unknown. */
export function slackDate(date, pattern) {
  let known = true;
  const text = pattern.replace(/\{(\w+)\}/g, (_whole, token) => {
    if (!Object.hasOwn(TOKENS, token)) {
      known = false;
      return "";
    }
    return TOKENS[token](date);
  });
  return known ? text : null;
}

/** A date node for `unix` seconds; `fallback` is shown when the format cannot be followed. */
export function dateNode(unix, pattern, fallback) {
  const date = new Date(Number(unix) * 1000);
  const text = Number.isNaN(date.getTime()) ? null : slackDate(date, pattern);
  if (text === null) return h("span", {}, fallback ?? "");
  return h("time", { datetime: date.toISOString(), title: fullTime(date), "data-pattern": pattern }, text);
}

/** Brings "2 minutes ago" up to date in place. */
export function refreshRelativeTimes() {
  for (const node of document.querySelectorAll("time[data-pattern*='{ago}']")) {
    node.textContent = slackDate(new Date(node.getAttribute("datetime")), node.dataset.pattern);
  }
}
