// One run, as far as it was fetched, by learner.

import { Unreachable } from "../api.js";

const AHEAD = 128; // swipes per request
const TOTAL = 640;

export class Run {
  constructor(asked) {
    this.asked = asked;
    this.curves = new Map(); // slug: { alignment: [before the first, after the first, …], auc: [[swipes, auc], …] }
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
      const kept = this.curves.get(slug) ?? { alignment: [], auc: [] };
      kept.alignment.push(...curve.alignment);
      kept.auc.push(...curve.auc);
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
}
