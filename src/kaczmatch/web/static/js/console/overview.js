// Matching in words, numbers and charts, and the researchers' instruments.

import { Chart } from "../chart.js";
import { byId, make } from "../dom.js";

export const whole = (number) => number.toLocaleString();
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);
const count = (value) => whole(Math.round(value));

const charts = {
  minutes: new Chart(byId("chart-minutes"), { title: "Traffic per minute", time: true, least: [0, 1], high: 200, y: (value) => (value < 10 && value % 1 ? value.toFixed(1) : count(value)) }),
  lorenz: new Chart(byId("chart-lorenz"), { title: "Who is shown", xTitle: "of people", domain: [0, 1], least: [0, 1], high: 200, x: percent, y: percent }),
  stability: new Chart(byId("chart-stability"), { title: "people", xTitle: "Δs", domain: [-1, 1], least: [0], high: 200, x: (value) => value.toFixed(1), y: count }),
  conditions: new Chart(byId("chart-conditions"), { title: "people", xTitle: "log₁₀ κ", least: [0], high: 200, x: (value) => value.toFixed(1), y: count }),
};

/** Figures with what they are of; the fourth is a class. */
export function tiles(id, shown) {
  byId(id).replaceChildren(...shown.map(([figure, what, more, kind = ""]) => make("li", { class: `tile ${kind === "alarm" ? "alarm" : ""}` }, make("strong", { class: kind === "words" ? "words" : "" }, figure), make("span", {}, what), make("span", {}, more))));
}

export function matching(overview) {
  const last = overview.minutes.slice(-10);
  const rate = (what) => (last.reduce((sum, minute) => sum + minute[what], 0) / Math.max(last.length, 1)).toFixed(1);
  tiles("tiles", [
    [whole(overview.people), "people", `${whole(overview.paused)} paused`],
    [rate("swipes"), "swipes per minute", "over ten minutes"],
    [rate("decks"), "decks per minute", "over ten minutes"],
    [percent(overview.like_rate), "like rate", "of swipes in an hour"],
    [percent(overview.match_rate), "match rate", "of likes in an hour"],
    [whole(overview.matches), "matches", "in all"],
    [overview.exposure_gini === null ? "–" : overview.exposure_gini.toFixed(2), "Gini of exposure", overview.exposure_gini === null ? "nobody was shown yet" : `the lowest it could be: ${overview.exposure_gini_lowest.toFixed(2)}`],
    [overview.learner, "learner in use", learned(overview), "words"],
    ...(overview.traits === null ? [] : [[overview.traits ? "yes" : "no", "traits", overview.traits ? "they pay, as the last fit found" : "not fitted yet, or they do not pay", "words"]]),
  ]);
  byId("reports-count").textContent = overview.open_reports || "";
  const decks = overview.policies.reduce((sum, one) => sum + one.decks, 0);
  byId("told-policies").textContent = decks ? `${whole(decks)} decks of the last hour by what was decided.` : "No deck was dealt in the last hour.";
  byId("policies").replaceChildren(...overview.policies.map((one) => make("tr", {}, ...[one.policy, one.sampler, one.reason, whole(one.decks), percent(one.decks / decks)].map((cell) => make("td", {}, cell)))));
  curves(overview);
}

function curves(overview) {
  const at = (what) => overview.minutes.map((minute) => [Date.parse(minute.at), minute[what]]);
  const sum = (what) => overview.minutes.reduce((all, minute) => all + minute[what], 0);
  const hundredths = Math.max(1, overview.lorenz.length - 1);
  const looked = `of the ${whole(overview.sample.people)} who swiped last`;
  charts.minutes.draw([["swipes", "plain"], ["likes", "second-line"], ["decks", "first-line"]].map(([name, kind]) => ({ name, kind, points: at(name) })));
  charts.lorenz.draw(overview.lorenz.length ? [{ name: "shown", kind: "first-line", points: overview.lorenz.map((cards, place) => [place / hundredths, cards]) }, { name: "", kind: "plain dashed", points: overview.lorenz.map((_, place) => [place / hundredths, place / hundredths]) }] : []);
  charts.stability.draw([bars(overview.stability, 0.1, -1, 1)]);
  charts.conditions.draw([bars(overview.conditions.map(Math.log10), 0.1)]);
  const words = {
    minutes: `${whole(sum("swipes"))} swipes, ${whole(sum("likes"))} of them likes, and ${whole(sum("decks"))} decks in the last hour.`,
    stability: overview.stability.length ? `Median ${middle(overview.stability).toFixed(2)} over ${whole(overview.stability.length)} people ${looked}.` : "Nobody has finished two sessions yet.",
    conditions: overview.conditions.length ? `Median ${middle(overview.conditions).toFixed(0)} ${looked}; ${whole(overview.singular)} have none without damping.` : "Nobody has swiped eight times yet.",
    lorenz: overview.exposure_gini === null ? "Nobody was shown yet." : `Gini ${overview.exposure_gini.toFixed(2)}; the lowest it could be with so many cards for so many people is ${overview.exposure_gini_lowest.toFixed(2)}. The most shown 1 % get ${percent(overview.exposure_top)} of the last ${whole(overview.sample.cards)} cards.`,
  };
  for (const [name, said] of Object.entries(words)) byId(`told-${name}`).textContent = said;
}

/** How many values lie in each bin of a width. */
function bars(values, width, low = Math.min(...values), high = Math.max(...values)) {
  const bins = new Map();
  const bin = (value) => Math.floor(Math.min(value, high - 1e-9) / width + 1e-9);
  if (values.length) for (let place = bin(low); place <= bin(high); place += 1) bins.set(place, 0);
  for (const value of values) bins.set(bin(value), (bins.get(bin(value)) ?? 0) + 1);
  return { name: "", kind: "second-line", bars: width, points: values.length ? [...bins].sort(([a], [b]) => a - b).map(([place, number]) => [Number((place * width).toFixed(6)), number]) : [] };
}

function learned({ prior, model_from, refit }) {
  const since = model_from === null ? "" : `, ${refit ? "fitted again" : "in use since"} ${new Date(model_from).toLocaleString()}`;
  return prior === "" ? "" : `prior ${prior.slice(0, 10)}${since}`;
}

function middle(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}
