// What is hard to take back is asked for first.

import { byId } from "../dom.js";

const CALM = 600; // milliseconds before the button can be pressed: a double click is no answer
let answer = () => {};

/** Whether somebody who was asked says yes. `typed` has to be typed first. */
export function confirmed({ title, words, yes, typed = "" }) {
  byId("sure-title").textContent = title;
  byId("sure-words").replaceChildren(...words);
  byId("sure-yes").textContent = yes;
  byId("sure-yes").disabled = true;
  byId("sure-typed").hidden = !typed;
  byId("sure-id").value = "";
  byId("sure-id").oninput = () => (byId("sure-yes").disabled = byId("sure-id").value !== typed);
  byId("sure").showModal();
  byId(typed ? "sure-id" : "sure-no").focus();
  if (!typed) setTimeout(() => (byId("sure-yes").disabled = false), CALM);
  return new Promise((done) => (answer = done));
}

byId("sure-id").addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // it takes the button
});
byId("sure-no").addEventListener("click", () => byId("sure").close());
byId("sure").addEventListener("close", () => answer(false));
byId("sure-yes").addEventListener("click", () => {
  answer(true);
  byId("sure").close();
});
