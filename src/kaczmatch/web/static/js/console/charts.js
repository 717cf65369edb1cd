// Charts: Vega-Lite as the service made it, with data and the page's colours put in. Drawn without eval or inline styles.

import { byId } from "../dom.js";
import { why } from "./overview.js";

const NAMED = new Set(["for", "against", "accent", "muted"]); // colours by name in the specifications
let parts = null;

async function loaded() {
  if (!parts) {
    parts = Promise.all([fetch("/console/charts.json").then((answer) => answer.json()), import("/console/vega.js")]);
    parts.catch(() => (parts = null)); // the next look tries again
  }
  return parts;
}

export async function draw(overview) {
  for (const [name, rows] of Object.entries(data(overview))) await chart(name, rows);
}

export async function chart(name, rows) {
  const [specifications, programs] = await loaded();
  const place = byId(`chart-${name}`);
  place.hidden = rows.length === 0;
  if (!rows.length) return;
  const specification = { ...coloured(specifications[name]), datasets: { figures: rows } };
  if (name === "policies") specification.height *= rows.length;
  await drawn(programs, place, specification);
}

function data(overview) {
  const kinds = ["swipes", "likes", "decks"];
  const busy = overview.minutes.some((minute) => minute.swipes || minute.decks);
  const hundredths = overview.lorenz.length - 1;
  return {
    minutes: busy ? overview.minutes.flatMap((minute) => kinds.map((what) => ({ at: minute.at, what, number: minute[what] }))) : [],
    policies: overview.policies.map((policy) => ({ why: why(policy), decks: policy.decks })),
    stability: overview.stability.map((value) => ({ value })),
    conditions: overview.conditions.map((value) => ({ value: Math.log10(value) })),
    lorenz: overview.lorenz.map((cards, place) => ({ people: place / hundredths, cards })),
  };
}

async function drawn({ View, parse, compile, expressionInterpreter }, place, specification) {
  const soft = { labelColor: colour("muted"), titleColor: colour("muted"), titleFontWeight: 500, labelFontSize: 12, titleFontSize: 12 };
  const looks = {
    background: null,
    font: getComputedStyle(document.body).fontFamily,
    axis: { ...soft, gridColor: colour("line"), domainColor: colour("line"), tickColor: colour("line") },
    legend: { labelColor: colour("ink"), labelFontSize: 12 },
    view: { stroke: null },
  };
  const program = parse(compile(specification, { config: looks }).spec, {}, { ast: true });
  place.view?.finalize();
  place.view = new View(program, { expr: expressionInterpreter, renderer: "svg", container: place });
  await place.view.runAsync();
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
