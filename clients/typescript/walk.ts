// A walk through the API, compiled and run by a test: a token, a deck, a swipe, a problem.
import { ApiError, Client } from "./generated/client.js";

declare const process: { argv: string[] };

const [url, key, user] = process.argv.slice(2) as [string, string, string];
const backend = new Client(url, key);
const { token } = await backend.call("createToken", { body: { user, seconds: 900 } });
const device = new Client(url, token);
const deck = await device.call("createDeck", { path: { user }, body: {} });
const card = deck.cards[0];
if (card === undefined || deck.id === null || deck.id === undefined) throw new Error("an empty deck");
const body = { candidate: card.id, decision: "like" as const, deck: deck.id };
const swiped = await device.call("recordSwipe", { path: { user, swipe: "walk-1" }, body });
console.log(`swiped ${card.name} at ${swiped.at}`);
try {
  await device.call("getProfile", { path: { user: "somebody-else" } });
} catch (error) {
  if (error instanceof ApiError) console.log(`problem ${error.status} ${error.code}`);
}
