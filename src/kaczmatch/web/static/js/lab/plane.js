// Lines, the way of a point between them, and where they meet.

import { byId, draw } from "../dom.js";

const SIDE = 400;
const REACH = 2.2; // the picture shows as much on each side of 0
const FAR = 10;
const STEPS_SHOWN = 40;

const at = ([x, y]) => [(SIDE / 2) * (1 + x / REACH), (SIDE / 2) * (1 - y / REACH)];
const written = (point) => at(point).map((value) => value.toFixed(1)).join(" ");

export function picture(rows, target, way, used) {
  const lines = rows.map((row, place) => line(row, place, used.includes(place)));
  const shown = way.slice(-STEPS_SHOWN - 1);
  const [x, y] = at(way.at(-1));
  const [tx, ty] = at(target);
  byId("plane").replaceChildren(
    ...lines,
    draw("path", { class: "way", d: shown.map((point, place) => `${place ? "L" : "M"}${written(point)}`).join("") }),
    ...shown.slice(0, -1).map((point) => draw("circle", { class: "stop", cx: at(point)[0], cy: at(point)[1], r: 2.8 })),
    draw("path", { class: "goal", d: `M${tx - 7} ${ty}h14M${tx} ${ty - 7}v14` }),
    draw("circle", { class: "here", cx: x, cy: y, r: 6, "data-x": way.at(-1)[0], "data-y": way.at(-1)[1] }),
  );
}

/** The line a·x = b through its foot, with the number of the equation near where it leaves the picture. */
function line({ a, b }, place, now) {
  const squared = a[0] * a[0] + a[1] * a[1];
  const foot = [(b * a[0]) / squared, (b * a[1]) / squared];
  const on = [-a[1], a[0]].map((value) => value / Math.sqrt(squared));
  const point = (way) => [foot[0] + way * on[0], foot[1] + way * on[1]];
  let way = 0;
  while (point(way).every((value) => Math.abs(value) < 0.9 * REACH) && way < FAR) way += 0.05;
  const [x, y] = at(point(way));
  return draw(
    "g",
    { class: now ? "equation now" : "equation" },
    draw("path", { d: `M${written(point(-FAR))}L${written(point(FAR))}` }),
    draw("circle", { cx: x, cy: y, r: 12 }),
    draw("text", { x, y: y + 5, "text-anchor": "middle" }, String(place + 1)),
  );
}
