// Files a person is about to send: chosen, dropped or pasted; shown by name and size until they go.

import { h } from "../dom/dom.js";
import { icon } from "../dom/icons.js";

const UNITS = ["bytes", "KB", "MB"];

/** `1,234` bytes as a person reads them: `1.2 KB`. */
export function sizeText(bytes) {
  let [amount, unit] = [bytes, 0];
  while (amount >= 1000 && unit < UNITS.length - 1) [amount, unit] = [amount / 1000, unit + 1];
  return `${unit === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${amount === 1 ? "byte" : UNITS[unit]}`;
}

/** `{name, content_base64}` of each file, as the stand-in takes them. */
export function encoded(files) {
  return Promise.all(files.map(async (file) => ({ name: file.name, content_base64: await base64(file) })));
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

/** The files of one composer; `changed()` is called when they change. */
export class Attachments {
  constructor(label, changed) {
    this.files = [];
    this.changed = changed;
    this.input = h("input", { type: "file", multiple: true, hidden: true, "aria-label": `Files for ${label.toLowerCase()}` });
    this.input.addEventListener("change", () => {
      this.add([...this.input.files]);
      this.input.value = "";
    });
    this.button = h(
      "button",
      { type: "button", class: "icon-button attach", "aria-label": "Attach files", title: "Attach files", onclick: () => this.input.click() },
      icon("clip"),
    );
    this.list = h("div", { class: "attachments", role: "list", "aria-label": "Files to send", hidden: true });
    this.node = h("div", {}, this.input, this.list);
  }

  add(files) {
    if (files.length > 0) this.set([...this.files, ...files]);
  }

  set(files) {
    this.files = files;
    this.list.hidden = files.length === 0;
    this.list.replaceChildren(...files.map((file) => this.#row(file)));
    this.changed();
  }

  #row(file) {
    const drop = () => this.set(this.files.filter((each) => each !== file));
    const remove = h("button", { type: "button", class: "icon-button", "aria-label": `Remove ${file.name}`, onclick: drop }, icon("close"));
    return h("div", { class: "attachment", role: "listitem" }, icon("file"), h("span", {}, file.name), h("small", {}, sizeText(file.size)), remove);
  }

  /** Files dropped on, or pasted into, this form are attached. */
  takeFrom(form) {
    form.addEventListener("dragover", (event) => event.preventDefault());
    for (const [kind, source] of [["drop", "dataTransfer"], ["paste", "clipboardData"]]) {
      form.addEventListener(kind, (event) => {
        const files = [...(event[source]?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        this.add(files);
      });
    }
  }
}
