"""Intervals and names as words."""

from __future__ import annotations

from collections.abc import Sequence

from kaczmatch.evaluation.measures.bootstrap import Interval


def signed(gap: Interval) -> str:
    return f"{gap.mean:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})"


def inside_brackets(gap: Interval) -> str:
    return f"{gap.mean:+.3f}, {gap.low:+.3f} to {gap.high:+.3f}"


def verdict(gap: Interval) -> str:
    return "better" if gap.above_zero else "worse" if gap.below_zero else "no difference seen"


def listed(names: Sequence[str], between: str = "; ") -> str:
    return between.join(names) or "nobody"
