"""The one error that bad input raises."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from contextlib import suppress
from numbers import Real
from typing import final


@final
class InvalidInput(ValueError):
    """An argument cannot be used.

    ``field`` names what is wrong, ``problem`` says what is wrong with it and what would be right. The arguments are left
    unchanged.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an "unknown name" message: the closest known name, or all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"


def check_number(field: str, value: float, *, low: float, high: float = math.inf, open_low: bool = False) -> float:
    """`value` as a float, if it lies in [low, high] (or in (low, high] with `open_low`)."""
    number: float | None = value if type(value) is float else None
    if number is None and isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):
            number = float(value)
    if number is None:
        raise InvalidInput(field, f"must be a number that fits a float, got {_shortened(value)}")
    if not (low < number if open_low else low <= number) or not number <= high:
        least = f"above {low:g}" if open_low else f"at least {low:g}"
        most = "" if high == math.inf else f" and at most {high:g}"
        raise InvalidInput(field, f"must be {least}{most}, got {value!r}")
    return number


def check_integer(field: str, value: int, *, low: int, high: int) -> int:
    """`value` as an int, if it is a whole number in [low, high]."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise InvalidInput(field, f"must be a whole number from {low:,} to {high:,}, got {_shortened(value)}")
    return number


def _shortened(value: object) -> str:
    text = "a number of many digits" if isinstance(value, int) and value.bit_length() > 256 else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
