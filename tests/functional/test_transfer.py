"""Import and export of profiles and swipes: checked first, resumable, the same after a round trip, never a surprise."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.services import TAGS, about, in_context, open_store, populate, swiped

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats.rows import inert, lively
from kaczmatch.formats.writing import pieces, write_rows
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Event, OutboxMessage, Person
from kaczmatch.service.meeting.profiles import Profiles, tags_of
from kaczmatch.service.meeting.undo import Undoing
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.transfer.exporting import COLUMNS, exported
from kaczmatch.service.transfer.importing import MOST_PROBLEMS, Importing, ImportRequest, ImportResult
from kaczmatch.service.transfer.profiles import ProfileImport
from kaczmatch.service.transfer.swipes import SwipeImport
from kaczmatch.storage import MemoryStore, SqlStore

KINDS = ("csv", "jsonl", "parquet")


@pytest.fixture(params=["memory", "sqlite"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Context]:
    store = open_store(request.param, request, tmp_path)
    yield in_context(store)
    store.close()


def bring(context: Context, what: str, path: Path, kind: str = "csv", **options: Any) -> ImportResult:
    asked = ImportRequest(path, kind, **options)
    if what == "profiles":
        return Importing(context, ProfileImport(context)).run(asked)
    return Importing(context, SwipeImport(context)).run(asked)


def put_away(context: Context, what: str, path: Path, kind: str) -> int:
    return write_rows(exported(context, what), COLUMNS[what], kind, path)


def everything(context: Context, what: str) -> list[dict[str, Any]]:
    return [row for batch in exported(context, what) for row in batch]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_exported_can_be_imported_and_is_the_same(context: Context, kind: str, tmp_path: Path) -> None:
    populate(context, 6)
    strange = about(2, name="=cmd|' /C calc'!A0", latitude=52.52, longitude=13.4, within_km=30.0, tags=frozenset(TAGS))
    Profiles(context).put("p2", replace(strange, features={"activity": -0.25})).result()
    Profiles(context).put("p4", about(4, name="'t Hooft", tags=frozenset())).result()
    Profiles(context).pause("p5", True).result()
    for user, other in (("p0", "p1"), ("p1", "p0"), ("p2", "p3"), ("p3", "p0")):
        swiped(context, user, other, id=f"{user}-{other}")
    swiped(context, "p2", "p5", id="undone")
    Undoing(context).undo("p2", "undone").result()
    assert put_away(context, "profiles", tmp_path / f"people.{kind}", kind) == 6
    assert put_away(context, "swipes", tmp_path / f"swipes.{kind}", kind) == 4
    other = in_context(MemoryStore())
    assert bring(other, "profiles", tmp_path / f"people.{kind}", kind) == ImportResult(rows=6, written=6, complete=True)
    assert bring(other, "swipes", tmp_path / f"swipes.{kind}", kind) == ImportResult(rows=4, written=4, complete=True)
    for what in ("profiles", "swipes"):
        assert everything(other, what) == everything(context, what)
    assert not verify(other).problems
    with other.store.read() as reader:
        assert all(event.imported for event in reader.find(Event))
        assert [person.id for person in reader.find(Person, paused=True)] == ["p5"]
        assert reader.count(OutboxMessage) == 0  # whoever brings its history knows its matches


def test_a_file_without_the_column_pauses_and_resumes_nobody_and_none_resumes_who_is_held_back(
    context: Context, tmp_path: Path
) -> None:
    populate(context, 4)
    Profiles(context).pause("p0", True).result()
    OperatorActions(context).hold("p1", "somebody", True).result()
    rows = [{name: value for name, value in row.items() if name != "paused"} for row in everything(context, "profiles")]
    write_rows([[row | {"name": "Renamed"} for row in rows]], [*rows[0]], "jsonl", tmp_path / "silent.jsonl")
    assert bring(context, "profiles", tmp_path / "silent.jsonl", "jsonl").written == 4
    assert [row["paused"] for row in everything(context, "profiles")] == [True, True, False, False]
    write_rows([[row | {"paused": False} for row in rows]], [*rows[0], "paused"], "jsonl", tmp_path / "resume.jsonl")
    result = bring(context, "profiles", tmp_path / "resume.jsonl", "jsonl")
    assert [(one.row, one.problem) for one in result.problems] == [(2, "an operator holds this person back")]
    assert [row["paused"] for row in everything(context, "profiles")] == [False, True, False, False]


def test_an_export_tells_nothing_that_was_learned(context: Context, tmp_path: Path) -> None:
    populate(context, 4)
    swiped(context, "p0", "p1")
    for what in ("profiles", "swipes"):
        for row in everything(context, what):
            assert set(row) == set(COLUMNS[what])
            assert not {"appeal", "state", "score", "chance", "excess", "features_seen"} & set(row)


def test_a_user_table_of_any_shape(context: Context, tmp_path: Path) -> None:
    """Columns of other names, one a tag, and others that mean nothing here."""
    table = tmp_path / "users.csv"
    table.write_text(
        "user_id,full_name,birthday,gender,wants,tag 0,tag 3,activity,shoe size\n"
        "1,Ada Example,1990-02-03,woman,man|non-binary,1,0,0.5,40\n"
        '2,"Bo, Example",1985-12-31,man,"[""woman""]",no,yes,,\n'
    )
    columns = {"id": "user_id", "name": "full_name", "born": "birthday", "i_am": "gender", "i_look_for": "wants"}
    result = bring(context, "profiles", table, columns=columns)
    assert result == ImportResult(rows=2, written=2, unread=("shoe size",), complete=True)
    one, two = Profiles(context).get("1"), Profiles(context).get("2")
    assert (one.name, one.born, one.i_look_for) == ("Ada Example", date(1990, 2, 3), ("man", "non-binary"))
    assert two.name == "Bo, Example"
    with context.store.read() as reader:
        words = context.catalogue.vocabulary(reader, 1)
    assert tags_of(one, words) == (["tag 0"], {"activity": 0.5})
    assert tags_of(two, words) == (["tag 3"], {})


def test_every_problem_is_named_with_its_row_and_nothing_is_written(context: Context, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(
        "id,name,born,i_am,i_look_for,tags\n"
        "a,Ann,1990-01-01,woman,man,tag 1\n"
        "b,Bob,31.12.1990,man,woman,\n"
        "c,Cy,1990-01-01,man,woman,tag 99\n"
        "d,Di,2020-01-01,woman,man,\n"
        "a,Ann again,1990-01-01,woman,man,\n"
        "e e,Ed,1990-01-01,man,woman,\n"
        "f,Flo,1990-01-01,woman\n"
        ",Gus,1990-01-01,man,woman,\n"
    )
    result = bring(context, "profiles", table)
    assert (result.rows, result.written, result.bad, result.complete) == (8, 0, 7, False)
    assert [(one.row, one.field) for one in result.problems] == [
        (2, "born"), (3, "tags"), (4, "born"), (5, "id"), (6, "id"), (7, "row"), (8, "id"),
    ]  # fmt: skip
    assert "did you mean 'tag" in result.problems[1].problem
    assert everything(context, "profiles") == []
    rest = bring(context, "profiles", table, skip_bad=True)
    assert (rest.written, rest.bad, rest.complete) == (1, 7, True)
    assert [row["id"] for row in everything(context, "profiles")] == ["a"]


def test_of_very_many_problems_the_first_are_named(context: Context, tmp_path: Path) -> None:
    table = tmp_path / "people.jsonl"
    table.write_text("".join('{"id": 1}\n' for _ in range(3 * MOST_PROBLEMS)))
    result = bring(context, "profiles", table, "jsonl")
    assert result.bad == 3 * MOST_PROBLEMS
    assert len(result.problems) == MOST_PROBLEMS


def test_swipes_are_checked_against_the_people_the_order_and_the_clock(context: Context, tmp_path: Path) -> None:
    populate(context, 4)
    table = tmp_path / "swipes.csv"
    table.write_text(
        "user,candidate,decision,at\n"
        "p0,p1,like,2026-01-02T00:00:00Z\n"
        "p0,p3,1,2026-01-01T00:00:00Z\n"
        "p0,p9,0,2026-01-03T00:00:00Z\n"
        "p0,p0,pass,2026-01-04T00:00:00Z\n"
        "p1,p0,maybe,2026-01-05T00:00:00Z\n"
        "p1,p0,like,2030-01-05T00:00:00Z\n"
        "p1,p0,like,1767225600\n"
        "p1,p2,skip,yesterday\n"
    )
    result = bring(context, "swipes", table, dry_run=True)
    assert sorted((one.row, one.field) for one in result.problems) == [
        (2, "at"), (3, "candidate"), (4, "candidate"), (5, "decision"), (6, "at"), (8, "at"),
    ]  # fmt: skip
    assert everything(context, "swipes") == []
    result = bring(context, "swipes", table, skip_bad=True)
    assert (result.written, result.bad) == (2, 6)
    with context.store.read() as reader:
        (event,) = reader.find(Event, user="p1")
    assert event.at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_dry_run_writes_nothing(context: Context, tmp_path: Path) -> None:
    populate(in_context(source := MemoryStore()), 3)
    put_away(in_context(source), "profiles", tmp_path / "people.csv", "csv")
    assert bring(context, "profiles", tmp_path / "people.csv", dry_run=True) == ImportResult(rows=3)
    assert everything(context, "profiles") == []


def test_repeating_changes_nothing_and_a_changed_table_only_what_changed(context: Context, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    head = "id,name,born,i_am,i_look_for\n"
    table.write_text(head + "a,Ann,1990-01-01,woman,man\nb,Bob,1990-01-01,man,woman\n")
    bring(context, "profiles", table)
    assert bring(context, "profiles", table) == ImportResult(rows=2, unchanged=2, complete=True)
    before = table.read_text()
    table.write_text(head + "a,Ann,1990-01-01,woman,man\nb,Bob Other,1990-01-01,man,woman\n")
    assert bring(context, "profiles", table) == ImportResult(rows=2, written=1, unchanged=1, complete=True)
    assert Profiles(context).get("a").version == 1
    assert Profiles(context).get("b").version == 2
    table.write_text(before)
    assert bring(context, "profiles", table) == ImportResult(rows=2, written=1, unchanged=1, complete=True)
    assert Profiles(context).get("b").name == "Bob"


@pytest.mark.parametrize("what", ["profiles", "swipes"])
def test_an_interrupted_import_goes_on_where_it_stopped(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.service.transfer.importing._SAVED_EVERY", 500)
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    context = in_context(store)
    if what == "swipes":
        populate(context, 80)
        lines = [
            f"p{a},p{b},{'like' if (a * b) % 3 else 'pass'},{1_700_000_000 + a}" for a in range(80) for b in range(80) if a != b
        ]
        lines = ["user,candidate,decision,at", *lines[:3_000]]
    else:
        lines = ["id,name,born,i_am,i_look_for", *(f"q{n},Person {n},1990-01-01,man,woman" for n in range(3_000))]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(lines) + "\n")

    class Stop(Exception):
        pass

    def interrupted(stage: str, done: int, total: int) -> None:
        assert stage == ("importing" if total else "checking")
        if total and done >= 2_000:
            raise Stop

    target: Any = ProfileImport(context) if what == "profiles" else SwipeImport(context)
    with pytest.raises(Stop):
        Importing(context, target).run(ImportRequest(table, "csv"), interrupted)
    store.close()
    context = in_context(store := SqlStore(f"sqlite:///{tmp_path}/store.db"))
    result = bring(context, what, table)
    assert 1_000 <= result.resumed <= 2_000
    assert result.written == 1_000
    assert result.unchanged == 2_000 - result.resumed
    assert len(everything(context, what)) == 3_000
    assert bring(context, what, table).written == 0
    store.close()


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_no_cell_of_a_csv_is_a_formula_and_every_text_comes_back(text: str) -> None:
    assert not inert(text).startswith(("=", "+", "-", "@", "\t", "\r"))
    assert lively(inert(text)) == text


def test_formulas_are_inert_in_the_file(tmp_path: Path) -> None:
    row = {"id": "a", "tags": ["=x", "y"], "n": -3, "name": "@SUM(A1)"}
    text = b"".join(pieces([[row]], list(row), "csv")).decode()
    assert next(csv.DictReader(io.StringIO(text))) == {"id": "a", "tags": "'=x|y", "n": "-3", "name": "'@SUM(A1)"}


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.dates(), st.datetimes(),
    st.lists(st.text(max_size=4), max_size=3), st.dictionaries(st.text(max_size=4), st.floats(), max_size=2),
    st.sampled_from(["a", "b", "woman", "man", "1990-01-01", "like", "pass", "1e400", "-0", "nan", "[[[", "{", "9" * 5_000]),
)  # fmt: skip
NAMES = st.sampled_from([*COLUMNS["profiles"], *COLUMNS["swipes"], "tag 1", "activity", "other"])


def unsurprising(context: Context, path: Path, kind: str) -> None:
    for what in ("profiles", "swipes"):
        for skip_bad in (False, True):
            try:
                result = bring(context, what, path, kind, skip_bad=skip_bad)
            except InvalidInput:
                continue
            assert result.written + result.unchanged + result.bad <= result.rows


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(NAMES, CELLS, max_size=8), max_size=4))
def test_strange_rows_are_problems_not_surprises(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    context, path = in_context(MemoryStore()), tmp_path_factory.mktemp("rows") / "rows"
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), errors="surrogatepass")
    unsurprising(context, path, "jsonl")
    columns = sorted({name for row in rows for name in row})
    with path.open("w", newline="", errors="surrogatepass") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([row.get(name) for name in columns] for row in rows)
    unsurprising(context, path, "csv")
    try:
        pl.DataFrame({name: pl.Series([row.get(name) for row in rows], strict=False) for name in columns}).write_parquet(path)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return
    unsurprising(context, path, "parquet")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(KINDS), st.one_of(st.binary(max_size=200), st.text(alphabet="\",\n\r{}[]:\\ua0'=1ø", max_size=60)))
def test_strange_bytes_are_problems_not_surprises(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes | str
) -> None:
    context, path = in_context(MemoryStore()), tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(content.encode(errors="surrogatepass") if isinstance(content, str) else content)
    unsurprising(context, path, kind)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_broken_parquet_files_are_problems_not_surprises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    context, path = in_context(MemoryStore()), tmp_path_factory.mktemp("parquet") / "file"
    populate(context, 2)
    put_away(context, "profiles", path, "parquet")
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(len(whole) // 2, len(whole)))])
    unsurprising(context, path, "parquet")


def test_deep_long_and_odd_lines(tmp_path: Path) -> None:
    context, path = in_context(MemoryStore()), tmp_path / "lines"
    path.write_bytes(
        b"[" * 100_000 + b"\n" + b'{"id": "' + b"x" * (1 << 20) + b'"}\n' + b'{"id": "\\u0000"}\n{"id": "\\ud800"}\n'
        b'{"id": NaN}\n\xff\xfe\n[]\n\n' + b'{"id": 1' + b"0" * 5_000 + b"}\n"
    )
    result = bring(context, "profiles", path, "jsonl")
    assert [one.row for one in result.problems] == [1, 2, 3, 4, 5, 6, 7, 9]


def test_what_is_wrong_with_the_whole_file_is_one_error(tmp_path: Path) -> None:
    context, path = in_context(MemoryStore()), tmp_path / "file.csv"
    with pytest.raises(InvalidInput, match="no file"):
        bring(context, "profiles", path)
    path.write_text("")
    with pytest.raises(InvalidInput, match="name every column"):
        bring(context, "profiles", path)
    path.write_text("id,id\n")
    with pytest.raises(InvalidInput, match="twice"):
        bring(context, "profiles", path)
    path.write_text("id\n1\n")
    with pytest.raises(InvalidInput, match="no field 'idd'"):
        bring(context, "profiles", path, columns={"idd": "id"})
    with pytest.raises(InvalidInput, match="Parquet"):
        bring(context, "profiles", path, "parquet")
    with pytest.raises(InvalidInput, match="format"):
        bring(context, "profiles", path, "xlsx")
