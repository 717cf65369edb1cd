// Tags for and against as bars from a line at zero, with whiskers of one standard deviation: long ones mean "not sure yet".

import { draw, icon, make } from "../dom.js";

const WIDTH = 200;
const HEIGHT = 18;
const LEAST_SPAN = 2; // so that the first bars are short: little is known

/** Where zero is: bars for go right, bars against go left. */
const zeroOf = (side) => (side === "for" ? 0.32 : 0.68) * WIDTH;

/** Shows weights in a list; rows of the same tag stay, so their bars grow and shrink. */
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
      fill(row, one, span, zeroOf(this.side));
      truth(row, one, taste);
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

function made(term, side) {
  const bar = draw("rect", { class: "bar", y: 4, height: HEIGHT - 8, rx: 3 });
  const whisker = draw("path", { class: "whisker" });
  const middle = draw("path", { class: "middle", d: `M${zeroOf(side)} 0V${HEIGHT}` });
  const words = make("span", { class: "unseen" });
  const sign = make("span", { class: "hidden-sign", "aria-hidden": "true" });
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" }, middle, bar, whisker);
  const item = make("li", { class: `weight ${side}` }, make("span", { class: "weight-name" }, term), picture, sign, words);
  return { item, bar, whisker, words, sign };
}

function fill({ bar, whisker }, { weight, spread }, span, zero) {
  const at = (value) => Math.max(3, Math.min(WIDTH - 3, zero + (value / span) * 0.66 * WIDTH));
  bar.setAttribute("x", Math.min(zero, at(weight)).toFixed(1));
  bar.setAttribute("width", Math.max(1, Math.abs(at(weight) - zero)).toFixed(1));
  const [low, high] = [at(weight - (spread ?? 0)).toFixed(1), at(weight + (spread ?? 0)).toFixed(1)];
  whisker.setAttribute("d", spread === null ? "" : `M${low} 9H${high}M${low} 5.5V12.5M${high} 5.5V12.5`);
}

/** In words for those who listen; and whether a simulated person really likes it. */
function truth({ words, sign }, { term, weight, confidence }, taste) {
  const side = Math.sign(taste?.[term] ?? 0);
  const really = taste ? ["really avoids it", "does not really care", "really likes it"][side + 1] : "";
  const sure = confidence === null ? "" : `, ${Math.round(100 * confidence)} % sure of the direction`;
  words.textContent = `: ${weight > 0 ? "for" : "against"}${sure}${really && `; ${really}`}`;
  sign.replaceChildren(...(taste && side ? [icon(side > 0 ? "like" : "pass")] : []));
  sign.className = `hidden-sign ${["against", "", "for"][side + 1]}`;
  sign.title = really;
}
