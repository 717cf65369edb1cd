"""What a caller of the store has done wrong, and a database of another release."""

from __future__ import annotations


class DuplicateKey(Exception):
    """A line was appended to a log under a key that is in use already."""


class SearchAfterWrite(Exception):
    """A work searched after it had written. It would not have found its own writes."""


class SchemaOutOfDate(Exception):
    """The tables in the database are not those of this release."""
