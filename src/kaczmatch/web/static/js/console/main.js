// The operators' console: overview, reports, one person, exports.

import { Problem } from "../api.js";
import { byId, showProblem } from "../dom.js";
import { experiment, redrawn } from "./experiment.js";
import { offer } from "./exports.js";
import { compare } from "./groups.js";
import { describeCharts, showTiles } from "./overview.js";
import { draw } from "./charts.js";
import { Reports } from "./reports.js";
import { operator } from "./session.js";
import { Person } from "./person.js";

const EVERY = 15_000;
const person = new Person(act);
const reports = new Reports((user) => person.show(user), act, report);
let away = false; // whether the last look by itself failed

async function look() {
  const overview = await operator.get("/operator/overview");
  showTiles(overview);
  describeCharts(overview);
  byId("fresh").textContent = `As of ${new Date().toLocaleTimeString()}`;
  await draw(overview);
}

/** Look now and then; what went wrong is forgotten when it goes well again. */
async function lookAgain() {
  try {
    await look();
    if (away) showProblem("");
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
    showProblem("");
  } catch (error) {
    report(error, words);
    return false;
  }
  await Promise.all([look(), reports.open()]).catch(report);
  return true;
}

function report(error, words = "That did not work") {
  if (error instanceof Problem && error.status === 401) location.reload(); // the session has ended: log in again
  else showProblem(`${words}: ${error.message}.`, "All right", () => showProblem(""));
}

/** All there is; an experiment is counted deck by deck, so nothing else waits for it. */
function everything() {
  experiment().catch(report);
  act(async () => {}, "");
}

byId("refresh").addEventListener("click", everything);
byId("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  compare(byId("group-name").value.trim()).then(() => showProblem(""), (error) => report(error, "That group cannot be compared"));
});
offer(report).catch(report);
everything();
setInterval(() => {
  if (!document.hidden) lookAgain();
}, EVERY);
const recoloured = () => Promise.all([lookAgain(), redrawn()]).catch(report);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recoloured);
byId("theme").addEventListener("click", recoloured);
