// Where values lie on an axis, and the numbers and times that people count in. Pure functions, no page.

const TENS = [1, 2, 5, 10];
const MINUTE = 60_000;
const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 4320, 10080];

/** The smallest step of 1, 2 or 5 times a power of ten with at most `most` of them in `span`. */
export function niceStep(span, most) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(span, 1e-12) / most));
  return ten * (TENS.find((one) => one * ten * most >= span * (1 - 1e-9)) ?? 10);
}

/** Round numbers from `low` to `high`. */
export function ticks(low, high, most) {
  const step = niceStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/** A range of round numbers that holds all values; `least` are values that it holds in any case. */
export function fitted(values, least, most) {
  const all = [...values.filter(Number.isFinite), ...least];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  if (!all.length || low === high) return [Math.min(low, 0) || 0, Math.max(high, 0) || 1];
  const step = niceStep(high - low, most);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

/** Full minutes, hours and days of the local clock, as milliseconds. */
export function timeTicks(low, high, most) {
  const step = MINUTE * (MINUTES.find((one) => one * MINUTE * most >= high - low) ?? MINUTES.at(-1));
  const shift = new Date(low).getTimezoneOffset() * MINUTE;
  const found = [];
  for (let at = Math.ceil((low - shift) / step) * step + shift; at <= high; at += step) found.push(at);
  return found;
}

const two = (number) => String(number).padStart(2, "0");

/** The hour, or the day where an axis is longer than a day and a half. */
export function timeWords(at, span) {
  const day = new Date(at);
  return span > 36 * 60 * MINUTE ? day.toLocaleDateString([], { day: "numeric", month: "short" }) : `${two(day.getHours())}:${two(day.getMinutes())}`;
}
