// Finding people, those who are held, and one person's timeline.

import { announce, byId, make } from "../dom.js";
import { erase, hold, once, release, removeBlock, settled, timeline } from "./acts.js";
import { operator } from "./session.js";

const WAIT = 250; // milliseconds after the last letter

export class People {
  constructor(act, report) {
    this.act = act;
    this.next = null;
    let waiting = 0;
    byId("user").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.#find().catch(report), WAIT);
    });
    byId("find").addEventListener("submit", async (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      await this.act(async () => {
        const [first] = await this.#find();
        if (!first) throw new Error("nobody has this id, and nobody’s name begins like this");
        await this.#look(first.id);
        byId("person-name").focus();
      }, "Nothing to show");
    });
    byId("more-held").addEventListener("click", () => this.#held().catch(report));
  }

  /** Whom operators hold, from the first on. */
  open() {
    this.next = null;
    byId("held").replaceChildren();
    return this.#held();
  }

  suspects(found) {
    byId("no-suspects").hidden = found.length > 0;
    byId("suspects").replaceChildren(...found.map((one) => make("li", {}, make("button", { type: "button", click: () => this.show(one.user) }, make("bdi", {}, one.user), make("span", { class: "muted small" }, ` ${one.likes} of ${one.swipes} are likes`)))));
  }

  async show(user) {
    if (await this.act(() => this.#look(user), "Nothing to show")) byId("person-name").focus();
    else byId("person").hidden = true;
  }

  async #find() {
    const name = byId("user").value.trim();
    const found = name ? (await operator.get(`/operator/people?limit=8&name=${encodeURIComponent(name)}`)).items : [];
    if (name !== byId("user").value.trim()) return []; // more was typed meanwhile
    byId("found").replaceChildren(
      ...found.map((one) => make("li", {}, make("button", { type: "button", click: () => this.show(one.id) }, make("bdi", {}, one.name), make("span", { class: "muted small" }, ` ${one.id}${standing(one.held_by !== null, one.paused)}`)))),
      ...(name && !found.length ? [make("li", { class: "muted" }, "Nobody is found.")] : []),
    );
    return found;
  }

  async #held() {
    const cursor = this.next ? `&cursor=${encodeURIComponent(this.next)}` : "";
    const page = await operator.get(`/operator/people?limit=20${cursor}`);
    byId("held").append(...page.items.map((one) => this.#heldRow(one)));
    this.next = page.next;
    byId("more-held").hidden = !page.next;
    byId("nobody-held").hidden = byId("held").childElementCount > 0;
  }

  #heldRow(one) {
    const since = one.held_at ? `, ${new Date(one.held_at).toLocaleString()}` : "";
    const row = make(
      "li",
      { class: "report", "data-held": one.id },
      make("p", {}, make("bdi", {}, one.name), make("span", { class: "muted small" }, ` ${one.id} · by key ${one.held_by}${since}`)),
      make("div", { class: "row" }, make("button", { type: "button", click: () => this.show(one.id) }, "Timeline"), make("button", { type: "button", click: () => this.#release(row, one) }, "Release", make("span", { class: "unseen" }, ` ${one.name}`))),
    );
    return row;
  }

  async #release(row, one) {
    if (await once(row, () => this.act(() => release(one.id), "Could not release"))) settled(row, `${one.name} is released, and stays paused until they resume.`, () => this.act(() => hold(one.id), "Could not undo it"));
  }

  async #look(user) {
    const seen = await timeline(user);
    byId("person-name").replaceChildren(make("bdi", {}, seen.name), ` (${user})${standing(seen.held, seen.paused)}`);
    byId("person-acts").replaceChildren(
      make("button", { type: "button", click: () => this.#hold(user, !seen.held) }, seen.held ? "Release" : "Hold"),
      make("button", { type: "button", class: "danger", click: async () => (await erase(user, this.act)) && this.#gone() }, "Erase…"),
    );
    byId("person-blocks").hidden = seen.blocks.length === 0;
    byId("blocks").replaceChildren(...seen.blocks.map((block) => this.#blockRow(block, user)));
    byId("entries").replaceChildren(...seen.entries.map((entry) => make("tr", {}, make("td", {}, new Date(entry.at).toLocaleString()), make("td", {}, entry.kind), make("td", {}, this.#link(entry.other)), make("td", {}, entry.detail))));
    byId("person").hidden = false;
    announce(`Timeline of ${seen.name}: ${seen.entries.length} lines`);
  }

  #blockRow(block, user) {
    const words = block.user === user ? ["has blocked ", this.#link(block.other)] : ["was blocked by ", this.#link(block.user)];
    const act = block.reported ? make("span", { class: "muted small" }, "came with a report, and stays") : make("button", { type: "button", click: async () => (await removeBlock(block, this.act)) && settled(row, "The block is taken back.", null) }, "Take back…");
    const row = make("li", { class: "report" }, make("p", {}, ...words, make("span", { class: "muted small" }, ` ${new Date(block.at).toLocaleString()}`)), make("div", { class: "row" }, act));
    return row;
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
      await (held ? hold(user) : release(user));
      await Promise.all([this.#look(user), this.open()]);
    }, held ? "Could not hold" : "Could not release");
    if (done) byId("person-name").focus();
  }
}

const standing = (held, paused) => (held ? " · held by an operator" : paused ? " · paused" : "");
