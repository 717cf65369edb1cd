"""Profiles and swipes in bulk, in and out."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, Final, final
from urllib.parse import urlencode

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from kaczmatch.api.authentication import Cases, scoped
from kaczmatch.api.problems import problem
from kaczmatch.formats.columns import column_mapping
from kaczmatch.formats.writing import pieces
from kaczmatch.schemas.transfer import MEDIA_TYPES, Format, ImportResult, NewTags, SuggestedOptions
from kaczmatch.service.access.credentials import DATA, Caller
from kaczmatch.service.domain.context import Context
from kaczmatch.service.transfer.cell_rules import map_texts, value_maps
from kaczmatch.service.transfer.file_export import COLUMNS, export_batches
from kaczmatch.service.transfer.file_import import FileImport
from kaczmatch.service.transfer.import_request import ImportRequest
from kaczmatch.service.transfer.profile_import import ProfileImport
from kaczmatch.service.transfer.swipe_import import SwipeImport
from kaczmatch.service.use_cases import UseCases

router = APIRouter(tags=["import and export"])

DataCaller = Annotated[Caller, Depends(scoped(DATA))]

_FILE: Final = {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in MEDIA_TYPES.values()}
_UPLOAD: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": _FILE}}
_DOWNLOAD: Final[dict[int | str, dict[str, Any]]] = {200: {"content": _FILE}}


@final
@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The query of an import."""

    column: Annotated[tuple[str, ...], Query(max_length=40, description="field=column: what a field is called in the file.")] = ()
    map: Annotated[
        tuple[str, ...], Query(max_length=40, description="What words of a field mean: i_am=female:woman,male:man.")
    ] = ()
    date_format: Annotated[
        str | None, Query(max_length=40, description="Such as DD.MM.YYYY, with HH:mm:ss for times; without it ISO 8601.")
    ] = None
    delimiter: Annotated[
        str | None, Query(max_length=1, description="Between the cells of a CSV file; without it, recognised.")
    ] = None
    encoding: Annotated[str | None, Query(max_length=40, description="Of a CSV file; without it, recognised.")] = None
    dry_run: Annotated[bool, Query(description="Check every row and write none.")] = False
    skip_bad: Annotated[bool, Query(description="Skip bad rows instead of refusing the file.")] = False


Options = Annotated[ImportOptions, Depends()]
NewTagsQuery = Annotated[NewTags, Query(description="What becomes of tags that the vocabulary does not have.")]
FormatQuery = Annotated[Format, Query(description="The format of the file.")]


@router.post("/import/profiles", response_model=ImportResult, openapi_extra=_UPLOAD)
async def import_profiles(
    request: Request, cases: Cases, caller: DataCaller, options: Options, new_tags: NewTagsQuery = "refuse"
) -> Any:
    """Import a file of profiles: the body, in the format of its Content-Type. All rows are checked before any is written.

    The same file again continues where it stopped, or changes nothing.
    """
    del caller
    return await _import(request, cases, "profiles", options, new_tags)


@router.post("/import/swipes", response_model=ImportResult, openapi_extra=_UPLOAD)
async def import_swipes(request: Request, cases: Cases, caller: DataCaller, options: Options) -> Any:
    """Import a swipe table: the body, in the format of its Content-Type. All rows are checked before any is written.

    The same file again continues where it stopped, or changes nothing.
    """
    del caller
    return await _import(request, cases, "swipes", options)


@router.get("/export/profiles", response_class=Response, responses=_DOWNLOAD)
async def export_profiles(request: Request, cases: Cases, caller: DataCaller, format: FormatQuery = "csv") -> Response:
    """All profiles, as the import takes them. In CSV, an apostrophe stands before texts that look like formulas."""
    del caller
    return _export(request, cases, "profiles", format)


@router.get("/export/swipes", response_class=Response, responses=_DOWNLOAD)
async def export_swipes(request: Request, cases: Cases, caller: DataCaller, format: FormatQuery = "csv") -> Response:
    """All swipes as a swipe table, as the import takes it. In CSV, an apostrophe stands before texts that look like formulas."""
    del caller
    return _export(request, cases, "swipes", format)


async def _import(
    request: Request, cases: UseCases, table: str, options: ImportOptions, new_tags: NewTags = "refuse"
) -> ImportResult | Response:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    format = next((name for name, known in MEDIA_TYPES.items() if known == media_type), None)
    if format is None:
        accepted = ", ".join(MEDIA_TYPES.values())
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the Content-Type must be one of {accepted}; save a spreadsheet as CSV UTF-8 first",
            {"Accept-Post": accepted},
        )
    with tempfile.NamedTemporaryFile() as file:
        try:
            async for piece in request.stream():
                await to_thread.run_sync(file.write, piece, limiter=_limiter(request))
        except ClientDisconnect:
            raise HTTPException(HTTPStatus.BAD_REQUEST) from None
        file.flush()
        asked = ImportRequest(
            Path(file.name),
            format,
            column_mapping(options.column),
            options.dry_run,
            options.skip_bad,
            value_maps(options.map),
            options.date_format,
            new_tags,
            options.encoding,
            options.delimiter,
        )
        result = await to_thread.run_sync(_imported, cases.context, table, asked, limiter=_limiter(request))
    if not (options.dry_run or result.complete):
        errors = [bad.model_dump() for bad in result.problems]
        bad = f"{result.bad:,} of {result.rows:,} rows are bad" if result.rows else "columns are missing"
        detail = f"{bad}, so nothing was written{_advice(result.suggestion)}"
        return problem(request.scope["request_id"], HTTPStatus.UNPROCESSABLE_ENTITY, "bad-rows", detail, errors=errors)
    return result


def _advice(suggested: SuggestedOptions | None) -> str:
    """A suggestion as a query."""
    if suggested is None:
        return ""
    query = [("column", f"{field}={column}") for field, column in suggested.columns.items()]
    query += [("map", text) for text in map_texts(suggested.maps)]
    query += [("date_format", suggested.date_format)] if suggested.date_format else []
    query += [("new_tags", suggested.new_tags)] if suggested.new_tags != "refuse" else []
    query += [("skip_bad", "true")] if suggested.skip_bad else []
    return f"; this would import {suggested.written:,} rows: ?{urlencode(query)}"


def _imported(context: Context, table: str, asked: ImportRequest) -> ImportResult:
    if table == "profiles":
        return FileImport(context, ProfileImport(context)).run(asked)
    return FileImport(context, SwipeImport(context)).run(asked)


def _export(request: Request, cases: UseCases, table: str, format: Format) -> Response:
    body = pieces(export_batches(cases.context, table), COLUMNS[table], format)
    headers = {"content-disposition": f'attachment; filename="{table}.{format}"'}
    return StreamingResponse(_streamed(body, _limiter(request)), media_type=MEDIA_TYPES[format], headers=headers)


async def _streamed(body: Iterator[bytes], limiter: CapacityLimiter) -> AsyncIterator[bytes]:
    while (piece := await to_thread.run_sync(next, body, None, limiter=limiter)) is not None:
        yield piece


def _limiter(request: Request) -> CapacityLimiter:
    limiter: CapacityLimiter = request.app.state.transfer_limiter
    return limiter
