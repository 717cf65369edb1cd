// Tags to choose from: in groups, with a search. What is chosen stays in sight.

import { make } from "../dom.js";

export class TagPicker {
  #root;
  #name;
  #few;
  #boxes = new Map(); // checkboxes by tag
  #groups = [];
  #fits = () => true;
  #search = make("input", { type: "search", placeholder: "Search all tags", "aria-label": "Search tags", autocomplete: "off", spellcheck: "false", input: () => this.#show() });
  #none = make("p", { class: "hint", role: "status" });

  /** `few` of each group are shown at first; 0 shows all. */
  constructor(root, name, few = 0) {
    this.#root = root;
    this.#name = name;
    this.#few = few;
  }

  /** Offer tags under headings; those under none come last. */
  offer(tags, groups) {
    const before = this.chosen;
    const left = new Set(tags);
    const named = Object.entries(groups).map(([title, some]) => [title, some.filter((tag) => left.delete(tag))]);
    this.#boxes.clear();
    this.#groups = [...named, [named.length ? "More" : "Tags", [...left]]].filter(([, some]) => some.length).map(([title, some]) => this.#group(title, some));
    this.#root.replaceChildren(this.#search, this.#none, make("div", { class: `groups ${this.#few ? "few" : ""}` }, ...this.#groups.map((one) => one.box)));
    this.chosen = before;
  }

  /** Only tags for which `fits` is true; others are let go. */
  limit(fits) {
    this.#fits = fits;
    for (const [tag, box] of this.#boxes) box.checked &&= fits(tag);
    this.#show();
  }

  get chosen() {
    return [...this.#boxes].filter(([, box]) => box.checked).map(([tag]) => tag);
  }

  set chosen(tags) {
    for (const [tag, box] of this.#boxes) box.checked = tags.includes(tag);
    this.#search.value = "";
    this.#show();
  }

  #group(title, tags) {
    const items = tags.map((tag) => {
      const box = make("input", { type: "checkbox", name: this.#name, value: tag, change: () => this.#search.value && this.#show() });
      this.#boxes.set(tag, box);
      return { tag, box, label: make("label", { class: "choice" }, box, make("span", {}, tag)) };
    });
    return { items, box: make("div", { role: "group", "aria-label": title, class: "group" }, make("h4", {}, title), make("div", { class: "tags" }, ...items.map((one) => one.label))) };
  }

  #show() {
    const words = this.#search.value.trim().toLowerCase();
    let found = 0;
    for (const { items, box: group } of this.#groups) {
      let shown = 0;
      items.forEach(({ tag, box, label }, place) => {
        const asked = words ? tag.toLowerCase().includes(words) : !this.#few || place < this.#few;
        label.hidden = !this.#fits(tag) || !(asked || box.checked);
        shown += !label.hidden;
        found += !label.hidden && (!words || tag.toLowerCase().includes(words));
      });
      group.hidden = !shown;
    }
    this.#none.textContent = words && !found ? `No tag has “${words}” in it.` : "";
  }
}
