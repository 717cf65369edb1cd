// Forms: choices as tags, and what is wrong, said at its field.

import { make } from "../dom.js";

/** Choices that look like tags. */
export const choices = (values, name, type = "checkbox") => values.map((value) => make("label", { class: "choice" }, make("input", { type, name, value }), make("span", {}, value)));

/** Which of them are chosen. */
export const chosen = (form, name) => [...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value);

/** Say at each field what is wrong with it, and go to the first. Returns what belongs to no field. */
export function sayWrong(form, errors) {
  const told = new Map();
  for (const { field, problem } of errors) told.set(field.split(".").at(-1), problem);
  let first = null;
  for (const place of form.querySelectorAll("[data-wrong]")) {
    const name = place.dataset.wrong;
    const problem = told.get(name);
    told.delete(name);
    place.hidden = !problem;
    place.textContent = problem ? `${problem[0].toUpperCase()}${problem.slice(1)}` : "";
    const input = form.querySelector(`[name="${name}"]`) ?? place.parentElement.querySelector("input");
    for (const one of input.type === "checkbox" ? [] : [input]) {
      if (problem) one.setAttribute("aria-invalid", "true");
      else one.removeAttribute("aria-invalid");
    }
    if (problem) input.setAttribute("aria-describedby", place.id);
    else input.removeAttribute("aria-describedby");
    if (problem) first ??= input;
  }
  first?.focus();
  first?.closest("fieldset, .field")?.scrollIntoView({ block: "center" });
  return [...told.values()].join("; ");
}
