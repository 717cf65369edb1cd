"""The kernels of `top_picks`: tiles propose, lists are scored exactly, the best are kept."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _tanh(x):  # type: ignore[no-untyped-def]
    return tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def approximate_phi(x):  # type: ignore[no-untyped-def]
    """Φ(x) − ½, doubled."""
    return _tanh(x * (0.7978845608 + 0.0356774081 * x * x))


@triton.jit  # type: ignore[untyped-decorator]
def propose(  # type: ignore[no-untyped-def]
    segments, others, weights, profiles, places, half, limit, tile_slack, near, youngest, oldest, tile_youngest, tile_oldest,
    counts, lists,
    TILE: tl.constexpr, D: tl.constexpr, A: tl.constexpr, B: tl.constexpr, LONGEST: tl.constexpr, SHIFT: tl.constexpr,
):  # fmt: skip
    """One tile against a run of others. Both products stay in registers."""
    tile_i = tl.load(segments + 3 * tl.program_id(0))
    first = tl.load(segments + 3 * tl.program_id(0) + 1)
    last = tl.load(segments + 3 * tl.program_id(0) + 2)
    a = tl.arange(0, A)
    c = tl.arange(0, 16)
    i = tile_i * TILE + tl.arange(0, TILE)
    weights_i, profiles_i = tl.load(weights + i[:, None] * D + a[None, :]), tl.load(profiles + i[:, None] * D + a[None, :])
    if B > 0:
        b = A + tl.arange(0, B)
        weights_i2, profiles_i2 = tl.load(weights + i[:, None] * D + b[None, :]), tl.load(profiles + i[:, None] * D + b[None, :])
    places_i = tl.load(places + i[:, None] * 32 + c[None, :])
    youngest_i, oldest_i, half_all_i = tl.load(youngest + i), tl.load(oldest + i), tl.load(half + i)
    limit_all_i, near_i = tl.load(limit + i), tl.load(near + i)
    slack_i, low_i, high_i = tl.load(tile_slack + tile_i), tl.load(tile_youngest + tile_i), tl.load(tile_oldest + tile_i)
    for at in tl.range(first, last, num_stages=2):
        tile_j = tl.load(others + at)
        j = tile_j * TILE + tl.arange(0, TILE)
        forward = tl.dot(weights_i, tl.load(profiles + j[:, None] * D + a[None, :]).T)
        back = tl.dot(profiles_i, tl.load(weights + j[:, None] * D + a[None, :]).T)
        if B > 0:
            forward = tl.dot(weights_i2, tl.load(profiles + j[:, None] * D + b[None, :]).T, forward)
            back = tl.dot(profiles_i2, tl.load(weights + j[:, None] * D + b[None, :]).T, back)
        cosine = tl.dot(places_i, tl.load(places + j[:, None] * 32 + 16 + c[None, :]).T)
        # Ages are nearly the same within a tile: who can want nobody there gets a probability of 0.
        wants_i = (youngest_i <= tl.load(tile_oldest + tile_j)) & (oldest_i >= tl.load(tile_youngest + tile_j))
        wants_j = (tl.load(youngest + j) <= high_i) & (tl.load(oldest + j) >= low_i)
        half_i, half_j = tl.where(wants_i, half_all_i, 0.0), tl.where(wants_j, tl.load(half + j), 0.0)
        base_i, base_j = tl.where(wants_i, 0.5 + SHIFT, 0.0), tl.where(wants_j, 0.5 + SHIFT, 0.0)
        f = base_i[:, None] + half_i[:, None] * approximate_phi(forward)
        g = base_j[None, :] + half_j[None, :] * approximate_phi(back)
        limit_i = tl.maximum(limit_all_i - tl.load(tile_slack + tile_j), 0.0)
        limit_j = tl.maximum(tl.load(limit + j) - slack_i, 0.0)
        mutual = tl.where(cosine >= tl.maximum(near_i[:, None], tl.load(near + j)[None, :]), f * g, 0.0)
        if tl.max(mutual - tl.minimum(limit_i[:, None], limit_j[None, :])) > 0.0:
            ii, jj = tl.broadcast_to(i[:, None], (TILE, TILE)), tl.broadcast_to(j[None, :], (TILE, TILE))
            take = mutual > limit_i[:, None]
            place = tl.atomic_add(counts + ii, 1, mask=take, sem="relaxed")
            tl.store(lists + ii.to(tl.int64) * LONGEST + place, jj, mask=take & (place < LONGEST))
            if tile_i != tile_j:
                take = mutual > limit_j[None, :]
                place = tl.atomic_add(counts + jj, 1, mask=take, sem="relaxed")
                tl.store(lists + jj.to(tl.int64) * LONGEST + place, ii, mask=take & (place < LONGEST))


@triton.jit  # type: ignore[untyped-decorator]
def score(  # type: ignore[no-untyped-def]
    row, weights, profiles, half, i_am, i_look_for, age, greatest_age, youngest, oldest, x, y, z, reach, excluded, excluded_from,
    counts, lists, keys, WIDE: tl.constexpr, D: tl.constexpr, LONGEST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Everybody on one person's list: the filters, and the score in double precision."""
    i = tl.program_id(0)
    n = tl.minimum(tl.load(counts + i), LONGEST)
    if n > 0:
        d = tl.arange(0, WIDE)
        inside = d < D
        w_i = tl.load(weights + i.to(tl.int64) * D + d, mask=inside, other=0.0).to(tl.float64)
        p_i = tl.load(profiles + i.to(tl.int64) * D + d, mask=inside, other=0.0).to(tl.float64)
        row_i = tl.load(row + i)
        begin, end = tl.load(excluded_from + row_i), tl.load(excluded_from + row_i + 1)
        age_i, greatest_i = tl.load(age + i), tl.load(greatest_age + i)
        for start in range(0, n, BLOCK):
            h = start + tl.arange(0, BLOCK)
            j = tl.load(lists + i.to(tl.int64) * LONGEST + h, mask=h < n, other=0)
            at = j[:, None].to(tl.int64) * D + d[None, :]
            w_j = tl.load(weights + at, mask=inside[None, :], other=0.0).to(tl.float64)
            p_j = tl.load(profiles + at, mask=inside[None, :], other=0.0).to(tl.float64)
            there, back = tl.sum(w_i[None, :] * p_j, axis=1), tl.sum(p_i[None, :] * w_j, axis=1)
            f = 0.5 + tl.load(half + i).to(tl.float64) * tl.erf(there * 0.7071067811865476)
            g = 0.5 + tl.load(half + j).to(tl.float64) * tl.erf(back * 0.7071067811865476)
            east, north, up = tl.load(x + j) - tl.load(x + i), tl.load(y + j) - tl.load(y + i), tl.load(z + j) - tl.load(z + i)
            age_j, greatest_j, row_j = tl.load(age + j), tl.load(greatest_age + j), tl.load(row + j)
            fits = (h < n) & (row_j != row_i)
            fits &= ((tl.load(i_look_for + i) & tl.load(i_am + j)) != 0) & ((tl.load(i_look_for + j) & tl.load(i_am + i)) != 0)
            fits &= (greatest_j >= tl.load(youngest + i)) & (age_j <= tl.load(oldest + i))
            fits &= (greatest_i >= tl.load(youngest + j)) & (age_i <= tl.load(oldest + j))
            fits &= east * east + north * north + up * up <= tl.minimum(tl.load(reach + i), tl.load(reach + j))
            for e in range(begin, end):
                fits &= row_j != tl.load(excluded + e)
            units = (f * g * 1073741824.0 + 0.5).to(tl.int64)
            key = (units << 32) | (0xFFFFFFFF - row_j.to(tl.int64))
            tl.store(keys + i.to(tl.int64) * LONGEST + h, tl.where(fits, key, 0), mask=h < n)


@triton.jit  # type: ignore[untyped-decorator]
def keep_best(counts, keys, best, threshold, LONGEST: tl.constexpr, K: tl.constexpr, WIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    """The K best keys of a list and of those before, by taking the largest K times; the list is empty then."""
    i = tl.program_id(0)
    n = tl.minimum(tl.load(counts + i), LONGEST)
    if n > 0:
        h, q = tl.arange(0, LONGEST), tl.arange(0, WIDE)
        new = tl.load(keys + i.to(tl.int64) * LONGEST + h, mask=h < n, other=0)
        old = tl.load(best + i.to(tl.int64) * K + q, mask=q < K, other=0)
        for r in range(K):
            top = tl.maximum(tl.max(new, axis=0), tl.max(old, axis=0))
            tl.store(best + i.to(tl.int64) * K + r, top)
            new, old = tl.where(new == top, 0, new), tl.where(old == top, 0, old)
            if r == K - 1:
                tl.store(threshold + i, (top >> 32).to(tl.float32) * 9.313225746154785e-10)
        tl.store(counts + i, 0)
