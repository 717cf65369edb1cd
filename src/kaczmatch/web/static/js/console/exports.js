// Everybody's profiles and swipes, as files.

import { Problem } from "../api.js";
import { byId, make } from "../dom.js";
import { session } from "./session.js";

export async function offer() {
  const { scopes } = await session();
  if (!scopes.includes("data")) {
    byId("exports-words").textContent = "This key has no data scope, so it cannot export.";
    return;
  }
  const kinds = ["profiles", "swipes"].flatMap((what) => ["csv", "jsonl", "parquet"].map((format) => [what, format]));
  byId("exports").replaceChildren(...kinds.map(([what, format]) => make("button", { type: "button", class: "button", click: () => fetched(what, format) }, `${what}.${format}`)));
}

async function fetched(what, format) {
  const { token } = await session();
  const answer = await fetch(`/v1/export/${what}?format=${format}`, { headers: { Authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Problem(answer.status, {}, 0);
  const address = URL.createObjectURL(await answer.blob());
  make("a", { href: address, download: `${what}.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
