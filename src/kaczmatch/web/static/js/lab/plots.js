// Curves that grow, with their names at their ends; and the swipes as a strip.

import { byId, draw } from "../dom.js";

const LEFT = 34;
const RIGHT = 84;
const TOP = 8;
const BOTTOM = 24;
const HIGH = 220;
const [NARROWEST, WIDEST] = [260, 640]; // in units of the drawing: its letters keep their size on a phone

export class Plot {
  #frame = draw("g", { "aria-hidden": "true" });
  #curves = draw("g");
  #wide = 0;
  #drawn = () => {};

  constructor(what, total, [low, high]) {
    Object.assign(this, { what, total, low, high });
    this.svg = byId(what);
    this.svg.append(this.#frame, this.#curves);
    new ResizeObserver(() => this.#fit()).observe(this.svg);
    this.#fit();
  }

  x(swipes) {
    return LEFT + (swipes / this.total) * (this.#wide - LEFT - RIGHT);
  }

  y(value) {
    return TOP + ((this.high - Math.max(this.low, value)) / (this.high - this.low)) * (HIGH - TOP - BOTTOM);
  }

  draw(run, learners, swipes) {
    this.#drawn = () => this.#lines(run, learners, swipes);
    this.#drawn();
    byId(`${this.what}-words`).textContent = `One line per learner after ${swipes} swipes; the table below has the numbers.`;
  }

  #lines(run, learners, swipes) {
    const ends = [];
    const lines = learners.map((slug) => {
      const points = run.points(slug, this.what, swipes);
      const last = points.at(-1);
      if (last) ends.push({ slug, x: this.x(last[0]), y: this.y(last[1]) });
      return draw("path", { class: `curve ${slug}`, "data-points": points.length, d: points.map(([at, value], place) => `${place ? "L" : "M"}${this.x(at).toFixed(1)} ${this.y(value).toFixed(1)}`).join("") });
    });
    const dots = ends.map((end) => draw("circle", { class: end.slug, fill: "currentColor", cx: end.x, cy: end.y, r: 3.2 }));
    this.#curves.replaceChildren(...lines, ...dots, ...names(ends));
  }

  /** As wide as there is room. */
  #fit() {
    const wide = Math.min(WIDEST, Math.max(NARROWEST, Math.round(this.svg.clientWidth)));
    if (wide === this.#wide) return;
    this.#wide = wide;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${HIGH}`);
    this.#frame.replaceChildren(...this.#lattice(wide));
    this.#drawn();
  }

  #lattice(wide) {
    const parts = [];
    for (let value = this.low; value <= this.high + 1e-9; value += 0.2) {
      parts.push(draw("path", { class: "grid", d: `M${LEFT} ${this.y(value)}H${wide - RIGHT}` }), draw("text", { x: LEFT - 8, y: this.y(value) + 4, "text-anchor": "end" }, value.toFixed(1)));
    }
    for (let at = 0; at <= this.total; at += wide < 420 ? 320 : 128) parts.push(draw("text", { x: this.x(at), y: HIGH - 6, "text-anchor": "middle" }, at === this.total ? `${at} swipes` : String(at)));
    return parts;
  }
}

/** Names beside the ends of their lines, moved apart where they would overlap. */
function names(ends) {
  const gap = 14;
  const ordered = [...ends].sort((a, b) => a.y - b.y).map((end) => ({ ...end, at: end.y }));
  ordered.forEach((end, place) => {
    if (place) end.at = Math.max(end.at, ordered[place - 1].at + gap);
  });
  const over = (ordered.at(-1)?.at ?? 0) - (HIGH - BOTTOM + 4);
  if (over > 0) {
    ordered.at(-1).at -= over;
    for (let place = ordered.length - 2; place >= 0; place -= 1) ordered[place].at = Math.min(ordered[place].at, ordered[place + 1].at - gap);
  }
  return ordered.map((end) => draw("text", { class: `name ${end.slug}`, x: end.x + 8, y: end.at + 4 }, end.slug));
}

export function strip(run, swipes, total) {
  const canvas = byId("swipes");
  const pen = canvas.getContext("2d");
  const wide = canvas.width / total;
  const colour = (kind) => getComputedStyle(document.querySelector(`.mark.${kind}`)).backgroundColor;
  const [liked, passed, turned] = ["liked", "passed", "turned"].map(colour);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < swipes; at += 1) {
    pen.fillStyle = run.liked[at] ? liked : passed;
    pen.fillRect(at * wide, 0, wide * 0.8, canvas.height);
    if (!run.flipped[at]) continue;
    pen.fillStyle = turned;
    pen.fillRect(at * wide, canvas.height - 12, wide * 0.8, 12);
  }
}
