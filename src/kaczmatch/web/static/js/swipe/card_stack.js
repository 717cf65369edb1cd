// The stack of cards. The first can be decided on, two more show behind it, and cards move when they leave or come back.

import { byId, icon, make } from "../dom.js";
import { cardOf, explain } from "./card.js";
import { draggable } from "./drag.js";

const BEHIND = 3;

export class CardStack {
  #stack = byId("stack");
  #shown = new Map();

  /** `ask` gets a longer reason for somebody. */
  constructor(decide, ask) {
    this.decide = decide;
    this.ask = ask;
  }

  /** Show the first few of these people; those who are there already stay as they are. */
  show(people, weights, returning = null) {
    const wanted = people.slice(0, BEHIND);
    for (const [id, one] of this.#shown) {
      if (!wanted.some((person) => person.id === id)) {
        one.card.remove();
        this.#shown.delete(id);
      }
    }
    wanted.forEach((person, depth) => {
      const one = this.#shown.get(person.id) ?? this.#made(person);
      one.person = person;
      one.card.dataset.depth = String(depth);
      one.card.inert = depth > 0;
      one.card.setAttribute("aria-hidden", String(depth > 0));
      one.card.classList.toggle("returning", person.id === returning);
      explain(one, weights);
    });
    this.note("");
  }

  /** Let the first card go, the way of the decision. */
  leave(id, decision) {
    const one = this.#shown.get(id);
    if (!one) return;
    this.#shown.delete(id);
    one.card.inert = true;
    one.card.setAttribute("aria-hidden", "true");
    one.card.classList.add("leaving", decision);
    const gone = () => one.card.remove();
    one.card.addEventListener("animationend", gone, { once: true });
    setTimeout(gone, 700); // where nothing moves, nothing ends
  }

  /** Instead of cards: words, and buttons that would help. */
  empty(title, words, buttons) {
    this.clear();
    this.note("");
    this.#stack.append(
      make("div", { class: "card empty", "data-depth": "0" }, make("div", { class: "empty-sign", "aria-hidden": "true" }, icon("search")), make("h2", { tabindex: "-1" }, title), make("p", { class: "muted" }, words), make("div", { class: "empty-ways" }, ...buttons)),
    );
  }

  clear() {
    this.#shown.clear();
    this.#stack.replaceChildren();
  }

  /** A word in place of cards, while they are fetched. */
  note(words) {
    this.#stack.querySelector(".waiting")?.remove();
    if (words) this.#stack.prepend(make("p", { class: "waiting muted" }, words));
    else this.#stack.querySelectorAll(".empty").forEach((one) => this.#shown.size && one.remove());
  }

  #made(person) {
    const one = cardOf(person, this.ask);
    draggable(one.card, (decision) => this.decide(decision));
    this.#shown.set(person.id, one);
    this.#stack.prepend(one.card);
    return one;
  }
}
