// One user swiping: the cards, the decisions, and what can be undone.

import { Problem, Unreachable, withRetries } from "../api.js";
import { byId, make, announce, showProblem } from "../dom.js";
import { described, sentence } from "./card.js";
import { PreferencePanel } from "./preference_panel.js";
import { Matches } from "./matches.js";
import { Outbox } from "./outbox.js";
import { Picks } from "./picks.js";
import { as, tasteOf } from "./demo_people.js";
import { explanation } from "./explanation.js";
import { CardStack } from "./card_stack.js";

const DECK = 8; // small, so that what was learned shows soon
const AGAIN = 60_000; // milliseconds until an empty deck is looked at again
const ANSWERS = [2_500, 6_000]; // milliseconds after a like at which somebody may have answered

export class Game {
  me = null;
  taste = null;
  cards = []; // each knows the deck it is of
  simulated = false; // somebody lets them swipe by themselves
  #past = []; // what can be taken back: { id, card, decision, fixed }
  #decided = new Set(); // cards that an answer from before the decision must not bring back
  #met = new Map(); // who was decided on in this window, by which swipe
  #again = 0; // a timer: nobody was left
  #dealing = null;
  #names = new Map();
  #nameOf = (id) => this.#names.get(id) ?? this.#matches.nameOf(id); // other people have no name here
  #cardStack = new CardStack((decision) => this.decide(decision), (person) => this.#explain(person));
  #preferencePanel = new PreferencePanel();
  #matches = new Matches(() => byId("stack").focus({ preventScroll: true }), () => this.editing());
  #picks = new Picks((card) => this.#next(card));
  #outbox = new Outbox({
    send: (one) => (one.kind === "swipe" ? as(one.user).put(`/people/${one.user}/swipes/${one.id}`, { candidate: one.candidate, decision: one.decision, deck: one.deck }) : as(one.user).delete(`/people/${one.user}/swipes/${one.id}`)),
    done: (one, answer) => this.#done(one, answer),
    failed: (one, problem) => this.#failed(one, problem),
    stuck: (count, why) => this.#stuck(count, why),
  });

  /** `widen` is called with a hint about a filter that hides people, and whether to open the form; `editing` says whether one is. */
  constructor(widen, editing) {
    Object.assign(this, { widen, editing });
  }

  get busy() {
    return this.#matches.open;
  }

  /** A form was closed: a match may have waited. */
  resume() {
    this.#matches.next();
  }

  closeMatch() {
    this.#matches.close();
  }

  /** Become somebody, and get cards. */
  async start(user) {
    const waiting = (why) => showProblem(why && `Getting ready: ${why}. This page goes on by itself.`);
    [this.me, this.taste] = await withRetries(() => Promise.all([as(user).get(`/people/${user}`), tasteOf(user)]), waiting);
    this.#decided.clear();
    this.#met.clear();
    await this.#outbox.retry();
    await withRetries(() => this.#anew(), waiting);
  }

  /** Somebody else is chosen: what is answered from now on waits for the next start. */
  leave() {
    this.me = this.#dealing = null;
    clearTimeout(this.#again);
  }

  /** Everything as the service has it: at the start, and where another window of the same person has decided meanwhile. */
  async #anew() {
    const user = this.me.id;
    this.cards = [];
    this.#past = [];
    this.#cardStack.clear();
    await Promise.all([this.#picks.load(as(user), user), this.#matches.load(as(user), this.me), this.#preferencePanel.load(as(user), user, this.taste, this.#nameOf)]);
    await this.deal();
  }

  /** The profile has changed: what was dealt may not fit any more. */
  async changed(profile) {
    this.me = profile;
    this.cards = [];
    this.#cardStack.clear();
    await this.deal();
  }

  /** Decide on the first card; it goes at once, and the service is told as soon as it can be reached. */
  decide(decision) {
    const card = this.cards[0];
    if (!card || this.#matches.open) return false;
    const id = crypto.randomUUID();
    this.cards.shift();
    this.#decided.add(keyOf(card));
    this.#past.push({ id, card, decision, fixed: false });
    if (!this.#met.has(card.id)) this.#met.set(card.id, id);
    this.#picks.remove(card.id);
    this.#cardStack.leave(card.id, decision);
    this.#show();
    const did = { like: "Liked", pass: "Passed on", skip: "Skipped" }[decision];
    announce(`${did} ${card.name}. ${this.cards.length ? `Next: ${described(this.cards[0])}.` : ""}`);
    this.#outbox.add({ kind: "swipe", user: this.me.id, id, candidate: card.id, decision, deck: card.deck });
    return true;
  }

  /** Somebody of today's picks is the next card. */
  #next(card) {
    this.#names.set(card.id, card.name);
    this.cards = [card, ...this.cards.filter((other) => other.id !== card.id)];
    this.#show();
    announce(`Next: ${described(card)}.`);
    byId("stack").focus({ preventScroll: true });
  }

  /** Take the last decision back; only that one, so that the service agrees. */
  undo() {
    const last = this.#past.at(-1);
    if (!last || last.fixed || this.#matches.open) return;
    this.#past = []; // one step back and no further
    this.cards.unshift(last.card);
    this.#decided.delete(keyOf(last.card));
    this.#show(last.card.id);
    announce(`Taken back: ${described(last.card)}.`);
    this.#outbox.add({ kind: "undo", user: this.me.id, id: last.id, candidate: last.card.id });
  }

  /** The open deck, or a new one; at most one request at a time. */
  deal() {
    this.#dealing ??= this.#deal().finally(() => {
      this.#dealing = null;
    });
    return this.#dealing;
  }

  async #deal() {
    if (!this.me) return;
    const user = this.me.id;
    clearTimeout(this.#again);
    if (!this.cards.length) this.#cardStack.note("Looking for people …");
    let deck;
    try {
      deck = await withRetries(() => as(user).post(`/people/${user}/deck`, { size: DECK }), (why) => showProblem(why && `${sentence(why)} The page tries again by itself.`));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#cardStack.empty("No cards", sentence(error.message), [this.#lookAgain()]);
      return;
    }
    if (this.me?.id !== user) return; // somebody else meanwhile
    const dealt = deck.cards.map((card) => ({ ...card, deck: deck.id }));
    const fresh = dealt.filter((card) => !this.#outbox.holds(user, card.id) && !this.#decided.has(keyOf(card)));
    for (const card of fresh) this.#names.set(card.id, card.name);
    const before = this.cards.map((old) => fresh.find((card) => card.id === old.id) ?? old);
    this.cards = [...before, ...fresh.filter((card) => !before.some((old) => old.id === card.id))];
    if (this.cards.length) this.#show();
    else if (!deck.cards.length) this.#nobody(deck);
  }

  async #explain(person) {
    try {
      return explanation(await as(this.me.id).get(`/people/${this.me.id}/why/${person.id}`), person.why_code, this.#nameOf);
    } catch (error) {
      return [sentence(error.message)];
    }
  }

  /** Why nobody is left, what one tap would widen, and when somebody may come. The page looks again by itself. */
  #nobody({ empty, hints, next_at }) {
    const when = next_at ? `Somebody whom you passed on comes again on ${new Date(next_at).toLocaleDateString("en-GB", { day: "numeric", month: "long" })}.` : "Somebody new may join at any time.";
    const why = `${sentence(empty.split(";")[0])} ${when} The page looks again every minute.`;
    const names = { "looks for": "Look for anybody", age: "Look at every age", distance: "Look anywhere", several: "Remove all filters" };
    const ways = hints.map((hint, place) => make("button", { type: "button", class: place ? "" : "first", "data-filter": hint.filter, click: () => this.widen(hint, false) }, `${names[hint.filter] ?? hint.filter}: ${hint.people} more`));
    const own = hints.length ? [make("button", { type: "button", class: "quiet", click: () => this.widen(hints[0], true) }, "Change the filters")] : [];
    this.#cardStack.empty("Nobody left to show", why, [...ways, ...own, this.#lookAgain()]);
    this.#buttons();
    announce(`Nobody left to show. ${why}`);
    clearTimeout(this.#again);
    this.#again = setTimeout(() => !this.cards.length && this.deal(), AGAIN);
  }

  #lookAgain() {
    return make("button", { type: "button", class: "quiet", click: () => this.deal() }, "Look again");
  }

  #show(returning = null) {
    this.#cardStack.show(this.cards, this.#preferencePanel.weights, returning);
    if (!this.cards.length) this.#cardStack.note("Looking for people …");
    this.#buttons();
  }

  #buttons() {
    for (const id of ["like", "pass", "skip"]) byId(id).disabled = !this.cards.length;
    const last = this.#past.at(-1);
    byId("undo").disabled = !last || last.fixed;
    byId("undo").title = last?.fixed ? "A match cannot be taken back" : "Undo (Z)";
  }

  async #done(one, answer) {
    if (one.user !== this.me?.id) return;
    const swipe = this.#past.find((past) => past.id === one.id);
    if (!this.cards.length && !this.#outbox.size) this.deal();
    try {
      const client = as(one.user);
      if (answer?.match) await this.#look(one.user, this.simulated);
      if (one.kind === "undo" || !swipe) await this.#preferencePanel.load(client, one.user, this.taste, this.#nameOf);
      else if (await this.#preferencePanel.learn(client, one.user, one.decision, swipe.card.name)) {
        await this.#preferencePanel.load(client, one.user, this.taste, this.#nameOf);
        this.#preferencePanel.tellChange();
      }
      if (this.cards.length) await this.deal(); // the same cards, explained by what is known now
      if (one.decision === "like" && !answer.match) this.#listen(one.user, this.simulated);
    } catch (error) {
      if (!(error instanceof Unreachable || error instanceof Problem)) throw error; // the next swipe tells
    }
  }

  /** People answer in their own time. */
  #listen(user, quietly) {
    for (const wait of ANSWERS) {
      setTimeout(() => this.#look(user, quietly).catch(() => {}), wait);
    }
  }

  /** See who has matched; that cannot be taken back. */
  async #look(user, quietly) {
    if (this.me?.id !== user) return;
    await this.#matches.look(quietly);
    for (const past of this.#past) past.fixed ||= this.#matches.has(past.card.id);
    this.#buttons();
  }

  #failed(one, problem) {
    if (one.user !== this.me?.id) return;
    if (problem.code === "conflict") {
      const here = this.#matches.has(one.candidate) || ![undefined, one.id].includes(this.#met.get(one.candidate));
      const words = here ? "You have met this person already, so this answer was not needed." : "This card was answered already, in another window perhaps. This is how it stands now.";
      showProblem(words, "All right", () => showProblem(""));
      this.#decided.delete(`${one.deck}/${one.candidate}`); // the service knows better
      this.#anew().catch(() => {}); // the next swipe tells
      return;
    }
    if (one.kind === "undo") {
      this.cards = this.cards.filter((card) => card.id !== one.candidate);
      this.#show();
    } else {
      this.#past = this.#past.filter((past) => past.id !== one.id);
      if (problem.status === 429) this.#decided.delete(`${one.deck}/${one.candidate}`); // another day
      this.#buttons();
    }
    showProblem(`${one.kind === "undo" ? "It could not be taken back" : "That swipe was not taken"}: ${problem.message}`, "All right", () => showProblem(""));
    if (!this.cards.length && !this.#outbox.size) this.deal();
  }

  #stuck(count, why) {
    if (!count) {
      showProblem("");
      announce("Everything was sent.");
      return;
    }
    const waits = count === 1 ? "1 decision waits here and is sent again by itself" : `${count} decisions wait here and are sent again by themselves`;
    showProblem(`${sentence(why)} ${waits}.`, "Try now", () => this.#outbox.retry());
  }
}

const keyOf = (card) => `${card.deck}/${card.id}`;
