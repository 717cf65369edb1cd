// Curves that grow, with their names at their ends; and the swipes as a strip.

import { byId, draw } from "../dom.js";

const LEFT = 34;
const RIGHT = 84;
const TOP = 8;
const BOTTOM = 24;
const WIDE = 640;
const HIGH = 220;

export class Plot {
  constructor(what, total, [low, high]) {
    this.what = what;
    this.svg = byId(what);
    this.x = (swipes) => LEFT + (swipes / total) * (WIDE - LEFT - RIGHT);
    this.y = (value) => TOP + ((high - Math.max(low, value)) / (high - low)) * (HIGH - TOP - BOTTOM);
    this.curves = draw("g");
    this.svg.append(this.#frame(total, low, high), this.curves);
  }

  draw(run, learners, swipes) {
    const ends = [];
    const lines = learners.map((slug) => {
      const points = run.points(slug, this.what, swipes);
      const last = points.at(-1);
      if (last) ends.push({ slug, x: this.x(last[0]), y: this.y(last[1]) });
      return draw("path", { class: `curve ${slug}`, "data-points": points.length, d: points.map(([at, value], place) => `${place ? "L" : "M"}${this.x(at).toFixed(1)} ${this.y(value).toFixed(1)}`).join("") });
    });
    const dots = ends.map((end) => draw("circle", { class: end.slug, fill: "currentColor", cx: end.x, cy: end.y, r: 3.2 }));
    this.curves.replaceChildren(...lines, ...dots, ...names(ends));
    byId(`${this.what}-words`).textContent = `A line a learner after ${swipes} swipes; the table below has the numbers.`;
  }

  #frame(total, low, high) {
    const frame = draw("g", { "aria-hidden": "true" });
    for (let value = low; value <= high + 1e-9; value += 0.2) {
      frame.append(draw("path", { class: "grid", d: `M${LEFT} ${this.y(value)}H${WIDE - RIGHT}` }), draw("text", { x: LEFT - 8, y: this.y(value) + 4, "text-anchor": "end" }, value.toFixed(1)));
    }
    for (let at = 0; at <= total; at += 128) frame.append(draw("text", { x: this.x(at), y: HIGH - 6, "text-anchor": "middle" }, at === total ? `${at} swipes` : String(at)));
    return frame;
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
    if (!run.turned[at]) continue;
    pen.fillStyle = turned;
    pen.fillRect(at * wide, canvas.height - 12, wide * 0.8, 12);
  }
}
