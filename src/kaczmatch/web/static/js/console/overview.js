// The overview in words and numbers; the charts beside them show the same.

import { byId, make } from "../dom.js";

const whole = (number) => number.toLocaleString();
const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);

export function showTiles(overview) {
  const last = overview.minutes.slice(-10);
  const rate = (what) => (last.reduce((sum, minute) => sum + minute[what], 0) / Math.max(last.length, 1)).toFixed(1);
  const shown = [
    [whole(overview.people), "people", `${whole(overview.paused)} paused`],
    [rate("swipes"), "swipes per minute", "over ten minutes"],
    [rate("decks"), "decks per minute", "over ten minutes"],
    [percent(overview.like_rate), "like rate", "of swipes in an hour"],
    [percent(overview.match_rate), "match rate", "of likes in an hour"],
    [whole(overview.matches), "matches", "in all"],
    [overview.learner, "learner in use", learned(overview), "words"],
    ...traits(overview.traits),
    ...webhooks(overview.webhooks),
  ];
  byId("tiles").replaceChildren(
    ...shown.map(([figure, what, more, kind = ""]) => make("li", { class: "tile" }, make("strong", { class: kind }, figure), make("span", {}, what), make("span", {}, more))),
  );
  byId("reports-count").textContent = overview.open_reports || "";
}

function learned({ prior, model_from, refit }) {
  const since = model_from === null ? "" : `, ${refit ? "fitted again" : "in use since"} ${new Date(model_from).toLocaleString()}`;
  return prior === "" ? "" : `prior ${prior.slice(0, 10)}${since}`;
}

/** A tile where the number of traits is chosen: which, why, and how much they explain. */
function traits(selection) {
  if (selection === null) return [];
  const tried = selection.tried.map((one) => `${one.traits}: ${one.log_loss.toFixed(4)}`).join(", ");
  const gain = selection.explained === null ? "" : `, ${percent(selection.explained)} less log-loss than with none`;
  return [[whole(selection.traits), "traits", tried ? `the fewest within a standard error of the best (${tried})${gain}` : "not fitted yet", "words"]];
}

/** A tile where a webhook has ever failed. */
function webhooks({ waiting, failed, last_error, last_error_at }) {
  if (last_error_at === null) return [];
  return [[whole(waiting), "webhooks to send again", `${whole(failed)} given up; ${last_error}, ${new Date(last_error_at).toLocaleString()}`]];
}

/** What each chart shows, in words. */
export function describeCharts(overview) {
  const sum = (what) => overview.minutes.reduce((all, minute) => all + minute[what], 0);
  const looked = `of the ${whole(overview.sample.people)} who swiped last`;
  const words = {
    minutes: `${whole(sum("swipes"))} swipes, ${whole(sum("likes"))} of them likes, and ${whole(sum("decks"))} decks in the last hour.`,
    policies: overview.policies.length ? `Most of all: ${why(overview.policies[0])} (${whole(overview.policies[0].decks)} decks).` : "No deck was dealt in the last hour.",
    stability: overview.stability.length ? `Median ${middle(overview.stability).toFixed(2)} over ${whole(overview.stability.length)} people ${looked}.` : "Nobody has finished two sessions yet.",
    conditions: overview.conditions.length ? `Median ${middle(overview.conditions).toFixed(0)} ${looked}; ${whole(overview.singular)} have none without damping.` : "Nobody has swiped eight times yet.",
    lorenz: overview.exposure_gini === null ? "Nobody was shown yet." : `Gini ${overview.exposure_gini.toFixed(2)}; the most shown 1 % get ${percent(overview.exposure_top)} of the last ${whole(overview.sample.cards)} cards.${tooFew(overview)}`,
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
