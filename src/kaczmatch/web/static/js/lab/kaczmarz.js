// Kaczmarz in two dimensions, one projection at a press.

import { announce, byId } from "../dom.js";
import { picture } from "./plane.js";
import { SYSTEMS, START, next, target } from "./projections.js";

const WORDS = {
  plain: "From where it is, the point goes to the next line, at a right angle (Kaczmarz, 1937).",
  damped: "The same, but not all the way: the step is divided by ‖a‖² + α. This is the step of TK. A short row is damped most.",
  block: "Two lines at once, damped by α. This is the step of Block-TK, which takes all swipes of a session. At α = 0 the point goes to where the two cross.",
  momentum: "After each projection the point goes on in the direction of the earlier steps, as in Kaczmarz++.",
};
const ENDS = {
  meet: "The three lines meet in one point, so there is a solution.",
  narrow: "The lines meet at small angles: the system is ill-conditioned, and single projections are slow.",
  apart: "The lines do not meet: there is no solution, only a point of least squares. This is what noisy labels do.",
};

const method = () => document.querySelector("[name=projection]:checked").value;
const lines = () => byId("lines").value;
const parameters = () => ({ alpha: byId("alpha").valueAsNumber, beta: byId("beta").valueAsNumber });
let way = [];
let state = null;

function show() {
  const rows = SYSTEMS[lines()];
  const goal = target(rows);
  picture(rows, goal, way, state.used);
  const count = way.length - 1;
  const off = Math.hypot(state.x[0] - goal[0], state.x[1] - goal[1]);
  const seen = state.used.map((place) => place + 1).join(" and ");
  byId("distance").textContent = `${count} ${count === 1 ? "projection" : "projections"}, distance ${off.toFixed(3)}`;
  byId("plane-words").textContent = `${ENDS[lines()]} ${count ? `The last step looked at line ${seen}.` : "Nothing is projected yet."}`;
  return byId("distance").textContent;
}

function over() {
  state = { x: START, z: [0, 0], step: 0, used: [] };
  way = [START];
  const damped = method() === "damped" || method() === "block";
  byId("alpha").disabled = !damped;
  byId("beta").disabled = method() !== "momentum";
  byId("projection-words").textContent = WORDS[method()];
  byId("alpha-now").textContent = damped ? byId("alpha").value : "not in use";
  byId("beta-now").textContent = method() === "momentum" ? byId("beta").value : "not in use";
  byId("lines-words").textContent = ENDS[lines()];
  return show();
}

function project(times) {
  for (let time = 0; time < times; time += 1) {
    state = next(SYSTEMS[lines()], method(), parameters(), state);
    way.push(state.x);
  }
  announce(show());
}

byId("project").addEventListener("click", () => project(1));
byId("project-ten").addEventListener("click", () => project(10));
byId("over").addEventListener("click", () => announce(over()));
for (const id of ["lines", "alpha", "beta"]) byId(id).addEventListener("input", over);
byId("projections").addEventListener("change", over);
over();
