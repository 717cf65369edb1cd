// One group beside everybody else: how often its people are shown, liked and matched.

import { byId, make } from "../dom.js";
import { operator } from "./session.js";

const each = (count, of) => (of === 0 ? "–" : (count / of).toFixed(2));

export async function compare(name) {
  const found = await operator.get(`/operator/group?name=${encodeURIComponent(name)}`);
  const rows = [[found.name, found.members], ["everybody else", found.others]];
  byId("group-rows").replaceChildren(...rows.map(([who, side]) => row(who, side)));
  byId("group").hidden = false;
}

function row(who, { people, cards, likes, matches }) {
  const figures = [people.toLocaleString(), each(cards, people), each(likes, cards), each(matches, people)];
  return make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, who)), ...figures.map((figure) => make("td", {}, figure)));
}
