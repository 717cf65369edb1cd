// The operators' console: health, reports, people, matching, experiment, research.

import { tell, told } from "../address.js";
import { Problem } from "../api.js";
import { byId, showProblem } from "../dom.js";
import { tabs } from "../tabs.js";
import { experiment } from "./experiment.js";
import { offer } from "./exports.js";
import { compare } from "./groups.js";
import { health } from "./health.js";
import { matching } from "./overview.js";
import { People } from "./people.js";
import { Reports } from "./reports.js";
import { operator } from "./session.js";

const EVERY = 15_000;
const people = new People(act, report);
const showTab = tabs(byId("console-tabs"), (name) => tell({ tab: name === "health" ? "" : name }));
const reports = new Reports((user) => {
  tell({ tab: showTab("people").dataset.tab });
  return people.show(user);
}, act, report);
let away = false; // whether the last look by itself failed

/** What changes by itself. Lists with buttons stay as they are, so that none slides under the cursor. */
async function look() {
  const [overview] = await Promise.all([operator.get("/operator/overview"), health()]);
  matching(overview);
  people.suspects(overview.like_everybody);
  byId("fresh").textContent = `As of ${new Date().toLocaleTimeString()}`;
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

/** Do something and say what went wrong. Whether it was done. */
async function act(work, words) {
  try {
    await work();
    showProblem("");
  } catch (error) {
    report(error, words);
    return false;
  }
  look().catch(report);
  return true;
}

function report(error, words = "That did not work") {
  if (error instanceof Problem && error.status === 401) location.reload(); // the session has ended: log in again
  else showProblem(`${words}: ${error.message}.`, "All right", () => showProblem(""));
}

/** All there is; an experiment is counted deck by deck, so nothing else waits for it. */
function everything() {
  experiment().catch(report);
  act(() => Promise.all([reports.open(), people.open()]), "That did not work");
}

byId("refresh").addEventListener("click", everything);
byId("hours").addEventListener("change", (event) => {
  tell({ hours: event.target.value === "1" ? "" : event.target.value });
  health().catch(report);
});
byId("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  compare(byId("group-name").value.trim()).then(() => showProblem(""), (error) => report(error, "That group cannot be compared"));
});
for (const choice of document.querySelectorAll("[name=hours]")) choice.checked = choice.value === (told("hours") ?? "1");
if (!document.querySelector("[name=hours]:checked")) document.querySelector("[name=hours]").checked = true;
showTab(told("tab") ?? "health");
offer(report).catch(report);
everything();
setInterval(() => {
  if (!document.hidden) lookAgain();
}, EVERY);
