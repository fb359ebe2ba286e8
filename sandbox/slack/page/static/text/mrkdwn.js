// Slack's mrkdwn to DOM nodes: mentions, channel links, dates, links, code, quotes, emphasis, emoji.

import { h, safeUrl } from "../dom/dom.js";
import { dateNode } from "./dates.js";
import { emoji, isEmoji } from "./emoji.js";

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

export function unescape(text) {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity]);
}

/** A text object of Block Kit (`plain_text` or `mrkdwn`) or a bare string. */
export function textNodes(object, world) {
  if (object === null || object === undefined) return [];
  if (typeof object === "string") return plain(object, true);
  if (object.type === "mrkdwn") return mrkdwn(object.text ?? "", world, object.verbatim !== true);
  return plain(object.text ?? "", object.emoji !== false);
}

export function plainText(object) {
  if (object === null || object === undefined) return "";
  return typeof object === "string" ? object : (object.text ?? "");
}

/** Unformatted text: line breaks and emoji shortcodes only. */
export function plain(text, withEmoji) {
  const nodes = [];
  for (const part of text.split(/(\n|:[a-z0-9_+-]+:)/)) {
    if (part === "\n") nodes.push(h("br"));
    else if (withEmoji && part.length > 2 && part.startsWith(":") && isEmoji(part.slice(1, -1))) {
      nodes.push(emoji(part.slice(1, -1)));
    } else if (part) nodes.push(part);
  }
  return nodes;
}

export function mrkdwn(text, world, autolink = true) {
  const nodes = [];
  for (const [index, part] of text.split("```").entries()) {
    if (index % 2 === 1) nodes.push(h("pre", {}, h("code", {}, unescape(part.replace(/^\n|\n$/g, "")))));
    else nodes.push(...quotes(trimAroundFence(part, index, text), world, autolink));
  }
  return nodes;
}

function trimAroundFence(part, index, text) {
  if (!text.includes("```")) return part;
  return index === 0 ? part.replace(/\n$/, "") : part.replace(/^\n/, "").replace(/\n$/, "");
}

function quotes(text, world, autolink) {
  const nodes = [];
  let run = [];
  let quoted = false;
  const flush = () => {
    if (run.length === 0) return;
    const inner = inline(run.join("\n"), world, autolink);
    if (quoted) nodes.push(h("blockquote", {}, inner));
    else nodes.push(...inner);
    run = [];
  };
  for (const line of text.split("\n")) {
    const isQuote = /^(?:&gt;|>) ?/.test(line);
    if (isQuote !== quoted) {
      flush();
      quoted = isQuote;
    }
    run.push(isQuote ? line.replace(/^(?:&gt;|>) ?/, "") : line);
  }
  flush();
  return nodes;
}

const STYLES = { "*": "strong", _: "em", "~": "s" };
const WORD = /[\p{L}\p{N}]/u;

function inline(text, world, autolink) {
  const nodes = [];
  let plainRun = "";
  const flush = () => {
    if (plainRun) nodes.push(...plain(unescape(plainRun), true));
    plainRun = "";
  };
  let at = 0;
  while (at < text.length) {
    const found = special(text, at, world, autolink);
    if (found) {
      flush();
      nodes.push(found.node);
      at = found.end;
    } else {
      plainRun += text[at];
      at += 1;
    }
  }
  flush();
  return nodes;
}

/** The formatted thing that starts at `at`, if any: `{node, end}`. */
function special(text, at, world, autolink) {
  const character = text[at];
  if (character === "<") return angle(text, at, world);
  if (character === "`") {
    const end = text.indexOf("`", at + 1);
    const body = text.slice(at + 1, end);
    if (end <= at + 1 || body.includes("\n")) return null;
    return { node: h("code", {}, unescape(body)), end: end + 1 };
  }
  if (Object.hasOwn(STYLES, character)) return styled(text, at, world, autolink);
  if (autolink && character === "h") return bareUrl(text, at);
  return null;
}

function styled(text, at, world, autolink) {
  const mark = text[at];
  if (at > 0 && WORD.test(text[at - 1])) return null;
  if (at + 1 >= text.length || /\s/.test(text[at + 1]) || text[at + 1] === mark) return null;
  for (let end = text.indexOf(mark, at + 2); end !== -1; end = text.indexOf(mark, end + 1)) {
    if (text.slice(at, end).includes("\n")) return null;
    const closes = !/\s/.test(text[end - 1]) && !(end + 1 < text.length && WORD.test(text[end + 1]));
    if (closes) return { node: h(STYLES[mark], {}, inline(text.slice(at + 1, end), world, autolink)), end: end + 1 };
  }
  return null;
}

function bareUrl(text, at) {
  if (at > 0 && WORD.test(text[at - 1])) return null;
  const match = /^https?:\/\/[^\s<>`*~|]+[^\s<>`*~|.,;:!?)\]'"_]/.exec(text.slice(at, at + 3000));
  return match ? { node: link(unescape(match[0]), unescape(match[0])), end: at + match[0].length } : null;
}

export function link(url, label) {
  const href = safeUrl(url);
  if (!href) return h("span", {}, label);
  return h("a", { href, target: "_blank", rel: "noopener noreferrer" }, label);
}

function angle(text, at, world) {
  const end = text.indexOf(">", at);
  if (end === -1) return null;
  const body = text.slice(at + 1, end);
  const bar = body.indexOf("|");
  const target = bar === -1 ? body : body.slice(0, bar);
  const label = bar === -1 ? null : unescape(body.slice(bar + 1));
  const node = angleNode(target, label, world);
  return node ? { node, end: end + 1 } : null;
}

function angleNode(target, label, world) {
  if (target.startsWith("@")) return personMention(target.slice(1), label, world);
  if (target.startsWith("#")) return channelMention(target.slice(1), label, world);
  if (target.startsWith("!subteam^")) return groupMention(target.slice(9), label, world);
  if (target.startsWith("!date^")) return dateMention(target, label);
  if (/^!(here|channel|everyone)$/.test(target)) return mention(`@${target.slice(1)}`, true);
  if (/^(https?:|mailto:|tel:)/.test(target)) return link(unescape(target), label ?? unescape(target).replace("mailto:", ""));
  return null;
}

function mention(text, toMe, title) {
  return h("span", { class: toMe ? "mention to-me" : "mention", title }, text);
}

export function personMention(id, label, world) {
  const person = world.person(id);
  return mention(`@${person ? world.nameOf(person) : (label ?? id)}`, id === world.me, person?.real_name);
}

export function groupMention(id, label, world) {
  const group = world.group(id);
  const handle = group ? `@${group.handle}` : (label ?? id);
  return mention(handle, Boolean(group?.users?.includes(world.me)), group ? "User group" : null);
}

export function channelMention(id, label, world) {
  const channel = world.channel(id);
  const name = channel?.name ?? label ?? id;
  return h("button", { type: "button", class: "mention link", onclick: () => world.openChannel(id) }, `#${name}`);
}

function dateMention(target, fallback) {
  const [, unix, pattern, url] = target.split("^");
  const node = dateNode(unix, unescape(pattern ?? ""), fallback);
  return /^https?:/.test(url ?? "") ? link(unescape(url), node) : node;
}
