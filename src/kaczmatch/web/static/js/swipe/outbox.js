// Decisions that the service has not acknowledged yet, in order. They survive a reload of the page and are sent under the same
// ids until the service answers. One id has one effect there, so nothing is doubled or lost.

import { Problem, Unreachable } from "../api.js";

const KEY = "kaczmatch.outbox";
const LONGEST_WAIT = 8_000;
const UNSENT = "the service cannot be reached";

export class Outbox {
  #waiting = restored();
  #busy = false;
  #tries = 0;
  #timer = 0;
  #told = false; // that something waits

  /** `send` makes the call; `done`, `failed` and `stuck` are told what came of it (`stuck`: how many wait, and why). */
  constructor({ send, done, failed, stuck }) {
    Object.assign(this, { send, done, failed, stuck });
    addEventListener("online", () => this.retry());
  }

  get size() {
    return this.#waiting.length;
  }

  /** Whether a decision on somebody is on its way. */
  holds(user, candidate) {
    return this.#waiting.some((one) => one.kind === "swipe" && one.user === user && one.candidate === candidate);
  }

  add(one) {
    this.#waiting.push(one);
    this.#keep();
    if (this.#told) this.stuck(this.#waiting.length, UNSENT);
    return this.#run();
  }

  retry() {
    this.#tries = 0;
    clearTimeout(this.#timer);
    return this.#run();
  }

  async #run() {
    if (this.#busy) return;
    this.#busy = true;
    clearTimeout(this.#timer);
    try {
      while (this.#waiting.length) await this.#first();
    } catch (error) {
      this.#told = true;
      this.stuck(this.#waiting.length, error.message);
      this.#timer = setTimeout(() => this.#run(), error.retryAfter * 1_000 || Math.min(500 * 2 ** this.#tries, LONGEST_WAIT));
      this.#tries += 1;
    } finally {
      this.#busy = false;
    }
  }

  async #first() {
    const one = this.#waiting[0];
    let answer;
    let problem = null;
    try {
      answer = await this.send(one);
    } catch (error) {
      if (error instanceof Unreachable || !(error instanceof Problem) || error.retryable) throw error;
      problem = error;
    }
    this.#waiting.shift();
    this.#keep();
    this.#tries = 0;
    if (this.#told && !this.#waiting.length) {
      this.#told = false;
      this.stuck(0, "");
    }
    if (problem) this.failed(one, problem);
    else this.done(one, answer);
  }

  #keep() {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(this.#waiting));
    } catch {
      // kept in memory alone
    }
  }
}

function restored() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
