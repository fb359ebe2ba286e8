// The `data_visualization` block as SVG: pie, bar, line and area, each with the same numbers as a table for readers.

import { h, s, uid } from "../dom/dom.js";

const WIDTH = 560;
const HEIGHT = 230;
const LEFT = 58;
const RIGHT = 14;
const TOP = 14;
const SERIES = 6;

export function chart(block) {
  const data = block.chart ?? {};
  const draw = { pie, bar: axes, line: axes, area: axes }[data.type];
  if (!draw) return null;
  const [graphic, legend] = draw(data, block.title);
  return h(
    "figure",
    { class: "chart" },
    h("figcaption", {}, block.title),
    graphic,
    legend.length > 1 || data.type === "pie" ? h("ul", { class: "legend" }, legend.map(key)) : null,
    h("div", { class: "visually-hidden" }, numbers(data, block.title)),
  );
}

function key([name, index, extra]) {
  return h("li", {}, h("span", { class: `key series-${index % SERIES}` }), name, extra ? h("b", {}, extra) : null);
}

function frame(title, description, ...children) {
  const [titleId, descId] = [uid("chart"), uid("chart")];
  return s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-labelledby": `${titleId} ${descId}` },
    s("title", { id: titleId }, title),
    s("desc", { id: descId }, description),
    ...children,
  );
}

function compact(value) {
  return new Intl.NumberFormat(undefined, { notation: Math.abs(value) >= 10_000 ? "compact" : "standard", maximumFractionDigits: 2 }).format(value);
}

function pie(data, title) {
  const segments = data.segments ?? [];
  const total = segments.reduce((sum, segment) => sum + segment.value, 0) || 1;
  const [cx, cy, radius] = [WIDTH / 2, HEIGHT / 2, HEIGHT / 2 - 12];
  let turn = -Math.PI / 2;
  const slices = segments.map((segment, index) => {
    const from = turn;
    turn += (segment.value / total) * 2 * Math.PI;
    return slice(cx, cy, radius, from, turn, index, `${segment.label}: ${compact(segment.value)}`);
  });
  const words = segments.map((segment) => `${segment.label} ${compact(segment.value)}`).join(", ");
  const legend = segments.map((segment, index) => [segment.label, index, `${((100 * segment.value) / total).toFixed(0)}%`]);
  return [frame(title, `Pie chart. ${words}.`, slices, s("circle", { cx, cy, r: radius * 0.55, class: "hole" })), legend];
}

function slice(cx, cy, radius, from, to, index, label) {
  const shape = { class: `area series-${index % SERIES}` };
  if (to - from >= 2 * Math.PI - 1e-6) return s("circle", { ...shape, cx, cy, r: radius }, s("title", {}, label));
  const point = (angle) => `${cx + radius * Math.cos(angle)} ${cy + radius * Math.sin(angle)}`;
  const large = to - from > Math.PI ? 1 : 0;
  const d = `M${cx} ${cy}L${point(from)}A${radius} ${radius} 0 ${large} 1 ${point(to)}Z`;
  return s("path", { ...shape, d }, s("title", {}, label));
}

/** A round step so that about four lines span the values. */
function step(span) {
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
}

function scale(series) {
  const values = series.flatMap((each) => each.data.map((point) => point.value));
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const size = step(high - low || 1);
  const [bottom, top] = [Math.floor(low / size) * size, Math.ceil(high / size) * size || size];
  const ticks = [];
  for (let tick = bottom; tick <= top + size / 2; tick += size) ticks.push(Number(tick.toPrecision(12)));
  return { bottom, top, ticks };
}

function axes(data, title) {
  const series = data.series ?? [];
  const config = data.axis_config ?? {};
  const categories = config.categories ?? series[0]?.data.map((point) => point.label) ?? [];
  const floor = HEIGHT - (config.x_label ? 44 : 28);
  const { bottom, top, ticks } = scale(series);
  const plot = {
    categories, floor, bottom, top,
    y: (value) => floor - ((value - bottom) / (top - bottom)) * (floor - TOP),
    band: (WIDTH - LEFT - RIGHT) / Math.max(1, categories.length),
  };
  const marks = series.map((each, index) => (data.type === "bar" ? bars : curve)(each, index, series.length, plot, data.type));
  const words = series.map((each) => `${each.name}: ${each.data.map((p) => `${p.label} ${compact(p.value)}`).join(", ")}`);
  const graphic = frame(
    title,
    `${data.type[0].toUpperCase()}${data.type.slice(1)} chart. ${words.join("; ")}.`,
    ticks.map((tick) => gridLine(tick, plot)),
    categories.map((name, index) => categoryLabel(name, index, plot)),
    config.x_label ? s("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, class: "axis middle" }, config.x_label) : null,
    config.y_label ? s("text", { class: "axis middle", transform: `translate(13 ${(TOP + floor) / 2}) rotate(-90)` }, config.y_label) : null,
    marks,
  );
  return [graphic, series.map((each, index) => [each.name, index, null])];
}

function gridLine(tick, plot) {
  const y = plot.y(tick);
  return [
    s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y, class: tick === 0 ? "grid zero" : "grid" }),
    s("text", { x: LEFT - 8, y: y + 4, class: "axis end" }, compact(tick)),
  ];
}

function categoryLabel(name, index, plot) {
  // More than a dozen names would run into each other.
  const every = Math.ceil(plot.categories.length / 9);
  if (index % every !== 0) return null;
  return s("text", { x: LEFT + plot.band * (index + 0.5), y: plot.floor + 18, class: "axis middle" }, name);
}

function bars(each, index, count, plot) {
  const width = Math.min(46, (plot.band * 0.7) / count);
  return each.data.map((point, at) => {
    const x = LEFT + plot.band * (at + 0.5) - (width * count) / 2 + width * index;
    const [from, to] = [plot.y(Math.max(0, point.value)), plot.y(Math.min(0, point.value))];
    const box = { x: x + 1, y: from, width: width - 2, height: Math.max(1, to - from), rx: 2.5 };
    return s("rect", { ...box, class: `area series-${index % SERIES}` }, s("title", {}, `${each.name}, ${point.label}: ${compact(point.value)}`));
  });
}

function curve(each, index, _count, plot, type) {
  const points = each.data.map((point, at) => [LEFT + plot.band * (at + 0.5), plot.y(point.value), point]);
  const path = points.map(([x, y], at) => `${at ? "L" : "M"}${x} ${y}`).join("");
  const tint = `series-${index % SERIES}`;
  const under = `${path}L${points.at(-1)?.[0]} ${plot.y(0)}L${points[0]?.[0]} ${plot.y(0)}Z`;
  return [
    type === "area" && points.length ? s("path", { d: under, class: `area soft ${tint}` }) : null,
    s("path", { d: path, class: `curve ${tint}` }),
    points.map(([cx, cy, point]) =>
      s("circle", { cx, cy, r: 3.4, class: `area ${tint}` }, s("title", {}, `${each.name}, ${point.label}: ${compact(point.value)}`)),
    ),
  ];
}

function numbers(data, title) {
  const rows = data.type === "pie"
    ? (data.segments ?? []).map((segment) => [segment.label, segment.value])
    : (data.series?.[0]?.data ?? []).map((point, at) => [point.label, ...data.series.map((each) => each.data[at]?.value ?? "")]);
  const head = data.type === "pie" ? ["Label", "Value"] : ["Label", ...(data.series ?? []).map((each) => each.name)];
  return h(
    "table",
    {},
    h("caption", {}, title),
    h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, String(cell)))))),
  );
}
