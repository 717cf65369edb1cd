"""Rows of an import that were checked and wait to be written: in memory while they are few, then in a file without a name."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Final, Generic, Self, TypeVar, final

T = TypeVar("T")

_IN_MEMORY: Final = 8 << 20  # bytes


@final
class WaitingRows(Generic[T]):
    """Batches of numbered rows, with how many rows of the file were read by then."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115

    def add(self, read: int, batch: Sequence[tuple[int, T]]) -> None:
        pickle.dump((read, batch), self._file, pickle.HIGHEST_PROTOCOL)

    def __iter__(self) -> Iterator[tuple[int, Sequence[tuple[int, T]]]]:
        self._file.seek(0)
        while True:
            try:
                yield pickle.load(self._file)  # noqa: S301, our own
            except EOFError:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
