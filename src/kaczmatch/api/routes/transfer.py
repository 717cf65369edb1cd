"""Profiles and swipes in bulk, in and out."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from kaczmatch.api.guards import Use, scoped
from kaczmatch.api.problems import problem
from kaczmatch.formats.columns import column_mapping
from kaczmatch.formats.writing import pieces
from kaczmatch.service.access.credentials import DATA, Caller
from kaczmatch.service.domain.context import Context
from kaczmatch.service.transfer.exporting import COLUMNS, exported
from kaczmatch.service.transfer.importing import Importing, ImportRequest, ImportResult, shown
from kaczmatch.service.transfer.profiles import ProfileImport
from kaczmatch.service.transfer.swipes import SwipeImport

router = APIRouter(tags=["import and export"])

Data = Annotated[Caller, Depends(scoped(DATA))]
What = Literal["profiles", "swipes"]
Format = Literal["csv", "jsonl", "parquet"]

AT_ONCE: Final = 2  # in threads of their own: transfers take long, and other calls do not wait for them
MEDIA: Final = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
_FILES: Final[dict[str, Any]] = {
    "required": True,
    "content": {media: {"schema": {"type": "string", "format": "binary"}} for media in MEDIA.values()},
}
_DOWNLOADS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {media: {"schema": {"type": "string", "format": "binary"}} for media in MEDIA.values()}}
}


class RowProblem(BaseModel):
    row: int
    field: str
    problem: str


class ImportOut(BaseModel):
    """What came of it: rows written, there already, or bad; the first problems by row; columns that meant nothing."""

    rows: int
    written: int
    unchanged: int
    bad: int
    problems: list[RowProblem]
    unread: list[str]
    resumed: int
    complete: bool


@router.post("/import/{what}", response_model=ImportOut, openapi_extra={"requestBody": _FILES})
async def bring(
    what: What,
    request: Request,
    use: Use,
    caller: Data,
    column: Annotated[list[str], Query(max_length=40, description="field=column: what a field is called in the file.")] = [],  # noqa: B006
    dry_run: Annotated[bool, Query(description="Check every row, and write none.")] = False,
    skip_bad: Annotated[bool, Query(description="Leave bad rows out, rather than refuse the file.")] = False,
) -> Any:
    """Import a file: the body, in the format of its Content-Type. All rows are checked before any is written.

    The same file again goes on where it stopped, or changes nothing.
    """
    del caller
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    kind = next((one for one, known in MEDIA.items() if known == media), None)
    if kind is None:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
    with tempfile.NamedTemporaryFile() as file:
        try:
            async for piece in request.stream():
                await run_in_threadpool(file.write, piece)
        except ClientDisconnect:
            raise HTTPException(HTTPStatus.BAD_REQUEST) from None
        file.flush()
        asked = ImportRequest(Path(file.name), kind, column_mapping(column), dry_run, skip_bad)
        result = await to_thread.run_sync(_imported, use.context, what, asked, limiter=_turns(request))
    if not (dry_run or result.complete):
        errors = [{"field": f"row {one.row}, {one.field}", "problem": one.problem} for one in result.problems]
        detail = f"{result.bad:,} of {result.rows:,} rows are bad, so nothing was written"
        return problem(request.scope["request_id"], HTTPStatus.UNPROCESSABLE_ENTITY, "bad-rows", detail, errors=errors)
    return shown(result)


@router.get("/export/{what}", response_class=Response, responses=_DOWNLOADS)
async def put_away(what: What, request: Request, use: Use, caller: Data, format: Annotated[Format, Query()] = "csv") -> Response:
    """Everybody's profiles or swipes, as import takes them. In CSV, texts that look like formulas begin with '."""
    del caller
    body = pieces(exported(use.context, what), COLUMNS[what], format)
    name = {"content-disposition": f'attachment; filename="{what}.{format}"'}
    return StreamingResponse(_in_turns(body, _turns(request)), media_type=MEDIA[format], headers=name)


async def _in_turns(body: Iterator[bytes], turns: CapacityLimiter) -> AsyncIterator[bytes]:
    while (piece := await to_thread.run_sync(next, body, None, limiter=turns)) is not None:
        yield piece


def _turns(request: Request) -> CapacityLimiter:
    turns: CapacityLimiter = request.app.state.transfers
    return turns


def _imported(context: Context, what: str, asked: ImportRequest) -> ImportResult:
    if what == "profiles":
        return Importing(context, ProfileImport(context)).run(asked)
    return Importing(context, SwipeImport(context)).run(asked)
