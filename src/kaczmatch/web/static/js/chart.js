// Lines, bands and bars as SVG. Axes fit what is drawn; values are read with the pointer or the arrow keys; CSV and PNG.

import { draw, make } from "./dom.js";
import { fitted, ticks, timeTicks, timeWords } from "./scales.js";

const [TOP, BOTTOM, LETTER] = [14, 26, 6.9]; // LETTER: the width of one, about
const GAP = 15; // between two names

/** A chart in an <svg>. `series` are { name, kind, points: [[x, y], …], band: [[x, low, high], …], bars }. */
export class Chart {
  #shown = { series: [], marks: [] };
  #cursor = null;
  #size = null;
  #range = null;

  /** `least`: what the y axis holds in any case. `grows`: the axis never shrinks. `x` and `y` write values. */
  constructor(svg, { title, xTitle = "", domain = null, least = [], time = false, high = 220, x = String, y = (value) => value.toFixed(2), grows = false }) {
    Object.assign(this, { svg, title, xTitle, domain, least, time, high, x, y, grows });
    this.tip = make("div", { class: "chart-tip", hidden: true });
    svg.after(this.tip);
    for (const [key, value] of Object.entries({ role: "slider", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 0, "aria-valuenow": 0, "aria-valuetext": "nothing yet" })) svg.setAttribute(key, value);
    svg.classList.add("chart-plot");
    svg.addEventListener("pointermove", (event) => this.#point(event));
    svg.addEventListener("pointerleave", () => this.#put(null));
    svg.addEventListener("blur", () => this.#put(null));
    svg.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#size?.wide !== this.#wide() && this.#paint()).observe(svg);
  }

  draw(series, { marks = [], domain = this.domain } = {}) {
    this.#shown = { series: series.filter((one) => one.points.length), marks };
    this.domain = domain;
    this.#paint();
  }

  /** The axes fit again what is drawn next. */
  forget() {
    this.#range = null;
  }

  #wide() {
    return Math.max(240, Math.round(this.svg.clientWidth));
  }

  #paint() {
    const { series, marks } = this.#shown;
    this.#size = { wide: this.#wide(), xs: [] };
    this.svg.replaceChildren();
    if (!series.length && !this.domain) return this.#hide();
    const { wide } = this.#size;
    const xs = series.flatMap((one) => one.points.map(([x]) => x));
    const ends = series.flatMap((one) => one.points.map(([x]) => x + (one.bars ?? 0)));
    const [first, last] = this.domain ?? [Math.min(...xs), Math.max(...ends)];
    const ys = series.flatMap((one) => [...one.points.map(([, y]) => y), ...(one.band ?? []).flatMap(([, low, high]) => [low, high])]);
    this.#range = fitted(ys, [...this.least, ...(this.grows && this.#range ? this.#range : [])], 5);
    const [low, high] = this.#range;
    const rows = ticks(low, high, 5);
    const left = 10 + LETTER * Math.max(...rows.map((row) => this.y(row).length));
    const named = series.filter((one) => one.name && !one.bars);
    const right = named.length ? 18 + LETTER * 1.08 * Math.max(...named.map((one) => one.name.length)) : 12;
    const inner = [wide - left - right, this.high - TOP - BOTTOM];
    this.#size = { wide, left, right, xs: [...new Set(xs)].sort((a, b) => a - b) };
    this.px = (x) => left + (last === first ? 0 : ((x - first) / (last - first)) * inner[0]);
    this.py = (y) => TOP + ((high - y) / (high - low || 1)) * inner[1];
    const most = Math.max(4, Math.floor(inner[0] / 84));
    const columns = this.time ? timeTicks(first, last, most) : ticks(first, last, most);
    const text = (x, y, anchor, words, kind = "") => draw("text", { x, y, class: kind, "text-anchor": anchor }, words);
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${this.high}`);
    this.svg.setAttribute("aria-valuemax", String(Math.max(0, this.#size.xs.length - 1)));
    this.rule = draw("path", { class: "chart-rule" });
    this.dots = draw("g");
    this.svg.replaceChildren(
      ...rows.flatMap((row) => [draw("path", { class: "grid", d: `M${left} ${this.py(row)}H${wide - right}` }), text(left - 7, this.py(row) + 4, "end", this.y(row))]),
      ...columns.map((at, place) => text(this.px(at), this.high - 7, "middle", this.time ? timeWords(at, last - first) : place === columns.length - 1 && this.xTitle ? `${this.x(at)} ${this.xTitle}` : this.x(at))),
      ...series.flatMap((one) => this.#series(one)),
      ...marks.filter(({ at }) => at >= first && at <= last).flatMap((mark) => this.#mark(mark)),
      ...this.#names(named),
      this.rule,
      this.dots,
    );
    this.#put(this.#cursor);
  }

  #series(one) {
    const at = ([x, y]) => `${this.px(x).toFixed(1)} ${this.py(y).toFixed(1)}`;
    const line = (points) => points.map((point, place) => `${place ? "L" : "M"}${at(point)}`).join("");
    if (one.bars) return one.points.map(([x, y]) => draw("path", { class: `bar ${one.kind}`, d: `M${at([x, 0])}V${this.py(y).toFixed(1)}H${this.px(x + one.bars).toFixed(1)}V${this.py(0).toFixed(1)}Z` }));
    const band = one.band?.length ? [draw("path", { class: `band ${one.kind}`, d: `${line(one.band.map(([x, , high]) => [x, high]))}L${line([...one.band].reverse().map(([x, low]) => [x, low])).slice(1)}Z` })] : [];
    const points = one.points.filter(([, y]) => Number.isFinite(y));
    const end = points.at(-1);
    return [...band, draw("path", { class: `curve ${one.kind}`, "data-points": points.length, d: this.#broken(one.points, at) }), ...(end && one.name ? [draw("circle", { class: `end ${one.kind}`, cx: this.px(end[0]), cy: this.py(end[1]), r: 3.2 })] : [])];
  }

  /** A line with gaps where there is no value. */
  #broken(points, at) {
    let open = false;
    return points
      .map((point) => {
        if (!Number.isFinite(point[1])) return (open = false) || "";
        const part = open ? `L${at(point)}` : `M${at(point)}h0`; // a value between two gaps is a dot
        open = true;
        return part;
      })
      .join("");
  }

  /** Names beside the ends of their lines; where they are moved apart, a thread leads back to the end. */
  #names(series) {
    const ends = series.flatMap((one) => {
      const end = one.points.filter(([, y]) => Number.isFinite(y)).at(-1);
      return end ? [{ one, x: this.px(end[0]), y: this.py(end[1]) }] : [];
    });
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((end, place) => (end.at = Math.max(end.y, TOP - 4, place ? ends[place - 1].at + GAP : 0)));
    const lowest = this.high - BOTTOM + 2;
    for (let place = ends.length - 1; place >= 0; place -= 1) ends[place].at = Math.min(ends[place].at, lowest - (ends.length - 1 - place) * GAP);
    return ends.flatMap(({ one, x, y, at }) => [
      draw("path", { class: `thread ${one.kind}`, d: `M${x + 4} ${y.toFixed(1)}L${x + 11} ${at.toFixed(1)}` }),
      draw("text", { class: `name ${one.kind}`, x: x + 13, y: at + 4 }, one.name),
    ]);
  }

  #mark({ at, label, kind }) {
    const x = this.px(at).toFixed(1);
    return [draw("path", { class: `mark-line ${kind}`, d: `M${x} ${TOP - 6}V${this.high - BOTTOM}` }), draw("path", { class: `mark-head ${kind}`, d: `M${x} ${TOP - 1}l-5 -9h10Z` }, draw("title", {}, label))];
  }

  #point(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.#size.wide;
    const near = this.#size.xs.reduce((best, one, place) => (Math.abs(this.px(one) - x) < Math.abs(this.px(this.#size.xs[best]) - x) ? place : best), 0);
    this.#put(this.#size.xs.length ? near : null);
  }

  #key(event) {
    const last = this.#size.xs.length - 1;
    const from = this.#cursor ?? last + 1;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, ArrowDown: from - 1, ArrowUp: from + 1, PageDown: from - 10, PageUp: from + 10, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#put(to === null ? null : Math.min(last, Math.max(0, to)));
  }

  #hide() {
    this.#cursor = null;
    this.tip.hidden = true;
  }

  /** Show the values at one place of the x axis, or none. */
  #put(place) {
    if (!this.#size?.xs.length) return this.#hide();
    const x = place === null ? undefined : this.#size.xs[place];
    this.#cursor = x === undefined ? null : place;
    this.tip.hidden = this.#cursor === null;
    this.rule.setAttribute("d", this.#cursor === null ? "" : `M${this.px(x).toFixed(1)} ${TOP}V${this.high - BOTTOM}`);
    this.dots.replaceChildren();
    if (this.#cursor === null) return;
    const values = this.#values(x);
    const where = this.time ? new Date(x).toLocaleString([], { weekday: "short", hour: "2-digit", minute: "2-digit" }) : `${this.x(x)} ${this.xTitle}`;
    const near = this.#shown.marks.filter((mark) => Math.abs(this.px(mark.at) - this.px(x)) < 8).map((mark) => mark.label);
    this.dots.append(...values.filter(({ one }) => !one.bars).map(({ one, y }) => draw("circle", { class: `end ${one.kind}`, cx: this.px(x), cy: this.py(y), r: 4 })));
    this.tip.replaceChildren(
      make("strong", {}, where),
      ...values.map(({ one, y, band }) => make("span", {}, make("i", { class: `key ${one.kind}` }), `${one.name || this.title} ${this.y(y)}${band ? ` (${this.y(band[0])} to ${this.y(band[1])})` : ""}`)),
      ...near.map((label) => make("em", {}, label)),
    );
    const scale = this.svg.clientWidth / this.#size.wide;
    const beyond = this.px(x) > this.#size.wide / 2;
    this.tip.style.left = beyond ? "auto" : `${this.px(x) * scale + 12}px`;
    this.tip.style.right = beyond ? `${(this.#size.wide - this.px(x)) * scale + 12}px` : "auto";
    this.tip.style.top = `${this.svg.offsetTop + TOP}px`;
    this.svg.setAttribute("aria-valuenow", String(this.#cursor));
    this.svg.setAttribute("aria-valuetext", [where, ...values.map(({ one, y }) => `${one.name || this.title} ${this.y(y)}`), ...near].join(", "));
  }

  /** What each series has at x, the largest first. */
  #values(x) {
    const found = this.#shown.series.map((one) => ({ one, y: one.points.find(([at]) => at === x)?.[1], band: one.band?.find(([at]) => at === x)?.slice(1) }));
    return found.filter(({ y }) => Number.isFinite(y)).sort((a, b) => b.y - a.y);
  }

  /** All that is drawn, one line per place of the x axis. */
  csv() {
    const { series } = this.#shown;
    const cell = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
    const rows = this.#size.xs.map((x) => [this.time ? new Date(x).toISOString() : x, ...series.flatMap((one) => [one.points.find(([at]) => at === x)?.[1], ...(one.band?.length ? one.band.find(([at]) => at === x)?.slice(1) ?? ["", ""] : [])])]);
    const head = [this.xTitle || "at", ...series.flatMap((one) => [one.name || this.title, ...(one.band?.length ? [`${one.name} low`, `${one.name} high`] : [])])];
    return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }

  /** The chart as it looks now, as a picture of twice its size. */
  png() {
    const [scale, canvas] = [2, document.createElement("canvas")];
    [canvas.width, canvas.height] = [this.#size.wide * scale, (this.high + 26) * scale];
    const pen = canvas.getContext("2d");
    const page = getComputedStyle(document.documentElement);
    pen.scale(scale, scale);
    pen.fillStyle = getComputedStyle(this.svg.closest(".panel") ?? document.body).backgroundColor;
    pen.fillRect(0, 0, this.#size.wide, this.high + 26);
    pen.fillStyle = page.color;
    pen.font = `650 15px ${getComputedStyle(this.svg).fontFamily}`;
    pen.fillText(this.title, 8, 18);
    pen.translate(0, 26);
    for (const part of this.svg.querySelectorAll("path, circle, text")) paint(pen, part);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}

/** One part of a drawing on a canvas, as the page shows it. */
function paint(pen, part) {
  const look = getComputedStyle(part);
  pen.globalAlpha = Number(look.opacity);
  pen.fillStyle = look.fill;
  pen.strokeStyle = look.stroke;
  pen.lineWidth = Number.parseFloat(look.strokeWidth);
  pen.setLineDash(look.strokeDasharray === "none" ? [] : look.strokeDasharray.split(",").map(Number.parseFloat));
  if (part.tagName === "text") {
    pen.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
    pen.textAlign = { middle: "center", end: "right" }[part.getAttribute("text-anchor")] ?? "left";
    pen.fillText(part.textContent, Number(part.getAttribute("x")), Number(part.getAttribute("y")));
    return;
  }
  const shape = new Path2D(part.tagName === "path" ? part.getAttribute("d") : undefined);
  if (part.tagName === "circle") shape.arc(Number(part.getAttribute("cx")), Number(part.getAttribute("cy")), Number(part.getAttribute("r")), 0, 2 * Math.PI);
  pen.globalAlpha = Number(look.opacity) * Number(look.fillOpacity);
  if (look.fill !== "none") pen.fill(shape);
  pen.globalAlpha = Number(look.opacity) * Number(look.strokeOpacity);
  if (look.stroke !== "none") pen.stroke(shape);
}

/** Offer a file. */
export function save(name, content) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: "text/csv" }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
