// The people of the demo: acting as one of them, finding them, and remembering those who were created here.

import { Client } from "../api.js";

const DEMO = { "X-Kaczmatch-Demo": "1" };
const KEY = "kaczmatch.me";
const MINE = "kaczmatch.mine";
const MOST = 5; // created people who are offered again
const anybody = new Client();
const tokens = new Map();

/** A client that calls as this person. */
export function as(user) {
  return new Client(async (again) => {
    if (again || !tokens.has(user)) tokens.set(user, (await anybody.post(`/demo/tokens/${encodeURIComponent(user)}`, undefined, DEMO)).token);
    return tokens.get(user);
  });
}

/** Some of the invented people: of a name or tag, if one is looked for. */
export const invented = (find, skip, limit) => anybody.get(`/demo/people?limit=${limit}&skip=${skip}&find=${encodeURIComponent(find)}`);

/** What a simulated person really likes; null for real ones. */
export const tasteOf = async (user) => (await anybody.get(`/demo/people/${encodeURIComponent(user)}/taste`)).weights;

/** The ids of those who were created in this browser. */
const mine = () => {
  try {
    return JSON.parse(localStorage.getItem(MINE) ?? "[]");
  } catch {
    return [];
  }
};

/** Somebody was created; nobody else would find them again. */
export const keep = (user) => {
  try {
    localStorage.setItem(MINE, JSON.stringify([user, ...mine()].slice(0, MOST)));
  } catch {
    // found as long as the page is not left
  }
};

/** The profiles of those who were created here and are still there. */
export const created = async () => (await Promise.all(mine().map((user) => as(user).get(`/people/${user}`).catch(() => null)))).filter(Boolean);

/** The name, or with a number where somebody here has it: two of one name cannot be told apart. */
export async function unique(name) {
  const others = [...(await created()), ...(await invented(name, 0, 200)).people];
  const taken = new Set(others.map((one) => one.name));
  for (let number = 1; ; number += 1) {
    const tried = number > 1 ? `${name} ${number}` : name;
    if (!taken.has(tried)) return tried;
  }
}

/** Who one was when the page was left. */
export const remembered = () => {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
};

export const remember = (user) => {
  try {
    if (user) sessionStorage.setItem(KEY, user);
    else sessionStorage.removeItem(KEY);
  } catch {
    // asked again next time
  }
};
