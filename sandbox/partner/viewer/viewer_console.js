// The bar that moves the clock, and the form that sends any control call.

import { $, element, send } from "./viewer_dom.js";

const DAY = 86400;
const LONGEST = 62 * DAY; // beyond the longest timer of a month
let now = null;
let timers = [];

// 0 to 100 on the bar: seconds near its left end, weeks near its right.
const seconds = (place) => (place === 0 ? 0 : Math.round(LONGEST ** (place / 100)));

function words(count) {
  if (count < 60) return `${count} s`;
  if (count < 3600) return `${Math.round(count / 60)} min`;
  if (count < DAY) return `${Math.round(count / 3600)} h`;
  return `${Math.round(count / DAY)} days`;
}

export function showClock(view) {
  now = new Date(view.clock);
  timers = view.timers.map((timer) => new Date(timer.due_at)).filter((at) => at > now);
  $("next-timer").disabled = !timers.length;
}

function showAhead() {
  const ahead = seconds(Number($("clock-bar").value));
  const due = timers.filter((at) => at - now <= ahead * 1000).length;
  $("clock-ahead").textContent = ahead
    ? `${words(ahead)} ahead, ${new Date(now.getTime() + ahead * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC, ${due} timers`
    : "now";
  $("clock-bar").setAttribute("aria-valuetext", $("clock-ahead").textContent);
}

export function offerClock() {
  const bar = $("clock-bar");
  bar.addEventListener("input", showAhead);
  let byKeys = false; // each press of an arrow is a change: only Enter says that the place is meant
  const go = async () => {
    const ahead = seconds(Number(bar.value));
    if (ahead) await send("clock", { advance_seconds: ahead });
    bar.value = 0;
    showAhead();
  };
  bar.addEventListener("pointerdown", () => { byKeys = false; });
  bar.addEventListener("keydown", (event) => {
    byKeys = true;
    if (event.key === "Enter") go();
  });
  bar.addEventListener("change", () => byKeys || go());
  $("next-timer").addEventListener("click", () => timers.length && send("clock", { set: timers[0].toISOString() }));
}

export async function offerConsole() {
  const { calls } = await (await fetch("/_control")).json();
  const form = $("console");
  const select = form.elements.call;
  select.append(...calls.filter((call) => call.path !== "/_control").map((call) =>
    element("option", { value: JSON.stringify(call) }, `${call.method} ${call.path.replace("/_control/", "")}`)));
  const chosen = () => JSON.parse(select.value);
  const show = () => {
    const call = chosen();
    const places = call.path.split("/").filter((part) => part === "{}");
    $("call-summary").textContent = call.summary;
    $("call-values").replaceChildren(...places.map((_, number) =>
      element("input", { name: `value-${number}`, required: true, ariaLabel: "Id or name in the path", size: 36 })));
    form.elements.body.value = JSON.stringify(call.example ?? {});
    form.elements.body.disabled = call.method !== "POST";
  };
  select.addEventListener("change", show);
  show();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const call = chosen();
    let place = 0;
    const path = call.path.replace("/_control/", "").replaceAll("{}", () => encodeURIComponent(form.elements[`value-${place++}`].value.trim()));
    const answer = await send(path, null, call.method, form.elements.body.value);
    $("call-answer").textContent = answer ? JSON.stringify(answer, null, 1) : "";
  });
}
