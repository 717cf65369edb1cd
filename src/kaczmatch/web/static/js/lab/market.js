// The market: policies play the same town one after the other, and their curves appear as they are done.

import { Unreachable } from "../api.js";
import { Chart, save } from "../chart.js";
import { announce, byId, make, showProblem } from "../dom.js";
import { fill, tell, values } from "../address.js";

const share = (value) => `${Math.round(100 * value)} %`;
const KINDS = { matches: (value) => value.toFixed(1), waiting: share, gini: (value) => value.toFixed(2) };
const form = byId("market-form");
let charts = null;
let running = 0; // which run is the latest
let found = new Map(); // policy: its points

/** The tab is shown: run what the address or the form says, the first time. */
export function openMarket() {
  if (charts) return;
  charts = Object.fromEntries(Object.entries(KINDS).map(([kind, y]) => [kind, new Chart(byId(`market-${kind}`), { title: byId(`market-${kind}-title`).textContent, xTitle: "cards", least: [0], y, high: 190 })]));
  fill(form);
  told();
  run();
}

async function run() {
  if (!form.reportValidity()) return;
  const mine = (running += 1);
  const { policies, town, ...rest } = values(form);
  const chosen = policies.split(",").filter(Boolean);
  tell({ ...rest, town, policies });
  found = new Map();
  show();
  for (const [place, policy] of chosen.entries()) {
    byId("market-count").textContent = `${policy} plays, ${place + 1} of ${chosen.length} …`;
    try {
      const points = await played({ policy, population: rest.population, side: Number(rest.side), rounds: Number(rest.rounds), seed: Number(town) });
      if (mine !== running) return;
      found.set(policy, points);
    } catch (error) {
      if (mine !== running) return;
      byId("market-count").textContent = "";
      return showProblem(`That did not work: ${error.message}.`, "Try again", run);
    }
    show();
  }
  showProblem("");
  byId("market-count").textContent = `${chosen.length} policies, ${rest.side} people per side`;
  announce(`Done. ${best()}`);
}

async function played(asked) {
  const answer = await fetch("/lab/market", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) }).catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return (await answer.json()).points;
}

function show() {
  for (const [kind, chart] of Object.entries(charts)) chart.draw([...found].map(([policy, points]) => ({ name: policy, kind: policy, points: points.map((point) => [point.cards, point[kind]]) })), { domain: [0, 5 * Number(byId("rounds").value)] });
  const rows = [...found].map(([policy, points]) => ({ policy, ...points.at(-1) })).sort((a, b) => b.matches - a.matches);
  byId("market-numbers").replaceChildren(...rows.map((row) => make("tr", { "data-policy": row.policy }, make("th", { scope: "row" }, row.policy), ...[KINDS.matches(row.matches), share(row.waiting), row.gini.toFixed(2), row.first.toFixed(1)].map((cell) => make("td", {}, cell)))));
}

function best() {
  const [policy, points] = [...found].sort(([, a], [, b]) => b.at(-1).matches - a.at(-1).matches)[0] ?? [];
  return policy ? `Most matches: ${policy}, ${points.at(-1).matches.toFixed(1)} per 100 cards` : "";
}

/** What the fields say, in words beside them. */
function told() {
  byId("rounds-now").textContent = `${byId("rounds").value} of five cards`;
  for (const words of form.querySelectorAll("[data-population]")) words.hidden = words.dataset.population !== byId("population").value;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
form.addEventListener("input", told);
form.addEventListener("change", (event) => {
  if (!form.querySelector("[name=policies]:checked")) event.target.checked = true; // one is left at least
  run();
});
for (const button of form.querySelectorAll("[data-file]")) {
  button.addEventListener("click", async () => {
    const chart = charts[button.dataset.market];
    save(`market-${button.dataset.market}-${byId("population").value}-seed-${byId("market-seed").value}.${button.dataset.file}`, button.dataset.file === "csv" ? chart.csv() : await chart.png());
  });
}
