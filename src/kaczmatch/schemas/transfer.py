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


NewTags = Literal["add", "ignore", "refuse"]


@final
class RowProblem(ResponseModel):
    """What is wrong with one row. Rows are numbered as a spreadsheet shows them: the header of a CSV file is row 1."""

    row: int
    field: str
    problem: str


@final
class SuggestedOptions(ResponseModel):
    """Options under which more of the same file can be imported, found by trying them without writing."""

    columns: dict[str, str] = Field(default={})
    maps: dict[str, dict[str, str]] = Field(default={})
    date_format: str | None = None
    new_tags: NewTags = "refuse"
    skip_bad: bool = False
    written: int = Field(default=0, description="Rows that would be written or are there already.")
    left_out: int = Field(default=0, description="Rows that would be left out, because no option mends them.")


@final
class ImportResult(ResponseModel):
    """What came of an import. If rows are bad and were not to be skipped, nothing was written."""

    rows: int = Field(default=0, description="Rows that are not empty, without the header.")
    written: int = 0
    unchanged: int = Field(default=0, description="Rows that were there already, or stand in the file twice.")
    bad: int = 0
    problems: tuple[RowProblem, ...] = Field(default=(), description="The first ones, all of a row together.")
    unread: tuple[str, ...] = Field(default=(), description="Columns that mean nothing.")
    read_as: str = Field(default="", description="How the file is written: delimiter and encoding as they were recognised.")
    new_tags: tuple[str, ...] = Field(default=(), description="Tags that the vocabulary had not, and that were added.")
    resumed: int = Field(default=0, description="Rows that an earlier attempt had written.")
    complete: bool = Field(default=False, description="Every good row is stored.")
    suggestion: SuggestedOptions | None = Field(default=None, description="Options that would help, where rows are bad.")
