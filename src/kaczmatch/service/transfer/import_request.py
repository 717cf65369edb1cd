"""What an import is asked for, and what each kind of import has to say about its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, final

from kaczmatch.core.errors import InvalidInput
from kaczmatch.schemas.transfer import NewTags
from kaczmatch.service.domain.store import Reader
from kaczmatch.service.transfer.cell_rules import CellRules
from kaczmatch.service.transfer.rows import UnreadValues

P = TypeVar("P")
T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class ImportRequest:
    """How a file is to be imported. `columns` says what our fields are called in it, `maps` what its words mean."""

    path: Path
    kind: str  # csv, jsonl, parquet
    columns: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False
    skip_bad: bool = False
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    date_format: str | None = None
    new_tags: NewTags = "refuse"
    encoding: str | None = None  # None: recognised
    delimiter: str | None = None  # None: recognised


class ImportKind(Protocol[P, T]):
    """What rows say, each alone, and what they become together."""

    name: str
    fields: Sequence[str]
    required: Sequence[str]  # fields without which there is nothing to import

    @property
    def unread(self) -> UnreadValues:
        """What could not be read in the last pass."""

    @property
    def new_tags(self) -> Sequence[str]:
        """Tags that are to be added to the vocabulary."""

    def begin(self, reader: Reader, rules: CellRules, new_tags: NewTags) -> None:
        """Before a pass over the file."""

    def is_read(self, column: str) -> bool:
        """Whether a column beyond the fields is read, too."""

    def read(self, values: Mapping[str, Any]) -> P:
        """One row on its own; raises BadRow."""

    def check(self, reader: Reader, rows: Sequence[P]) -> list[list[InvalidInput] | bool]:
        """Rows against the store: what is wrong, or whether there is anything to write."""

    def packed(self, row: P) -> T:
        """What is to be written of a row: it goes from process to process, and waits in a file."""

    def accept(self, number: int, values: Mapping[str, Any], item: T) -> T | None:
        """A row after all rows before it; raises BadRow. None: it is the same as an earlier one."""

    def before_writing(self) -> None:
        """After a pass over all rows, before the first is written."""

    def values(self) -> Mapping[str, Sequence[str]]:
        """The values that a field can have, where they can be listed."""

    def write(self, item: T) -> Future[Any]:
        """Write it."""

    def is_new(self, written: Any) -> bool:
        """Whether what was written has changed anything."""
