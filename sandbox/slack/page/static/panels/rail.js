// The left rail: who is being played, and the places that person can see.

import { h, reconcile } from "../dom/dom.js";
import { avatar } from "../dom/avatar.js";
import { icon } from "../dom/icons.js";
import { isReply } from "./messages.js";

/** The people one can play: everyone but apps. */
export function players(see) {
  return (see?.people ?? []).filter((person) => !person.is_bot);
}

function standing(person, see) {
  if (person.deleted) return "Deactivated";
  if (person.is_stranger) return "From another workspace";
  if (person.is_restricted || person.is_ultra_restricted) return "Guest";
  const groups = (see.groups ?? []).filter((group) => (group.users ?? []).includes(person.id));
  return groups.length ? groups.map((group) => `@${group.handle}`).join(" ") : "Member";
}

/** Messages of a channel that `user` has not seen: `{count, mentions}`. */
export function unread(channel, user, app, see) {
  const since = Number(app.readUntil(user, channel.id));
  const fresh = channel.messages.filter((each) => Number(each.ts) > since && each.user !== user && (!isReply(each) || mentions(each, user, see)));
  const forMe = channel.is_im ? fresh : fresh.filter((each) => each.ephemeral || mentions(each, user, see));
  return { count: fresh.length, mentions: forMe.length };
}

const texts = new WeakMap();

/** All that a message says, made once for each version of it. */
function textOf(message) {
  if (!texts.has(message)) texts.set(message, JSON.stringify([message.text, message.blocks]));
  return texts.get(message);
}

function mentions(message, user, see) {
  const text = textOf(message);
  const groups = (see.groups ?? []).filter((group) => (group.users ?? []).includes(user));
  return text.includes(`<@${user}>`) || groups.some((group) => text.includes(`<!subteam^${group.id}`));
}

/** What waits for a person: from their own live view if they have been played, else from what others can see of it. */
function waiting(person, app) {
  const own = app.sees.get(person.id);
  const see = own ?? app.known();
  const channels = (see?.channels ?? []).filter((channel) => own || (!channel.is_im && (channel.members ?? [person.id]).includes(person.id)));
  return channels.reduce((sum, channel) => {
    const seen = own ? channel : { ...channel, messages: channel.messages.filter((each) => !each.ephemeral) };
    return sum + unread(seen, person.id, app, see).mentions;
  }, 0);
}

export function renderSwitcher(list, app) {
  const see = app.known();
  reconcile(list, players(see).map((person, index) => ({ person, index, count: person.id === app.user ? 0 : waiting(person, app) })), {
    key: (row) => row.person.id,
    signature: (row) => JSON.stringify([row, row.person.id === app.user, standing(row.person, see)]),
    build: (row) => switcherRow(row, app, see),
  });
}

function switcherRow({ person, index, count }, app, see) {
  const chosen = person.id === app.user;
  const name = app.world().nameOf(person);
  const about = standing(person, see);
  const news = count ? `, ${count} new for ${name}` : "";
  return h(
    "button",
    {
      type: "button", role: "radio", class: "player", "aria-checked": String(chosen), "aria-label": name, "aria-description": `${about}${news}. Alt+${index + 1}`,
      tabindex: chosen ? "0" : "-1", "data-focus": `player\n${person.id}`, onclick: () => app.play(person.id), title: `Play ${name} (Alt+${index + 1})`,
    },
    avatar(person, "small"),
    h("span", { class: "player-name" }, h("b", {}, name), h("small", {}, about)),
    count ? h("span", { class: "count" }, String(count)) : h("kbd", {}, String(index + 1)),
  );
}

/** Arrow keys move through the people, as in any group of radio buttons. */
export function switcherKeys(event, app) {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = players(app.known());
  const at = all.findIndex((person) => person.id === app.user);
  const next = all[(at + step + all.length) % all.length];
  app.play(next.id);
  document.querySelector(`[data-focus="${CSS.escape(`player\n${next.id}`)}"]`)?.focus();
}

export function renderChannels(list, app) {
  const see = app.see();
  const rows = (see?.channels ?? []).map((channel) => ({ channel, news: unread(channel, app.user, app, see), current: app.place().channel === channel.id }));
  const groups = [
    { title: "Channels", rows: rows.filter((row) => !row.channel.is_im) },
    { title: "Apps", rows: rows.filter((row) => row.channel.is_im) },
  ];
  reconcile(list, groups.filter((group) => group.rows.length), {
    key: (group) => group.title,
    signature: (group) => JSON.stringify(group.rows.map((row) => [{ ...row.channel, messages: 0 }, row.news, row.current, app.hasDraft(row.channel.id)])),
    build: (group) => h("div", { class: "places" }, h("h2", {}, group.title), h("ul", {}, group.rows.map((row) => h("li", {}, channelRow(row, app))))),
  });
}

function channelRow({ channel, news, current }, app) {
  const name = channel.is_im ? app.appName() : channel.name;
  const fresh = news.count > 0 && !current;
  const outside = channel.is_member === false ? "not a member" : null;
  return h(
    "button",
    {
      type: "button", class: `place ${fresh ? "fresh" : ""}`, "aria-current": current ? "page" : null,
      "aria-description": [fresh ? `${news.count} unread` : null, outside].filter(Boolean).join(", ") || null,
      "data-focus": `place\n${channel.id}`, onclick: () => app.openChannel(channel.id),
    },
    channel.is_im ? avatar({ is_bot: true }, "tiny") : icon(channel.is_private ? "lock" : "hash"),
    h("span", { class: "place-name" }, name),
    app.hasDraft(channel.id) && !current ? h("small", { class: "draft", "aria-hidden": "true" }, "Draft") : null,
    fresh ? (news.mentions ? h("span", { class: "count", "aria-hidden": "true" }, String(news.mentions)) : h("span", { class: "dot" })) : null,
  );
}
