// Who one would like to be: oneself first, somebody who was created here before, or one of the invented people.

import { withRetries } from "../api.js";
import { avatar } from "../avatar.js";
import { byId, make, showProblem } from "../dom.js";
import { commaAge } from "./card.js";
import { created, invented } from "./demo_people.js";

const FACES = 8;

export class Chooser {
  #skip = 0;
  #asked = 0;
  #timer = 0;

  /** `chosen` is told an id. */
  constructor(chosen) {
    this.chosen = chosen;
    byId("find").addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#restart(), 200);
    });
    byId("others").addEventListener("click", () => {
      this.#skip += FACES;
      this.#fetch();
    });
  }

  /** Returns where everybody lives, and their tags under headings. */
  async open() {
    const found = await this.#restart();
    const mine = await created();
    byId("mine").hidden = !mine.length;
    byId("mine-faces").replaceChildren(
      ...mine.map((one) => make("li", { class: "matched-one" }, make("button", { type: "button", class: "quiet pick", click: () => this.chosen(one.id) }, avatar(one.id, { round: true }), make("bdi", {}, one.name)))),
    );
    return found;
  }

  #restart() {
    this.#skip = 0;
    return this.#fetch();
  }

  async #fetch() {
    const asked = (this.#asked += 1);
    const find = byId("find").value.trim();
    const found = await withRetries(
      () => invented(find, this.#skip, FACES),
      (why) => showProblem(why && `Getting ready: ${why}. This page goes on by itself.`),
    );
    if (asked !== this.#asked) return found; // somebody typed on
    if (!found.more) this.#skip = -FACES; // from the start again
    byId("faces").replaceChildren(...found.people.map((one) => this.#face(one)));
    byId("nobody-found").hidden = found.people.length > 0;
    return found;
  }

  #face(one) {
    const looks = `${one.i_am.join(" and ")}, looks for ${one.i_look_for.length > 2 ? "anybody" : one.i_look_for.join(" or ")}`;
    const past = one.swipes ? `${one.swipes} swipes so far` : "has not swiped yet";
    return make(
      "li",
      {},
      make("button", { type: "button", class: "face-button", "data-id": one.id, click: () => this.chosen(one.id) }, avatar(one.id), make("span", { class: "face-name" }, make("bdi", {}, one.name), commaAge(one)), make("span", { class: "small muted" }, looks), make("span", { class: "small muted" }, past)),
    );
  }
}
