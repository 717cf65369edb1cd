"""People's real files: the first error message names the command that imports them."""

from __future__ import annotations

import codecs
import shlex
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kaczmatch.app.composition import context_of, open_store
from kaczmatch.cli.app import app
from kaczmatch.recommend.people.vocabulary import Vocabulary
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.settings.model import Settings

Command = Callable[..., Result]

MESSY = (
    "User ID;Vorname;Geburtstag;Gender;looking for;Interests;City;\r\n"
    "u1;Zoë;17.05.1990;female;male;CHESS, JAZZ, SKATEBOARDING;Köln;\r\n"
    "u2;Jürgen;02.11.1988;Male;female;jazz;\"Halle\r\n(Saale)\";\r\n"
    ";;;;;;;\r\n"
    "u3;Ann;30.01.1992;female;both;Skateboarding;;\r\n"
    "\r\n"
    "u2;Jürgen;02.11.1988;Male;female;jazz;\"Halle\r\n(Saale)\";\r\n"
    "u1;Zoe;17.05.1990;female;male;chess;Bonn;\r\n"
)  # fmt: skip
ENCODED = {
    "UTF-8 with a byte order mark": MESSY.encode("utf-8-sig"),
    "Windows-1252": MESSY.encode("cp1252"),
    "Windows-1252 with a byte order mark": codecs.BOM_UTF8 + MESSY.encode("cp1252"),
    "UTF-16 with a byte order mark": MESSY.encode("utf-16"),
    "UTF-8": MESSY.encode(),
}


@pytest.fixture
def kaczmatch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KACZMATCH_DATA", str(tmp_path / "data"))
    return lambda *words: CliRunner().invoke(app, [*words])


def suggested(result: Result) -> list[str]:
    (line,) = [line for line in result.output.splitlines() if line.startswith("kaczmatch import")]
    return shlex.split(line)[1:]


def people(tmp_path: Path) -> tuple[dict[str, Person], Vocabulary]:
    store = open_store(settings := Settings(data=tmp_path / "data"))
    context = context_of(settings, store)
    with store.read() as reader:
        found = {person.id: person for person in reader.find(Person)}
        vocabulary = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
    store.close()
    return found, vocabulary


@pytest.mark.parametrize("encoding", ENCODED)
def test_the_first_error_message_has_the_command_that_imports_a_messy_file(
    kaczmatch: Command, tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "users.csv").write_bytes(ENCODED[encoding])
    first = kaczmatch("import", "profiles", "users.csv")
    assert first.exit_code == 1
    said = first.stdout.splitlines()
    assert said[0] == f"users.csv is read as CSV, semicolons, {encoding}"
    assert said[1] == (
        "row 1: columns: there is no column for id, name, born, i_am, i_look_for; the file has User ID, Vorname, Geburtstag, "
        "Gender, looking for, Interests, City; nearest: id=User ID, name=Vorname, born=Geburtstag, i_am=Gender, "
        "i_look_for=looking for"
    )
    assert "this would import 4 rows, and leave out 1 bad ones:" in said  # u1 stands there twice, with different values
    assert people(tmp_path)[0] == {}

    second = kaczmatch(*suggested(first))
    assert second.exit_code == 0, second.output
    assert "row 8: id: 'u1' stands in row 2 already, with other values" in second.output
    assert "tags that are new to the vocabulary: SKATEBOARDING" in second.output
    assert "3 profiles written, 1 were there already, 1 bad" in second.output
    found, vocabulary = people(tmp_path)
    assert {name: person.name for name, person in found.items()} == {"u1": "Zoë", "u2": "Jürgen", "u3": "Ann"}
    assert found["u1"].born == date(1990, 5, 17)
    assert found["u2"].i_am == ("man",)
    assert found["u3"].i_look_for == ("man", "non-binary", "woman")
    assert tags_of(found["u1"], vocabulary)[0] == ["jazz", "chess", "SKATEBOARDING"]
    assert tags_of(found["u3"], vocabulary)[0] == ["SKATEBOARDING"]


def test_rows_are_numbered_as_a_spreadsheet_shows_them_and_all_that_is_wrong_is_said_in_one_order(
    kaczmatch: Command, tmp_path: Path
) -> None:
    (tmp_path / "users.csv").write_text(
        "id,name,born,i_am,i_look_for,latitude,youngest,oldest,tags,features\n"
        'a,"Ann\nof two lines",1990-01-01,woman,man,,,,,\n'
        "\n"
        'b b,"\u202e",tomorrow,wman,man,99,40,30,"squash, chess, curling","{""nothing"": 1}"\n'
    )
    told = [kaczmatch("import", "profiles", "users.csv", *options) for options in ([], ["--dry-run"], [])]
    rows = [[line for line in one.output.splitlines() if line.startswith("row ")] for one in told]
    assert rows[0] == rows[1] == rows[2]
    assert [line.split(": ")[:2] for line in rows[0]] == [
        ["row 2", "name"],  # a line break is no part of a name
        *(
            ["row 4", field]
            for field in ("id", "name", "born", "i_am", "youngest", "latitude", "longitude", "tags", "tags", "features")
        ),
    ]


def test_what_a_word_means_and_what_becomes_of_new_tags_is_the_callers_to_say(kaczmatch: Command, tmp_path: Path) -> None:
    table = tmp_path / "users.tsv"
    table.write_text("id\tname\tborn\ti_am\ti_look_for\tJAZZ\ttags\na\tAnn\t3/4/1990\tIt's me\tMan\tyes\tcurling\n")
    usual = ["import", "profiles", "users.tsv", "--map", "i_am=it's me:woman", "--date-format", "MM/DD/YYYY"]
    refused = kaczmatch(*usual)
    assert refused.exit_code == 1
    assert "row 2: tags: there is no tag 'curling'" in refused.output
    assert suggested(refused)[-2:] == ["--new-tags", "add"]
    assert kaczmatch(*usual, "--new-tags", "ignore").exit_code == 0
    found, vocabulary = people(tmp_path)
    assert (found["a"].born, found["a"].i_am, found["a"].i_look_for) == (date(1990, 3, 4), ("woman",), ("man",))
    assert tags_of(found["a"], vocabulary)[0] == ["jazz"]
    assert "curling" not in {term.name for term in vocabulary.terms}
    ambiguous = kaczmatch("import", "profiles", "users.tsv", "--map", "i_am=it's me:woman")
    assert "row 2: born: must be a date such as 1990-12-31, got '3/4/1990'" in ambiguous.output
    assert "kaczmatch import" not in ambiguous.output  # day or month first: nobody can know


def test_options_win_over_what_is_recognised(kaczmatch: Command, tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_bytes("id:name:born:i_am:i_look_for\na:Zoë:1990-01-01:woman:man\n".encode("cp437"))
    done = kaczmatch("import", "profiles", "users.csv", "--delimiter", ":", "--encoding", "cp437")
    assert done.exit_code == 0, done.output
    assert "read as CSV, ':' between cells, cp437" in done.output
    assert people(tmp_path)[0]["a"].name == "Zoë"
    wrong = kaczmatch("import", "profiles", "users.csv", "--encoding", "utf-16")
    assert wrong.exit_code == 2
    assert "is not utf-16 throughout" in wrong.output
    assert "there is no encoding 'latin-99'" in kaczmatch("import", "profiles", "users.csv", "--encoding", "latin-99").output


@pytest.mark.parametrize("name", ["users.xlsx", "users.ods", "users.numbers", "renamed.csv"])
def test_a_spreadsheet_is_refused_with_what_to_do(kaczmatch: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 and so on")
    done = kaczmatch("import", "profiles", name)
    assert done.exit_code == 2
    assert f"{name} is a spreadsheet; open it, choose 'Save as' or 'Export', take 'CSV UTF-8'" in done.output


def test_swipes_of_other_people_get_a_suggestion_too(kaczmatch: Command, tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("id,name,born,i_am,i_look_for\na,Ann,1990-01-01,woman,man\nb,Bo,1990-01-01,man,woman\n")
    assert kaczmatch("import", "profiles", "users.csv").exit_code == 0
    (tmp_path / "swipes.csv").write_text("swiper;target;action;timestamp\na;b;yes;31.12.2024 23:59\nb;a;no;13.01.2025 00:01\n")
    first = kaczmatch("import", "swipes", "swipes.csv")
    assert first.exit_code == 1
    done = kaczmatch(*suggested(first))
    assert done.exit_code == 0, done.output
    assert "2 swipes written" in done.output
    assert kaczmatch("export", "swipes", "out.csv").exit_code == 0
    assert "a,b,like,2024-12-31T23:59:00.000000Z," in (tmp_path / "out.csv").read_text()
