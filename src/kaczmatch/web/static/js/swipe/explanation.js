// Why a candidate is shown, at length. The card already says what speaks for them. This says what speaks against them, and
// which of the user's own swipes taught it.

import { make } from "../dom.js";

const DID = { like: "you liked", pass: "you passed on" };

/** The explanation of the service as nodes. `code` is what the card says; `nameOf` finds the name of an id, or nothing. */
export function explanation({ fits, misfits, swipes }, code, nameOf) {
  if (code === "early" || (!fits.length && !misfits.length)) return ["Nothing that you decided so far speaks clearly for or against them: you see them so that it can learn."];
  const taught = Object.entries(code === "unlike-usual" ? {} : DID).map(([decision, did]) => [did, people(swipes.filter((one) => one.decision === decision), nameOf)]);
  const told = taught.filter(([, names]) => names.length).flatMap(([did, names], place) => [place ? `, and ${did} ` : `Mostly because ${did} `, ...listed(names)]);
  const against = misfits.length ? [told.length ? " Against: " : "Against: ", ...listed(misfits.map(({ term }) => term)), "."] : [];
  const stop = told.at(-1)?.textContent.endsWith(".") ? "" : "."; // a name may end with one
  return [...told, ...(told.length ? [stop] : []), ...against];
}

/** Their names, and how many have none here. */
function people(swipes, nameOf) {
  const known = swipes.map((one) => nameOf(one.candidate)).filter(Boolean);
  const others = swipes.length - known.length;
  if (!others) return known;
  const word = known.length ? "other" : "person";
  return [...known, others === 1 ? `1 ${word}` : `${others} ${word === "other" ? "others" : "people"}`];
}

/** One, two and three. */
const listed = (words) => words.flatMap((word, place) => [place === 0 ? "" : place === words.length - 1 ? " and " : ", ", make("bdi", {}, word)]);
