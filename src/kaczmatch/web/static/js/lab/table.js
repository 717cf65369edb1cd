// The same as a table of numbers.

import { byId, make } from "../dom.js";

let best = "";

export function numbers(run, learners, swipes) {
  const rows = learners.map((slug) => {
    const [first, last] = [run.points(slug, "alignment", 0)[0][1], run.points(slug, "alignment", swipes).at(-1)[1]];
    return { slug, aligned: last, auc: run.points(slug, "auc", swipes).at(-1)[1], gained: last - first };
  });
  rows.sort((a, b) => b.aligned - a.aligned);
  best = rows.length ? `${rows[0].slug} leads with an alignment of ${rows[0].aligned.toFixed(2)}` : "";
  byId("numbers").replaceChildren(
    ...rows.map((row) =>
      make(
        "tr",
        { "data-learner": row.slug },
        make("th", { scope: "row" }, row.slug),
        make("td", {}, row.aligned.toFixed(3)),
        make("td", {}, row.auc.toFixed(3)),
        make("td", {}, `${row.gained < 0 ? "−" : "+"}${Math.abs(row.gained).toFixed(3)}`),
      ),
    ),
  );
}

numbers.said = () => best;
