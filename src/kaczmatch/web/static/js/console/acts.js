// What an operator does about a person, and how it is undone.

import { announce, make } from "../dom.js";
import { confirmed } from "./confirm.js";
import { operator } from "./session.js";

const path = (user) => `/operator/people/${encodeURIComponent(user)}`;

export const hold = (user) => operator.put(`${path(user)}/hold`);
export const release = (user) => operator.delete(`${path(user)}/hold`);
export const close = (report, resolution) => operator.post(`/operator/reports/${encodeURIComponent(report)}/close`, { resolution });
export const reopen = (report) => operator.post(`/operator/reports/${encodeURIComponent(report)}/reopen`);
export const timeline = (user) => operator.get(`${path(user)}/timeline`);

/** Erase somebody, asked for by typing the id. Whether it has begun: the person is gone then. */
export async function erase(user, act) {
  const words = [make("strong", {}, make("bdi", {}, user)), " is gone at once. All that others have of them goes in the minutes after, and cannot be brought back."];
  if (!(await confirmed({ title: "Erase this person?", words, yes: "Erase for good", typed: user }))) return false;
  return act(async () => {
    await operator.delete(`/people/${encodeURIComponent(user)}`);
    announce(`${user} is erased`);
  }, "Not erased");
}

/** Take back a block that a person made. Whether it was done. */
export async function removeBlock({ user, other }, act) {
  const words = [make("bdi", {}, user), " never wanted to meet ", make("bdi", {}, other), ". Do this at their wish only: the two may be shown to each other again, and you cannot block for them."];
  if (!(await confirmed({ title: "Take this block back?", words, yes: "Take it back" }))) return false;
  return act(() => operator.delete(`${path(user)}/blocks/${encodeURIComponent(other)}`), "The block stays");
}

/** Work that a row's button starts: until it is over, the row takes no other click. */
export async function once(row, work) {
  if (row.inert) return false;
  row.inert = true;
  try {
    return await work();
  } finally {
    row.inert = false;
  }
}

/** A row that stays where it is: what was done takes the place of its words, and an undo that of its first words. */
export function settled(row, words, undo) {
  const before = [...row.childNodes];
  row.style.minHeight = `${row.getBoundingClientRect().height}px`; // nothing below may slide under the cursor
  const back = async () => {
    if (!(await once(row, undo))) return;
    row.replaceChildren(...before);
    row.classList.remove("settled");
    row.focus({ preventScroll: true });
  };
  row.classList.add("settled");
  row.replaceChildren(make("p", {}, words), ...(undo ? [make("button", { type: "button", click: back }, "Undo")] : []));
  row.tabIndex = -1;
  row.focus({ preventScroll: true }); // not the undo: the key that was pressed may be pressed twice
  announce(words);
}
