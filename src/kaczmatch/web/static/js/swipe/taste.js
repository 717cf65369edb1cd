// What was learned, as numbers: weights by tag, and how well they point the way of a secret taste.

/** Every weight of a preference, by term. */
export function weightsOf(preference) {
  return new Map([...preference.liked, ...preference.disliked].map((one) => [one.term, one]));
}

/** Whether a weight is spoken of as a taste: the sentences of the service begin there too. */
export const spoken = ({ confidence }) => (confidence ?? 1) >= 0.6;

/** The cosine of what was learned and what is true: 1 is the same direction, 0 none in common. */
export function alignment(preference, taste) {
  let dot = 0;
  let learned = 0;
  let hidden = 0;
  for (const { term, weight } of [...preference.liked, ...preference.disliked]) {
    dot += weight * (taste[term] ?? 0);
    learned += weight * weight;
  }
  for (const weight of Object.values(taste)) hidden += weight * weight;
  return learned && hidden ? dot / Math.sqrt(learned * hidden) : 0;
}

/** The tag that the last swipe said most about, and whether for or against; null where nothing moved. */
export function newest(before, after) {
  const [old, now] = [weightsOf(before), weightsOf(after)];
  let most = null;
  for (const term of new Set([...old.keys(), ...now.keys()])) {
    const moved = (now.get(term)?.weight ?? 0) - (old.get(term)?.weight ?? 0);
    if (Math.abs(moved) > Math.abs(most?.moved ?? 1e-6)) most = { term, moved };
  }
  return most;
}

/** What somebody with this taste makes of a person: a coin weighted by what they really like. */
export function answer(person, taste, chance = Math.random()) {
  const odds = person.tags.reduce((sum, tag) => sum + (taste[tag] ?? 0), -1);
  return chance < 1 / (1 + Math.exp(-odds)) ? "like" : "pass";
}

export const NOTHING = Object.freeze({ liked: [], disliked: [], sentences: ["It knows nothing about you yet: every like and every pass teaches it something."], clear: 0, terms: 0, model: 0, swipes: 0, certainty: 0 });
