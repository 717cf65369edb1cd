// The swipe page: choose whom to be, then the cards and what is learned from them.

import { avatar } from "../avatar.js";
import { byId, showProblem } from "../dom.js";
import { Autopilot } from "./autopilot.js";
import { Chooser } from "./chooser.js";
import { Game } from "./game.js";
import { listen } from "./keys.js";
import { as, keep, remember, remembered } from "./demo_people.js";
import { ProfileForm } from "./profile.js";

const form = new ProfileForm();
const game = new Game((filter) => edit(filter));
const autopilot = new Autopilot(game);
const chooser = new Chooser((user) => play(user).catch(report));
let playing = false;

async function play(user) {
  showProblem("");
  await game.start(user);
  remember(user);
  playing = true;
  byId("choose").hidden = true;
  byId("play").hidden = false;
  me();
  autopilot.offer();
  byId("stack").focus({ preventScroll: true });
  scrollTo(0, 0);
}

function choose() {
  autopilot.stop();
  playing = false;
  remember(null);
  byId("play").hidden = true;
  byId("me").hidden = true;
  byId("choose").hidden = false;
  byId("choose-title").focus({ preventScroll: true });
  scrollTo(0, 0);
  return chooser.open();
}

function me() {
  byId("me").hidden = false;
  byId("me-face").replaceChildren(avatar(game.me.id, { round: true }));
  byId("me-name").textContent = game.me.name;
}

async function edit(filter = "") {
  autopilot.stop();
  const client = as(game.me.id);
  form.offer(await client.get("/vocabulary"));
  const now = await client.get(`/people/${game.me.id}`);
  const save = async (profile) => {
    const kept = await client.put(`/people/${now.id}`, profile, { "If-Match": `"${now.version}"` });
    await game.changed(kept);
    me();
  };
  form.edit("Your profile", now, save, filter);
}

async function create() {
  const user = `me-${crypto.randomUUID().slice(0, 13)}`;
  const client = as(user);
  const vocabulary = await client.get("/vocabulary");
  form.offer(vocabulary);
  const save = async (profile) => {
    await client.put(`/people/${user}`, profile, { "If-None-Match": "*" });
    keep(user);
    await play(user);
  };
  const ages = vocabulary.age_required ? { youngest: vocabulary.minimum_age, oldest: 99 } : {};
  form.edit("Somebody new", { ...ages, within_km: 100, location: chooser.location }, save);
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
byId("me-other").addEventListener("click", () => choose().catch(report));
byId("create").addEventListener("click", () => create().catch(report));
listen(() => playing && !form.open && !game.busy, act);

const before = remembered();
if (before) {
  play(before).catch(() => choose().catch(report)); // gone meanwhile, perhaps
} else {
  choose().catch(report);
}
