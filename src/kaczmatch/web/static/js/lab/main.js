// The lab: fetch a run segment by segment, and let the curves grow.

import { Chart, save } from "../chart.js";
import { byId, announce, showProblem } from "../dom.js";
import { tabs } from "../tabs.js";
import { fill, tell, told, values } from "../address.js";
import { openMarket } from "./market.js";
import { Run } from "./run.js";
import { strip } from "./strip.js";
import { numbers } from "./table.js";

const TOTAL = 640;
const SPEEDS = [8, 24, 64, 160, 480]; // swipes per second
const SESSION = 32;
const WORDS = {
  paper: "As the paper ran it: a like wherever one liked tag is shared, so nearly everybody is liked, and learners start near the answer. All-ones, which takes no start and learns nothing, aligns as well as most.",
  honest: "A like only where tastes agree well, and everybody starts from liking all tags alike. Now learning shows, and not learning too.",
};

const axes = { xTitle: "swipes", domain: [0, TOTAL], least: [0.5, 1], grows: true };
const charts = {
  alignment: new Chart(byId("alignment"), { ...axes, title: "Alignment with the hidden taste" }),
  auc: new Chart(byId("auc"), { ...axes, title: "AUC on people not seen yet" }),
};
let run = null;
let shown = 0;
let playing = false;
let before = 0;

const speed = () => SPEEDS[byId("speed").valueAsNumber - 1];
const chosen = () => [...document.querySelectorAll("[name=learner]:checked")].map((box) => box.value);
const condition = () => document.querySelector("[name=condition]:checked").value;
const seed = () => Math.min(9999, Math.max(0, Math.trunc(byId("seed").valueAsNumber) || 0));

/** What is asked for; the seed as it is used, whatever was typed. */
function asked() {
  byId("seed").value = String(seed());
  return { condition: condition(), noise: byId("noise").valueAsNumber, seed: seed(), people: Number(byId("people").value) };
}

/** Draw what there is; fetch ahead what is not. */
async function show(upto) {
  const mine = run;
  shown = Math.min(TOTAL, upto);
  await mine.upto(shown, chosen());
  if (mine !== run) return; // another run has begun meanwhile
  byId("arena").removeAttribute("aria-busy");
  for (const [what, chart] of Object.entries(charts)) chart.draw(chosen().map((slug) => mine.series(slug, what, Math.floor(shown))));
  strip(mine, Math.floor(shown));
  numbers(mine, chosen(), Math.floor(shown));
  const count = Math.floor(shown);
  byId("count").textContent = `${count} of ${TOTAL} swipes`;
  byId("swipes-words").textContent = count ? `${Math.round((100 * mine.likes(count)) / count)} % likes` : "";
}

async function turn(now) {
  if (!playing) return;
  const passed = Math.max(0, Math.min(now - before, 250)); // a frame may have begun before the button was pressed
  before = now;
  await safely(() => show(shown + (speed() * passed) / 1000));
  if (shown >= TOTAL) pause("The run is over");
  else if (playing) requestAnimationFrame(turn);
}

function play() {
  if (shown >= TOTAL) shown = 0;
  playing = true;
  before = performance.now();
  byId("play").textContent = "Pause";
  requestAnimationFrame(turn);
}

function pause(words = "") {
  playing = false;
  byId("play").textContent = "Play";
  remember();
  if (words) announce(`${words}. ${numbers.said()}`);
}

const toggle = () => (playing ? pause("Paused") : play());

async function step() {
  pause();
  await safely(() => show(Math.min(TOTAL, (Math.floor(shown / SESSION) + 1) * SESSION)));
  remember();
  announce(`${shown} swipes. ${numbers.said()}`);
}

/** The address reproduces the view. */
function remember() {
  tell({ ...values(byId("arena")), swipes: Math.floor(shown) });
}

function reset() {
  pause();
  run = new Run(asked());
  return safely(() => show(0));
}

/** What is drawn is not what is asked for, until it is computed. */
function wait() {
  byId("arena").setAttribute("aria-busy", "true");
  byId("count").textContent = "Computing …";
}

/** Something else is asked for: the same number of swipes, under it. */
function again() {
  run = new Run(asked());
  for (const chart of Object.values(charts)) chart.forget();
  remember();
  wait();
  byId("bands").hidden = byId("people").value === "1";
  byId("condition-words").textContent = WORDS[condition()];
  byId("noise-now").textContent = `${Math.round(100 * byId("noise").valueAsNumber)} % of swipes say the opposite`;
  byId("speed-now").textContent = `${speed()} swipes a second`;
  return safely(() => show(shown));
}

/** What comes of a run that was left meanwhile is no news, good or bad. */
async function safely(work) {
  const mine = run;
  try {
    await work();
    if (mine === run) showProblem("");
  } catch (error) {
    if (mine !== run) return;
    byId("arena").removeAttribute("aria-busy");
    byId("count").textContent = "";
    pause();
    showProblem(`That did not work: ${error.message}.`, "Try again", again);
  }
}

byId("arena").addEventListener("submit", (event) => event.preventDefault());
byId("play").addEventListener("click", toggle);
byId("step").addEventListener("click", step);
byId("reset").addEventListener("click", reset);
byId("speed").addEventListener("input", () => (byId("speed-now").textContent = `${speed()} swipes a second`));
for (const id of ["noise", "people", "seed"]) byId(id).addEventListener("change", again);
byId("noise").addEventListener("input", () => (byId("noise-now").textContent = `${Math.round(100 * byId("noise").valueAsNumber)} % of swipes say the opposite`));
byId("conditions").addEventListener("change", again);
for (const box of document.querySelectorAll("[name=learner]")) {
  box.addEventListener("change", () => {
    if (!chosen().length) box.checked = true; // one is left at least
    for (const chart of Object.values(charts)) chart.forget();
    remember();
    wait();
    safely(() => show(shown));
  });
}
for (const button of document.querySelectorAll("[data-save]")) {
  button.addEventListener("click", async () => {
    const chart = charts[button.dataset.chart];
    const name = `lab-${button.dataset.chart}-${condition()}-seed-${seed()}-${Math.floor(shown)}-swipes`;
    save(`${name}.${button.dataset.save}`, button.dataset.save === "csv" ? chart.csv() : await chart.png());
  });
}
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, button, a, [tabindex='0']") || event.altKey || event.ctrlKey || event.metaKey) return;
  const act = { " ": toggle, ArrowRight: step, r: reset, R: reset }[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});
const openTab = (name) => {
  tell({ tab: name === "learners" ? "" : name });
  if (name === "market") openMarket();
  if (name === "market" && playing) pause();
};
const showTab = tabs(byId("lab-tabs"), openTab);
fill(byId("arena"));
shown = Math.min(TOTAL, Math.max(0, Number(told("swipes")) || 0));
const linked = told("swipes") !== null;
if (told("tab") === "market") openTab(showTab("market").dataset.tab);
await again();
if (!linked && told("tab") === null && !matchMedia("(prefers-reduced-motion: reduce)").matches) play();
