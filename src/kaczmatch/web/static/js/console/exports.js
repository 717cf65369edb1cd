// Everybody's profiles and swipes, as files.

import { Problem, Unreachable } from "../api.js";
import { byId, make } from "../dom.js";
import { session } from "./session.js";

/** `report` is told what went wrong. */
export async function offer(report) {
  const { scopes } = await session();
  if (!scopes.includes("data")) {
    byId("exports-words").textContent = "This key has no data scope, so it cannot export.";
    return;
  }
  const kinds = ["profiles", "swipes"].flatMap((table) => ["csv", "jsonl", "parquet"].map((format) => [table, format]));
  const button = ([table, format]) => make("button", { type: "button", class: "button", click: (event) => save(event.currentTarget, table, format).catch((error) => report(error, `No ${table}.${format}`)) }, `${table}.${format}`);
  byId("exports").replaceChildren(...kinds.map(button));
}

async function save(button, table, format) {
  button.disabled = true;
  try {
    const address = URL.createObjectURL(await fetched(`/v1/export/${table}?format=${format}`));
    make("a", { href: address, download: `${table}.${format}` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } finally {
    button.disabled = false;
  }
}

async function fetched(address) {
  const { token } = await session();
  const answer = await fetch(address, { headers: { Authorization: `Bearer ${token}` } }).catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})), 0);
  return answer.blob().catch(() => {
    throw new Unreachable();
  });
}
