// Figures in words and numbers; the charts beside them show the same.

import { byId, make } from "../dom.js";

const whole = (number) => number.toLocaleString();
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);

export function tiles(figures) {
  const last = figures.minutes.slice(-10);
  const rate = (what) => (last.reduce((sum, minute) => sum + minute[what], 0) / Math.max(last.length, 1)).toFixed(1);
  const shown = [
    [whole(figures.people), "people", `${whole(figures.paused)} paused`],
    [rate("swipes"), "swipes a minute", "over ten minutes"],
    [rate("decks"), "decks a minute", "over ten minutes"],
    [percent(figures.like_rate), "like rate", "of swipes in an hour"],
    [percent(figures.match_rate), "match rate", "of likes in an hour"],
    [whole(figures.matches), "matches", "in all"],
    [figures.learner, "learner in use", figures.prior === "" ? "" : `prior ${figures.prior.slice(0, 10)}`, "words"],
  ];
  byId("tiles").replaceChildren(
    ...shown.map(([figure, what, more, kind = ""]) => make("li", { class: "tile" }, make("strong", { class: kind }, figure), make("span", {}, what), make("span", {}, more))),
  );
  byId("reports-count").textContent = figures.open_reports || "";
}

/** What each chart shows, said. */
export function told(figures) {
  const sum = (what) => figures.minutes.reduce((all, minute) => all + minute[what], 0);
  const looked = `of the ${whole(figures.sample.people)} who swiped last`;
  const words = {
    minutes: `${whole(sum("swipes"))} swipes, ${whole(sum("likes"))} of them likes, and ${whole(sum("decks"))} decks in the last hour.`,
    policies: figures.policies.length ? `Most of all: ${why(figures.policies[0])} (${whole(figures.policies[0].decks)} decks).` : "No deck was dealt in the last hour.",
    stability: figures.stability.length ? `Median ${middle(figures.stability).toFixed(2)} over ${whole(figures.stability.length)} people ${looked}.` : "Nobody has finished two sessions yet.",
    conditions: figures.conditions.length ? `Median ${middle(figures.conditions).toFixed(0)} ${looked}; ${whole(figures.singular)} have none without damping.` : "Nobody has swiped eight times yet.",
    lorenz: figures.exposure_gini === null ? "Nobody was shown yet." : `Gini ${figures.exposure_gini.toFixed(2)}; the most shown 1 % get ${percent(figures.exposure_top)} of the last ${whole(figures.sample.cards)} cards.${tooFew(figures)}`,
  };
  for (const [name, said] of Object.entries(words)) byId(`told-${name}`).textContent = said;
}

/** A card goes to one person: where there are fewer cards than people, even the most equal way leaves most with none. */
function tooFew({ people, sample }) {
  return sample.cards < people ? ` With fewer cards than people it cannot be below ${(1 - sample.cards / people).toFixed(2)}.` : "";
}

export const why = (policy) => `${policy.sampler}: ${policy.reason}`;

function middle(values) {
  const ordered = [...values].sort((a, b) => a - b);
  const half = ordered.length >> 1;
  return ordered.length % 2 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}
