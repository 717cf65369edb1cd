// Let a simulated person swipe by their hidden taste, to watch what is learned.

import { pause } from "../api.js";
import { byId } from "../dom.js";
import { answer } from "./taste.js";

const CARDS = 15;
const PACE = 420; // milliseconds

export class Autopilot {
  #on = false;

  constructor(game) {
    this.game = game;
    byId("autopilot").addEventListener("click", () => (this.#on ? this.stop() : this.run()));
  }

  /** Offer it to those who have a hidden taste. */
  offer() {
    this.stop();
    byId("simulated").hidden = !this.game.taste;
    byId("simulated-name").textContent = this.game.me.name;
  }

  stop() {
    this.#on = false;
    this.game.simulated = false;
    byId("autopilot").textContent = `Let them swipe ${CARDS} cards`;
    byId("autopilot").setAttribute("aria-pressed", "false");
  }

  async run() {
    const { game } = this;
    this.#on = true;
    game.simulated = true;
    byId("autopilot").setAttribute("aria-pressed", "true");
    for (let left = CARDS, idle = 0; this.#on && left > 0 && idle < 25; ) {
      byId("autopilot").textContent = `Stop (${left} to go)`;
      const card = game.cards[0];
      if (card && game.taste && game.decide(answer(card, game.taste))) {
        left -= 1;
        idle = 0;
      } else idle += 1;
      await pause(PACE);
    }
    this.stop();
  }
}
