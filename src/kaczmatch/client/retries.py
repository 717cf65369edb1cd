"""When a call is tried again: after network failures, and when the service asks for it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import final

import httpx

from kaczmatch.client.errors import ApiError, RateLimitError, ServiceUnavailableError, ServiceUnreachableError, error_of


@final
@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `attempts` attempts. Pauses double from `first` to `longest` seconds, and each is shortened at random.

    A pause that the service asks for is kept. If it is longer than `longest`, the call is not tried again.
    """

    attempts: int = 5
    first: float = 0.2
    longest: float = 10.0

    def pause(self, attempt: int, error: ApiError | httpx.TransportError, *, repeatable: bool) -> float | None:
        """Seconds to wait after an attempt (the first is 1); None: the call is not tried again."""
        maybe_done = isinstance(error, httpx.TransportError) or error.code == "outcome-unknown"
        if attempt >= self.attempts or (maybe_done and not repeatable):
            return None
        if isinstance(error, ApiError) and not isinstance(error, RateLimitError | ServiceUnavailableError):
            return None
        asked = error.retry_after if isinstance(error, ApiError) else None
        if asked is not None and asked > self.longest:
            return None
        doubled = min(self.first * 2.0 ** (attempt - 1), self.longest)
        return max(asked or 0.0, doubled * random.uniform(0.5, 1.0))  # noqa: S311


def error_in(response: httpx.Response) -> ApiError | None:
    """The error in a response, if there is one."""
    return None if response.is_success else error_of(response)


def final_error(error: ApiError | httpx.TransportError) -> Exception:
    """What is raised after the last attempt."""
    if isinstance(error, ApiError):
        return error
    unreachable = ServiceUnreachableError(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    unreachable.__cause__ = error
    return unreachable
