// Charts: Vega-Lite as the service made it, with data and the page's colours put in. Drawn without eval or inline styles.

import { byId } from "../dom.js";
import { why } from "./figures.js";

const NAMED = new Set(["for", "against", "accent", "muted"]); // colours by name in the specifications
let parts = null;

async function loaded() {
  if (!parts) {
    parts = Promise.all([fetch("/console/charts.json").then((answer) => answer.json()), import("/console/vega.js")]).then(([specifications]) => specifications);
  }
  return parts;
}

export async function draw(figures) {
  for (const [name, rows] of Object.entries(data(figures))) await chart(name, rows);
}

export async function chart(name, rows) {
  const specifications = await loaded();
  const place = byId(`chart-${name}`);
  place.hidden = rows.length === 0;
  if (rows.length) await drawn(place, coloured(specifications[name]), rows);
}

function data(figures) {
  const kinds = ["swipes", "likes", "decks"];
  const hundredths = figures.lorenz.length - 1;
  return {
    minutes: figures.minutes.flatMap((minute) => kinds.map((what) => ({ at: minute.at, what, number: minute[what] }))),
    policies: figures.policies.map((policy) => ({ why: why(policy), decks: policy.decks })),
    stability: figures.stability.map((value) => ({ value })),
    conditions: figures.conditions.map((value) => ({ value: Math.log10(value) })),
    lorenz: figures.lorenz.map((cards, place) => ({ people: place / hundredths, cards })),
  };
}

async function drawn(place, specification, rows) {
  const ink = colour("ink");
  const soft = { labelColor: colour("muted"), titleColor: colour("muted"), titleFontWeight: 500, labelFontSize: 12, titleFontSize: 12 };
  const font = getComputedStyle(document.body).fontFamily;
  const looks = {
    background: null,
    font,
    axis: { ...soft, gridColor: colour("line"), domainColor: colour("line"), tickColor: colour("line") },
    legend: { labelColor: ink, labelFontSize: 12 },
    view: { stroke: null },
  };
  place.finalize?.();
  // The library clears its place with a text that would become markup, which the policy forbids: the same, without text.
  Object.defineProperty(place, "innerHTML", { configurable: true, set: () => place.replaceChildren() });
  const options = { mode: "vega-lite", ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: "svg", config: looks };
  const chart = await window.vegaEmbed(place, { ...specification, datasets: { figures: rows } }, options);
  place.finalize = chart.finalize;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`) && painted(name);

/** A colour of the page as it is now, light or dark. */
function painted(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** The specification with our names of colours replaced by colours. */
function coloured(part) {
  if (typeof part === "string") return NAMED.has(part) ? colour(part) : part;
  if (Array.isArray(part)) return part.map(coloured);
  if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, coloured(value)]));
  return part;
}
