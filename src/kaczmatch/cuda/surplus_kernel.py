"""The kernel of `equilibrium`: what one tile of people sums over all tiles that it can meet. The matrix is never stored."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit  # type: ignore[untyped-decorator]
def surplus_sums(  # type: ignore[no-untyped-def]
    begin, others, weights, profiles, half, i_am, i_look_for, age, greatest_age, youngest, oldest, x, y, z, reach, a, sums,
    steepness, TILE: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Per person i of a tile: Σⱼ exp(steepness · mᵢⱼ) aⱼ over everybody whom i may meet, in the order of the tiles."""
    tile = tl.program_id(0)
    i = tile * TILE + tl.arange(0, TILE)
    d = tl.arange(0, BLOCK)
    half_i, am_i, look_i = tl.load(half + i), tl.load(i_am + i), tl.load(i_look_for + i)
    age_i, greatest_i, young_i, old_i = tl.load(age + i), tl.load(greatest_age + i), tl.load(youngest + i), tl.load(oldest + i)
    x_i, y_i, z_i, reach_i = tl.load(x + i), tl.load(y + i), tl.load(z + i), tl.load(reach + i)
    total = tl.zeros((TILE,), dtype=tl.float32)
    for at in range(tl.load(begin + tile), tl.load(begin + tile + 1)):
        j = tl.load(others + at) * TILE + tl.arange(0, TILE)
        forward = tl.zeros((TILE, TILE), dtype=tl.float32)
        back = tl.zeros((TILE, TILE), dtype=tl.float32)
        for k in range(0, D, BLOCK):
            at_i, at_j = i[:, None] * D + (k + d)[None, :], j[:, None] * D + (k + d)[None, :]
            forward = tl.dot(tl.load(weights + at_i), tl.load(profiles + at_j).T, forward, input_precision="tf32x3")
            back = tl.dot(tl.load(profiles + at_i), tl.load(weights + at_j).T, back, input_precision="tf32x3")
        f = 0.5 + half_i[:, None] * tl.erf(forward * 0.70710678)
        g = 0.5 + tl.load(half + j)[None, :] * tl.erf(back * 0.70710678)
        east, north, up = x_i[:, None] - tl.load(x + j)[None, :], y_i[:, None] - tl.load(y + j)[None, :], z_i[:, None] - tl.load(z + j)[None, :]  # fmt: skip  # noqa: E501
        fits = ((look_i[:, None] & tl.load(i_am + j)[None, :]) != 0) & ((tl.load(i_look_for + j)[None, :] & am_i[:, None]) != 0)
        fits &= (tl.load(greatest_age + j)[None, :] >= young_i[:, None]) & (tl.load(age + j)[None, :] <= old_i[:, None])
        fits &= (greatest_i[:, None] >= tl.load(youngest + j)[None, :]) & (age_i[:, None] <= tl.load(oldest + j)[None, :])
        fits &= east * east + north * north + up * up <= tl.minimum(reach_i[:, None], tl.load(reach + j)[None, :])
        fits &= i[:, None] != j[None, :]
        total += tl.sum(tl.where(fits, tl.exp(steepness * f * g) * tl.load(a + j)[None, :], 0.0), axis=1)
    tl.store(sums + i, total)
