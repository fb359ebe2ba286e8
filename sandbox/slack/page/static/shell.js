// The fixed parts of the page: header buttons, panels, keys, the address bar, links to messages.

import { drawJump } from "./draw.js";
import { h } from "./dom/dom.js";
import { refreshRelativeTimes } from "./text/dates.js";
import { appMark, icon } from "./dom/icons.js";
import { ActError } from "./client/connection.js";
import { toast } from "./block_kit/popups.js";
import { players, switcherKeys } from "./panels/rail.js";
import { faultTools } from "./panels/wire.js";

const RELATIVE_TIMES_MS = 20_000;
const PERMALINK = /^https:\/\/[\w-]+\.slack\.com\/archives\/(\w+)\/p(\d{10})(\d{6})/;

const $ = (id) => document.getElementById(id);

export function furnish(page) {
  drawSigns();
  $("faults").append(faultTools(attempt));
  showHint(page, !page.kept.get("hint-dismissed"));
  showWire(page, page.kept.get("wire-open") === true);
  const on = (id, act) => $(id).addEventListener("click", act);
  on("thread-close", () => page.openThread(null));
  on("wire-toggle", () => showWire(page, $("wire").hidden));
  on("wire-close", () => showWire(page, false));
  on("hint-toggle", () => showHint(page, $("hint").hidden));
  on("rail-toggle", () => showRail(!railOpen()));
  on("rail", (event) => event.target.closest("button") && showRail(false));
  on("jump", () => $("messages").scrollTo({ top: $("messages").scrollHeight, behavior: "smooth" }));
  $("messages").addEventListener("scroll", drawJump);
  $("switcher").addEventListener("keydown", (event) => switcherKeys(event, page));
  document.addEventListener("keydown", (event) => keys(event, page));
  document.addEventListener("click", (event) => followPermalink(event, page));
  document.addEventListener("visibilitychange", () => page.render());
  globalThis.addEventListener("online", () => page.reconnect());
  globalThis.addEventListener("hashchange", () => page.followHash());
  setInterval(refreshRelativeTimes, RELATIVE_TIMES_MS);
}

function drawSigns() {
  $("team-mark").append(h("span", { class: "avatar app" }, appMark()));
  for (const [id, name] of [["thread-close", "close"], ["wire-close", "close"], ["hint-toggle", "bulb"], ["rail-toggle", "menu"], ["jump", "down"]]) $(id).append(icon(name));
  $("jump").append("Latest");
  $("wire-toggle").append(icon("pulse"), "Wire log");
  $("partner").append("Partner simulator", icon("external"));
  // The partner simulator listens on the next port: `countersign demo --port`.
  $("partner").href = `${location.protocol}//${location.hostname}:${Number(location.port) + 1}/`;
}

async function attempt(work, said) {
  try {
    await work();
    toast(said, "note");
  } catch (error) {
    if (!(error instanceof ActError)) throw error;
    toast(error.message);
  }
}

export function showHint(page, visible) {
  $("hint").hidden = !visible;
  page.kept.set("hint-dismissed", !visible);
}

const railOpen = () => $("app").classList.contains("rail-open");

/** On a narrow screen the rail lies over the page when it is asked for; on a wide one it is always there. */
function showRail(open) {
  $("app").classList.toggle("rail-open", open);
  $("rail-toggle").setAttribute("aria-expanded", String(open));
}

function showWire(page, visible) {
  $("wire").hidden = !visible;
  $("wire-toggle").setAttribute("aria-expanded", String(visible));
  page.kept.set("wire-open", visible);
  page.render();
  if (visible) setTimeout(() => $("wire-list").scrollTo({ top: $("wire-list").scrollHeight }));
}

/** A number plays that person: alone outside of fields, with Alt anywhere. */
function keys(event, page) {
  const typing = event.target.closest?.("input, textarea, select");
  const number = /^Digit([1-9])$/.exec(event.code)?.[1];
  const bare = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (number && bare && (event.altKey || !typing)) {
    const person = players(page.known())[Number(number) - 1];
    if (!person) return;
    event.preventDefault();
    page.play(person.id);
  } else if (event.key === "Escape" && railOpen()) showRail(false);
  else if (event.key === "Escape" && !page.modals.open && page.place().thread) page.openThread(null);
}

function followPermalink(event, page) {
  const found = PERMALINK.exec(event.target.closest?.("a[href]")?.href ?? "");
  if (!found) return;
  event.preventDefault();
  page.openMessage(found[1], `${found[2]}.${found[3]}`);
}
