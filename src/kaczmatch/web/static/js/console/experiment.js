// How the experiment of the settings stands: arms, differences, and their course. The panel is there where an experiment is.

import { byId, make } from "../dom.js";
import { chart } from "./charts.js";
import { operator } from "./session.js";

const UNITS = { user: "people", cluster: "regions", time: "blocks of time" };
const UNEVEN = 0.001;
let points = [];

export async function experiment() {
  const report = await operator.get("/operator/experiment");
  byId("experiment").hidden = report.arms.length === 0;
  if (report.arms.length === 0) return;
  byId("experiment-title").textContent = `Experiment: ${report.name}`;
  byId("experiment-words").textContent = words(report);
  byId("arms").replaceChildren(...report.arms.map((arm) => row(arm, report)));
  points = report.contrasts.flatMap((one) => one.course.map((point) => ({ ...point, arm: one.arm, what: `${one.arm}: ${one.outcome}` })));
  await redrawn();
}

/** The course of the differences, in the page's colours as they are now. */
export async function redrawn() {
  if (points.length) await chart("experiment", points);
}

function words(report) {
  const uneven = report.balance !== null && report.balance < UNEVEN ? " The arms have numbers of units that chance would hardly give: find out why before you believe a difference." : "";
  const strays = report.strays ? ` ${report.strays.toLocaleString()} decks of this name were assigned by other settings and are left out: give an experiment that changes a new name.` : "";
  const notDrawn = report.not_drawn ? ` ${report.not_drawn.toLocaleString()} cards were not drawn, because the app brought them itself; they are left out.` : "";
  return `Arms are assigned to ${UNITS[report.assigned]}; each counts once, when it has been watched long enough. Intervals hold at all looks together.${uneven}${strays}${notDrawn}`;
}

function row(arm, report) {
  const first = arm === report.arms[0];
  const cells = arm.outcomes.map(({ outcome, mean }) => {
    const found = report.contrasts.find((one) => one.arm === arm.name && one.outcome === outcome);
    return make("td", {}, mean === null ? "cannot be said yet" : mean.value.toFixed(3), make("span", { class: "muted small" }, first ? "" : ` ${compared(found)}`));
  });
  return make("tr", {}, make("th", { scope: "row" }, arm.name), make("td", {}, arm.policy), make("td", {}, arm.units.toLocaleString()), make("td", {}, arm.waiting.toLocaleString()), make("td", {}, arm.cards.toLocaleString()), ...cells);
}

function compared(contrast) {
  const difference = contrast?.difference;
  if (!difference) return "";
  const signed = (value) => `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
  const verdict = difference.low > 0 ? "more" : difference.high < 0 ? "less" : "no difference shown";
  return `${signed(difference.value)} (${signed(difference.low)} to ${signed(difference.high)}): ${verdict}`;
}
