"""How a long run reports its progress."""

from __future__ import annotations

from typing import Protocol, final


class Progress(Protocol):
    """Takes stages of a known number of steps, one after the other."""

    def stage(self, what: str, steps: int) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


@final
class SilentProgress:
    """Shows nothing."""

    def stage(self, what: str, steps: int) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass
