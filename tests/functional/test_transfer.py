"""Import and export of profiles and swipes: checked first, resumable, the same after a round trip, never a surprise."""

from __future__ import annotations

import csv
import io
import json
import sys
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaczmatch.core.errors import InvalidInput
from kaczmatch.formats import rows
from kaczmatch.formats.cells import SIGNS, inert, lively
from kaczmatch.formats.tables import read_table, write_table
from kaczmatch.formats.writing import pieces, write_rows
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.schemas.transfer import ImportResult
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.records import Event, OutboxMessage, Person
from kaczmatch.service.domain.store import Store
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.meeting.profiles import Profiles
from kaczmatch.service.meeting.undo import Undo
from kaczmatch.service.operations.timeline import OperatorActions
from kaczmatch.service.operations.verification import verify
from kaczmatch.service.transfer.file_export import COLUMNS, export_batches
from kaczmatch.service.transfer.file_import import MOST_PROBLEMS, FileImport
from kaczmatch.service.transfer.import_request import ImportRequest
from kaczmatch.service.transfer.profile_import import ProfileImport
from kaczmatch.service.transfer.swipe_import import SwipeImport
from kaczmatch.storage import MemoryStore, SqlStore
from worlds.stores import open_store
from worlds.town import TAGS, Town, about_in_turn

KINDS = ("csv", "jsonl", "parquet")


def open_town(store: Store, before: Town | None = None) -> Town:
    """With a feature beside the tags."""
    return Town(store, features=("activity",), before=before)


@pytest.fixture(params=["memory", "sqlite"])
def town(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Town]:
    store = open_store(request.param, request, tmp_path)
    yield open_town(store)
    store.close()


def bring(context: Context, what: str, path: Path, kind: str = "csv", **options: Any) -> ImportResult:
    asked = ImportRequest(path, kind, **options)
    target: Any = ProfileImport(context) if what == "profiles" else SwipeImport(context)
    result: ImportResult = FileImport(context, target).run(asked)
    return result.model_copy(update={"read_as": ""})


def put_away(context: Context, what: str, path: Path, kind: str) -> int:
    return write_rows(export_batches(context, what), COLUMNS[what], kind, path)


def everything(context: Context, what: str) -> list[dict[str, Any]]:
    return [row for batch in export_batches(context, what) for row in batch]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_exported_can_be_imported_and_is_the_same(town: Town, kind: str, tmp_path: Path) -> None:
    town.populate(6)
    strange = about_in_turn(2, name="=cmd|' /C calc'!A0", latitude=52.52, longitude=13.4, within_km=30.0, tags=frozenset(TAGS))
    more = {"features": {"activity": -0.25}, "capacity": 3, "data": {"photos": ["=1+1|2"], "bio": "Zoë, 'ok'", "none": None}}
    Profiles(town.context).put("p2", strange.model_copy(update=more)).result()
    Profiles(town.context).put("p4", about_in_turn(4, name="'t Hooft", tags=frozenset())).result()
    Profiles(town.context).pause("p5", True).result()
    for user, other in (("p0", "p1"), ("p1", "p0"), ("p2", "p3"), ("p3", "p0")):
        town.import_swipe(user, other, id=f"{user}-{other}")
    town.import_swipe("p2", "p5", id="undone")
    Undo(town.context).undo("p2", "undone").result()
    assert put_away(town.context, "profiles", tmp_path / f"people.{kind}", kind) == 6
    assert put_away(town.context, "swipes", tmp_path / f"swipes.{kind}", kind) == 4
    other = open_town(MemoryStore()).context
    assert bring(other, "profiles", tmp_path / f"people.{kind}", kind) == ImportResult(rows=6, written=6, complete=True)
    assert bring(other, "swipes", tmp_path / f"swipes.{kind}", kind) == ImportResult(rows=4, written=4, complete=True)
    for what in ("profiles", "swipes"):
        assert everything(other, what) == everything(town.context, what)
    assert not verify(other).problems
    with other.store.read() as reader:
        assert all(event.imported for event in reader.find(Event))
        assert [person.id for person in reader.find(Person, paused=True)] == ["p5"]
        assert reader.count(OutboxMessage) == 0  # whoever brings its history knows its matches


def test_a_file_without_the_column_pauses_and_resumes_nobody_and_none_resumes_who_is_held_back(
    town: Town, tmp_path: Path
) -> None:
    town.populate(4)
    Profiles(town.context).pause("p0", True).result()
    OperatorActions(town.context).hold("p1", "somebody", True).result()
    rows = [{name: value for name, value in row.items() if name != "paused"} for row in everything(town.context, "profiles")]
    write_rows([[row | {"name": "Renamed"} for row in rows]], [*rows[0]], "jsonl", tmp_path / "silent.jsonl")
    assert bring(town.context, "profiles", tmp_path / "silent.jsonl", "jsonl").written == 4
    assert [row["paused"] for row in everything(town.context, "profiles")] == [True, True, False, False]
    write_rows([[row | {"paused": False} for row in rows]], [*rows[0], "paused"], "jsonl", tmp_path / "resume.jsonl")
    result = bring(town.context, "profiles", tmp_path / "resume.jsonl", "jsonl")
    assert [(one.row, one.problem) for one in result.problems] == [(2, "an operator holds this person back")]
    assert [row["paused"] for row in everything(town.context, "profiles")] == [False, True, False, False]


def test_an_export_tells_nothing_that_was_learned(town: Town, tmp_path: Path) -> None:
    town.populate(4)
    town.import_swipe("p0", "p1")
    for what in ("profiles", "swipes"):
        for row in everything(town.context, what):
            assert set(row) == set(COLUMNS[what])
            assert not {"appeal", "state", "score", "propensity", "excess", "features_seen"} & set(row)


def test_a_user_table_of_any_shape(town: Town, tmp_path: Path) -> None:
    """Columns of other names, one a tag, and others that mean nothing here."""
    table = tmp_path / "users.csv"
    table.write_text(
        "user_id,full_name,birthday,gender,wants,jazz,cooking,activity,shoe size\n"
        "1,Ada Example,1990-02-03,woman,man|non-binary,1,0,0.5,40\n"
        '2,"Bo, Example",1985-12-31,man,"[""woman""]",no,yes,,\n'
    )
    columns = {"id": "user_id", "name": "full_name", "born": "birthday", "i_am": "gender", "i_look_for": "wants"}
    result = bring(town.context, "profiles", table, columns=columns)
    assert result == ImportResult(rows=2, written=2, unread=("shoe size",), complete=True)
    one, two = Profiles(town.context).get("1"), Profiles(town.context).get("2")
    assert (one.name, one.born, one.i_look_for) == ("Ada Example", date(1990, 2, 3), ("man", "non-binary"))
    assert two.name == "Bo, Example"
    with town.context.store.read() as reader:
        words = town.context.catalogue.vocabulary(reader, 1)
    assert tags_of(one, words) == (["jazz"], {"activity": 0.5})
    assert tags_of(two, words) == (["cooking"], {})


def test_every_problem_is_named_with_its_row_and_nothing_is_written(town: Town, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(
        "id,name,born,i_am,i_look_for,tags\n"
        "a,Ann,1990-01-01,woman,man,chess\n"
        "b,Bob,31.12.1990,man,woman,\n"
        "c,Cy,1990-01-01,man,woman,jaz\n"
        "d,Di,2020-01-01,woman,man,\n"
        "a,Ann again,1990-01-01,woman,man,\n"
        "e e,Ed,1990-01-01,man,woman,\n"
        "f,Flo,1990-01-01,woman\n"
        ",Gus,1990-01-01,man,woman,\n"
    )
    result = bring(town.context, "profiles", table)
    assert (result.rows, result.written, result.bad, result.complete) == (8, 0, 7, False)
    assert [(one.row, one.field) for one in result.problems] == [
        (3, "born"), (4, "tags"), (5, "born"), (6, "id"), (7, "id"), (8, "row"), (9, "id"),
    ]  # fmt: skip
    assert "did you mean 'jazz'" in result.problems[1].problem
    assert everything(town.context, "profiles") == []
    rest = bring(town.context, "profiles", table, skip_bad=True)
    assert (rest.written, rest.bad, rest.complete) == (1, 7, True)
    assert [row["id"] for row in everything(town.context, "profiles")] == ["a"]


def test_of_very_many_problems_the_first_are_named(town: Town, tmp_path: Path) -> None:
    table = tmp_path / "people.jsonl"
    row = {"id": 1, "name": "", "born": "1990-01-01", "i_am": "man", "i_look_for": "man"}
    table.write_text("".join(f"{json.dumps(row)}\n" for _ in range(3 * MOST_PROBLEMS)))
    result = bring(town.context, "profiles", table, "jsonl")
    assert result.bad == 3 * MOST_PROBLEMS
    assert len(result.problems) == MOST_PROBLEMS


def test_swipes_are_checked_against_the_people_the_order_and_the_clock(town: Town, tmp_path: Path) -> None:
    town.populate(4)
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
    result = bring(town.context, "swipes", table, dry_run=True)
    assert sorted((one.row, one.field) for one in result.problems) == [
        (3, "at"), (4, "candidate"), (5, "candidate"), (6, "decision"), (7, "at"), (9, "at"),
    ]  # fmt: skip
    assert everything(town.context, "swipes") == []
    result = bring(town.context, "swipes", table, skip_bad=True)
    assert (result.written, result.bad) == (2, 6)
    with town.context.store.read() as reader:
        (event,) = reader.find(Event, user="p1")
    assert event.at == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_dry_run_writes_nothing(town: Town, tmp_path: Path) -> None:
    elsewhere = open_town(MemoryStore())
    elsewhere.populate(3)
    put_away(elsewhere.context, "profiles", tmp_path / "people.csv", "csv")
    assert bring(town.context, "profiles", tmp_path / "people.csv", dry_run=True) == ImportResult(rows=3)
    assert everything(town.context, "profiles") == []


def test_repeating_changes_nothing_and_a_changed_table_only_what_changed(town: Town, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    head = "id,name,born,i_am,i_look_for\n"
    table.write_text(head + "a,Ann,1990-01-01,woman,man\nb,Bob,1990-01-01,man,woman\n")
    bring(town.context, "profiles", table)
    assert bring(town.context, "profiles", table) == ImportResult(rows=2, unchanged=2, complete=True)
    before = table.read_text()
    table.write_text(head + "a,Ann,1990-01-01,woman,man\nb,Bob Other,1990-01-01,man,woman\n")
    assert bring(town.context, "profiles", table) == ImportResult(rows=2, written=1, unchanged=1, complete=True)
    assert Profiles(town.context).get("a").version == 1
    assert Profiles(town.context).get("b").version == 2
    table.write_text(before)
    assert bring(town.context, "profiles", table) == ImportResult(rows=2, written=1, unchanged=1, complete=True)
    assert Profiles(town.context).get("b").name == "Bob"


@pytest.mark.parametrize("what", ["profiles", "swipes"])
def test_an_interrupted_import_goes_on_where_it_stopped(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.service.transfer.file_import._SAVED_EVERY", 500)
    store = SqlStore(f"sqlite:///{tmp_path}/store.db")
    town = open_town(store)
    if what == "swipes":
        town.populate(80)
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

    target: Any = ProfileImport(town.context) if what == "profiles" else SwipeImport(town.context)
    with pytest.raises(Stop):
        FileImport(town.context, target).run(ImportRequest(table, "csv"), interrupted)
    store.close()
    town = open_town(store := SqlStore(f"sqlite:///{tmp_path}/store.db"), town)
    result = bring(town.context, what, table)
    assert 1_000 <= result.resumed <= 2_000
    assert result.written == 1_000
    assert result.unchanged == 2_000 - result.resumed
    assert len(everything(town.context, what)) == 3_000
    assert bring(town.context, what, table).written == 0
    store.close()


def test_every_character_that_is_normalised_to_a_sign_is_taken_for_one() -> None:
    forms = {one for one in map(chr, range(sys.maxunicode + 1)) if unicodedata.normalize("NFKC", one)[:1] in {*"=+-@'"}}
    assert forms <= {*SIGNS}
    for sign in SIGNS:
        for before in ("", " ", "\u3000", "\ufeff", "\u200b"):
            assert inert(f"{before}{sign}1+1") == f"'{before}{sign}1+1"


def test_full_width_formulas_are_inert_in_both_ways_of_writing(tmp_path: Path) -> None:
    names = ["\uff1dSUM(A1)", "\uff0b1", "\uff0d1", "\uff20x", "Jane"]
    text = b"".join(pieces([[{"name": name} for name in names]], ["name"], "csv")).decode()
    assert text.splitlines() == ["name", *(f"'{name}" for name in names[:-1]), "Jane"]
    write_table(pl.DataFrame({"name": names}), tmp_path / "names.csv")
    assert (tmp_path / "names.csv").read_text().splitlines() == text.splitlines()
    assert read_table(tmp_path / "names.csv")["name"].to_list() == names


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
def test_no_cell_of_a_csv_is_a_formula_and_every_text_comes_back(text: str) -> None:
    assert not unicodedata.normalize("NFKC", inert(text)).lstrip().startswith(("=", "+", "-", "@"))
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
NAMES = st.sampled_from([*COLUMNS["profiles"], *COLUMNS["swipes"], "chess", "activity", "other"])


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
    town, path = open_town(MemoryStore()), tmp_path_factory.mktemp("rows") / "rows"
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), errors="surrogatepass")
    unsurprising(town.context, path, "jsonl")
    columns = sorted({name for row in rows for name in row})
    with path.open("w", newline="", errors="surrogatepass") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([row.get(name) for name in columns] for row in rows)
    unsurprising(town.context, path, "csv")
    try:
        pl.DataFrame({name: pl.Series([row.get(name) for row in rows], strict=False) for name in columns}).write_parquet(path)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        return
    unsurprising(town.context, path, "parquet")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(KINDS), st.one_of(st.binary(max_size=200), st.text(alphabet="\",\n\r{}[]:\\ua0'=1ø", max_size=60)))
def test_strange_bytes_are_problems_not_surprises(
    tmp_path_factory: pytest.TempPathFactory, kind: str, content: bytes | str
) -> None:
    town, path = open_town(MemoryStore()), tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(content.encode(errors="surrogatepass") if isinstance(content, str) else content)
    unsurprising(town.context, path, kind)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_broken_parquet_files_are_problems_not_surprises(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    town, path = open_town(MemoryStore()), tmp_path_factory.mktemp("parquet") / "file"
    town.populate(2)
    put_away(town.context, "profiles", path, "parquet")
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(len(whole) // 2, len(whole)))])
    unsurprising(town.context, path, "parquet")


def test_deep_long_and_odd_lines(tmp_path: Path) -> None:
    town, path = open_town(MemoryStore()), tmp_path / "lines"
    path.write_bytes(
        b"[" * 100_000 + b"\n" + b'{"id": "' + b"x" * (1 << 20) + b'"}\n' + b'{"id": "\\u0000"}\n{"id": "\\ud800"}\n'
        b'{"id": NaN}\n\xff\xfe\n[]\n\n' + b'{"name": 1, "born": 1, "i_am": 1, "i_look_for": 1, "id": 1' + b"0" * 5_000 + b"}\n"
    )
    result = bring(town.context, "profiles", path, "jsonl")
    assert [one.row for one in result.problems] == [1, 2, 3, 4, 5, 6, 7, 9]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_of_very_many_columns_is_refused_before_it_is_read(kind: str, tmp_path: Path) -> None:
    town, path = open_town(MemoryStore()), tmp_path / f"wide.{kind}"
    if kind == "csv":
        path.write_text(",".join(["id", *map("c{}".format, range(200_000))]) + "\n")
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({f"c{line}_{place}": 1 for place in range(2_000)}) + "\n" for line in range(3)))
    else:
        pl.DataFrame({f"c{place}": [1] for place in range(5_001)}).write_parquet(path)
    with pytest.raises(InvalidInput, match=r"\d,\d{3} columns, and a table may have 5,000; leave out those that are no field"):
        bring(town.context, "profiles", path, kind)
    path.write_text(json.dumps({f"c{place}": 1 for place in range(5_001)}) + "\n")
    (problem,) = bring(town.context, "profiles", path, "jsonl").problems
    assert "has 5,001 values, and a row may have 5,000" in problem.problem


def test_each_column_is_compared_with_few_others() -> None:
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    columns = [Name(f"column {place}") for place in range(4_000)]
    rows._check(columns)
    assert compared < 10 * len(columns)


def test_what_is_wrong_with_the_whole_file_is_one_error(tmp_path: Path) -> None:
    town, path = open_town(MemoryStore()), tmp_path / "file.csv"
    with pytest.raises(InvalidInput, match="no file"):
        bring(town.context, "profiles", path)
    path.write_text("")
    with pytest.raises(InvalidInput, match="name every column"):
        bring(town.context, "profiles", path)
    path.write_text("id,id\n")
    with pytest.raises(InvalidInput, match="twice"):
        bring(town.context, "profiles", path)
    path.write_text("id\n1\n")
    with pytest.raises(InvalidInput, match="no field 'idd'"):
        bring(town.context, "profiles", path, columns={"idd": "id"})
    with pytest.raises(InvalidInput, match="Parquet"):
        bring(town.context, "profiles", path, "parquet")
    with pytest.raises(InvalidInput, match="format"):
        bring(town.context, "profiles", path, "xlsx")


def test_people_without_an_age_come_and_go_by_file(tmp_path: Path) -> None:
    """The columns that mentoring does not need may be missing, and an export says nothing of age."""
    sides = {"mentor": frozenset({"mentee"}), "mentee": frozenset({"mentor"})}
    schema = Schema(("mentor", "mentee"), age_required=False, looks_for=sides)
    town, other = (Town(MemoryStore(), schema=schema).context for _ in range(2))
    (tmp_path / "people.csv").write_text('id,name,i_am,data\nann,Ann,mentee,\nmia,Mia,mentor,"{""bio"": ""hello""}"\n')
    assert bring(town, "profiles", tmp_path / "people.csv").written == 2
    rows = everything(town, "profiles")
    assert [(row["born"], row["youngest"], row["oldest"], row["i_look_for"]) for row in rows] == [
        (None, None, None, ["mentor"]),
        (None, None, None, ["mentee"]),
    ]
    assert [row["data"] for row in rows] == [{}, {"bio": "hello"}]
    for kind in KINDS:
        put_away(town, "profiles", tmp_path / f"again.{kind}", kind)
        bring(other, "profiles", tmp_path / f"again.{kind}", kind)
        assert everything(other, "profiles") == rows
    result = bring(Town(MemoryStore()).context, "profiles", tmp_path / "people.csv", dry_run=True)
    assert [one.field for one in result.problems] == ["columns"]  # dating needs more of them
    assert "born" in result.problems[0].problem
    (tmp_path / "bad.csv").write_text("id,name,i_am,data\nann,Ann,mentee,[1]\nbob,Bob,mentee,{\n")
    assert [one.field for one in bring(town, "profiles", tmp_path / "bad.csv", dry_run=True).problems] == ["data", "data"]
