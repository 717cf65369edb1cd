// The swipes as a strip: a line each, in the colours of its legend.

import { byId, draw } from "../dom.js";

const [HIGH, MARK] = [20, 6];

export function strip({ liked, flipped }, swipes) {
  const lines = (kind, from, fits) => draw("path", { class: kind, d: Array.from({ length: swipes }, (_, at) => (fits(at) ? `M${at + 0.5} ${from}V${HIGH}` : "")).join("") });
  byId("swipes").replaceChildren(
    lines("liked", 0, (at) => liked[at]),
    lines("passed", 0, (at) => !liked[at]),
    lines("turned", HIGH - MARK, (at) => flipped[at]),
  );
}
