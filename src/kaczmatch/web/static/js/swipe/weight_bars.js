// Tags for and against: a dot where the best guess is, in a band as wide as the doubt. All are on one scale, and nothing is cut off.

import { draw, icon, make } from "../dom.js";

const WIDTH = 200;
const HEIGHT = 18;
const ZERO = WIDTH / 2;
const EDGE = 6; // room for a dot
const LEAST_SPAN = 1.5; // so that the first guesses are near the middle: little is known

/** Shows weights in a list; rows of the same tag stay, so their bands move. */
export class WeightBars {
  #rows = new Map();

  constructor(list, side) {
    this.list = list;
    this.side = side;
  }

  show(weights, span, taste) {
    const kept = new Map();
    const items = weights.map((one) => {
      const row = this.#rows.get(one.term) ?? made(one.term, this.side);
      kept.set(one.term, row);
      fill(row, one, span);
      tell(row, one, taste);
      return row.item;
    });
    this.#rows = kept;
    this.list.replaceChildren(...items);
  }
}

/** The largest weight that has to fit, doubt included. */
export const spanOf = (weights) => Math.max(LEAST_SPAN, ...weights.map((one) => Math.abs(one.weight) + (one.spread ?? 0)));

function made(term, side) {
  const band = draw("rect", { class: "band", y: 3, height: HEIGHT - 6, rx: 6 });
  const dot = draw("circle", { class: "guess", cy: HEIGHT / 2, r: 4 });
  const words = make("span", { class: "unseen" });
  const sign = make("span", { class: "hidden-sign", "aria-hidden": "true" });
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }, draw("path", { class: "middle", d: `M${ZERO} 0V${HEIGHT}` }), band, dot);
  return { item: make("li", { class: `weight ${side}` }, make("span", { class: "weight-name" }, term), picture, sign, words), band, dot, words, sign };
}

function fill({ band, dot }, { weight, spread }, span) {
  const at = (value) => ZERO + (value / span) * (ZERO - EDGE);
  const doubt = spread ?? 0;
  band.setAttribute("x", at(weight - doubt).toFixed(1));
  band.setAttribute("width", Math.max(1, at(weight + doubt) - at(weight - doubt)).toFixed(1));
  dot.setAttribute("cx", at(weight).toFixed(1));
}

/** In words for those who listen; and whether an invented person really likes it. */
function tell({ words, sign }, { term, weight, confidence }, taste) {
  const side = Math.sign(taste?.[term] ?? 0);
  const really = taste ? ["secretly avoided", "no secret taste for it", "secretly liked"][side + 1] : "";
  const sure = confidence === null ? "" : `, ${Math.round(100 * confidence)} % sure of the direction`;
  words.textContent = `: ${weight > 0 ? "for" : "against"}${sure}${really && `; ${really}`}`;
  sign.replaceChildren(...(side ? [icon(side > 0 ? "like" : "pass")] : []));
  sign.className = `hidden-sign ${["against", "", "for"][side + 1]}`;
  sign.title = really;
}
