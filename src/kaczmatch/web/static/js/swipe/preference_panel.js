// What was learned: in sentences first, then as bands, live after each swipe and at any earlier step by a slider. On a phone one
// line above the card says what the last swipe taught.

import { byId, draw, make } from "../dom.js";
import { NOTHING, alignment, newest, spoken, weightsOf } from "./taste.js";
import { WeightBars, spanOf } from "./weight_bars.js";

const MOST = 6; // tags of either side
const LAST = 100; // steps that the slider goes back
const NEAR = [
  [0.6, "found"],
  [0.35, "close"],
  [0.15, "a first trace"],
  [-1, "not yet"],
];

export class PreferencePanel {
  #steps = []; // { decision, name, preference }, the oldest first
  #taste = null;
  #complete = true; // whether the first step is the first ever
  #for = new WeightBars(byId("for"), "for");
  #against = new WeightBars(byId("against"), "against");
  #slider = byId("history");

  constructor() {
    this.#slider.addEventListener("input", () => this.#show());
  }

  /** Everything anew, as the service has it; `nameOf` knows people by their id. */
  async load(client, user, taste, nameOf) {
    const { steps } = await client.get(`/people/${user}/preference/history?most=50&last=${LAST}`);
    this.#taste = taste;
    this.#complete = steps.length < LAST;
    this.#steps = steps.filter(({ event }) => event.kind === "swiped").map(({ event, preference }) => ({ decision: event.decision, name: nameOf(event.candidate), preference }));
    byId("model-changed").hidden = true;
    this.#live();
  }

  /** One more step: what is known now. Says whether the model has changed, so that all steps have to be loaded anew. */
  async learn(client, user, decision, name) {
    const preference = await client.get(`/people/${user}/preference?most=50`);
    const changed = this.#steps.length > 0 && this.#steps.at(-1).preference.model !== preference.model;
    this.#steps.push({ decision, name, preference });
    this.#live();
    return changed;
  }

  /** Tell that all of this is said by another model than before. */
  tellChange() {
    byId("model-changed").textContent = "It has just learned from everybody’s swipes, and reads yours anew: some of this may look different now.";
    byId("model-changed").hidden = false;
  }

  /** The weights as they are now, by tag. */
  get weights() {
    return weightsOf(this.#steps.at(-1)?.preference ?? NOTHING);
  }

  #live() {
    this.#slider.max = String(this.#steps.length);
    this.#slider.value = this.#slider.max;
    this.#slider.disabled = !this.#steps.length;
    this.#show();
    this.#strip();
  }

  #show() {
    const place = Number(this.#slider.value);
    const step = this.#steps[place - 1];
    const preference = step?.preference ?? NOTHING;
    const live = place === this.#steps.length;
    const words = this.#moment(step, preference.swipes, live);
    byId("moment").textContent = words;
    this.#slider.setAttribute("aria-valuetext", words);
    byId("learned").classList.toggle("past", !live);
    byId("sentences").replaceChildren(...preference.sentences.map((one) => make("li", {}, one)));
    this.#tags(preference);
    this.#sure(preference);
    this.#aligned(place);
  }

  /** One line: what the last swipe taught, and how far it has come. */
  #strip() {
    const [before, now] = [this.#steps.at(-2)?.preference ?? NOTHING, this.#steps.at(-1)?.preference ?? NOTHING];
    const most = this.#steps.length ? newest(before, now) : null;
    const words = most ? `${most.moved > 0 ? "More" : "Less"}: ${most.term}` : "Here you see what it learns";
    byId("strip-words").textContent = words;
    byId("strip-sure").textContent = now.certainty !== null && now.terms ? `${now.clear} of ${now.terms} clear` : "";
    byId("strip-bar").style.setProperty("--share", String(now.certainty ?? 0));
    byId("strip").setAttribute("aria-label", `What it has learned. ${words}. ${toldApart(now)}`);
  }

  #moment(step, swipes, live) {
    if (!step) return this.#complete ? "Before the first swipe" : "The oldest step kept here";
    const did = { like: "liked", pass: "passed on", skip: "skipped" }[step.decision] ?? "met";
    const count = `${swipes} ${swipes === 1 ? "swipe" : "swipes"}`;
    return live ? `Now, after ${count}` : `After ${count}: you ${did} ${step.name ?? "somebody"}`;
  }

  #tags(preference) {
    const [liked, disliked] = [preference.liked, preference.disliked].map((side) => side.filter(spoken).slice(0, MOST));
    const span = spanOf([...liked, ...disliked]);
    this.#for.show(liked, span, this.#taste);
    this.#against.show(disliked, span, this.#taste);
    byId("no-for").hidden = liked.length > 0;
    byId("no-against").hidden = disliked.length > 0;
    byId("hidden-legend").hidden = !this.#taste;
    byId("legend").hidden = !liked.length && !disliked.length;
  }

  #sure({ certainty, clear, terms, beyond_tags: beyond }) {
    byId("sure").hidden = certainty === null;
    if (certainty === null) return;
    byId("sure-share").textContent = terms ? `${clear} of ${terms}` : "";
    byId("sure-meter").value = terms ? clear / terms : 0;
    byId("beyond-tags").hidden = !beyond;
    byId("beyond-tags").textContent = `What your likes have in common beyond tags: ${beyond}.`;
    byId("sure-words").textContent = toldApart({ clear, terms });
  }

  /** For an invented person: how near it is. Whoever swipes by their own taste is told so, and not marked down. */
  #aligned(place) {
    byId("aligned").hidden = !this.#taste;
    if (!this.#taste) return;
    const values = this.#steps.map((step) => alignment(step.preference, this.#taste));
    if (this.#complete) values.unshift(0);
    const at = Math.max(0, this.#complete ? place : place - 1);
    const now = values[at] ?? 0;
    byId("aligned-now").textContent = NEAR.find(([least]) => now >= least)[1];
    const own = now < 0 && values.length > 5;
    byId("aligned-words").textContent = own ? "You swipe by a taste of your own, and it follows you: that is what it is for." : "";
    byId("aligned-low").textContent = Math.min(...values) < 0 ? "the opposite" : "nothing in common";
    byId("aligned-curve").replaceChildren(...curve(values, at));
  }
}

const toldApart = ({ clear, terms }) => (clear ? `It can tell of ${clear} of ${terms} tags whether you like or avoid them.` : "No tag is clear yet: it has first ideas at most.");

/** A line that grows with the swipes, and a dot where the slider is. The scale begins below zero where the line does. */
function curve(values, place) {
  const low = Math.min(...values, 0) < 0 ? -1 : 0;
  const x = (index) => 4 + (index / Math.max(values.length - 1, 15)) * 292;
  const y = (value) => 57 - ((value - low) / (1 - low)) * 52;
  const line = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
  const guides = [low, 0, 1].map((value) => draw("path", { class: "guide", d: `M4 ${y(value)}H296` }));
  if (!line.length) return guides;
  const area = draw("path", { class: "area", d: `M${x(0)} ${y(0)}L${line.join("L")}L${x(values.length - 1).toFixed(1)} ${y(0)}Z` });
  const at = Math.max(0, Math.min(place, values.length - 1));
  return [...guides, area, draw("path", { class: "line", d: `M${line.join("L")}` }), draw("path", { class: "dot", d: `M${x(at).toFixed(1)} ${y(values[at]).toFixed(1)}h0.01` })];
}
