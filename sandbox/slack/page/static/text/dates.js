// Times as the person looking at the page would write them: local zone, local habits.

import { h } from "../dom/dom.js";

const DAY_MS = 86_400_000;

function format(date, options) {
  return new Intl.DateTimeFormat(undefined, options).format(date);
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
  return one.toDateString() === other.toDateString();
}

function pretty(date, otherwise) {
  const days = Math.round((startOfDay(date) - startOfDay(new Date())) / DAY_MS);
  return { "-1": "Yesterday", 0: "Today", 1: "Tomorrow" }[days] ?? otherwise;
}

function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
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

function number(date) {
  const two = (value) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
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
