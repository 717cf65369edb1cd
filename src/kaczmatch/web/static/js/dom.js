// Building and finding elements. What people wrote only ever becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

/** An element: `class`, `data-…`, `aria-…` and the like are attributes, functions listen, children are nodes or text. */
export function make(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function draw(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** One of the icons that every page holds, for the eye only. */
export const icon = (name) => draw("svg", { class: "icon", "aria-hidden": "true" }, draw("use", { href: `#icon-${name}` }));

/** Tell screen readers. */
export function announce(words) {
  const said = byId("said");
  said.textContent = said.textContent === words ? `${words}\u00a0` : words; // the same words twice are news twice
}

/** The bar under the header: what is wrong, and a button. It is hidden without words. */
export function showProblem(words, label = "", act = null) {
  const bar = byId("trouble");
  bar.hidden = !words;
  bar.replaceChildren(...(words ? [make("span", {}, words)] : []), ...(words && act ? [make("button", { type: "button", click: act }, label)] : []));
}
