// How the service does: what is wrong, how fast it answers, what waits, how much room is left.

import { Chart } from "../chart.js";
import { byId, icon, make } from "../dom.js";
import { operator } from "./session.js";
import { tiles, whole } from "./overview.js";

const SLOW = 1; // second, at p99
const GIGABYTE = 2 ** 30;
const KINDS = { start: "start", refit: "refit", learner: "learner-change" };

const time = { time: true, least: [0], high: 200 };
const charts = {
  latency: new Chart(byId("chart-latency"), { ...time, title: "Latency", y: (value) => lasting(value / 1000) }),
  errors: new Chart(byId("chart-errors"), { ...time, title: "Errors", least: [0, 1], y: few }),
  requests: new Chart(byId("chart-requests"), { ...time, title: "Requests per minute", y: few }),
};

export const range = () => Number(document.querySelector("[name=hours]:checked").value);

export async function health() {
  const found = await operator.get(`/operator/health?hours=${range()}`);
  if (found.hours !== range()) return; // another range was chosen meanwhile
  verdict(found);
  figures(found);
  curves(found);
  byId("routes").replaceChildren(...found.routes.map((one) => make("tr", { class: one.figures.errors ? "alarm" : "" }, ...[one.route, whole(one.figures.requests), whole(one.figures.errors), whole(one.figures.turned_away), whole(one.figures.refused), lasting(one.figures.p50), lasting(one.figures.p95), lasting(one.figures.p99)].map((cell) => make("td", {}, cell)))));
}

/** What is wrong, the worst first; or that nothing is. */
function verdict(found) {
  const { total, webhooks } = found;
  const worst = found.routes.find((one) => one.figures.errors);
  const wrong = [
    found.problem && `Readiness says no: ${found.problem}.`,
    total.errors && `${whole(total.errors)} of ${whole(total.requests)} requests failed, most in ${worst?.route ?? "one route"}. The log names each under “failure”.`,
    total.turned_away && `${whole(total.turned_away)} requests were turned away: too many at once, or not ready.`,
    total.p99 >= SLOW && `Slow: one request in a hundred took ${lasting(total.p99)} or more.`,
    found.seconds_behind > 10 && `Memory is ${found.seconds_behind.toFixed(0)} s behind the store.`,
    found.writes_waiting > 500 && `${whole(found.writes_waiting)} writes wait for a commit.`,
    webhooks.failed && `${whole(webhooks.failed)} webhooks were given up. Last: ${webhooks.last_error}.`,
    webhooks.waiting && `${whole(webhooks.waiting)} webhooks wait for another try. Last: ${webhooks.last_error}.`,
    found.disk_free_bytes < GIGABYTE && `Only ${bytes(found.disk_free_bytes)} are left on the disk.`,
  ].filter(Boolean);
  document.title = `${wrong.length ? `(${wrong.length}) ` : ""}Console · kaczmatch`; // seen from another tab
  byId("verdict").replaceChildren(...(wrong.length ? wrong : ["All is well."]).map((words) => make("li", { class: wrong.length ? "alarm" : "well" }, icon(wrong.length ? "warning" : "well"), words)));
}

function figures({ total, webhooks, ...found }) {
  const rate = total.requests ? `${((100 * total.errors) / total.requests).toFixed(2)} % of ${whole(total.requests)}` : "no requests";
  tiles("health-tiles", [
    [lasting(total.p50), "p50", "half are faster"],
    [lasting(total.p95), "p95", "95 of 100 are faster"],
    [lasting(total.p99), "p99", "99 of 100 are faster", total.p99 >= SLOW && "alarm"],
    [whole(total.errors), "errors", rate, total.errors && "alarm"],
    [whole(total.turned_away), "turned away", "503: come back later", total.turned_away && "alarm"],
    [found.writes_waiting === null ? "–" : whole(found.writes_waiting), "writes in the queue", `memory ${found.seconds_behind.toFixed(1)} s behind`],
    [whole(webhooks.waiting), "webhooks to send again", `${whole(webhooks.failed)} given up; ${whole(found.kept_messages)} messages kept`, (webhooks.waiting || webhooks.failed) && "alarm"],
    [found.store_bytes === null ? "–" : bytes(found.store_bytes), "store", `${bytes(found.disk_free_bytes)} left on the disk`, found.disk_free_bytes < GIGABYTE && "alarm"],
  ]);
}

function curves(found) {
  const minutes = found.seconds_per_step / 60;
  const at = (value) => found.steps.map((one) => [Date.parse(one.at), value(one.figures)]);
  const marks = found.marks.map((mark) => ({ at: Date.parse(mark.at), kind: KINDS[mark.kind], label: markWords(mark) }));
  const more = { marks, domain: [Date.parse(found.steps[0].at), Date.parse(found.steps.at(-1).at)] };
  const line = (name, kind, value) => ({ name, kind, points: at(value) });
  charts.latency.draw([line("p99", "third-line", (one) => milliseconds(one.p99)), line("p95", "first-line", (one) => milliseconds(one.p95)), line("p50", "second-line", (one) => milliseconds(one.p50))], more);
  charts.errors.draw([line("errors", "third-line", (one) => one.errors / minutes), line("turned away", "first-line", (one) => one.turned_away / minutes), line("refused", "plain", (one) => one.refused / minutes)], more);
  charts.requests.draw([line("", "second-line", (one) => one.requests / minutes)], more);
  byId("told-latency").textContent = found.total.requests ? `p50 ${lasting(found.total.p50)}, p95 ${lasting(found.total.p95)}, p99 ${lasting(found.total.p99)} over ${whole(found.total.requests)} requests.` : "No app has asked for anything in this time.";
  byId("told-errors").textContent = `${whole(found.total.errors)} errors, ${whole(found.total.turned_away)} turned away, ${whole(found.total.refused)} refused.`;
  const { last_error, last_error_at } = found.webhooks;
  byId("last-webhook-error").textContent = last_error_at === null ? "No webhook has failed." : `The last webhook that failed: ${last_error}, ${new Date(last_error_at).toLocaleString()}.`;
  byId("told-requests").textContent = `${whole(found.total.requests)} in all.`;
  const lines = [...found.marks].reverse().map((mark) => make("li", {}, make("i", { class: `mark-key ${KINDS[mark.kind]}` }), ` ${new Date(mark.at).toLocaleString()} · ${markWords(mark)}`));
  byId("marks").replaceChildren(...(lines.length ? lines : [make("li", { class: "muted" }, "Nothing in this time.")]));
}

function markWords({ kind, detail }) {
  return { start: `version ${detail} started`, refit: `refit, ${detail}`, learner: `another learner, ${detail}` }[kind];
}

const milliseconds = (seconds) => (seconds === null ? Number.NaN : 1000 * seconds);

/** Seconds as people say them. */
function lasting(seconds) {
  if (seconds === null || Number.isNaN(seconds)) return "–";
  if (seconds >= 5) return "> 5 s";
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${(1000 * seconds).toFixed(seconds && seconds < 0.01 ? 1 : 0)} ms`;
}

function few(value) {
  return Number.isInteger(value) || value >= 10 ? whole(Math.round(value)) : value.toFixed(1);
}

function bytes(number) {
  const place = Math.min(4, Math.floor(Math.log2(Math.max(number, 1)) / 10));
  return `${(number / 2 ** (10 * place)).toFixed(place > 2 ? 1 : 0)} ${["B", "KB", "MB", "GB", "TB"][place]}`;
}
