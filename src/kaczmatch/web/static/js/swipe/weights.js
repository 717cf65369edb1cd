// Tags for and against as bars from a middle line, with whiskers of one standard deviation: long ones mean "not sure yet".

import { draw, make } from "../dom.js";

const WIDTH = 200;
const HEIGHT = 18;
const MIDDLE = WIDTH / 2;
const LEAST_SPAN = 2.4; // so that the first bars are short: little is known

/** Shows `preference` in a list; rows of the same tag stay, so their bars grow and shrink. */
export class Weights {
  #rows = new Map();

  constructor(list, side) {
    this.list = list;
    this.side = side;
  }

  show(weights, span, taste) {
    const kept = new Map();
    const items = weights.map((one) => {
      const row = this.#rows.get(one.name) ?? made(one.name, this.side);
      kept.set(one.name, row);
      fill(row, one, span, taste);
      return row.item;
    });
    this.#rows = kept;
    this.list.replaceChildren(...items);
  }
}

/** The largest weight that fits the picture. */
export function spanOf(preference) {
  const ends = [...preference.liked.slice(0, 6), ...preference.disliked.slice(0, 6)].map((one) => Math.abs(one.weight) + (one.spread ?? 0));
  return Math.max(LEAST_SPAN, ...ends);
}

function made(name, side) {
  const bar = draw("rect", { class: "bar", y: 4, height: HEIGHT - 8, rx: 3 });
  const whisker = draw("path", { class: "whisker" });
  const middle = draw("path", { class: "middle", d: `M${MIDDLE} 0V${HEIGHT}` });
  const words = make("span", { class: "unseen" });
  const sign = make("span", { class: "hidden-sign", "aria-hidden": "true" });
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, middle, bar, whisker);
  const item = make("li", { class: `weight ${side}` }, make("span", { class: "weight-name" }, name), picture, sign, words);
  return { item, bar, whisker, words, sign };
}

function fill({ bar, whisker, words, sign }, { name, weight, spread, confidence }, span, taste) {
  const at = (value) => MIDDLE + (Math.max(-span, Math.min(span, value)) / span) * (MIDDLE - 4);
  bar.setAttribute("x", Math.min(MIDDLE, at(weight)).toFixed(1));
  bar.setAttribute("width", Math.max(1, Math.abs(at(weight) - MIDDLE)).toFixed(1));
  const [low, high] = [at(weight - (spread ?? 0)), at(weight + (spread ?? 0))];
  whisker.setAttribute("d", spread === null ? "" : `M${low} 9H${high}M${low} 5.5V12.5M${high} 5.5V12.5`);
  const sure = confidence === null ? "" : `, ${Math.round(100 * confidence)} % sure of the direction`;
  const truth = taste ? (taste[name] > 0 ? "really likes it" : taste[name] < 0 ? "really avoids it" : "does not really care") : "";
  words.textContent = `: ${weight > 0 ? "for" : "against"}${sure}${truth && `; ${truth}`}`;
  sign.textContent = taste ? (taste[name] > 0 ? "♥" : taste[name] < 0 ? "✕" : "·") : "";
  sign.className = `hidden-sign ${taste ? (taste[name] > 0 ? "for" : taste[name] < 0 ? "against" : "") : ""}`;
  sign.title = truth;
}
