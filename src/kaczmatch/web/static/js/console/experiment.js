// How the experiment of the settings stands: differences with their intervals as a picture, arms, and their course.

import { Chart } from "../chart.js";
import { byId, draw, make } from "../dom.js";
import { fitted, ticks } from "../scales.js";
import { operator } from "./session.js";

const UNITS = { user: "people", cluster: "regions", time: "blocks of time" };
const UNEVEN = 0.001;
const [LEFT, RIGHT, ROW, BOTTOM] = [190, 150, 34, 26];
const LINES = ["first-line", "second-line", "third-line", "plain"];
const signed = (value) => `${value > 0 ? "+" : ""}${value.toFixed(3)}`;

export async function experiment() {
  const report = await operator.get("/operator/experiment");
  const running = report.arms.length > 0;
  byId("tab-experiment").hidden = !running && byId("experiment").hidden;
  byId("experiment-found").hidden = !running;
  byId("experiment-title").textContent = running ? `Experiment: ${report.name}` : "Experiment";
  byId("experiment-words").textContent = running ? words(report) : "No experiment is set up.";
  if (!running) return;
  byId("arms").replaceChildren(...report.arms.map((arm) => row(arm, report)));
  forest(report.contrasts.filter((one) => one.difference));
  course(report);
}

function words(report) {
  const uneven = report.balance !== null && report.balance < UNEVEN ? " The arms have numbers of units that chance would hardly give: find out why before you believe a difference." : "";
  const strays = report.strays ? ` ${report.strays.toLocaleString()} decks of this name were assigned by other settings and are left out: give an experiment that changes a new name.` : "";
  const notDrawn = report.not_drawn ? ` ${report.not_drawn.toLocaleString()} cards were not drawn, because the app brought them itself; they are left out.` : "";
  return `Arms are assigned to ${UNITS[report.assigned]}; each counts once, when it has been watched long enough. Intervals hold at all looks together.${uneven}${strays}${notDrawn}`;
}

/** One line per difference: a dot, its interval, and what that shows. */
function forest(contrasts) {
  const svg = byId("forest");
  const wide = 760;
  const high = contrasts.length * ROW + BOTTOM;
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  const [low, top] = fitted(contrasts.flatMap(({ difference }) => [difference.low, difference.high]), [0], 6);
  const x = (value) => LEFT + ((value - low) / (top - low)) * (wide - LEFT - RIGHT);
  const text = (at, y, anchor, said, kind = "") => draw("text", { x: at, y, "text-anchor": anchor, class: kind }, said);
  svg.replaceChildren(
    ...ticks(low, top, 6).flatMap((tick) => [draw("path", { class: tick === 0 ? "zero" : "grid", d: `M${x(tick)} 0V${high - BOTTOM}` }), text(x(tick), high - 8, "middle", signed(tick).replace(/0+$/, "").replace(/\.$/, "") || "0")]),
    ...contrasts.flatMap(({ arm, outcome, difference }, place) => {
      const y = (place + 0.5) * ROW;
      const kind = shows(difference) === "no difference shown" ? "plain" : "first-line";
      return [
        text(LEFT - 12, y + 4, "end", `${arm}: ${outcome}`, "who"),
        draw("path", { class: `whisker ${kind}`, d: `M${x(difference.low)} ${y}H${x(difference.high)}` }),
        draw("circle", { class: `end ${kind}`, cx: x(difference.value), cy: y, r: 5.5 }),
        text(wide - RIGHT + 12, y + 4, "start", shows(difference), kind === "plain" ? "" : "who"),
      ];
    }),
  );
}

const shows = ({ low, high }) => (low > 0 ? "more" : high < 0 ? "less" : "no difference shown");

/** The differences as units came in, a chart per outcome. */
function course({ contrasts }) {
  const outcomes = [...new Set(contrasts.filter((one) => one.course.length).map((one) => one.outcome))];
  byId("courses").replaceChildren(
    ...outcomes.map((outcome) => {
      const svg = draw("svg", { "aria-label": `Difference in ${outcome}` });
      const frame = make("div", { class: "chart" }, make("h4", {}, outcome), make("div", { class: "chart-frame" }, svg));
      const lines = contrasts.filter((one) => one.outcome === outcome && one.course.length);
      const chart = new Chart(svg, { title: `Difference in ${outcome}`, xTitle: "units", least: [0], high: 200, y: signed });
      queueMicrotask(() => chart.draw(lines.map((one, place) => ({ name: one.arm, kind: LINES[place % LINES.length], points: one.course.map((point) => [point.units, point.value]), band: one.course.map((point) => [point.units, point.low, point.high]) }))));
      return frame;
    }),
  );
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
  return difference ? `${signed(difference.value)} (${signed(difference.low)} to ${signed(difference.high)}): ${shows(difference)}` : "";
}
