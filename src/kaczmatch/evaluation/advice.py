"""One plain recommendation from the paired differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from kaczmatch.evaluation.contenders import Contender
from kaczmatch.evaluation.frozen import APPEAL, OWN_RATE
from kaczmatch.evaluation.standing import ALL_ONES, BootstrapScores

EXPECTED = ("probit-diag + population + appeal", "probit + population + appeal")
FAR_SMALLER = 4  # times: where two are within error of each other, that much memory decides


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """The contender to use, and why in words."""

    chosen: str
    words: Sequence[str]


def advice(standing: BootstrapScores, contenders: Sequence[Contender]) -> Advice:
    """The best that is proven, or one within error of it whose state is far smaller; appeal alone where nothing beats that."""
    sizes = {each.name: each.bytes_a_user for each in contenders}
    proven = [name for name in sizes if _proven(standing, name)]
    if not proven:
        return _nothing_learned(standing, max(sizes, key=lambda name: standing.mean(name).mean))
    best = max(proven, key=lambda name: standing.mean(name).mean)
    equals = [name for name in proven if not standing.lead(best, name).above_zero]
    smaller = [name for name in equals if FAR_SMALLER * sizes[name] <= sizes[best]]
    chosen = max(smaller or [best], key=lambda name: standing.mean(name).mean)
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


def _proven(standing: BootstrapScores, name: str) -> bool:
    """Whether it is above appeal alone and above chance; what we expected to win need not pay for a choice among many."""
    if name in EXPECTED:
        return standing.lead(name, APPEAL).above_zero and standing.lead(name, OWN_RATE).above_zero
    return standing.beats(name, APPEAL) and standing.beats(name, OWN_RATE)


def _nothing_learned(standing: BootstrapScores, best: str) -> Advice:
    if standing.beats(APPEAL, OWN_RATE):
        first = "On this log, show people by appeal alone."
        why = f"Nothing that learns a person's taste beats it beyond luck: {best}, the best of them, differs by"
    else:
        first = "On this log nothing ranks better than chance, or there are too few users to tell."
        why = f"The best is {best}; from appeal alone it differs by"
    words = [
        first,
        f"{why} {_signed(standing.lead(best, APPEAL))} ({standing.users:,} users, 95 % paired interval before allowing for the choice among "
        f"{len(standing.found.names)}). More users, more swipes of each or more telling tags may change that.",
    ]
    return Advice(APPEAL, words)


def _signed(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    return f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"
