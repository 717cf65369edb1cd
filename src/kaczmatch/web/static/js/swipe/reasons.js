// Why somebody is shown, at length: which tags count for and against them, and which of one's own swipes taught that.

import { make } from "../dom.js";

const DID = { like: "you liked", pass: "you passed on" };

/** Nodes that tell what the service answers; `nameOf` knows people by their id, or not. */
export function reasons({ fits, misfits, swipes }, nameOf) {
  if (!fits.length && !misfits.length) return ["Nothing that you decided so far speaks for or against them: you see them so that it can learn."];
  const sides = [
    ["For: ", fits],
    [fits.length ? " Against: " : "Against: ", misfits],
  ].filter(([, parts]) => parts.length);
  return [...sides.flatMap(([label, parts]) => [label, ...listed(parts.map(({ name }) => name)), "."]), ...lessons(swipes, nameOf)];
}

function lessons(swipes, nameOf) {
  const taught = Object.keys(DID).flatMap((decision) => {
    const known = swipes.filter((one) => one.decision === decision);
    const names = [...new Set(known.map((one) => nameOf(one.candidate)).filter(Boolean))];
    const others = known.filter((one) => !nameOf(one.candidate)).length;
    const people = [...names, ...(others ? [`${others} ${names.length ? (others === 1 ? "other" : "others") : others === 1 ? "person" : "people"}`] : [])];
    return people.length ? [[DID[decision], people]] : [];
  });
  if (!taught.length) return [];
  return [" Mostly because ", ...taught.flatMap(([did, people], place) => [`${place ? ", and " : ""}${did} `, ...listed(people)]), "."];
}

/** One, two and three. */
const listed = (words) => words.flatMap((word, place) => [place === 0 ? "" : place === words.length - 1 ? " and " : ", ", make("bdi", {}, word)]);
