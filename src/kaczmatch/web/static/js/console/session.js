// The cookie of the session lends short-lived tokens; they are kept here and nowhere else.

import { Client, Problem, Unreachable } from "../api.js";

let lent = null;

export async function session(again = false) {
  if (again || !lent || new Date(lent.expires) - Date.now() < 20_000) {
    let answer;
    try {
      answer = await fetch("/console/token", { method: "POST", cache: "no-store" });
    } catch {
      throw new Unreachable();
    }
    if (!answer.ok) throw new Problem(answer.status, {}, 0);
    lent = await answer.json();
  }
  return lent;
}

export const operator = new Client(async (again) => (await session(again)).token);
