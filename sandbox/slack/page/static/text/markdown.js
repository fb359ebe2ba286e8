// The `markdown` block: the part of standard Markdown that Slack renders.

import { h } from "../dom/dom.js";
import { link, plain } from "./mrkdwn.js";

export function markdown(text) {
  return h("div", { class: "rich markdown" }, blocks(text.replaceAll("\r\n", "\n").split("\n")));
}

const STARTS = {
  fence: /^\s*(```|~~~)/,
  heading: /^(#{1,6})\s+(.*)$/,
  rule: /^\s*([-*_])(?:\s*\1){2,}\s*$/,
  quote: /^\s*>\s?/,
  item: /^(\s*)([-*+]|\d+[.)])\s+(.*)$/,
};

function blocks(lines) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const read = readers.find((reader) => reader.starts(lines, at));
    const [node, next] = read.take(lines, at);
    if (node) nodes.push(node);
    at = next;
  }
  return nodes;
}

function takeWhile(lines, at, test) {
  let end = at;
  while (end < lines.length && test(lines[end])) end += 1;
  return end;
}

const readers = [
  { starts: (lines, at) => lines[at].trim() === "", take: (_lines, at) => [null, at + 1] },
  { starts: (lines, at) => STARTS.fence.test(lines[at]), take: fence },
  {
    starts: (lines, at) => STARTS.heading.test(lines[at]),
    take: (lines, at) => {
      const [, marks, title] = STARTS.heading.exec(lines[at]);
      return [h(`h${Math.min(6, marks.length + 2)}`, {}, inline(title)), at + 1];
    },
  },
  { starts: (lines, at) => STARTS.rule.test(lines[at]), take: (_lines, at) => [h("hr"), at + 1] },
  {
    starts: (lines, at) => STARTS.quote.test(lines[at]),
    take: (lines, at) => {
      const end = takeWhile(lines, at, (line) => STARTS.quote.test(line));
      return [h("blockquote", {}, blocks(lines.slice(at, end).map((line) => line.replace(STARTS.quote, "")))), end];
    },
  },
  { starts: (lines, at) => STARTS.item.test(lines[at]), take: list },
  { starts: isTable, take: table },
  { starts: () => true, take: paragraph },
];

function fence(lines, at) {
  const mark = STARTS.fence.exec(lines[at])[1];
  const end = takeWhile(lines, at + 1, (line) => !line.trim().startsWith(mark));
  return [h("pre", {}, h("code", {}, lines.slice(at + 1, end).join("\n"))), end + 1];
}

function paragraph(lines, at) {
  const special = (line, index) => line.trim() === "" || (index > at && Object.values(STARTS).some((each) => each.test(line)));
  let end = at;
  while (end < lines.length && !special(lines[end], end) && !(end > at && isTable(lines, end))) end += 1;
  const rows = lines.slice(at, end).flatMap((line, index) => (index ? [h("br"), inline(line)] : [inline(line)]));
  return [h("p", {}, rows), end];
}

function list(lines, at) {
  const [, indent, mark] = STARTS.item.exec(lines[at]);
  const ordered = /\d/.test(mark);
  const items = [];
  let cursor = at;
  while (cursor < lines.length) {
    const match = STARTS.item.exec(lines[cursor]);
    if (!match || match[1].length < indent.length) break;
    if (match[1].length === indent.length && /\d/.test(match[2]) !== ordered) break;
    if (match[1].length > indent.length && items.length) {
      const [nested, next] = list(lines, cursor);
      items[items.length - 1].append(nested);
      cursor = next;
    } else {
      items.push(item(match[3]));
      cursor += 1;
    }
  }
  return [h(ordered ? "ol" : "ul", ordered ? { start: parseInt(mark, 10) } : {}, items), cursor];
}

function item(text) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(text);
  if (!task) return h("li", {}, inline(text));
  const done = task[1] !== " ";
  return h("li", { class: "task" }, h("input", { type: "checkbox", checked: done, disabled: true, "aria-label": task[2] }), inline(task[2]));
}

function isTable(lines, at) {
  return lines[at].includes("|") && at + 1 < lines.length && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1]);
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function table(lines, at) {
  const aligns = cells(lines[at + 1]).map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left"));
  const end = takeWhile(lines, at + 2, (line) => line.includes("|"));
  const row = (line, tag) => h("tr", {}, cells(line).map((cell, index) => h(tag, { class: `align-${aligns[index] ?? "left"}` }, inline(cell))));
  const body = lines.slice(at + 2, end).map((line) => row(line, "td"));
  return [h("div", { class: "table-scroll" }, h("table", {}, h("thead", {}, row(lines[at], "th")), h("tbody", {}, body))), end];
}

const INLINE = [
  [/^`([^`]+)`/, (match) => h("code", {}, match[1])],
  [/^\[([^\]]+)\]\(([^)\s]+)\)/, (match) => link(match[2], inline(match[1]))],
  [/^\*\*([^*]+(?:\*[^*]+)*)\*\*/, (match) => h("strong", {}, inline(match[1]))],
  [/^__([^_]+)__/, (match) => h("strong", {}, inline(match[1]))],
  [/^~~([^~]+)~~/, (match) => h("s", {}, inline(match[1]))],
  [/^\*(?!\s)([^*]+)\*/, (match) => h("em", {}, inline(match[1]))],
  [/^_(?!\s)([^_]+)_(?![\p{L}\p{N}])/u, (match) => h("em", {}, inline(match[1]))],
  [/^(https?:\/\/[^\s<>]+[^\s<>.,;:!?)\]'"])/, (match) => link(match[1], match[1])],
  [/^\\([\\`*_{}[\]()#+\-.!>~|])/, (match) => match[1]],
];

function inline(text) {
  const nodes = [];
  let run = "";
  let rest = text;
  while (rest) {
    const hit = match(rest, run);
    if (hit) {
      nodes.push(...plain(run, true), hit.node);
      run = "";
      rest = rest.slice(hit.length);
    } else {
      run += rest[0];
      rest = rest.slice(1);
    }
  }
  return [...nodes, ...plain(run, true)];
}

function match(rest, before) {
  // An underscore or an address inside a word is not formatting.
  const insideWord = /[\p{L}\p{N}]$/u.test(before);
  for (const [pattern, build] of INLINE) {
    const found = pattern.exec(rest);
    if (found && !(insideWord && /^[_h]/.test(rest))) return { node: build(found), length: found[0].length };
  }
  return null;
}
