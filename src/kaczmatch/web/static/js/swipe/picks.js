// Today's picks: a row of faces. Whoever is chosen becomes the next card.

import { Problem } from "../api.js";
import { avatar } from "../avatar.js";
import { byId, make } from "../dom.js";
import { commaAge } from "./card.js";

export class Picks {
  #cards = new Map(); // by id; each knows the deck it is of
  #choose;

  /** `choose` is called with a card. */
  constructor(choose) {
    this.#choose = choose;
  }

  async load(client, user) {
    this.#cards = new Map();
    try {
      const deck = await client.get(`/people/${user}/picks`);
      for (const card of deck.cards) this.#cards.set(card.id, { ...card, deck: deck.id });
    } catch (error) {
      if (!(error instanceof Problem)) throw error; // such as a quota that is used up: then there is no row
    }
    this.#show();
  }

  /** They were decided on. */
  remove(id) {
    if (this.#cards.delete(id)) this.#show();
  }

  #show() {
    byId("picks").hidden = this.#cards.size === 0;
    byId("picked").replaceChildren(
      ...[...this.#cards.values()].map((card) =>
        make("li", { class: "matched-one" }, make("button", { type: "button", class: "quiet pick", "data-pick": card.id, title: `${card.name}${commaAge(card)}: ${card.why}`, click: () => this.#choose(card) }, avatar(card.id, { round: true }), make("bdi", {}, card.name))),
      ),
    );
  }
}
