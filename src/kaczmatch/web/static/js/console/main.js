// The operators' console: figures, reports, one person, exports.

import { Problem } from "../api.js";
import { byId, trouble } from "../dom.js";
import { experiment } from "./experiment.js";
import { offer } from "./exports.js";
import { tiles, told } from "./figures.js";
import { draw } from "./drawing.js";
import { Reports } from "./reports.js";
import { operator } from "./session.js";
import { Person } from "./person.js";

const EVERY = 15_000;
const person = new Person(act);
const reports = new Reports((user) => person.show(user), act);

async function look() {
  const figures = await operator.get("/operator/figures");
  tiles(figures);
  told(figures);
  byId("fresh").textContent = `As of ${new Date().toLocaleTimeString()}`;
  await draw(figures);
}

/** Do something, say what went wrong, and look again at what it may have changed. */
async function act(work, words) {
  try {
    await work();
    trouble("");
  } catch (error) {
    report(error, words);
    return false;
  }
  await Promise.all([look(), reports.open(), experiment()]).catch(report);
  return true;
}

function report(error, words = "That did not work") {
  if (error instanceof Problem && error.status === 401) location.reload(); // the session has ended: log in again
  else trouble(`${words}: ${error.message}.`, "All right", () => trouble(""));
}

byId("refresh").addEventListener("click", () => act(async () => {}, ""));
offer().catch(report);
act(async () => {}, "");
setInterval(() => {
  if (!document.hidden) look().catch(report);
}, EVERY);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => look().catch(report));
byId("theme").addEventListener("click", () => look().catch(report));
