// The modal stack of the person being played: the top view as a dialog, its errors, its waiting.

import { focusables, h, reconcile, trapTab } from "../dom/dom.js";
import { block } from "../block_kit/blocks.js";
import { viewValues } from "../block_kit/fields.js";
import { appMark, icon } from "../dom/icons.js";
import { plainText } from "../text/mrkdwn.js";

// How long a submitted view may wait for the live update that follows its answer.
const SETTLE_MS = 2000;

export class Modals {
  #shown = null;
  #opener = null;
  #errors = new Map();
  #banner = new Map();
  #busy = new Map();

  constructor(root, app) {
    this.root = root;
    this.app = app;
    root.addEventListener("keydown", (event) => this.#keys(event));
  }

  get open() {
    return this.#shown !== null;
  }

  /** Says a failure in the open dialog; answers whether there was one. */
  say(text) {
    if (!this.#shown) return false;
    this.#banner.set(this.#shown.name, text);
    this.app.render();
    return true;
  }

  render() {
    const views = this.app.see()?.views ?? [];
    const view = views.at(-1) ?? null;
    this.root.hidden = view === null;
    this.app.covered(view !== null);
    if (view === null) {
      this.#leave();
      return;
    }
    const name = `${this.app.user}|${view.id}`;
    if (this.#shown?.name !== name) this.#enter(name, view);
    this.#shown.view = view;
    this.#draw(view, views.length);
  }

  #leave() {
    if (!this.#shown) return;
    this.root.replaceChildren();
    this.#shown = null;
    // Back to where the person was, unless they have moved on already.
    if (document.activeElement === document.body) this.#opener?.isConnected ? this.#opener.focus() : this.app.focusComposer();
  }

  #enter(name, view) {
    if (!this.#shown) this.#opener = document.activeElement;
    const titleId = `title-${view.id}`;
    const parts = {
      title: h("h2", { id: titleId }),
      depth: h("span", { class: "depth" }),
      banner: h("div", { class: "modal-banner", role: "alert" }),
      body: h("div", { class: "modal-body" }),
      foot: h("div", { class: "modal-foot" }),
    };
    const close = h("button", { type: "button", class: "icon-button", "aria-label": "Close dialog", onclick: () => this.#close() }, icon("close"));
    const head = h("div", { class: "modal-head" }, h("span", { class: "avatar app small", "aria-hidden": "true" }, appMark()), parts.title, parts.depth, close);
    const form = h("form", { class: "modal", role: "dialog", "aria-labelledby": titleId, tabindex: "-1", novalidate: true }, head, parts.banner, parts.body, parts.foot);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    form.addEventListener("input", (event) => this.#clearError(event.target));
    form.addEventListener("change", (event) => this.#clearError(event.target));
    this.root.replaceChildren(form);
    this.#shown = { name, view, form, parts, fresh: true };
  }

  #draw(view, depth) {
    const { parts, form, name } = this.#shown;
    const busy = this.#isBusy(view) || view.loading === true;
    const ctx = this.app.context(name, { view_id: view.id }, view.blocks);
    parts.title.textContent = plainText(view.title);
    parts.depth.textContent = depth > 1 ? `Step ${depth}` : "";
    parts.banner.textContent = this.#banner.get(name) ?? "";
    reconcile(parts.body, keyed(view.blocks ?? []), {
      key: (each) => each.key,
      signature: (each) => JSON.stringify([each.item, this.app.worldMark()]),
      build: (each) => block(each.item, ctx),
    });
    this.#drawFoot(view, busy);
    form.setAttribute("aria-busy", String(busy));
    parts.body.inert = busy;
    this.#drawErrors();
    if (this.#shown.fresh) {
      this.#shown.fresh = false;
      this.#focusFirst();
    } else if (document.activeElement === document.body) {
      // What had the focus was redrawn or disabled; Escape and Tab are heard inside the dialog only.
      form.focus({ preventScroll: true });
    }
  }

  #drawFoot(view, busy) {
    const submit = plainText(view.submit);
    const buttons = [{ key: "close", text: plainText(view.close) || "Close" }];
    if (submit) buttons.push({ key: "submit", text: submit });
    reconcile(this.#shown.parts.foot, buttons, {
      key: (each) => each.key,
      signature: (each) => `${each.text} ${busy} ${view.submit_disabled === true}`,
      build: (each) => each.key === "close"
        ? h("button", { type: "button", class: "button", "data-focus": "modal-close", onclick: () => this.#close() }, each.text)
        : h("button", { type: "submit", class: "button primary", "data-focus": "modal-submit", disabled: busy || view.submit_disabled === true, "aria-busy": busy ? "true" : null }, each.text),
    });
  }

  #focusFirst() {
    const { form, parts, view } = this.#shown;
    const wanted = (view.blocks ?? []).find((each) => each.element?.focus_on_load);
    const holder = wanted ? parts.body.querySelector(`[data-block="${CSS.escape(wanted.block_id)}"]`) : parts.body;
    const first = focusables(holder ?? parts.body).find((each) => each.matches("input, textarea, select"));
    (first ?? form).focus({ preventScroll: !first });
  }

  #drawErrors() {
    const errors = this.#errors.get(this.#shown.name) ?? {};
    for (const holder of this.#shown.parts.body.querySelectorAll("[data-block]")) {
      const text = errors[holder.dataset.block] ?? "";
      const slot = holder.querySelector(".field-error");
      if (slot.textContent !== text) slot.replaceChildren(...(text ? [icon("error"), text] : []));
      holder.classList.toggle("invalid", text !== "");
      for (const control of holder.querySelectorAll("input, textarea, select")) control.setAttribute("aria-invalid", String(text !== ""));
    }
    // Nothing in a dialog that still waits can take the focus.
    if (this.#shown.toError && !this.#shown.parts.body.inert) {
      this.#shown.toError = false;
      this.#shown.parts.body.querySelector(".invalid :is(input, textarea, select)")?.focus();
    }
    const orphans = Object.keys(errors).filter((id) => !this.#shown.parts.body.querySelector(`[data-block="${CSS.escape(id)}"]`));
    if (orphans.length) this.#shown.parts.banner.textContent = orphans.map((id) => errors[id]).join(" ");
  }

  #clearError(control) {
    const blockId = control.closest?.("[data-block]")?.dataset.block;
    const errors = this.#errors.get(this.#shown?.name);
    if (!errors || blockId === undefined || !(blockId in errors)) return;
    delete errors[blockId];
    this.#drawErrors();
  }

  #isBusy(view) {
    const busy = this.#busy.get(this.#shown.name);
    if (busy === undefined) return false;
    // An answer that changed the view ends the waiting.
    if (busy.settling && busy.mark !== JSON.stringify(view.blocks)) this.#busy.delete(this.#shown.name);
    return this.#busy.has(this.#shown.name);
  }

  async #submit() {
    const { name, view } = this.#shown;
    if (this.#busy.has(name) || !plainText(view.submit)) return;
    this.#errors.delete(name);
    this.#banner.delete(name);
    this.#busy.set(name, { settling: false, mark: JSON.stringify(view.blocks) });
    this.render();
    const outcome = await this.app.act("submit", { view_id: view.id, values: viewValues(view.blocks ?? [], name, this.app.values) });
    this.#answered(name, outcome);
    if (this.#errors.has(name) && this.#shown?.name === name) this.#shown.toError = true;
    this.app.render();
  }

  #answered(name, outcome) {
    if (outcome?.errors) this.#errors.set(name, { ...outcome.errors });
    const busy = this.#busy.get(name);
    if (outcome === null || outcome.errors || !outcome.acked || outcome.refused) this.#busy.delete(name);
    else if (busy) {
      busy.settling = true;
      setTimeout(() => {
        // A view may be submitted again meanwhile; that one waits for its own answer.
        if (this.#busy.get(name) !== busy) return;
        this.#busy.delete(name);
        this.app.render();
      }, SETTLE_MS);
    }
  }

  async #close() {
    const { view, name } = this.#shown;
    await this.app.act("close", { view_id: view.id });
    this.#errors.delete(name);
    this.#banner.delete(name);
    this.app.values.forget(name);
  }

  #keys(event) {
    if (!this.#shown) return;
    trapTab(event, this.#shown.form);
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#close();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit();
    }
  }
}

/** Blocks with a key that stays the same from one drawing to the next. */
export function keyed(blocks) {
  return blocks.map((item, index) => ({ item, key: item.block_id ?? `#${index}` }));
}
