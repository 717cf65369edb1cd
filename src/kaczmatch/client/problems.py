"""What can come back instead of an answer."""

from __future__ import annotations

from typing import Any, final

import httpx


class Problem(Exception):
    """The service said no (RFC 9457): `code` is for programs, `detail` for people, `request` for its log."""

    def __init__(self, status: int, body: dict[str, Any], wait: float | None = None) -> None:
        self.status = status
        self.code = str(body.get("code", ""))
        self.detail = str(body.get("detail", ""))
        self.request = str(body.get("request", ""))
        self.errors: tuple[tuple[str, str], ...] = tuple(
            (str(one["field"]), str(one["problem"])) for one in body.get("errors", ())
        )
        self.wait = wait  # seconds, from Retry-After
        super().__init__(f"{status} {self.code}: {self.detail}")


@final
class Denied(Problem):
    """No valid key or token (401)."""


@final
class Forbidden(Problem):
    """The key lacks a scope (403)."""


@final
class NotFound(Problem):
    """There is no such thing, or none that the asker may know of (404)."""


@final
class Conflict(Problem):
    """It does not fit what has happened before (409)."""


@final
class Changed(Problem):
    """Somebody else changed it meanwhile (412)."""


@final
class Invalid(Problem):
    """Something sent cannot be used (422): `errors` says which fields."""


@final
class TooMany(Problem):
    """A quota is used up (429); `wait` says for how many seconds."""


@final
class Unavailable(Problem):
    """The service is starting, or too busy (503); with the code `uncertain`, what was asked for may have been done."""


@final
class Unreachable(Exception):
    """No answer came, after all tries."""


_BY_STATUS: dict[int, type[Problem]] = {
    401: Denied,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Changed,
    422: Invalid,
    429: TooMany,
    503: Unavailable,
}


def problem_of(response: httpx.Response) -> Problem:
    try:
        body = response.json()
    except ValueError:
        body = {}
    after = response.headers.get("retry-after", "")
    kind = _BY_STATUS.get(response.status_code, Problem)
    return kind(response.status_code, body if isinstance(body, dict) else {}, float(after) if after.isdecimal() else None)
