// One person's timeline, and what an operator can do about them.

import { byId, make, announce } from "../dom.js";
import { erase } from "./erase_dialog.js";
import { operator } from "./session.js";

const path = (user) => `/operator/people/${encodeURIComponent(user)}`;

export class Person {
  constructor(act) {
    this.act = act;
    byId("find").addEventListener("submit", (event) => {
      event.preventDefault();
      this.show(byId("user").value.trim());
    });
  }

  async show(user) {
    byId("user").value = user;
    if (await this.act(() => this.#look(user), "Nothing to show")) byId("person-name").focus();
    else byId("person").hidden = true;
  }

  async #look(user) {
    const seen = await operator.get(`${path(user)}/timeline`);
    const state = seen.held ? " · blocked by an operator" : seen.paused ? " · paused" : "";
    byId("person-name").replaceChildren(make("bdi", {}, seen.name), ` (${user})${state}`);
    byId("person-acts").replaceChildren(
      make("button", { type: "button", click: () => this.#hold(user, !seen.held) }, seen.held ? "Unblock" : "Block"),
      make("button", { type: "button", class: "danger", click: () => erase(user, this.act, () => this.#gone()) }, "Erase…"),
    );
    byId("entries").replaceChildren(
      ...seen.entries.map((entry) =>
        make("tr", {}, make("td", {}, new Date(entry.at).toLocaleString()), make("td", {}, entry.kind), make("td", {}, this.#link(entry.other)), make("td", {}, entry.detail)),
      ),
    );
    byId("person").hidden = false;
    announce(`Timeline of ${seen.name}: ${seen.entries.length} lines`);
  }

  #gone() {
    byId("person").hidden = true;
    byId("user").focus();
  }

  #link(user) {
    return user ? make("button", { type: "button", class: "quiet", click: () => this.show(user) }, user) : "";
  }

  async #hold(user, held) {
    const done = await this.act(async () => {
      await (held ? operator.put(`${path(user)}/hold`) : operator.delete(`${path(user)}/hold`));
      await this.#look(user);
    }, held ? "Could not block" : "Could not unblock");
    if (done) byId("person-name").focus();
  }
}
