"""Safeguards of the sources, by room, for `planted.py` to take away one at a time."""

from __future__ import annotations

from safeguards.meeting import MEETING
from safeguards.recommending import RECOMMENDING
from safeguards.serving import SERVING
from safeguards.storing import STORING

FAULTS = (*STORING, *MEETING, *RECOMMENDING, *SERVING)
