// A profile to fill in: somebody new, or one's own to change. What is wrong is said above the buttons, which are always in sight.

import { byId, make } from "../dom.js";

const FIELDS = { "looks for": "i_look_for", age: "oldest", distance: "within_km", several: "oldest" };

export class ProfileForm {
  #dialog = byId("profile");
  #form = byId("profile-form");
  #save = null;
  #kept = {};
  #terms = [];
  #usual = {};

  constructor() {
    byId("choices-i_am").addEventListener("change", () => {
      this.#offerTags();
      this.#suggest();
    });
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    byId("profile-cancel").addEventListener("click", () => this.#dialog.close());
  }

  get open() {
    return this.#dialog.open;
  }

  /** Offer the tags and kinds of the vocabulary. */
  offer({ terms, kinds, looks_for: usual, age_required: aged, minimum_age: youngest }) {
    this.#terms = terms.filter((term) => term.is_tag && !term.retired);
    this.#usual = usual;
    const tags = this.#terms.map((term) => term.name);
    for (const [field, values] of Object.entries({ i_am: kinds, i_look_for: kinds, tags })) {
      byId(`choices-${field}`).replaceChildren(...values.map((value) => make("label", { class: "choice" }, make("input", { type: "checkbox", name: field, value }), make("span", {}, value))));
    }
    for (const name of ["born", "youngest", "oldest"]) {
      const input = this.#form.elements[name];
      input.disabled = input.closest(".field").hidden = !aged; // where nobody needs an age, nothing speaks of it
    }
    for (const name of ["youngest", "oldest"]) this.#form.elements[name].min = youngest;
    const latest = new Date();
    latest.setFullYear(latest.getFullYear() - youngest);
    this.#form.elements.born.max = latest.toISOString().slice(0, 10);
  }

  /** Fill it in and open it, at a filter if one is named; `save` is called with a profile, and closes it unless it throws. */
  edit(title, profile, save, filter = "") {
    this.#save = save;
    const { location = null, features = {}, capacity = null, data = {} } = profile;
    this.#kept = { location, features, capacity, data };
    byId("profile-title").textContent = title;
    const { elements } = this.#form;
    for (const name of ["name", "born", "youngest", "oldest", "within_km"]) elements[name].value = profile[name] ?? "";
    for (const name of ["i_am", "i_look_for", "tags"]) {
      for (const box of this.#boxes(name)) box.checked = (profile[name] ?? []).includes(box.value);
    }
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
    const kinds = this.#chosen("i_am");
    const fits = new Map(this.#terms.map((term) => [term.name, !term.kinds.length || term.kinds.some((kind) => kinds.includes(kind))]));
    for (const box of this.#boxes("tags")) {
      box.closest(".choice").hidden = !fits.get(box.value);
      if (!fits.get(box.value)) box.checked = false;
    }
  }

  /** Whom these kinds usually look for, where nothing was chosen. */
  #suggest() {
    if (this.#chosen("i_look_for").length) return;
    const wanted = this.#chosen("i_am").flatMap((kind) => this.#usual[kind] ?? []);
    for (const box of this.#boxes("i_look_for")) box.checked = wanted.includes(box.value);
  }

  #boxes(name) {
    return [...this.#form.querySelectorAll(`input[name="${name}"]`)];
  }

  #chosen(name) {
    return this.#boxes(name).filter((box) => box.checked).map((box) => box.value);
  }

  #read() {
    const { elements } = this.#form;
    const number = (name) => (elements[name].value === "" ? null : Number(elements[name].value));
    return {
      name: elements.name.value.trim(),
      born: elements.born.value || null,
      i_am: this.#chosen("i_am"),
      i_look_for: this.#chosen("i_look_for"),
      youngest: number("youngest"),
      oldest: number("oldest"),
      within_km: this.#kept.location ? number("within_km") : null,
      tags: this.#chosen("tags"),
      ...this.#kept,
    };
  }

  async #submit() {
    const profile = this.#read();
    const missing = [
      ...(profile.name ? [] : [{ field: "name", problem: "write one" }]),
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
      this.#dialog.close();
    } catch (error) {
      this.#wrong(error.errors?.length ? error.errors : [{ field: "", problem: error.message }]);
    } finally {
      button.disabled = false;
    }
  }

  #wrong(errors) {
    const words = errors.map(({ field, problem }) => {
      const name = field.split(".").at(-1);
      const label = this.#form.querySelector(`[data-field="${CSS.escape(name)}"]`)?.textContent ?? name;
      return `${label ? `${label}: ` : ""}${problem}`;
    });
    byId("profile-wrong").textContent = words.join("; ");
    const first = errors.map(({ field }) => this.#form.querySelector(`[name="${CSS.escape(field.split(".").at(-1))}"]`)).find(Boolean);
    first?.focus();
  }
}
