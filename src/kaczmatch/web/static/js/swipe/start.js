// The first step: who one is. Nothing is needed, and what was filled in is kept until it is used.

import { byId } from "../dom.js";
import { choices, chosen, sayWrong } from "./fields.js";
import { TagPicker } from "./tag_picker.js";

const KEY = "kaczmatch.start";
const GUEST = { name: "Guest", age: 30 };
const FEW = 3; // tags of each group

export class Start {
  #form = byId("start");
  #tags = new TagPicker(byId("start-tags"), "start-tags", FEW);
  #vocabulary = null;

  /** `begin` is called with a profile. */
  constructor(begin) {
    byId("start-go").disabled = true; // until there is something to choose from
    this.#form.addEventListener("input", () => {
      if (!this.#vocabulary) return;
      this.#fit();
      this.#keep();
    });
    this.#form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = byId("start-go");
      button.disabled = true;
      const wrong = this.#wrong();
      sayWrong(this.#form, wrong);
      try {
        if (!wrong.length) await begin(this.#profile());
        if (!wrong.length) sessionStorage.removeItem(KEY);
      } catch (error) {
        const fields = { born: "age", name: "name", tags: "tags" };
        const placed = (error.errors ?? []).map(({ field, problem }) => ({ field: `start-${fields[field.split(".").at(-1)] ?? "name"}`, problem }));
        sayWrong(this.#form, placed.length ? placed : [{ field: "start-name", problem: error.message }]);
      } finally {
        button.disabled = false;
      }
    });
  }

  /** Offer what the vocabulary has, filled in as it was left. */
  offer(vocabulary, groups, location) {
    this.#vocabulary = vocabulary;
    this.location = location;
    const names = vocabulary.terms.filter((term) => term.is_tag && !term.retired).map((term) => term.name);
    this.#tags.offer(names, groups);
    byId("start-i_am").replaceChildren(...choices(vocabulary.kinds, "start-i_am", "radio"));
    byId("start-i_look_for").replaceChildren(...choices(vocabulary.kinds, "start-i_look_for"));
    byId("start-aged").hidden = !vocabulary.age_required;
    byId("start-age").min = vocabulary.minimum_age;
    const kept = restored();
    byId("start-name").value = kept.name ?? "";
    byId("start-age").value = kept.age ?? "";
    for (const name of ["i_am", "i_look_for"]) {
      for (const box of this.#form.querySelectorAll(`input[name="start-${name}"]`)) box.checked = (kept[name] ?? []).includes(box.value);
    }
    this.#fit();
    this.#tags.chosen = kept.tags ?? [];
    byId("start-go").disabled = false;
  }

  /** What can be told before asking the service. */
  #wrong() {
    const { age_required: aged, minimum_age: least } = this.#vocabulary;
    const age = byId("start-age").value;
    return aged && age !== "" && !(Number(age) >= least && Number(age) <= 120) ? [{ field: "start-age", problem: `from ${least} to 120` }] : [];
  }

  /** Only tags of the kind that was chosen. */
  #fit() {
    const kinds = chosen(this.#form, "start-i_am");
    const fits = new Map(this.#vocabulary.terms.map((term) => [term.name, !term.kinds.length || !kinds.length || term.kinds.some((kind) => kinds.includes(kind))]));
    this.#tags.limit((tag) => fits.get(tag));
  }

  #profile() {
    const { kinds, looks_for: usual, age_required: aged, terms } = this.#vocabulary;
    const said = chosen(this.#form, "start-i_am");
    const i_am = said.length ? said : aged ? kinds : [kinds.at(-1)]; // who does not say it may be anybody
    const wanted = chosen(this.#form, "start-i_look_for");
    const expected = i_am.flatMap((kind) => usual[kind] ?? []);
    const own = new Set(terms.filter((term) => !term.kinds.length || term.kinds.some((kind) => i_am.includes(kind))).map((term) => term.name));
    return {
      name: byId("start-name").value.trim() || GUEST.name,
      born: aged ? born(Number(byId("start-age").value) || GUEST.age) : null,
      i_am,
      i_look_for: wanted.length ? wanted : !aged && expected.length ? expected : kinds,
      within_km: 100,
      location: this.location,
      tags: this.#tags.chosen.filter((tag) => own.has(tag)),
    };
  }

  #keep() {
    const form = this.#form;
    const left = { name: byId("start-name").value, age: byId("start-age").value, i_am: chosen(form, "start-i_am"), i_look_for: chosen(form, "start-i_look_for"), tags: this.#tags.chosen };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(left));
    } catch {
      // kept as long as the page is not left
    }
  }
}

/** A date so many years ago. */
function born(age) {
  const day = new Date();
  day.setFullYear(day.getFullYear() - age);
  day.setDate(day.getDate() - 1);
  return day.toISOString().slice(0, 10);
}

function restored() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}
