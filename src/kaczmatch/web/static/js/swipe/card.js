// One card: a face, a name, an age if there is one, tags in the colours of what was learned, and why it is shown.

import { avatar } from "../avatar.js";
import { make } from "../dom.js";
import { spoken } from "./taste.js";

/** `ask` gets the words of a longer reason, when one is asked for. */
export function cardOf(person, ask) {
  const because = make("p", {});
  const more = make("p", { class: "why-more", role: "status" });
  const tags = make("ul", { class: "tags" });
  const button = make("button", { type: "button", class: "quiet why-ask", "aria-expanded": "false" }, "Tell me more");
  button.addEventListener("click", async () => {
    const open = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "Less" : "Tell me more";
    const told = open ? await ask(one.person) : []; // as the service explains them now
    if (button.getAttribute("aria-expanded") === String(open)) more.replaceChildren(...told); // not closed meanwhile
  });
  const card = make(
    "article",
    { class: "card", "data-id": person.id, "aria-label": described(person) },
    make("div", { class: "portrait" }, avatar(person.id), make("span", { class: "stamp like", "aria-hidden": "true" }, "Like"), make("span", { class: "stamp pass", "aria-hidden": "true" }, "Pass")),
    make("div", { class: "about" }, make("h2", {}, make("bdi", {}, person.name), make("span", { class: "age" }, commaAge(person))), tags, make("div", { class: "why" }, make("div", { class: "row apart" }, make("span", { class: "why-title" }, "Why you see this"), button), because, more)),
  );
  const one = { card, person, tags, because };
  return one;
}

/** Why somebody is shown, and which of their tags speak for and against them by what is known now. */
export function explain({ person, tags, because }, weights) {
  because.textContent = sentence(person.why);
  tags.replaceChildren(
    ...person.tags.map((tag) => {
      const known = weights.get(tag);
      const side = !known || !spoken(known) ? "" : known.weight > 0 ? "for" : "against";
      const words = { for: " (you seem to like it)", against: " (you seem to avoid it)" }[side];
      return make("li", { class: `tag ${side}` }, make("span", {}, tag), words ? make("span", { class: "unseen" }, words) : null);
    }),
  );
}

/** To stand after a name; nothing for people without an age. */
export const commaAge = ({ age }) => (age === null ? "" : `, ${age}`);

export const described = (person) => `${person.name}${commaAge(person)}: ${person.tags.join(", ") || "no tags"}`;

export const sentence = (words) => (words ? `${words[0].toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}` : "");
