// An invented person: what they secretly like, as a goal; or they swipe by it themselves, to watch what is learned.

import { pause } from "../api.js";
import { byId, make } from "../dom.js";
import { answer } from "./taste.js";

const CARDS = 15;
const PACE = 420; // milliseconds

export class Autopilot {
  #on = false;

  constructor(game) {
    this.game = game;
    byId("autopilot").addEventListener("click", () => (this.#on ? this.stop() : this.run()));
  }

  /** Tell the secret of those who have one, and offer to let them swipe. */
  offer() {
    this.stop();
    const taste = Object.entries(this.game.taste ?? {});
    byId("simulated").hidden = !taste.length;
    byId("simulated-name").textContent = this.game.me.name;
    const tags = (sign) => taste.filter(([, weight]) => weight * sign > 0).map(([tag]) => tag).join(", ");
    byId("secret-likes").replaceChildren(make("strong", {}, tags(1)));
    byId("secret-avoids").replaceChildren(make("strong", {}, tags(-1)));
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
