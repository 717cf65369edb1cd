"""How often Python looks for garbage in circles."""

from __future__ import annotations

import gc
from typing import Final

COLLECT_EVERY: Final = 50_000  # objects: a swipe makes hundreds, and next to none of them in circles


def collect_rarely() -> None:
    """Whatever is there by now stays: no collection need look at it again, and the next ones come rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_EVERY)
