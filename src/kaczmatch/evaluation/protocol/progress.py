"""How a long run tells that it is alive."""

from __future__ import annotations

from typing import Protocol, final


class Progress(Protocol):
    """Somebody who watches: stages of a known number of steps, one after the other."""

    def stage(self, what: str, steps: int) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


@final
class SilentProgress:
    """Nobody does."""

    def stage(self, what: str, steps: int) -> None:
        pass

    def advance(self, steps: int = 1) -> None:
        pass
