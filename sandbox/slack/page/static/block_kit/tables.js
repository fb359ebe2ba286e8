// The `table` and `data_table` blocks.

import { append, h } from "../dom/dom.js";
import { icon } from "../dom/icons.js";
import { richText } from "../text/richtext.js";

function cellContent(cell, world) {
  if (cell.type === "rich_text") return richText(cell, world);
  return String(cell.text ?? cell.value ?? "");
}

function alignOf(cell, setting) {
  return setting?.align ?? (cell?.type === "raw_number" ? "right" : "left");
}

export function table(block, world) {
  const [head, ...body] = block.rows ?? [];
  const row = (cells, tag) => h("tr", {}, cells.map((cell, index) => {
    const setting = block.column_settings?.[index];
    const names = `align-${alignOf(cell, setting)} ${setting?.is_wrapped ? "" : "nowrap"}`;
    return h(tag, { class: names.trim(), scope: tag === "th" ? "col" : null }, cellContent(cell, world));
  }));
  return h(
    "div",
    { class: "table-scroll" },
    h("table", {}, h("thead", {}, row(head ?? [], "th")), h("tbody", {}, body.map((cells) => row(cells, "td")))),
  );
}

/** A table a reader can sort and page; what they chose is kept in `memory` across redraws. */
export function dataTable(block, world, memory) {
  const root = h("div", { class: "data-table" });
  const draw = () => root.replaceChildren(...drawing(block, world, memory, draw));
  draw();
  return root;
}

function sortValue(cell) {
  if (cell?.type === "raw_number") return cell.value;
  return String(cell?.text ?? "").toLowerCase();
}

function sorted(rows, memory) {
  if (memory.column === undefined) return rows;
  const sign = memory.descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [sortValue(one[memory.column]), sortValue(other[memory.column])];
    if (left === right) return 0;
    return left > right ? sign : -sign;
  });
}

function drawing(block, world, memory, draw) {
  const [head, ...rows] = block.rows ?? [];
  // Slack shows five rows a page where the block does not say.
  const size = block.page_size ?? 5;
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const page = Math.min(memory.page ?? 0, pages - 1);
  const shown = sorted(rows, memory).slice(page * size, (page + 1) * size);
  const nameColumn = block.row_header_column_index ?? 0;
  const turn = (to) => () => {
    memory.page = to;
    draw();
  };
  const grid = h(
    "table",
    {},
    h("caption", {}, block.caption),
    h("thead", {}, h("tr", {}, (head ?? []).map((cell, index) => columnHead(cell, rows[0]?.[index], index, memory, draw)))),
    h("tbody", {}, shown.map((cells) => h("tr", {}, cells.map((cell, index) => bodyCell(cell, index === nameColumn, world))))),
  );
  const pager = pages > 1 && h(
    "div",
    { class: "pager" },
    h("button", { type: "button", class: "quiet", disabled: page === 0, onclick: turn(page - 1) }, "Previous"),
    h("span", {}, `Page ${page + 1} of ${pages} · ${rows.length} rows`),
    h("button", { type: "button", class: "quiet", disabled: page === pages - 1, onclick: turn(page + 1) }, "Next"),
  );
  return [h("div", { class: "table-scroll" }, grid), pager].filter(Boolean);
}

function columnHead(cell, sample, index, memory, draw) {
  const active = memory.column === index;
  const sort = () => {
    memory.descending = active ? !memory.descending : false;
    memory.column = index;
    draw();
  };
  const state = active ? (memory.descending ? "descending" : "ascending") : "none";
  return h(
    "th",
    { scope: "col", "aria-sort": state, class: `align-${alignOf(sample)}` },
    h("button", { type: "button", class: "sort", onclick: sort }, String(cell.text ?? ""), icon("chevron", active && !memory.descending ? "flip" : "")),
  );
}

function bodyCell(cell, isName, world) {
  const tag = isName ? "th" : "td";
  return append(h(tag, { class: `align-${alignOf(cell)}`, scope: isName ? "row" : null }), [cellContent(cell, world)]);
}
