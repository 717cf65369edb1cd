// One's own profile to change. What is wrong is said at its field. Closed unsaved, it opens again as it was left; Cancel lets go.

import { byId } from "../dom.js";
import { choices, chosen, sayWrong } from "./fields.js";
import { TagPicker } from "./tag_picker.js";

const FIELDS = { "looks for": "i_look_for", age: "oldest", distance: "within_km", several: "oldest" };
const TEXTS = ["name", "born", "youngest", "oldest", "within_km"];

export class ProfileForm {
  #dialog = byId("profile");
  #form = byId("profile-form");
  #tags = new TagPicker(byId("choices-tags"), "tags");
  #save = null;
  #kept = {};
  #left = new Map(); // what was filled in and not saved, by person
  #user = "";
  #terms = [];

  /** `closed` is called when it was closed. */
  constructor(closed) {
    byId("choices-i_am").addEventListener("change", () => this.#offerTags());
    this.#form.addEventListener("input", () => this.#left.set(this.#user, this.#read()));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    byId("profile-cancel").addEventListener("click", () => {
      this.#left.delete(this.#user);
      this.#dialog.close();
    });
    this.#dialog.addEventListener("close", closed);
  }

  get open() {
    return this.#dialog.open;
  }

  close() {
    this.#dialog.close();
  }

  /** Offer the tags and kinds of the vocabulary. */
  offer({ terms, kinds, age_required: aged, minimum_age: youngest }, groups) {
    this.#terms = terms.filter((term) => term.is_tag && !term.retired);
    this.#tags.offer(this.#terms.map((term) => term.name), groups);
    for (const field of ["i_am", "i_look_for"]) byId(`choices-${field}`).replaceChildren(...choices(kinds, field));
    for (const name of ["born", "youngest", "oldest"]) {
      const input = this.#form.elements[name];
      input.disabled = input.closest(".field").hidden = !aged; // where nobody needs an age, nothing speaks of it
    }
    for (const name of ["youngest", "oldest"]) this.#form.elements[name].min = youngest;
  }

  /** Fill it in and open it, at a filter if one is named; `save` is called with a profile, and closes it unless it throws. */
  edit(person, save, filter = "") {
    this.#save = save;
    this.#user = person.id;
    const { location = null, features = {}, capacity = null, data = {} } = person;
    this.#kept = { location, features, capacity, data };
    const profile = { ...person, ...this.#left.get(person.id) };
    const { elements } = this.#form;
    for (const name of TEXTS) elements[name].value = profile[name] ?? "";
    for (const name of ["i_am", "i_look_for"]) {
      for (const box of this.#boxes(name)) box.checked = (profile[name] ?? []).includes(box.value);
    }
    this.#tags.chosen = profile.tags ?? [];
    this.#offerTags();
    this.#wrong([]);
    this.#dialog.showModal();
    const field = FIELDS[filter] ?? "name";
    const target = field === "i_look_for" || elements[field].disabled ? this.#boxes("i_look_for")[0] : elements[field];
    target.focus();
    target.closest("fieldset, .field")?.scrollIntoView({ block: "center" });
    this.#form.querySelectorAll(".asked-for").forEach((one) => one.classList.remove("asked-for"));
    if (filter) target.closest("fieldset, .field")?.classList.add("asked-for");
  }

  /** Only the tags of the kinds that were chosen. */
  #offerTags() {
    const kinds = chosen(this.#form, "i_am");
    const fits = new Map(this.#terms.map((term) => [term.name, !term.kinds.length || term.kinds.some((kind) => kinds.includes(kind))]));
    this.#tags.limit((tag) => fits.get(tag));
  }

  #boxes(name) {
    return [...this.#form.querySelectorAll(`input[name="${name}"]`)];
  }

  #read() {
    const { elements } = this.#form;
    const number = (name) => (elements[name].value === "" ? null : Number(elements[name].value));
    return {
      name: elements.name.value.trim(),
      born: elements.born.value || null,
      i_am: chosen(this.#form, "i_am"),
      i_look_for: chosen(this.#form, "i_look_for"),
      youngest: number("youngest"),
      oldest: number("oldest"),
      within_km: this.#kept.location ? number("within_km") : null,
      tags: this.#tags.chosen,
      ...this.#kept,
    };
  }

  async #submit() {
    const profile = this.#read();
    const missing = [
      ...(profile.name ? [] : [{ field: "name", problem: "write your name" }]),
      ...(profile.i_am.length ? [] : [{ field: "i_am", problem: "choose at least one" }]),
      ...(profile.i_look_for.length ? [] : [{ field: "i_look_for", problem: "choose at least one" }]),
      ...(profile.youngest === null || profile.oldest === null || profile.youngest <= profile.oldest ? [] : [{ field: "oldest", problem: "must not be below the youngest" }]),
    ];
    if (missing.length) {
      this.#wrong(missing);
      return;
    }
    const button = byId("profile-save");
    button.disabled = true;
    try {
      await this.#save(profile);
      this.#left.delete(this.#user);
      this.#dialog.close();
    } catch (error) {
      this.#wrong(error.errors?.length ? error.errors : [{ field: "", problem: error.message }]);
    } finally {
      button.disabled = false;
    }
  }

  #wrong(errors) {
    const rest = sayWrong(this.#form, errors);
    byId("profile-wrong").hidden = !errors.length;
    byId("profile-wrong").textContent = rest || (errors.length ? "Not saved: see above." : "");
  }
}
