// Line icons, drawn here so that the page needs no font and no network.

import { s } from "./dom.js";

const PATHS = {
  hash: "M9 4 7 20M17 4l-2 16M4.5 9h16M3.5 15h16",
  menu: "M4 6.5h16M4 12h16M4 17.5h16",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  close: "M6 6l12 12M18 6 6 18",
  reply: "M4 5h16v11H10l-4 4v-4H4z",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  dots: "M6 12h.01M12 12h.01M18 12h.01",
  send: "M4 12 20 4l-4 16-4-6.5zM12 13.5 20 4",
  external: "M14 4h6v6M20 4l-9 9M18 14v5H5V6h5",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  info: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 11v5.5M12 7.6v.1",
  check: "M5 12.5 10 17.5 19.5 7",
  warning: "M12 4 21 20H3zM12 10v4.5M12 17.2v.1",
  error: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM9 9l6 6M15 9l-6 6",
  success: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM8.2 12.4l2.7 2.7 5-5.6",
  chevron: "M8 10l4 4 4-4",
  down: "M12 5v14M6 13l6 6 6-6",
  bulb: "M9 17.5h6M10 20.5h4M12 3.5a6 6 0 0 0-3.5 10.9c.5.4.5 1.6.5 3.1h6c0-1.5 0-2.7.5-3.1A6 6 0 0 0 12 3.5z",
  up: "M7 11v9H4v-9zM7 11l4-7c1.5 0 2.5 1 2.2 2.6L12.6 10H19l-1.6 10H7",
  thumbdown: "M7 13V4H4v9zM7 13l4 7c1.5 0 2.5-1 2.2-2.6L12.6 14H19L17.4 4H7",
  trash: "M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13",
  clock: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3.2 2",
  clip: "M19 11.5l-7.4 7.4a4.6 4.6 0 0 1-6.5-6.5l8-8a3.1 3.1 0 0 1 4.4 4.4l-7.8 7.8a1.5 1.5 0 0 1-2.2-2.2l7-7",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  file: "M6 3.5h8l4 4v13H6zM14 3.5v4h4",
};

export function icon(name, extra = "") {
  return s(
    "svg",
    { class: `icon ${extra}`.trim(), viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    s("path", { d: PATHS[name] ?? PATHS.info }),
  );
}

/** The app's mark: two signatures, one over the other. */
export function appMark() {
  return s(
    "svg",
    { class: "app-mark", viewBox: "0 0 36 36", "aria-hidden": "true", focusable: "false" },
    s("path", { class: "stroke-back", d: "M8 20.5l5 5.2L25 11" }),
    s("path", { class: "stroke-front", d: "M13.5 20.5l5 5.2L29 12.5" }),
  );
}
