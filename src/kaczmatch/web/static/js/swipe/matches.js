// Matches: the first is celebrated, later ones are a toast. Each opens a card with what both share and the next step.

import { avatar } from "../avatar.js";
import { byId, make, announce } from "../dom.js";
import { commaAge } from "./card.js";

const SPARKS = 18;
const TOAST = 7_000; // milliseconds

export class Matches {
  #known = new Map(); // by the other's id
  #waiting = []; // to be celebrated
  #dialog = byId("match");
  #me = null;
  #client = null;
  #shown = null;
  #timer = 0;

  /** `back` gets the focus when the moment is over; nothing is celebrated while `editing()`. */
  constructor(back, editing) {
    this.editing = editing;
    byId("match-close").addEventListener("click", () => this.#dialog.close());
    byId("match-hello").addEventListener("click", () => this.#hello());
    this.#dialog.addEventListener("close", () => {
      back();
      this.next();
    });
  }

  get open() {
    return this.#dialog.open;
  }

  close() {
    this.#dialog.close();
  }

  has(user) {
    return this.#known.has(user);
  }

  nameOf(user) {
    return this.#known.get(user)?.other.name;
  }

  /** Who has matched already: nothing to celebrate. */
  async load(client, me) {
    const { items } = await client.get(`/people/${me.id}/matches?limit=50`);
    [this.#client, this.#me] = [client, me];
    this.#known = new Map();
    this.#waiting = [];
    byId("matched").replaceChildren();
    for (const one of items.reverse()) this.#add(one);
    this.#count();
  }

  /** Look whether somebody has answered; `quietly` for those who watch a simulation. */
  async look(quietly) {
    const { items } = await this.#client.get(`/people/${this.#me.id}/matches?limit=20`);
    for (const one of items.reverse()) {
      if (this.#known.has(one.other.id)) continue;
      const first = this.#known.size === 0;
      this.#add(one);
      if (quietly) announce(`It's a match with ${one.other.name}.`);
      else if (first) this.#waiting.push(one);
      else this.#toast(one);
    }
    this.#count();
    this.next();
  }

  /** Celebrate, unless a form is being filled in. */
  next() {
    if (!this.#dialog.open && this.#waiting.length && !this.editing()) this.#show(this.#waiting.shift(), true);
  }

  #add(one) {
    this.#known.set(one.other.id, one);
    const { other } = one;
    byId("matched").prepend(make("li", { class: "matched-one" }, make("button", { type: "button", class: "quiet pick", title: `${other.name}${commaAge(other)}`, click: () => this.#show(one, false) }, avatar(other.id, { round: true }), make("bdi", {}, other.name))));
  }

  #count() {
    const count = this.#known.size;
    byId("no-matches").hidden = count > 0;
    byId("people-count").hidden = !count;
    for (const id of ["matches-count", "people-count"]) byId(id).textContent = String(count || "");
  }

  #toast(one) {
    const toast = byId("toast");
    const look = make("button", { type: "button", click: () => this.#show(one, false) }, "Look");
    toast.replaceChildren(avatar(one.other.id, { round: true }), make("span", {}, "You and ", make("bdi", {}, one.other.name), " like each other."), look);
    toast.hidden = false;
    clearTimeout(this.#timer);
    const hide = () => {
      if (toast.matches(":hover, :focus-within")) this.#timer = setTimeout(hide, TOAST);
      else toast.hidden = true;
    };
    this.#timer = setTimeout(hide, TOAST);
  }

  /** The card of a match. */
  #show(one, celebrated) {
    const { other, shared } = one;
    this.#shown = one;
    byId("toast").hidden = true;
    byId("match-faces").replaceChildren(...(celebrated ? sparks() : []), make("div", { class: "face mine" }, avatar(this.#me.id, { round: true })), make("div", { class: "face theirs" }, avatar(other.id, { round: true })));
    byId("match-title").textContent = celebrated ? "It’s a match" : "Your match";
    byId("match-words").replaceChildren("You and ", make("bdi", {}, other.name), " like each other.");
    const tags = make("ul", { class: "tags" }, ...other.tags.map((tag) => make("li", { class: `tag ${shared.includes(tag) ? "for" : ""}` }, tag, shared.includes(tag) ? make("span", { class: "unseen" }, " (you too)") : null)));
    const both = shared.length ? `You share ${list(shared)}.` : "You share no tag: ask about one of theirs.";
    byId("match-shared").replaceChildren(make("p", {}, both), tags);
    this.#steps();
    this.#dialog.showModal();
    byId("match-close").focus();
  }

  /** What comes next: to say hello, once. */
  #steps() {
    const said = this.#shown.outcomes.includes("message");
    byId("match-hello").hidden = said;
    byId("match-next").textContent = said ? "You said hello. In an app, your conversation would open here." : "";
  }

  async #hello() {
    const one = this.#shown;
    try {
      one.outcomes = (await this.#client.post(`/people/${this.#me.id}/matches/${one.id}/outcomes`, { outcome: "message" })).outcomes;
      this.#steps();
      byId("match-close").focus();
    } catch (error) {
      byId("match-next").textContent = `That did not work: ${error.message}.`;
    }
  }
}

const list = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

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
