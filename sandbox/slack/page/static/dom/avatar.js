// A person's square: initials on their own colour, the app's mark for the app.

import { h } from "./dom.js";
import { appMark } from "./icons.js";

const HUES = [212, 152, 28, 276, 338, 190, 52, 112];
const KNOWN = { U0ALICE: 0, U0BOB: 2, U0CAROL: 3, U0GUEST: 5, U0STRANGER: 4, U0GONE: 6 };

/** The colour a person has everywhere on the page. */
export function hueOf(person) {
  const id = person?.id ?? "";
  const index = KNOWN[id] ?? [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return HUES[index % HUES.length];
}

export function avatar(person, size = "") {
  if (person?.is_bot) return h("span", { class: `avatar app ${size}`, "aria-hidden": "true" }, appMark());
  const name = person?.real_name || person?.name || "?";
  const initials = name.split(/\s+/).slice(0, 2).map((word) => word[0]?.toUpperCase() ?? "").join("");
  return h("span", { class: `avatar ${size}`, style: `--hue:${hueOf(person)}`, "aria-hidden": "true" }, initials);
}
