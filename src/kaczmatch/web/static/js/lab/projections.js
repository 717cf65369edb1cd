// Kaczmarz in the plane: equations a·x = b, and what one step of each method does. Pure functions, no page.

const along = (degrees, length) => [length * Math.cos((degrees * Math.PI) / 180), length * Math.sin((degrees * Math.PI) / 180)];
const dot = (one, other) => one[0] * other[0] + one[1] * other[1];
const SOLUTION = [0.5, -0.3];

/** Three equations: directions of their rows, lengths, and how far each line is moved off the common point. */
function equations(degrees, lengths, off = [0, 0, 0]) {
  return degrees.map((each, place) => {
    const a = along(each, lengths[place]);
    return { a, b: dot(a, SOLUTION) + off[place] * lengths[place] };
  });
}

export const SYSTEMS = {
  meet: equations([20, 80, 140], [1, 2, 0.6]),
  narrow: equations([35, 55, 72], [1, 2, 0.6]),
  apart: equations([20, 80, 140], [1, 2, 0.6], [0.35, -0.3, 0.4]),
};
export const START = [-1.7, 1.5];
export const ETA = 0.5;

/** Where every method ends, or around where: the point of least squares. */
export function target(rows) {
  const [p, q, s] = [0, 1, 2].map((kind) => rows.reduce((sum, { a }) => sum + [a[0] * a[0], a[0] * a[1], a[1] * a[1]][kind], 0));
  const [u, v] = [0, 1].map((side) => rows.reduce((sum, { a, b }) => sum + a[side] * b, 0));
  return solve(p, q, s, [u, v]);
}

/** The next point: `state` is { x, z, step }, and a step says which lines it looked at. */
export function next(rows, method, { alpha, beta }, state) {
  const used = method === "block" ? [state.step % 3, (state.step + 1) % 3] : [state.step % 3];
  const damping = method === "damped" || method === "block" ? alpha : 0;
  const w = used.length === 1 ? single(rows[used[0]], damping, state.x) : pair(rows[used[0]], rows[used[1]], damping, state.x);
  const z = method === "momentum" ? [0, 1].map((side) => beta * (state.z[side] + w[side])) : [0, 0];
  return { x: [0, 1].map((side) => state.x[side] + w[side] + ETA * z[side]), z, step: state.step + 1, used };
}

/** (b - a·x)/(‖a‖² + α) a */
function single({ a, b }, alpha, x) {
  const c = (b - dot(a, x)) / (dot(a, a) + alpha);
  return [c * a[0], c * a[1]];
}

/** Aᵀ(AAᵀ + αI)⁻¹(b - Ax) for two rows. */
function pair(one, two, alpha, x) {
  const r = [one, two].map(({ a, b }) => b - dot(a, x));
  const c = solve(dot(one.a, one.a) + alpha, dot(one.a, two.a), dot(two.a, two.a) + alpha, r);
  return [0, 1].map((side) => c[0] * one.a[side] + c[1] * two.a[side]);
}

/** (p q; q s)⁻¹ r */
function solve(p, q, s, [u, v]) {
  const area = p * s - q * q;
  return [(s * u - q * v) / area, (p * v - q * u) / area];
}
