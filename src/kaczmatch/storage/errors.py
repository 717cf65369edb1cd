"""What can be wrong with a write that is nobody's outage."""

from __future__ import annotations


class Taken(Exception):
    """A line was appended to a log under a key that is there already."""


class WrittenAlready(Exception):
    """A work searched after it had written: it would not have found its own writes."""


class OutOfDate(Exception):
    """The tables in the database are not those of this release."""
