// Draws what the page's state says; nothing here changes that state.

import { avatar, hueOf } from "./dom/avatar.js";
import { block } from "./block_kit/blocks.js";
import { h, reconcile } from "./dom/dom.js";
import { icon } from "./dom/icons.js";
import { renderMessages, repliesTo, topLevel } from "./panels/messages.js";
import { keyed } from "./panels/modal.js";
import { renderChannels, renderSwitcher } from "./panels/rail.js";
import { renderHint } from "./panels/hint.js";
import { renderWire } from "./panels/wire.js";
import { useZone } from "./text/dates.js";

const FAR_FROM_END_PX = 200;

const $ = (id) => document.getElementById(id);

export function draw(page) {
  drawConnection(page);
  if (page.known()) renderSwitcher($("switcher"), page);
  const see = page.see();
  // Until then the stage shows what another person sees: nothing there is for this one to use.
  $("stage").inert = !see;
  if (!see) {
    for (const composer of [page.main, page.side]) composer.render();
    return;
  }
  useZone(see.me.tz);
  const channel = page.channel();
  renderChannels($("channels"), page);
  drawHead(page, channel);
  renderHint($("hint"), page, () => page.dismissHint());
  drawConversation(page, channel);
  drawThread(page, channel);
  page.modals.render();
  if (!$("wire").hidden) renderWire($("wire-list"), see);
}

function drawConnection(page) {
  const link = page.linkOf(page.user);
  const status = link === "connected" && page.see()?.app?.connected === false ? "offline" : link;
  const words = { connected: "Connected", reconnecting: "Reconnecting …", connecting: "Connecting …", offline: `${page.appName()} is not connected` };
  $("connection").className = `connection ${status}`;
  $("connection").textContent = words[status];
}

function titleNodes(page, channel) {
  if (!channel) return [];
  if (channel.is_im) return [avatar({ is_bot: true }, "tiny"), page.appName()];
  return [icon(channel.is_private ? "lock" : "hash"), channel.name];
}

function drawHead(page, channel) {
  const me = page.world().person(page.user) ?? { id: page.user };
  const name = page.world().nameOf(me);
  document.documentElement.style.setProperty("--me", String(hueOf(me)));
  $("place-title").replaceChildren(...titleNodes(page, channel));
  $("place-note").textContent = channel?.archived ? "Archived" : channel?.is_member === false ? "Not a member" : "";
  reconcile($("me"), [me], {
    key: (each) => each.id,
    signature: (each) => JSON.stringify(each),
    build: (each) => h("span", {}, avatar(each, "tiny"), h("span", { class: "me-words" }, "You are"), h("b", {}, name)),
  });
  document.title = `${channel?.is_im ? page.appName() : `#${channel?.name ?? ""}`} as ${name} · Countersign Demo`;
  drawTabs(page, channel);
}

function drawTabs(page, channel) {
  $("tabs").hidden = !channel?.is_im;
  const chosen = page.place().tab;
  reconcile($("tabs"), [["home", "Home"], ["messages", "Messages"]], {
    key: ([tab]) => tab,
    signature: ([tab]) => String(tab === chosen),
    build: ([tab, text]) => h("button", { type: "button", role: "tab", "aria-selected": String(tab === chosen), "aria-controls": tab, "data-focus": `tab\n${tab}`, onclick: () => page.openTab(tab) }, text),
  });
}

function drawConversation(page, channel) {
  const atHome = Boolean(channel?.is_im) && page.place().tab === "home";
  $("home").hidden = !atHome;
  for (const id of ["messages", "composer"]) $(id).hidden = atHome;
  if (atHome) drawHome(page);
  else if (channel) renderMessages($("messages"), channel, topLevel(channel), page, { newFrom: page.newFrom });
  drawPrompts(page, atHome ? null : channel);
  page.main.render();
  drawJump();
}

/** What a person may send with a press, in the conversation of an agent app. */
function drawPrompts(page, channel) {
  const { title, prompts } = channel?.prompts ?? { title: "", prompts: [] };
  $("prompts").hidden = prompts.length === 0;
  reconcile($("prompts"), [...(title ? [{ heading: title }] : []), ...prompts], {
    key: (each) => each.heading ?? `${each.title} ${each.message}`,
    signature: (each) => each.heading ?? each.message,
    build: (each) => each.heading
      ? h("span", { class: "prompts-title" }, each.heading)
      : h("button", { type: "button", class: "prompt", title: each.message, onclick: () => page.say(each.message) }, each.title),
  });
}

function drawHome(page) {
  const view = page.see().home;
  const ctx = page.context(`${page.user}|${view?.id}`, { view_id: view?.id }, view?.blocks);
  const text = { type: "plain_text", text: `${page.appName()} has not published a Home tab for this person yet.` };
  const blocks = view?.blocks ?? [{ type: "context", block_id: "no-home", elements: [text] }];
  reconcile($("home"), keyed(blocks), {
    key: (each) => each.key,
    signature: (each) => JSON.stringify([each.item, page.user, page.worldMark()]),
    build: (each) => block(each.item, ctx),
  });
}

function drawThread(page, channel) {
  const ts = page.place().thread;
  const parent = ts && channel?.messages.find((each) => each.ts === ts);
  $("thread").hidden = !parent;
  if (!parent) return;
  $("thread-place").textContent = channel.is_im ? page.appName() : `#${channel.name}`;
  renderMessages($("thread-messages"), channel, [parent, ...repliesTo(channel, ts)], page, { inThread: ts });
  page.side.render();
}

/** The button back to the newest message stands there only when that is out of sight. */
export function drawJump() {
  const list = $("messages");
  $("jump").hidden = list.hidden || list.scrollHeight - list.scrollTop - list.clientHeight < FAR_FROM_END_PX;
}
