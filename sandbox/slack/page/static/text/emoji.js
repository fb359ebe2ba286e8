// Emoji shortcodes. A few status signs are drawn, so that they look alike on machines without an emoji font;
// the rest are written as code points.

import { h, s } from "../dom/dom.js";

const POINTS = {
  "+1": "1f44d", "-1": "1f44e", thumbsup: "1f44d", thumbsdown: "1f44e", tada: "1f389", eyes: "1f440", wave: "1f44b",
  rocket: "1f680", fire: "1f525", bulb: "1f4a1", pray: "1f64f", clap: "1f44f", smile: "1f604", thinking_face: "1f914",
  moneybag: "1f4b0", dollar: "1f4b5", credit_card: "1f4b3", chart_with_upwards_trend: "1f4c8", bank: "1f3e6",
  chart_with_downwards_trend: "1f4c9", bar_chart: "1f4ca", receipt: "1f9fe", ledger: "1f4d2", memo: "1f4dd",
  bell: "1f514", no_bell: "1f515", loudspeaker: "1f4e2", mega: "1f4e3", pushpin: "1f4cc", link: "1f517",
  key: "1f511", shield: "1f6e1", mag: "1f50d", gear: "2699", wrench: "1f527", package: "1f4e6", calendar: "1f4c5",
  bust_in_silhouette: "1f464", busts_in_silhouette: "1f465", robot_face: "1f916", ghost: "1f47b", heart: "2764",
  star: "2b50", zap: "26a1", sparkles: "2728", point_right: "1f449", point_left: "1f448", arrow_right: "27a1",
  arrow_left: "2b05", arrow_up: "2b06", arrow_down: "2b07", arrow_forward: "25b6", question: "2753",
  grey_question: "2754", exclamation: "2757", heavy_minus_sign: "2796", heavy_plus_sign: "2795", 100: "1f4af",
  one: "31-20e3", two: "32-20e3", three: "33-20e3", four: "34-20e3", five: "35-20e3", white_circle: "26aa",
  sos: "1f198", stop_sign: "1f6d1", construction: "1f6a7", speech_balloon: "1f4ac", email: "1f4e7", phone: "260e",
  thread: "1f9f5", handshake: "1f91d", raised_hand: "270b", fountain_pen: "1f58b", lower_left_fountain_pen: "1f58b",
  fuelpump: "26fd", hammer_and_wrench: "1f6e0", page_facing_up: "1f4c4", inbox_tray: "1f4e5", outbox_tray: "1f4e4",
};

// [shape class, path over it]. `disc` is a filled circle, `tile` a filled rounded square, `bare` nothing.
const TICK = "M6.5 12.6l3.7 3.7 7.3-8.2";
const CROSS = "M8 8l8 8M16 8l-8 8";
const GLASS = "M7 4h10M7 20h10M8 4c0 5 3.6 5 3.6 8S8 15 8 20M16 4c0 5-3.6 5-3.6 8s3.6 3 3.6 8";
const DRAWN = {
  white_check_mark: ["tile green", TICK],
  heavy_check_mark: ["bare ink", TICK],
  ballot_box_with_check: ["tile blue", TICK],
  x: ["bare red", CROSS],
  negative_squared_cross_mark: ["tile red", CROSS],
  no_entry: ["disc red", "M7 12h10"],
  no_entry_sign: ["ring red", "M6.5 6.5l11 11"],
  warning: ["bare amber", "M12 4 21 20H3zM12 10v4.5M12 17.2v.1"],
  rotating_light: ["disc red", "M12 6.5v7M12 17v.1"],
  information_source: ["tile blue", "M12 11v6M12 7.4v.1"],
  hourglass_flowing_sand: ["bare amber", GLASS],
  hourglass: ["bare amber", GLASS],
  snowflake: ["bare blue", "M12 3v18M4.2 7.5l15.6 9M19.8 7.5l-15.6 9"],
  lock: ["bare amber", "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  unlock: ["bare amber", "M6 11h12v9H6zM8.5 11V7a3.5 3.5 0 0 1 6.6-1.6"],
  large_green_circle: ["disc green", ""],
  green_circle: ["disc green", ""],
  large_yellow_circle: ["disc amber", ""],
  large_orange_circle: ["disc amber", ""],
  red_circle: ["disc red", ""],
  large_blue_circle: ["disc blue", ""],
  black_circle: ["disc ink", ""],
  arrows_counterclockwise: ["bare blue", "M5 10a7.5 7.5 0 0 1 13.5-2M19 14a7.5 7.5 0 0 1-13.5 2M18.5 4v4h-4M5.5 20v-4h4"],
  stopwatch: ["ring ink", "M12 12V8M10 2.5h4"],
  alarm_clock: ["ring ink", "M12 12V8M12 12h3"],
  clock3: ["ring ink", "M12 12V7.5M12 12h3.5"],
  clock1: ["ring ink", "M12 12V7.5M12 12h3.5"],
};

export function isEmoji(name) {
  return Object.hasOwn(DRAWN, name) || Object.hasOwn(POINTS, name);
}

/** The sign for a known shortcode. */
export function emoji(name) {
  const label = `:${name}:`;
  if (Object.hasOwn(DRAWN, name)) return drawn(label, ...DRAWN[name]);
  const glyph = String.fromCodePoint(...POINTS[name].split("-").map((point) => parseInt(point, 16)));
  return h("span", { class: "emoji", role: "img", "aria-label": label, title: label }, glyph);
}

function drawn(label, shape, path) {
  const [form, tint] = shape.split(" ");
  return s(
    "svg",
    { class: `sign ${form} tint-${tint}`, viewBox: "0 0 24 24", role: "img", "aria-label": label },
    s("title", {}, label),
    form === "tile" ? s("rect", { x: 2, y: 2, width: 20, height: 20, rx: 5, class: "fill" }) : null,
    form === "disc" ? s("circle", { cx: 12, cy: 12, r: 9.5, class: "fill" }) : null,
    form === "ring" ? s("circle", { cx: 12, cy: 12, r: 8.5, class: "line" }) : null,
    path ? s("path", { d: path, class: "line" }) : null,
  );
}
