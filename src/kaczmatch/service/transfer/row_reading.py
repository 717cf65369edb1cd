"""What an import does for each row alone, in whatever process: read it, and compare it with the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import Row
from kaczmatch.service.domain.context import Context
from kaczmatch.service.transfer.cell_rules import CellRules
from kaczmatch.service.transfer.import_request import ImportKind, ImportRequest
from kaczmatch.service.transfer.rows import BadRow, UnreadValues

P = TypeVar("P")
T = TypeVar("T")

Verdict = list[InvalidInput] | bool  # what is wrong, or whether there is anything to write
ReadPage = tuple[list[tuple[T | None, Verdict]], UnreadValues]  # rows in their order, and what could not be read so far


@final
class RowReading(Generic[P, T]):
    """Pages of rows. `target` has begun; in another process one of its own is made there, once."""

    def __init__(
        self, request: ImportRequest, make: Callable[[Context], ImportKind[P, T]], target: ImportKind[P, T] | None
    ) -> None:
        self._request, self._make, self._target = request, make, target

    def __call__(self, context: Context, page: Sequence[Row]) -> ReadPage[T]:
        target = self._target = self._target or self._begun(context)
        found: list[tuple[T | None, Verdict]] = []
        good: list[tuple[int, P]] = []
        for place, row in enumerate(page):
            one, verdict = self._row(target, row)
            found.append((None, verdict))
            if one is not None:
                good.append((place, one))
        if good:
            with context.store.read() as reader:
                verdicts = target.check(reader, [one for _, one in good])
            for (place, one), verdict in zip(good, verdicts, strict=True):
                found[place] = target.packed(one), verdict
        return found, target.unread

    def _begun(self, context: Context) -> ImportKind[P, T]:
        target = self._make(context)
        with context.store.read() as reader:
            target.begin(reader, CellRules(self._request.date_format, self._request.maps), self._request.new_tags)
        return target

    def _row(self, target: ImportKind[P, T], row: Row) -> tuple[P | None, Verdict]:
        if row.problem:
            return None, [InvalidInput("row", row.problem)]
        try:
            return target.read(self._renamed(row.values)), True
        except BadRow as bad:
            return None, bad.problems

    def _renamed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        columns = self._request.columns
        if not columns:
            return dict(values)
        back = {column: ours for ours, column in columns.items()}
        # If another column is mapped to one of our fields, a column with that field's own name is not read.
        return {back.get(column, column): value for column, value in values.items() if column in back or column not in columns}
