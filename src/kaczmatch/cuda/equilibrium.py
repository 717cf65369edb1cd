"""The equilibrium of `recommend.assignments.fair` on one GPU: proportional fitting, with tiles computed again in every round.

Products run on tensor cores in three passes of tf32, which is nearly float32. Sums are added in the order of the tiles, so two
runs give the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from kaczmatch.cuda.surplus_kernel import surplus_sums
from kaczmatch.cuda.top_picks import TILE, Arrays, Tensors, live_tiles, to_card

_BLOCK = 16


def equilibrium(
    columns: Arrays,
    *,
    temperature: float = 0.02,
    tolerance: float = 1e-3,
    most_rounds: int = 200,
    progress: Callable[[int, float], None] = lambda _round, _error: None,
) -> tuple[np.ndarray, int, float]:
    """The logarithms of a, the rounds it took, and how far anybody's attention is from one unit; see `Fair.equilibrium`."""
    m = to_card(columns)
    log_a, rounds, error = equilibrium_on_card(m, temperature, tolerance, most_rounds, progress)
    return np.asarray(log_a[m["real"]].cpu().numpy()), rounds, error


def equilibrium_on_card(
    m: Tensors, temperature: float, tolerance: float, most_rounds: int, progress: Callable[[int, float], None]
) -> tuple[torch.Tensor, int, float]:
    """From states on the card to log a on the card. People who fill up tiles meet nobody."""
    live = live_tiles(m)
    begin = torch.nn.functional.pad(torch.cumsum(live.sum(1), 0), (1, 0)).to(torch.int32)
    others = live.nonzero()[:, 1].to(torch.int32).contiguous()
    log_a = torch.zeros(len(m["row"]), dtype=torch.float64, device=m["row"].device)
    for rounds in range(1, most_rounds + 1):
        a = log_a.exp()
        sums = sums_on_card(m, begin, others, 0.5 / temperature, a.float())
        error = float((a * a + a * sums - 1.0)[m["real"]].abs().max())
        progress(rounds, error)
        if error <= tolerance or rounds == most_rounds:
            break
        log_a = 0.5 * (log_a + np.log(2.0) - torch.log(sums + torch.sqrt(sums * sums + 4.0)))
    return log_a, rounds, error


def sums_on_card(m: Tensors, begin: torch.Tensor, others: torch.Tensor, steepness: float, a: torch.Tensor) -> torch.Tensor:
    """Σⱼ exp(steepness · mᵢⱼ) aⱼ for everybody, without the excluded pairs."""
    n, d = m["weights"].shape
    sums = torch.empty(n, dtype=torch.float32, device=a.device)
    filters = [m[name] for name in ("i_am", "i_look_for", "age", "greatest_age", "youngest", "oldest", "x", "y", "z", "reach")]
    weight = torch.where(m["real"], a, 0.0).contiguous()
    surplus_sums[(n // TILE,)](
        begin, others, m["weights"], m["profiles"], m["half"], *filters, weight, sums, steepness,
        TILE=TILE, D=d, BLOCK=_BLOCK, num_warps=4,
    )  # fmt: skip
    return sums.double() - _excluded_sums(m, steepness, weight)


def _excluded_sums(m: Tensors, steepness: float, a: torch.Tensor) -> torch.Tensor:
    """What excluded pairs have added: they are few, and looked up one by one."""
    place = torch.zeros(int(m["row"].max()) + 1, dtype=torch.int64, device=a.device)
    place[m["row"][m["real"]].long()] = m["real"].nonzero()[:, 0]
    counts = torch.diff(m["excluded_from"])
    total = int(counts.sum())
    i = place[torch.repeat_interleave(torch.arange(len(counts), device=a.device), counts)]
    j = place[m["excluded"][:total].long()]
    forward, back = (m["weights"][i] * m["profiles"][j]).sum(1), (m["profiles"][i] * m["weights"][j]).sum(1)
    mutual = (0.5 + m["half"][i] * torch.erf(forward * 0.5**0.5)) * (0.5 + m["half"][j] * torch.erf(back * 0.5**0.5))
    fits = ((m["i_look_for"][i] & m["i_am"][j]) != 0) & ((m["i_look_for"][j] & m["i_am"][i]) != 0)
    fits &= (m["greatest_age"][j] >= m["youngest"][i]) & (m["age"][j] <= m["oldest"][i])
    fits &= (m["greatest_age"][i] >= m["youngest"][j]) & (m["age"][i] <= m["oldest"][j])
    chord = (m["x"][i] - m["x"][j]) ** 2 + (m["y"][i] - m["y"][j]) ** 2 + (m["z"][i] - m["z"][j]) ** 2
    fits &= chord <= torch.minimum(m["reach"][i], m["reach"][j])
    added = torch.where(fits, torch.exp(steepness * mutual) * a[j], 0.0).double()
    return torch.zeros(len(a), dtype=torch.float64, device=a.device).index_add_(0, i, added)
