// Interactive elements of actions blocks, section accessories, cards and context actions.

import { h, safeUrl } from "../dom/dom.js";
import { field, isField } from "./fields.js";
import { icon } from "../dom/icons.js";
import { plainText, textNodes } from "../text/mrkdwn.js";
import { confirmDialog, openMenu } from "./popups.js";

const ONE_OPTION = new Set(["static_select", "external_select", "radio_buttons", "overflow"]);

/** How a click on `element` with `value` travels to `POST /_control/act/click`. */
function clickBody(element, blockId, value) {
  const body = { block_id: blockId, action_id: element.action_id };
  if (ONE_OPTION.has(element.type)) return { ...body, selected_option: value };
  if (Array.isArray(value)) return { ...body, selected_options: value };
  return value === undefined || value === null ? body : { ...body, value };
}

/**
 * Asks first where the element has a `confirm`, then sends, with `node` shown as busy so that a second click
 * waits for the first. Resolves to whether the click was sent.
 */
export async function click(element, blockId, value, ctx, node) {
  if (node?.getAttribute("aria-busy") === "true") return false;
  if (element.confirm && !(await confirmDialog(element.confirm, ctx.world))) return false;
  node?.setAttribute("aria-busy", "true");
  await ctx.act(clickBody(element, blockId, value));
  node?.removeAttribute("aria-busy");
  return true;
}

export function element(item, block, ctx) {
  switch (item.type) {
    case "button":
    case "workflow_button":
      return button(item, block, ctx);
    case "overflow":
      return overflow(item, block, ctx);
    case "feedback_buttons":
      return feedback(item, block, ctx);
    case "icon_button":
      return iconButton(item, block, ctx);
    case "image":
      return image(item, "accessory-image");
    default:
      return isField(item.type) ? choice(item, block, ctx) : unknownElement(item);
  }
}

export function image(item, name) {
  const url = safeUrl(item.image_url ?? item.slack_file?.url);
  if (!url) return missingImage(item, name);
  const picture = h("img", { class: name, src: url, alt: item.alt_text ?? "", loading: "lazy" });
  picture.addEventListener("error", () => picture.replaceWith(missingImage(item, name)));
  return picture;
}

function missingImage(item, name) {
  return h("span", { class: `${name} missing`, role: "img", "aria-label": item.alt_text }, item.alt_text);
}

function button(item, block, ctx) {
  const name = item.accessibility_label ?? null;
  const style = { primary: "primary", danger: "danger" }[item.style] ?? "";
  const send = () => click(item, block.block_id, item.value, ctx, node);
  const href = item.url ? safeUrl(item.url) : null;
  const shared = { class: `button ${style}`.trim(), "aria-label": name, onclick: send, "data-focus": `${block.block_id}\n${item.action_id}` };
  const node = href
    ? h("a", { ...shared, href, target: "_blank", rel: "noopener noreferrer" }, textNodes(item.text, ctx.world), icon("external"))
    : h("button", { ...shared, type: "button" }, textNodes(item.text, ctx.world));
  return node;
}

function overflow(item, block, ctx) {
  const node = h("button", {
    type: "button", class: "button square", "aria-label": item.accessibility_label ?? "More actions", "aria-haspopup": "menu",
    "aria-expanded": "false", "data-focus": `${block.block_id}\n${item.action_id}`,
    onclick: () => openMenu(node, "More actions", (item.options ?? []).map((option) => ({
      label: plainText(option.text),
      description: plainText(option.description),
      href: option.url ? safeUrl(option.url) : null,
      pick: () => click(item, block.block_id, option.value, ctx, node),
    }))),
  }, icon("dots"));
  return node;
}

function feedback(item, block, ctx) {
  const one = (option, sign) => {
    const node = h("button", {
      type: "button", class: "icon-button", "aria-label": option.accessibility_label ?? plainText(option.text), title: plainText(option.text),
      onclick: () => click(item, block.block_id, option.value, ctx, node),
    }, icon(sign));
    return node;
  };
  return h("span", { class: "feedback" }, one(item.positive_button, "up"), one(item.negative_button, "thumbdown"));
}

function iconButton(item, block, ctx) {
  if (item.visible_to_user_ids?.length && !item.visible_to_user_ids.includes(ctx.world.me)) return null;
  const name = item.accessibility_label ?? plainText(item.text);
  const node = h("button", {
    type: "button", class: "icon-button", "aria-label": name, title: name,
    onclick: () => click(item, block.block_id, item.value, ctx, node),
  }, icon(item.icon));
  return node;
}

/** A select, date or choice outside an input block acts as soon as it is changed. */
function choice(item, block, ctx) {
  const before = ctx.values.get(ctx.scope, block.block_id, item.action_id);
  const naming = { "aria-label": item.accessibility_label ?? (plainText(item.placeholder) || item.action_id) };
  const holder = h("span", { class: "inline-field" });
  const draw = () => holder.replaceChildren(field(item, { ctx, blockId: block.block_id, attributes: naming, dispatches: true, commit }));
  const commit = async (value) => {
    if (await click(item, block.block_id, value, ctx)) return;
    ctx.values.set(ctx.scope, block.block_id, item.action_id, before ?? null);
    draw();
  };
  draw();
  return holder;
}

function unknownElement(item) {
  console.error(`Unsupported element: ${item.type}`, item);
  return h("span", { class: "unsupported-inline" }, `unsupported element: ${item.type}`);
}
