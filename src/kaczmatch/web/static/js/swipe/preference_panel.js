// The preference that was learned: live after each swipe, and at any earlier step by a slider.

import { byId, draw } from "../dom.js";
import { NOTHING, alignment, weightsOf } from "./taste.js";
import { WeightBars, spanOf } from "./weight_bars.js";

const MOST = 6; // tags of either side
const LAST = 100; // steps that the slider goes back

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
    this.#live();
  }

  /** One more step: what is known now. */
  async learn(client, user, decision, name) {
    const preference = await client.get(`/people/${user}/preference?most=50`);
    this.#steps.push({ decision, name, preference });
    this.#live();
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
  }

  #show() {
    const place = Number(this.#slider.value);
    const step = this.#steps[place - 1];
    const preference = step?.preference ?? NOTHING;
    const live = place === this.#steps.length;
    const words = this.#moment(place, step, preference.swipes, live);
    byId("moment").textContent = words;
    this.#slider.setAttribute("aria-valuetext", words);
    byId("learned").classList.toggle("past", !live);
    this.#tags(preference);
    this.#sure(preference);
    this.#aligned(place);
  }

  #moment(place, step, swipes, live) {
    if (!step) return this.#complete ? "Before the first swipe" : "The oldest step kept here";
    const did = { like: "liked", pass: "passed on", skip: "skipped" }[step.decision] ?? "met";
    const count = `${swipes} ${swipes === 1 ? "swipe" : "swipes"}`;
    return live ? `Now, after ${count}` : `After ${count}: you ${did} ${step.name ?? "somebody"}`;
  }

  #tags(preference) {
    const span = spanOf(preference);
    this.#for.show(preference.liked.slice(0, MOST), span, this.#taste);
    this.#against.show(preference.disliked.slice(0, MOST), span, this.#taste);
    byId("no-for").hidden = preference.liked.length > 0;
    byId("no-against").hidden = preference.disliked.length > 0;
    byId("hidden-legend").hidden = !this.#taste;
    byId("legend").hidden = !preference.liked.length && !preference.disliked.length;
  }

  #sure(preference) {
    const known = preference.certainty !== null;
    byId("sure").hidden = !known;
    if (!known) return;
    const share = Math.round(100 * preference.certainty);
    const clear = [...weightsOf(preference).values()].filter((one) => (one.confidence ?? 0) >= 0.8).length;
    byId("sure-share").textContent = `${share} %`;
    byId("sure-meter").value = preference.certainty;
    byId("beyond-tags").hidden = !preference.beyond_tags;
    byId("beyond-tags").textContent = `What your likes have in common beyond tags: ${preference.beyond_tags}.`;
    byId("sure-words").textContent = `${share} % of its first doubt has gone; ${clear || "no"} ${clear === 1 ? "tag is" : "tags are"} fairly clear.`;
  }

  #aligned(place) {
    byId("aligned").hidden = !this.#taste;
    if (!this.#taste) return;
    const values = this.#steps.map((step) => alignment(step.preference, this.#taste));
    if (this.#complete) values.unshift(0);
    const now = values[this.#complete ? place : Math.max(0, place - 1)] ?? 0;
    byId("aligned-now").textContent = now.toFixed(2).replace("-", "−");
    byId("aligned-curve").replaceChildren(...curve(values, this.#complete ? place : place - 1));
  }
}

/** A line that grows with the swipes, and a dot where the slider is. */
function curve(values, place) {
  const x = (index) => 4 + (index / Math.max(values.length - 1, 15)) * 292;
  const y = (value) => 57 - Math.max(-0.1, value) * 52;
  const line = values.map((value, index) => `${x(index).toFixed(1)} ${y(value).toFixed(1)}`);
  const guides = [0, 0.5, 1].map((value) => draw("path", { class: "guide", d: `M4 ${y(value)}H296` }));
  if (!line.length) return guides;
  const area = draw("path", { class: "area", d: `M${x(0)} ${y(0)}L${line.join("L")}L${x(values.length - 1).toFixed(1)} ${y(0)}Z` });
  const at = Math.max(0, Math.min(place, values.length - 1));
  return [...guides, area, draw("path", { class: "line", d: `M${line.join("L")}` }), draw("path", { class: "dot", d: `M${x(at).toFixed(1)} ${y(values[at]).toFixed(1)}h0.01` })];
}
