// Whom one would like to be: a few faces, a search, or somebody new.

import { withRetries } from "../api.js";
import { avatar } from "../avatar.js";
import { byId, make, showProblem } from "../dom.js";
import { commaAge } from "./card.js";
import { created, invented } from "./demo_people.js";

const FACES = 9;

export class Chooser {
  #skip = 0;
  #asked = 0;
  #timer = 0;
  #create = byId("create-item");

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

  open() {
    return this.#restart();
  }

  #restart() {
    this.#skip = 0;
    return this.#fetch();
  }

  async #fetch() {
    const asked = (this.#asked += 1);
    const find = byId("find").value.trim();
    const { people, location, more } = await withRetries(
      () => invented(find, this.#skip, FACES),
      (why) => showProblem(why && `Getting ready: ${why}. This page goes on by itself.`),
    );
    const mine = find || this.#skip ? [] : await created();
    if (asked !== this.#asked) return; // somebody typed on
    this.location = location;
    if (!more) this.#skip = -FACES; // from the start again
    byId("faces").replaceChildren(...[...mine, ...people].map((one) => this.#face(one)), this.#create);
    byId("nobody-found").hidden = people.length > 0;
  }

  #face(one) {
    const looks = `${one.i_am.join(" and ")}, looks for ${one.i_look_for.length > 2 ? "anybody" : one.i_look_for.join(" or ")}`;
    const past = one.swipes === undefined ? "created here" : one.swipes ? `${one.swipes} swipes so far` : "has not swiped yet";
    return make(
      "li",
      {},
      make("button", { type: "button", class: "face-button", "data-id": one.id, click: () => this.chosen(one.id) }, avatar(one.id), make("span", { class: "face-name" }, make("bdi", {}, one.name), commaAge(one)), make("span", { class: "small muted" }, looks), make("span", { class: "small muted" }, past)),
    );
  }
}
