// The message list of a channel or thread.

import { h, reconcile } from "../dom/dom.js";
import { sizeText } from "./attachments.js";
import { avatar } from "../dom/avatar.js";
import { block } from "../block_kit/blocks.js";
import { clockTime, dayName, fromTs, fullTime, sameDay } from "../text/dates.js";
import { icon } from "../dom/icons.js";
import { mrkdwn } from "../text/mrkdwn.js";
import { openMenu } from "../block_kit/popups.js";

// Messages of one author this close together stand under one name.
const TOGETHER_S = 300;
const NEAR_BOTTOM_PX = 80;
// Older messages are drawn when asked for.
const AT_ONCE = 150;

export function isReply(message) {
  return Boolean(message.thread_ts) && message.thread_ts !== message.ts;
}

export function topLevel(channel) {
  return channel.messages.filter((message) => !isReply(message));
}

export function repliesTo(channel, ts) {
  return channel.messages.filter((message) => isReply(message) && message.thread_ts === ts);
}

/** Where a page remembers how many messages of a channel or thread to draw. */
export function depthKey(user, channelId, thread) {
  return `depth|${user}|${channelId}|${thread ?? ""}`;
}

/** Draws `messages` into `list`; `options` are `{newFrom, inThread}`. Keeps the end in sight if it was. */
export function renderMessages(list, channel, messages, app, options = {}) {
  const followed = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_BOTTOM_PX;
  const place = depthKey(app.user, channel.id, options.inThread);
  const moved = list.dataset.place !== place;
  list.dataset.place = place;
  const depth = app.memory(place);
  const shown = messages.slice(-(depth.count ?? AT_ONCE));
  const earlier = messages.length - shown.length;
  const more = () => {
    depth.count = (depth.count ?? AT_ONCE) + AT_ONCE;
    const fromEnd = list.scrollHeight - list.scrollTop;
    renderMessages(list, channel, messages, app, options);
    list.scrollTop = list.scrollHeight - fromEnd;
  };
  const head = earlier > 0 ? [{ key: "earlier", signature: `${messages.length} ${earlier}`, build: () => earlierButton(earlier, more) }] : [];
  reconcile(list, [...head, ...rows(channel, shown, app, options)], {
    key: (row) => row.key,
    signature: (row) => row.signature,
    build: (row) => row.build(),
  });
  if (moved || followed) list.scrollTop = list.scrollHeight;
}

function byThread(messages) {
  const threads = new Map();
  for (const message of messages.filter(isReply)) threads.set(message.thread_ts, [...(threads.get(message.thread_ts) ?? []), message]);
  return threads;
}

function earlierButton(count, more) {
  return h("button", { type: "button", class: "quiet earlier", "data-focus": "earlier", onclick: more }, `Show earlier messages (${count})`);
}

function rows(channel, messages, app, { newFrom, inThread }) {
  const all = [];
  const replies = byThread(channel.messages);
  let before = null;
  let newShown = false;
  for (const message of messages) {
    const date = fromTs(message.ts);
    if (!inThread && !(before && sameDay(fromTs(before.ts), date))) {
      const day = dayName(date);
      all.push({ key: `day ${date.toDateString()} ${day}`, signature: day, build: () => h("div", { class: "day", role: "separator" }, h("span", {}, day)) });
    }
    if (newFrom && !newShown && Number(message.ts) > Number(newFrom) && message.user !== app.user) {
      newShown = true;
      all.push({ key: "new", signature: "", build: () => h("div", { class: "new-line", role: "separator" }, h("span", {}, "New")) });
      before = null;
    }
    all.push(messageRow(channel, message, joined(before, message), replies.get(message.ts) ?? [], app, inThread));
    before = message;
  }
  return all;
}

function joined(before, message) {
  if (!before || before.ephemeral !== message.ephemeral || message.ephemeral) return false;
  return before.user === message.user && before.username === message.username && Number(message.ts) - Number(before.ts) < TOGETHER_S
    && sameDay(fromTs(before.ts), fromTs(message.ts));
}

function messageRow(channel, message, follows, replies, app, inThread) {
  const last = replies.at(-1);
  const count = inThread ? 0 : Math.max(replies.length, message.reply_count ?? 0);
  const open = app.place().thread === message.ts && !inThread;
  const status = channel.statuses?.find((each) => each.thread_ts === message.ts)?.status ?? null;
  const parts = { channel, message, follows, app, count, last, open, inThread, status };
  return {
    key: `${message.ephemeral ? "e" : "m"} ${message.ts}`,
    signature: JSON.stringify([app.user, message, follows, count, last?.ts, open, status, app.worldMark()]),
    build: () => build(parts),
  };
}

function build({ channel, message, follows, app, count, last, open, inThread, status }) {
  const world = app.world();
  const date = fromTs(message.ts);
  const author = world.person(message.user) ?? { id: message.user, real_name: message.username, is_bot: message.is_app };
  const name = message.username ?? world.nameOf(author);
  const edited = message.edited ? h("span", { class: "edited" }, "(edited)") : null;
  const time = h("time", { class: "at", datetime: date.toISOString(), title: fullTime(date) }, clockTime(date));
  const classes = ["message", follows ? "follows" : "", message.ephemeral ? "ephemeral" : "", open ? "thread-open" : ""];
  return h(
    "article",
    { class: classes.filter(Boolean).join(" "), "aria-label": `${name}, ${clockTime(date)}`, "data-ts": message.ts },
    message.ephemeral ? h("div", { class: "only-you" }, icon("eye"), "Only visible to you") : null,
    h("div", { class: "gutter" }, follows ? time : avatar(author)),
    h(
      "div",
      { class: "message-body" },
      follows ? null : h("div", { class: "byline" }, h("b", {}, name), author.is_bot ? h("span", { class: "badge" }, "App") : null, time, edited),
      content(channel, message, app),
      follows ? edited : null,
      status ? h("div", { class: "status-line", role: "status" }, `${app.appName()} ${status}`) : null,
      !inThread && count > 0 ? repliesButton(message, count, last, app) : null,
    ),
    message.ephemeral ? null : h("div", { class: "tools" }, inThread ? null : replyTool(message, count, app), moreTool(channel, message, app)),
  );
}

function content(channel, message, app) {
  const ctx = app.context(`${app.user}|${channel.id}|${message.ts}`, { channel: channel.id, ts: message.ts });
  const blocks = (message.blocks ?? []).map((each) => block(each, ctx));
  const text = blocks.length || !message.text ? [] : [h("div", { class: "text" }, mrkdwn(message.text, ctx.world))];
  const files = (message.files ?? []).map((file) => fileCard(file, app.user));
  return h("div", { class: "content" }, text, blocks, files);
}

function fileCard(file, user) {
  const name = file.title ?? file.name ?? file.id;
  const address = `/_control/file/${encodeURIComponent(file.id)}?user=${encodeURIComponent(user)}`;
  return h(
    "a",
    { class: "file", href: address, download: file.name ?? "", "aria-label": `Download ${name}` },
    icon("file"), h("span", {}, name), h("small", {}, sizeText(file.size ?? 0)), icon("download"),
  );
}

function repliesButton(message, count, last, app) {
  return h(
    "button",
    { type: "button", class: "replies", onclick: () => app.openThread(message.ts) },
    icon("reply"),
    h("b", {}, `${count} ${count === 1 ? "reply" : "replies"}`),
    last ? h("small", {}, `Last at ${clockTime(fromTs(last.ts))}`) : null,
  );
}

/** The menu of a message: the shortcuts that the app declared. */
function moreTool(channel, message, app) {
  const [shortcuts, user] = [app.see()?.shortcuts ?? [], app.user];
  if (shortcuts.length === 0) return null;
  const items = shortcuts.map((each) => ({
    label: each.name, description: each.description,
    pick: () => app.act("shortcut", { channel: channel.id, ts: message.ts, callback_id: each.callback_id }, user),
  }));
  const button = h("button", { type: "button", class: "icon-button tool", "aria-label": "Message shortcuts", title: "Message shortcuts", "aria-haspopup": "menu", "aria-expanded": "false" }, icon("dots"));
  button.addEventListener("click", () => openMenu(button, "Message shortcuts", items));
  return button;
}

function replyTool(message, count, app) {
  const label = count > 0 ? "Open thread" : "Reply in thread";
  return h("button", { type: "button", class: "icon-button tool", "aria-label": label, title: label, onclick: () => app.openThread(message.ts) }, icon("reply"));
}
