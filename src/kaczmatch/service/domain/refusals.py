"""Why the service says no; each becomes one kind of HTTP problem."""

from __future__ import annotations

from datetime import timedelta
from typing import final


class Refusal(Exception):
    """The request was understood and is refused; nothing was changed. `code` is for programs, `problem` for people."""

    code: str

    def __init__(self, problem: str, code: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.code = code or type(self).code


@final
class NotFound(Refusal):
    """There is no such thing, or none that the asker may know of: the two look alike."""

    code = "not-found"


@final
class Conflict(Refusal):
    """It does not fit what has happened before."""

    code = "conflict"


@final
class Full(Refusal):
    """Somebody has as many open matches as they take."""

    code = "full"


@final
class Reused(Refusal):
    """An id was used for something else already."""

    code = "id-reused"


@final
class Stale(Refusal):
    """It was changed by somebody else meanwhile."""

    code = "changed-meanwhile"


@final
class TooMany(Refusal):
    """A quota is used up; `wait` says until when."""

    code = "quota"

    def __init__(self, problem: str, wait: timedelta) -> None:
        super().__init__(problem)
        self.wait = wait


def nobody(identifier: str) -> NotFound:
    return NotFound(f"there is no person {identifier!r}")
