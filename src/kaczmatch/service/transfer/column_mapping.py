"""What fields are called in a file, as queries and the command line say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kaczmatch.core.errors import InvalidInput


def column_mapping(pairs: Iterable[str]) -> Mapping[str, str]:
    """The column of each field, from texts such as `id=user_id`."""
    columns: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not (field and equals and column):
            raise InvalidInput("column", "must be field=column, such as id=user_id")
        columns[field] = column
    return columns
