"""One plain recommendation from the paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import APPEAL, BASELINES
from kaczmatch.evaluation.standing import ALL_ONES, Standing

FAR_SMALLER = 4  # times: where two are within error of each other, that much memory decides


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """The contender to use, and why in words."""

    chosen: str
    words: Sequence[str]


def advice(standing: Standing, contenders: Sequence[Contender]) -> Advice:
    """The highest mean, or a contender within error of it whose state is far smaller; appeal alone where nothing beats that."""
    sizes = {each.name: each.bytes_a_user for each in contenders}
    best = max(sizes, key=lambda name: standing.mean(name).mean)
    equals = [name for name in sizes if not standing.lead(best, name).above_zero]
    smaller = [name for name in equals if FAR_SMALLER * sizes[name] <= sizes[best]]
    chosen = max(smaller or [best], key=lambda name: standing.mean(name).mean)
    if not standing.lead(chosen, APPEAL).above_zero:
        if standing.lead(best, APPEAL).above_zero:
            chosen = best
        else:
            return _nothing_learned(standing, best)
    times = standing.found.times
    first, last = standing.at(0, chosen).mean, standing.at(len(times) - 1, chosen).mean
    words = [
        f"Use {chosen}.",
        f"On this log it ranks what a user has not seen yet with an AUC of {first:.3f} after {times[0]} swipes and {last:.3f} after {times[-1]}, "
        f"{_signed(standing.lead(chosen, APPEAL))} over appeal alone and {_signed(standing.lead(chosen, ALL_ONES))} over all-ones, which learns "
        f"nothing (mean over {len(times)} numbers of swipes, the same {standing.users:,} users, 95 % paired interval).",
    ]
    if chosen != best:
        words.append(
            f"{best} has the highest mean, but the difference of {_signed(standing.lead(best, chosen))} is within error, and "
            f"{chosen} needs {sizes[chosen]:,} bytes a user instead of {sizes[best]:,}."
        )
    elif len(equals) > 1:
        others = [name for name in equals if name != chosen]
        words.append(f"Within error of it: {', '.join(others)}.")
    return Advice(chosen, words)


def _nothing_learned(standing: Standing, best: str) -> Advice:
    words = [
        "On this log, show people by appeal alone.",
        f"Nothing that learns a person's taste beats it: {best}, the best of them, differs by {_signed(standing.lead(best, APPEAL))} "
        f"({standing.users:,} users, 95 % paired interval). More swipes a user or more telling tags may change that.",
    ]
    if standing.lead(APPEAL, ALL_ONES).mean <= 0.0 and not standing.lead(BASELINES[0], BASELINES[2]).above_zero:
        words[0] = "On this log nothing ranks better than chance."
    return Advice(APPEAL, words)


def _signed(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
