// One run, as far as it was fetched, by learner.

import { Unreachable } from "../api.js";

const AHEAD = 128; // swipes per request
const TOTAL = 640;

export class Run {
  constructor(asked) {
    this.asked = asked;
    this.curves = new Map(); // slug: { alignment: [before the first, after the first, …], auc: [[swipes, auc], …] } and half the width of each one's interval
    this.liked = [];
    this.flipped = [];
  }

  /** Have so many swipes of these learners. */
  async upto(swipes, learners) {
    const wanted = Math.min(TOTAL, Math.ceil(Math.max(swipes, 1) / AHEAD) * AHEAD);
    for (let first = 0; first < wanted; first += AHEAD) {
      const missing = learners.filter((slug) => this.#swipes(slug) <= first);
      if (missing.length) this.#add(await this.#fetched(missing, first), first);
    }
  }

  /** How many swipes of a learner's curve are here. */
  #swipes(slug) {
    return Math.max(0, (this.curves.get(slug)?.alignment.length ?? 0) - 1);
  }

  async #fetched(learners, first) {
    const answer = await fetch("/lab/run", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...this.asked, learners, first, last: Math.min(TOTAL, first + AHEAD) }),
    }).catch(() => {
      throw new Unreachable();
    });
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    return answer.json();
  }

  #add(segment, first) {
    for (const [slug, curve] of Object.entries(segment.curves)) {
      if (this.#swipes(slug) !== first) continue; // another request was quicker
      const kept = this.curves.get(slug) ?? { alignment: [], auc: [], alignment_within: [], auc_within: [] };
      for (const name of Object.keys(kept)) kept[name].push(...curve[name]);
      this.curves.set(slug, kept);
    }
    if (this.liked.length === first) {
      this.liked.push(...segment.liked);
      this.flipped.push(...segment.flipped);
    }
  }

  likes(swipes) {
    return this.liked.slice(0, swipes).filter(Boolean).length;
  }

  /** Points of a curve after so many swipes. */
  points(slug, what, swipes) {
    const curve = this.curves.get(slug);
    if (!curve) return [];
    if (what === "auc") return curve.auc.filter(([place]) => place <= swipes);
    return curve.alignment.slice(0, swipes + 1).map((value, place) => [place, value]);
  }
  /** A curve after so many swipes as a chart takes it: with the interval of its mean, where it is one of many people. */
  series(slug, what, swipes) {
    const points = this.points(slug, what, swipes);
    const within = this.curves.get(slug)?.[`${what}_within`] ?? [];
    const band = within.length ? points.map(([x, y], place) => [x, y - within[place], y + within[place]]) : [];
    return { name: slug, kind: slug, points, band };
  }
}
