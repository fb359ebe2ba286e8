// The `rich_text` block: sections, lists, quotes and preformatted text.

import { h } from "../dom/dom.js";
import { dateNode } from "./dates.js";
import { emoji, isEmoji } from "./emoji.js";
import { channelMention, groupMention, link, personMention } from "./mrkdwn.js";

const STYLES = [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"], ["underline", "u"]];

export function richText(block, world) {
  return h("div", { class: "rich" }, lists(block.elements ?? []).map((element) => part(element, world)));
}

/** Neighbouring lists of growing indent are one nested list. */
function lists(elements) {
  const top = [];
  const open = [];
  for (const element of elements) {
    const indent = element.type === "rich_text_list" ? (element.indent ?? 0) : -1;
    while (open.length && open[open.length - 1].indent >= indent) open.pop();
    const entry = { ...element, indent, nested: [] };
    if (indent > 0 && open.length) open[open.length - 1].nested.push(entry);
    else top.push(entry);
    if (indent >= 0) open.push(entry);
    else open.length = 0;
  }
  return top;
}

function part(element, world) {
  const inside = () => (element.elements ?? []).map((child) => inline(child, world));
  switch (element.type) {
    case "rich_text_section":
      return h("p", {}, inside());
    case "rich_text_quote":
      return h("blockquote", {}, inside());
    case "rich_text_preformatted":
      return h("pre", {}, h("code", {}, inside()));
    case "rich_text_list":
      return list(element, world);
    default:
      return unknown(element);
  }
}

function list(element, world) {
  const rows = (element.elements ?? []).map((row) => h("li", {}, (row.elements ?? []).map((each) => inline(each, world))));
  const nested = element.nested.map((child) => list(child, world));
  if (nested.length && rows.length) rows[rows.length - 1].append(...nested);
  const ordered = element.style === "ordered";
  return h(ordered ? "ol" : "ul", ordered && element.offset ? { start: element.offset + 1 } : {}, rows);
}

function inline(element, world) {
  return style(bare(element, world), element.style ?? {});
}

function bare(element, world) {
  switch (element.type) {
    case "text":
      return h("span", { class: "pre-line" }, element.text);
    case "link":
      return link(element.url, element.text ?? element.url);
    case "emoji":
      return isEmoji(element.name) ? emoji(element.name) : `:${element.name}:`;
    case "user":
      return personMention(element.user_id, null, world);
    case "usergroup":
      return groupMention(element.usergroup_id, null, world);
    case "channel":
      return channelMention(element.channel_id, null, world);
    case "broadcast":
      return h("span", { class: "mention to-me" }, `@${element.range}`);
    case "date":
      return dateNode(element.timestamp, element.format ?? "{date_num}", element.fallback);
    case "color":
      return h("code", {}, h("span", { class: "swatch", style: `background:${hexColor(element.value)}` }), element.value);
    default:
      return unknown(element);
  }
}

function hexColor(value) {
  return /^#[0-9a-f]{3,8}$/i.test(value ?? "") ? value : "transparent";
}

function style(node, styles) {
  return STYLES.reduce((inner, [name, tag]) => (styles[name] ? h(tag, {}, inner) : inner), node);
}

function unknown(element) {
  console.error(`Unsupported rich text element: ${element.type}`, element);
  return h("span", { class: "unsupported-inline" }, `unsupported element: ${element.type}`);
}
