// Erasing somebody: asked for twice, the second time by typing the id.

import { byId, announce } from "../dom.js";
import { operator } from "./session.js";

let asked = null;

export function erase(user, act, after = () => {}) {
  asked = { user, act, after };
  byId("sure-who").textContent = user;
  byId("sure-id").value = "";
  byId("sure-yes").disabled = true;
  byId("sure").showModal();
  byId("sure-id").focus();
}

byId("sure-id").addEventListener("input", () => {
  byId("sure-yes").disabled = byId("sure-id").value !== asked.user;
});
byId("sure-id").addEventListener("keydown", (event) => {
  if (event.key === "Enter") event.preventDefault(); // erasing takes the button
});
byId("sure-no").addEventListener("click", () => byId("sure").close());
byId("sure-yes").addEventListener("click", async () => {
  const { user, act, after } = asked;
  byId("sure").close();
  const done = await act(async () => {
    await operator.delete(`/people/${encodeURIComponent(user)}`);
    announce(`${user} is erased`);
  }, "Not erased");
  if (done) after();
});
