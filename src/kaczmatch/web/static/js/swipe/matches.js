// Matches: a new one is shown in a dialog, which waits until it is closed.

import { avatar } from "../avatar.js";
import { byId, make, announce } from "../dom.js";
import { commaAge } from "./card.js";

const SPARKS = 18;

export class Matches {
  #known = new Map(); // names by id
  #waiting = [];
  #dialog = byId("match");

  /** `back` gets the focus when the moment is over. */
  constructor(back) {
    byId("match-close").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("close", () => {
      back();
      this.#next();
    });
  }

  get open() {
    return this.#dialog.open;
  }

  has(user) {
    return this.#known.has(user);
  }

  nameOf(user) {
    return this.#known.get(user);
  }

  /** Who has matched already: nothing to celebrate. */
  async load(client, user) {
    const { items } = await client.get(`/people/${user}/matches?limit=50`);
    this.#known = new Map();
    byId("matched").replaceChildren();
    for (const one of items.reverse()) this.#add(one.other);
    this.#count();
  }

  /** Look whether somebody has answered; `quietly` for those who watch a simulation. */
  async look(client, me, quietly) {
    const { items } = await client.get(`/people/${me.id}/matches?limit=20`);
    for (const { other } of items.reverse()) {
      if (this.#known.has(other.id)) continue;
      this.#add(other);
      if (quietly) announce(`It's a match with ${other.name}.`);
      else this.#waiting.push({ me, other });
    }
    this.#count();
    this.#next();
  }

  #add(other) {
    this.#known.set(other.id, other.name);
    byId("matched").prepend(make("li", { class: "matched-one", title: `${other.name}${commaAge(other)}` }, avatar(other.id, { round: true }), make("bdi", {}, other.name)));
  }

  #count() {
    byId("matches").hidden = this.#known.size === 0;
    byId("matches-count").textContent = String(this.#known.size);
  }

  #next() {
    if (this.#dialog.open || !this.#waiting.length) return;
    const { me, other } = this.#waiting.shift();
    byId("match-faces").replaceChildren(...sparks(), make("div", { class: "face mine" }, avatar(me.id, { round: true })), make("div", { class: "face theirs" }, avatar(other.id, { round: true })));
    byId("match-words").replaceChildren("You and ", make("bdi", {}, other.name), " like each other.");
    this.#dialog.showModal();
    byId("match-close").focus();
  }
}

function sparks() {
  return Array.from({ length: SPARKS }, (_, place) => {
    const spark = make("i", { class: `spark spark-${place % 4}`, "aria-hidden": "true" });
    const turn = (place / SPARKS) * 2 * Math.PI;
    const reach = place % 2 ? 160 : 122;
    spark.style.setProperty("--x", `${(Math.cos(turn) * reach).toFixed(0)}px`);
    spark.style.setProperty("--y", `${(Math.sin(turn) * reach * 0.5).toFixed(0)}px`);
    return spark;
  });
}
