"""Everybody's k best by the mutual probability, exact, on one GPU.

Tiles of 64 people meet once and serve both sides. Tensor cores compute both products in half precision, and a rounded Φ makes
them probabilities. A bound on the error of that, per person, makes sure that nobody is missed. Whoever may be among somebody's
best is appended to that person's list by an atomic counter, so nothing is sorted inside the kernel. Then the lists are filtered
and scored in double precision, and that score decides.

How long the lists become is a matter of the lower bounds of everybody's k-th best score. They come from a random share of the
tiles, and rise between rounds in which everybody meets a growing share of the others.

The bound: rounding both factors to eleven bits changes a product x·y by at most 2⁻¹⁰(1 + 2⁻¹²)|x||y| summed over the coordinates,
which is at most that times ‖u‖‖p‖; the sums in float32 add a little. Φ has a slope of at most 0.399, its approximation by tanh is
within 2e-4 (`benchmarks/picks_cuda.py` looks at 2²⁴ places), and every probability is raised by a shift above 0, so that a
product of 0 means that two people cannot meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import triton

from kaczmatch.cuda.pick_kernels import keep_best, propose, score

TILE = 64
UNIT = 2.0**-30  # scores are compared in whole numbers of this
_SHIFT = 2.0**-10
_PHI_ERROR = 2.0e-4
_ROUNDS = ((1 / 512, 8), (1 / 64, 64), (1 / 8, 512), (2.0, 0))  # the share of tiles that meet, and how many at least
_TILES_PER_PROGRAM = 64
_DENSE_ROWS = 256
_TOO_OLD, _GREATEST_AGE = 1_000, 150

Arrays = Mapping[str, "np.ndarray[Any, Any]"]
Tensors = dict[str, torch.Tensor]


def has_card() -> bool:
    return bool(torch.cuda.is_available())


def top_picks(columns: Arrays, k: int = 10, *, seed: int = 0, progress: Callable[[float], None] = lambda _: None) -> np.ndarray:
    """Keys of the k best of everybody, as `recommend.picks` has them: n x k, the best first, 0 where there is nobody."""
    on_card = to_card(columns)
    keys, _ = picks_on_card(on_card, k, seed=seed, progress=progress)
    return from_card(on_card, keys)


def to_card(columns: Arrays) -> Tensors:
    """The columns in tiles that hold people of one kind who look for the same kinds; those who fill up want nobody."""
    n, dimensions = columns["weights"].shape
    groups = columns["i_am"].astype(np.uint64) << np.uint64(32) | columns["i_look_for"].astype(np.uint64)
    edges = np.flatnonzero(np.diff(groups, prepend=groups[:1] + np.uint64(1), append=groups[-1:] + np.uint64(1)))
    if len(edges) * TILE > n:  # so many kinds that filling up costs more than it saves
        edges = np.array([0, n])
    parts, real = [], []
    for first, last in pairwise(edges):
        fill = -(last - first) % TILE
        parts.append(np.concatenate([np.arange(first, last), np.full(fill, last - 1)]))
        real.append(np.arange(last - first + fill) < last - first)
    rows, there = np.concatenate(parts), np.concatenate(real)
    wide = padded_dimensions(dimensions)
    vectors = {
        name: np.pad(columns[name][rows], ((0, 0), (0, wide - dimensions))).astype(np.float32) for name in ("weights", "profiles")
    }
    plain: dict[str, Any] = {name: columns[name][rows] for name in ("x", "y", "z")}
    plain |= {name: columns[name][rows].astype(np.int32) for name in ("i_am", "i_look_for")}
    age = columns["age"][rows]  # below 0: not given, which passes every limit
    plain["age"] = np.maximum(age, 0).astype(np.int32)
    plain["greatest_age"] = np.where(age < 0, _GREATEST_AGE, age).astype(np.int32)
    plain["reach"] = columns["max_squared_chord"][rows]
    plain["youngest"] = np.where(there, columns["youngest"][rows], _TOO_OLD).astype(np.int32)
    plain["oldest"] = np.where(there, columns["oldest"][rows], -1).astype(np.int32)
    plain["half"] = (0.5 - 0.5 * columns["random_share"][rows]).astype(np.float32)
    plain["row"], plain["real"] = rows.astype(np.int32), there
    plain["excluded"] = np.append(columns["excluded"], 0).astype(np.int32)
    plain["excluded_from"] = columns["excluded_from"].astype(np.int64)
    return {name: torch.from_numpy(np.ascontiguousarray(values)).cuda() for name, values in (vectors | plain).items()}


def from_card(m: Tensors, keys: torch.Tensor) -> np.ndarray:
    return np.asarray(keys[m["real"]].cpu().numpy().astype(np.uint64))


def padded_dimensions(dimensions: int) -> int:
    """A power of two, and another one for the rest: tensor cores take such blocks, of sixteen at least."""
    first, rest = _blocks(dimensions)
    return first + rest


def _blocks(dimensions: int) -> tuple[int, int]:
    first = max(16, 1 << (dimensions.bit_length() - 1))
    rest = max(dimensions - first, 0)
    return (first, 0) if rest == 0 else (first, max(16, triton.next_power_of_2(rest)))


def longest_list(k: int) -> int:
    """How many proposals a person has room for. An eighth of all people bounds the k-th best, so about 7k of the rest pass."""
    return max(512, 1 << (16 * k - 1).bit_length())


def picks_on_card(
    m: Tensors, k: int, *, seed: int = 0, progress: Callable[[float], None] = lambda _: None
) -> tuple[torch.Tensor, dict[str, Any]]:
    """From states on the card to picks on the card, and how it went."""
    device, (n, d) = m["weights"].device, m["weights"].shape
    (first, rest), longest = _blocks(d), longest_list(k)
    half_weights, half_profiles, places = m["weights"].half(), m["profiles"].half(), _places(m)
    slack = _slack(m)
    tile_slack = slack.view(-1, TILE).amax(1).contiguous()
    near = (1.0 - 0.5 * m["reach"] - 2e-6).contiguous()  # the product of places is exact to about a millionth
    tile_youngest = m["age"].view(-1, TILE).amin(1).contiguous()
    tile_oldest = m["greatest_age"].view(-1, TILE).amax(1).contiguous()
    counts = torch.zeros(n, dtype=torch.int32, device=device)
    lists = torch.empty(n, longest, dtype=torch.int32, device=device)
    keys = torch.empty(n, longest, dtype=torch.int64, device=device)
    best = torch.zeros(n, k, dtype=torch.int64, device=device)
    threshold = torch.zeros(n, device=device)
    too_long = torch.zeros(n, dtype=torch.bool, device=device)
    filters = [m[name] for name in ("i_am", "i_look_for", "age", "greatest_age", "youngest", "oldest", "x", "y", "z", "reach")]
    rounds = _rounds(m, seed)
    for number, (segments, others) in enumerate(rounds):
        if len(segments):
            propose[(len(segments),)](
                segments, others, half_weights, half_profiles, places, m["half"], (threshold - slack).contiguous(), tile_slack,
                near, m["youngest"], m["oldest"], tile_youngest, tile_oldest, counts, lists,
                TILE=TILE, D=d, A=first, B=rest, LONGEST=longest, SHIFT=_SHIFT, num_warps=4,
            )  # fmt: skip
        if number >= 2:  # the tiles of the first two rounds meet again
            too_long |= counts > longest
        score[(n,)](
            m["row"], m["weights"], m["profiles"], m["half"], *filters, m["excluded"], m["excluded_from"], counts, lists, keys,
            WIDE=triton.next_power_of_2(d), D=d, LONGEST=longest, BLOCK=16, num_warps=4,
        )  # fmt: skip
        keep_best[(n,)](
            counts, keys, best, threshold, LONGEST=longest, K=k, WIDE=triton.next_power_of_2(k), num_warps=longest // 256
        )
        progress((number + 1) / (len(rounds) + 1))
    again = too_long.nonzero()[:, 0]
    for start in range(0, len(again), _DENSE_ROWS):
        some = again[start : start + _DENSE_ROWS]
        best[some] = score_against_everybody(m, some, k)
    progress(1.0)
    return best, {"tiles": [len(others) for _, others in rounds], "scored against everybody": len(again)}


def _slack(m: Tensors) -> torch.Tensor:
    """How far a proposed probability can be off; see above."""
    longest = m["profiles"].norm(dim=1).max()
    of_score = (2.0**-10 * 1.01) * (m["weights"].norm(dim=1) * longest + 1e-4)
    return (2.0 * m["half"] * (0.399 * of_score + _PHI_ERROR) + 2.0 * _SHIFT + 1e-6).contiguous()


def _places(m: Tensors) -> torch.Tensor:
    """Places in two parts of eleven bits each, so that one product of sixteen gives the cosine."""
    place = torch.stack([m["x"], m["y"], m["z"]], 1)
    high = place.half()
    low = ((place - high.float()) * 2048).half()
    out = torch.zeros(len(place), 32, dtype=torch.float16, device=place.device)
    out[:, 0:3], out[:, 3:6], out[:, 6:9] = high, high, low
    out[:, 16:19], out[:, 19:22], out[:, 22:25] = high, (low.float() / 2048).half(), (high.float() / 2048).half()
    return out


def live_tiles(m: Tensors) -> torch.Tensor:
    """Tile x tile: in which pairs of tiles somebody may meet."""

    def least(name: str) -> torch.Tensor:
        return m[name].view(-1, TILE).amin(1)

    def most(name: str) -> torch.Tensor:
        return m[name].view(-1, TILE).amax(1)

    def bits(name: str) -> torch.Tensor:
        columns = m[name].view(-1, TILE).T
        every = columns[0].clone()
        for column in columns[1:]:
            every |= column
        return every

    am, look = bits("i_am"), bits("i_look_for")
    live = (look[:, None] & am[None, :]) != 0
    live &= (least("age")[None, :] <= most("oldest")[:, None]) & (most("greatest_age")[None, :] >= least("youngest")[:, None])
    live &= live.T.clone()
    return live


def _rounds(m: Tensors, seed: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Which tiles meet in each round."""
    live = live_tiles(m)
    # Whoever can meet few tiles meets a larger share of them early, so that everybody's bound rises in every round.
    degree = live.sum(1).clamp(min=1).float()
    fewest = torch.minimum(degree[:, None], degree[None, :]).half()
    live &= torch.ones_like(live).triu()
    draw = torch.empty(live.shape, dtype=torch.float16, device=live.device)
    draw.uniform_(generator=torch.Generator(device=live.device).manual_seed(seed))
    chosen = [live & (draw < torch.clamp(enough / fewest, min=share)) for share, enough in _ROUNDS]
    chosen[3] &= ~chosen[2]
    return [_segments(pairs) for pairs in chosen]


def _segments(pairs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Runs of others for one tile, as (tile, first, last) into the list of others."""
    others = pairs.nonzero()[:, 1].to(torch.int32).contiguous()
    many = pairs.sum(1)
    runs = (many + _TILES_PER_PROGRAM - 1) // _TILES_PER_PROGRAM
    begin = torch.cumsum(many, 0) - many
    tile = torch.repeat_interleave(torch.arange(len(many), device=pairs.device), runs)
    number = torch.arange(len(tile), device=pairs.device) - torch.repeat_interleave(torch.cumsum(runs, 0) - runs, runs)
    first = begin[tile] + number * _TILES_PER_PROGRAM
    last = torch.minimum(first + _TILES_PER_PROGRAM, (begin + many)[tile])
    return torch.stack([tile, first, last], 1).to(torch.int32).contiguous(), others


def score_against_everybody(m: Tensors, rows: torch.Tensor, k: int) -> torch.Tensor:
    """Some people against everybody: for lists that were too long, as where many have equal scores."""
    f = 0.5 + m["half"][rows, None].double() * torch.erf(m["weights"][rows].double() @ m["profiles"].double().T * 0.5**0.5)
    g = 0.5 + m["half"][None, :].double() * torch.erf(m["profiles"][rows].double() @ m["weights"].double().T * 0.5**0.5)
    fits = passes(m, rows)
    units = (f * g * 2.0**30 + 0.5).long()
    keys = torch.where(fits, (units << 32) | (0xFFFFFFFF - m["row"].long())[None, :], 0)
    return (
        torch.topk(keys, k, dim=1).values
        if keys.shape[1] >= k
        else torch.nn.functional.pad(keys.sort(1, True).values, (0, k))[:, :k]
    )


def passes(m: Tensors, rows: torch.Tensor) -> torch.Tensor:
    """Whom each of some people may meet."""
    fits = ((m["i_look_for"][rows, None] & m["i_am"][None, :]) != 0) & ((m["i_look_for"][None, :] & m["i_am"][rows, None]) != 0)
    fits &= (m["greatest_age"][None, :] >= m["youngest"][rows, None]) & (m["age"][None, :] <= m["oldest"][rows, None])
    fits &= (m["greatest_age"][rows, None] >= m["youngest"][None, :]) & (m["age"][rows, None] <= m["oldest"][None, :])
    chord = sum((m[name][None, :] - m[name][rows, None]) ** 2 for name in "xyz")
    fits &= (chord <= torch.minimum(m["reach"][rows, None], m["reach"][None, :])) & m["real"][None, :]
    fits &= m["row"][None, :] != m["row"][rows, None]
    for place, row in enumerate(m["row"][rows].tolist()):
        out = m["excluded"][m["excluded_from"][row] : m["excluded_from"][row + 1]]
        fits[place] &= ~torch.isin(m["row"], out)
    return fits
