// The operators' console: figures, reports, one person, exports.

import { Problem } from "../api.js";
import { byId, trouble } from "../dom.js";
import { experiment, redrawn } from "./experiment.js";
import { offer } from "./exports.js";
import { tiles, told } from "./figures.js";
import { draw } from "./drawing.js";
import { Reports } from "./reports.js";
import { operator } from "./session.js";
import { Person } from "./person.js";

const EVERY = 15_000;
const person = new Person(act);
const reports = new Reports((user) => person.show(user), act, report);
let away = false; // whether the last look by itself failed

async function look() {
  const figures = await operator.get("/operator/figures");
  tiles(figures);
  told(figures);
  byId("fresh").textContent = `As of ${new Date().toLocaleTimeString()}`;
  await draw(figures);
}

/** Look now and then; what went wrong is forgotten when it goes well again. */
async function lookAgain() {
  try {
    await look();
    if (away) trouble("");
    away = false;
  } catch (error) {
    away = true;
    report(error);
  }
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
  await Promise.all([look(), reports.open()]).catch(report);
  return true;
}

function report(error, words = "That did not work") {
  if (error instanceof Problem && error.status === 401) location.reload(); // the session has ended: log in again
  else trouble(`${words}: ${error.message}.`, "All right", () => trouble(""));
}

byId("refresh").addEventListener("click", () => act(experiment, ""));
offer(report).catch(report);
act(experiment, "");
setInterval(() => {
  if (!document.hidden) lookAgain();
}, EVERY);
const recoloured = () => Promise.all([lookAgain(), redrawn()]).catch(report);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recoloured);
byId("theme").addEventListener("click", recoloured);
