"""When to try again: after network failures, and when the service asks to come back."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import final

import httpx

from kaczmatch.client.problems import Problem, TooMany, Unavailable, Unreachable, problem_of


@final
@dataclass(frozen=True, slots=True)
class Patience:
    """So many tries in all, with pauses that double from `first` to `longest` seconds, each shortened by chance.

    Where the service asks for a pause, that is kept; one longer than `longest` is not waited for.
    """

    tries: int = 5
    first: float = 0.2
    longest: float = 10.0

    def pause(self, attempt: int, said: Problem | httpx.TransportError, *, repeatable: bool) -> float | None:
        """Seconds to wait after an attempt (the first is 1); None: it is not tried again."""
        done = isinstance(said, httpx.TransportError) or said.code == "uncertain"  # for all that is known
        if attempt >= self.tries or (done and not repeatable):
            return None
        if isinstance(said, Problem) and not isinstance(said, TooMany | Unavailable):
            return None
        asked = said.wait if isinstance(said, Problem) else None
        if asked is not None and asked > self.longest:
            return None
        doubled = min(self.first * 2.0 ** (attempt - 1), self.longest)
        return max(asked or 0.0, doubled * random.uniform(0.5, 1.0))  # noqa: S311


def said(response: httpx.Response) -> Problem | None:
    """What is wrong with an answer, if anything is."""
    return None if response.is_success else problem_of(response)


def given_up(error: Problem | httpx.TransportError) -> Exception:
    if isinstance(error, Problem):
        return error
    unreachable = Unreachable(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    unreachable.__cause__ = error
    return unreachable
