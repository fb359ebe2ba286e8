// Block Kit blocks to DOM nodes, for messages, the Home tab and modals.

import { h, safeUrl, uid } from "../dom/dom.js";
import { chart } from "./charts.js";
import { click, element, image } from "./elements.js";
import { field, isField } from "./fields.js";
import { icon } from "../dom/icons.js";
import { markdown } from "../text/markdown.js";
import { link, plainText, textNodes } from "../text/mrkdwn.js";
import { richText } from "../text/richtext.js";
import { dataTable, table } from "./tables.js";

/**
 * One block. `ctx` is `{world, scope, values, memory(key), act(body), suggest(block, action, query)}`:
 * `scope` names the message or view, `memory` keeps what a reader chose in it across redraws.
 */
export function block(item, ctx) {
  const build = Object.hasOwn(BUILDERS, item.type) ? BUILDERS[item.type] : null;
  const node = build?.(item, ctx) ?? unsupported(item);
  node.classList.add("block", `block-${item.type.replaceAll("_", "-")}`);
  return node;
}

function unsupported(item) {
  console.error(`Unsupported block type: ${item.type}`, item);
  return h("div", { class: "unsupported", role: "note" }, icon("warning"), "Unsupported block: ", h("code", {}, String(item.type)));
}

function section(item, ctx) {
  const text = item.text ? h("div", { class: "text" }, textNodes(item.text, ctx.world)) : null;
  const fields = item.fields?.length
    ? h("div", { class: "fields" }, item.fields.map((each) => h("div", { class: "text" }, textNodes(each, ctx.world))))
    : null;
  const accessory = item.accessory ? h("div", { class: "accessory" }, element(item.accessory, item, ctx)) : null;
  return h("div", {}, h("div", { class: "section-body" }, text, fields), accessory);
}

function context(item, ctx) {
  const part = (each) => (each.type === "image" ? image(each, "context-image") : h("span", { class: "text" }, textNodes(each, ctx.world)));
  return h("div", {}, (item.elements ?? []).map(part));
}

function actions(item, ctx) {
  return h("div", {}, (item.elements ?? []).map((each) => element(each, item, ctx)));
}

function imageBlock(item) {
  const caption = item.title ? h("figcaption", {}, plainText(item.title)) : null;
  return h("figure", {}, caption, image(item, "picture"));
}

function alert(item, ctx) {
  const level = item.level ?? "default";
  const sign = { warning: "warning", error: "error", success: "success" }[level] ?? "info";
  return h("div", { class: `level-${level}`, role: "note" }, icon(sign), h("div", { class: "text" }, textNodes(item.text, ctx.world)));
}

function card(item, ctx) {
  const head = [
    item.title ? h("strong", { class: "card-title" }, textNodes(item.title, ctx.world)) : null,
    item.subtitle ? h("span", { class: "card-subtitle" }, textNodes(item.subtitle, ctx.world)) : null,
  ];
  return h(
    "div",
    {},
    item.hero_image ? image(item.hero_image, "hero") : null,
    h("div", { class: "card-head" }, item.icon ? image(item.icon, "card-icon") : null, h("div", {}, head)),
    item.body ? h("div", { class: "text card-body" }, textNodes(item.body, ctx.world)) : null,
    item.actions?.length ? h("div", { class: "block-actions" }, item.actions.map((each) => element(each, item, ctx))) : null,
  );
}

function carousel(item, ctx) {
  return h("div", { tabindex: "0", role: "group", "aria-label": "Cards" }, (item.elements ?? []).map((each) => block(each, ctx)));
}

function container(item, ctx) {
  const title = item.rich_text_title ? richText(item.rich_text_title, ctx.world) : h("strong", {}, plainText(item.title));
  const head = [item.icon ? image(item.icon, "card-icon") : null, h("div", {}, title, item.subtitle ? h("span", { class: "card-subtitle" }, textNodes(item.subtitle, ctx.world)) : null)];
  const children = (item.child_blocks ?? []).map((each) => block(each, ctx));
  if (item.is_collapsible) return h("details", { open: item.default_collapsed !== true }, h("summary", { class: "card-head" }, head), children);
  return h("div", {}, h("div", { class: `card-head ${item.has_header_divider ? "ruled" : ""}` }, head), children);
}

const TASK_WORDS = { pending: "Pending", in_progress: "In progress", complete: "Complete", error: "Error" };

function task(item, ctx) {
  const sources = (item.sources ?? []).map((source) => link(source.url, source.text));
  return h(
    "div",
    { class: `task-${item.status}` },
    h("div", { class: "task-head" }, icon({ complete: "success", error: "error", in_progress: "pulse" }[item.status] ?? "clock"), h("strong", {}, item.title), h("span", { class: "task-status" }, TASK_WORDS[item.status] ?? item.status)),
    item.details ? richText(item.details, ctx.world) : null,
    item.output ? richText(item.output, ctx.world) : null,
    sources.length ? h("div", { class: "task-sources" }, sources) : null,
  );
}

function plan(item, ctx) {
  return h("div", {}, h("strong", { class: "card-title" }, plainText(item.title)), (item.tasks ?? []).map((each) => block({ type: "task_card", ...each }, ctx)));
}

function video(item) {
  const href = safeUrl(item.title_url ?? item.video_url);
  return h("figure", {}, h("figcaption", {}, href ? link(href, plainText(item.title)) : plainText(item.title)), image({ image_url: item.thumbnail_url, alt_text: item.alt_text }, "picture"));
}

/** A labelled input with its hint and a place for the error a submission may bring. */
function input(item, ctx) {
  const control = item.element ?? {};
  if (!isField(control.type)) return null;
  const [id, labelId, hintId, errorId] = [uid("input"), uid("label"), uid("hint"), uid("error")];
  const isGroup = ["radio_buttons", "checkboxes"].includes(control.type);
  const described = [item.hint ? hintId : null, errorId].filter(Boolean).join(" ");
  const label = plainText(item.label);
  // The accessible name is the label alone, without the word "optional" beside it.
  const attributes = { "aria-labelledby": labelId, "aria-describedby": described, ...(isGroup ? {} : { id, "aria-required": item.optional ? null : "true" }) };
  const commit = (value) => (item.dispatch_action ? click(control, item.block_id, value, ctx) : undefined);
  return h(
    "div",
    { "data-block": item.block_id },
    h(isGroup ? "div" : "label", { class: "input-label", for: isGroup ? null : id }, h("span", { id: labelId }, label), item.optional ? h("span", { class: "optional" }, " (optional)") : null),
    field(control, { ctx, blockId: item.block_id, attributes, dispatches: item.dispatch_action === true, commit }),
    h("div", { class: "field-error", id: errorId, role: "alert" }),
    item.hint ? h("div", { class: "hint", id: hintId }, textNodes(item.hint, ctx.world)) : null,
  );
}

const BUILDERS = {
  section,
  header: (item) => h("h3", {}, textNodes({ ...item.text, type: "plain_text" })),
  divider: () => h("hr"),
  context,
  context_actions: actions,
  actions,
  input,
  image: imageBlock,
  rich_text: (item, ctx) => richText(item, ctx.world),
  markdown: (item) => markdown(item.text ?? ""),
  table: (item, ctx) => table(item, ctx.world),
  data_table: (item, ctx) => dataTable(item, ctx.world, ctx.memory(`table\n${ctx.scope}\n${item.block_id}`)),
  data_visualization: chart,
  alert,
  card,
  carousel,
  container,
  task_card: task,
  plan,
  video,
  file: (item) => h("div", {}, icon("file"), item.external_id ?? "File"),
};
