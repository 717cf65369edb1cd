// The swipe page: who one is, then the cards and what is learned from them. The browser's back button goes one step back.

import { withRetries } from "../api.js";
import { avatar } from "../avatar.js";
import { byId, showProblem } from "../dom.js";
import { Autopilot } from "./autopilot.js";
import { Chooser } from "./chooser.js";
import { Game } from "./game.js";
import { listen } from "./keys.js";
import { as, invented, keep, remember, remembered, unique } from "./demo_people.js";
import { ProfileForm } from "./profile.js";
import { Sheet } from "./sheet.js";
import { Start } from "./start.js";

const form = new ProfileForm(() => game.resume());
const game = new Game(widen, () => form.open || !playing);
const autopilot = new Autopilot(game);
const chooser = new Chooser((user) => go(user).then(tellSecret).catch(report));
const start = new Start(create);
const steps = { opened: () => history.pushState({ ...history.state, sheet: true }, ""), closed: () => history.state?.sheet && (quiet = true) && history.back() };
const sheets = [new Sheet("learned", "strip", steps), new Sheet("people", "people-open", steps)];
let playing = null; // whose turn it is
let groups = {};
let quiet = false; // a sheet was closed by its own button: that step back is none of the visitor's

/** Become somebody: a step that the back button takes back. */
async function go(user) {
  await play(user);
  history.pushState({ user }, "");
}

async function play(user) {
  showProblem("");
  await game.start(user);
  remember(user);
  playing = user;
  byId("choose").hidden = true;
  byId("play").hidden = false;
  me();
  autopilot.offer();
  byId("stack").focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Whoever is invented has a goal: where the panel is a sheet, it opens on it. */
function tellSecret() {
  if (game.taste && byId("strip").checkVisibility()) sheets[0].show();
}

async function choose() {
  autopilot.stop();
  game.leave();
  playing = null;
  remember(null);
  byId("play").hidden = true;
  byId("me").hidden = true;
  byId("choose").hidden = false;
  byId("choose-title").focus({ preventScroll: true });
  scrollTo(0, 0);
  const found = await chooser.open();
  groups = found.groups;
  start.offer(await withRetries(() => as(stranger).get("/vocabulary"), () => {}), groups, found.location);
}

function me() {
  byId("me").hidden = false;
  byId("me-face").replaceChildren(avatar(game.me.id, { round: true }));
  byId("me-name").textContent = game.me.name;
}

async function edit(filter = "") {
  autopilot.stop();
  const client = as(game.me.id);
  if (!Object.keys(groups).length) ({ groups } = await invented("", 0, 1));
  form.offer(await client.get("/vocabulary"), groups);
  const now = await client.get(`/people/${game.me.id}`);
  form.edit(now, (profile) => save(now, profile), filter);
}

/** Remove a filter at once, or open the form at it. */
async function widen({ filter, widened }, inForm) {
  try {
    if (inForm) return await edit(filter);
    const now = await as(game.me.id).get(`/people/${game.me.id}`);
    const { name, born, i_am, i_look_for, youngest, oldest, within_km, tags, location, features, capacity, data } = now;
    return await save(now, { name, born, i_am, i_look_for, youngest, oldest, within_km, tags, location, features, capacity, data, ...widened });
  } catch (error) {
    return report(error);
  }
}

async function save(now, profile) {
  await game.changed(await as(now.id).put(`/people/${now.id}`, profile, { "If-Match": `"${now.version}"` }));
  me();
}

let stranger = newId();

function newId() {
  return `me-${crypto.randomUUID().slice(0, 13)}`;
}

async function create(profile) {
  const user = stranger;
  const name = await unique(profile.name);
  await as(user).put(`/people/${user}`, { ...profile, name }, { "If-None-Match": "*" });
  stranger = newId();
  keep(user);
  await go(user);
}

function report(error) {
  showProblem(`That did not work: ${error.message}.`, "All right", () => showProblem(""));
}

function act(meaning) {
  if (byId("autopilot").getAttribute("aria-pressed") === "true") autopilot.stop();
  if (meaning === "undo") game.undo();
  else game.decide(meaning);
}

for (const meaning of ["like", "pass", "skip", "undo"]) byId(meaning).addEventListener("click", () => act(meaning));
byId("me-edit").addEventListener("click", () => edit().catch(report));
byId("me-other").addEventListener("click", () => {
  history.pushState({}, "");
  choose().catch(report);
});
byId("people").addEventListener("click", (event) => event.target.closest(".pick") && sheets[1].close());
listen(() => playing && !form.open && !game.busy && !sheets.some((one) => one.open), act);

addEventListener("popstate", () => {
  if (quiet) {
    quiet = false;
    return;
  }
  for (const one of sheets) one.close();
  if (form.open) form.close();
  if (game.busy) game.closeMatch();
  const user = history.state?.user ?? null;
  if (user === playing) return;
  if (user) play(user).catch(report);
  else choose().catch(report);
});

const before = history.state ? history.state.user : remembered();
if (before) {
  if (!history.state) {
    history.replaceState({}, "");
    history.pushState({ user: before }, "");
  }
  play(before).catch(() => choose().catch(report)); // gone meanwhile, perhaps
} else {
  choose().catch(report);
}
