"""What came of an import."""

from __future__ import annotations

from typing import Final, Literal, final

from pydantic import Field

from kaczmatch.schemas.base import ResponseModel

Format = Literal["csv", "jsonl", "parquet"]
MEDIA_TYPES: Final[dict[Format, str]] = {
    "csv": "text/csv",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}


@final
class RowProblem(ResponseModel):
    """What is wrong with one row."""

    row: int
    field: str
    problem: str


@final
class ImportResult(ResponseModel):
    """What came of an import. If rows are bad and were not to be skipped, nothing was written."""

    rows: int = 0
    written: int = 0
    unchanged: int = Field(default=0, description="Rows that were there already.")
    bad: int = 0
    problems: tuple[RowProblem, ...] = Field(default=(), description="The first ones.")
    unread: tuple[str, ...] = Field(default=(), description="Columns that mean nothing.")
    resumed: int = Field(default=0, description="Rows that an earlier attempt had written.")
    complete: bool = Field(default=False, description="Every good row is stored.")
