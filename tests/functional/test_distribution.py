"""What is built and installed: the same bytes each time, in an environment that has nothing else."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
import venv
from configparser import ConfigParser
from importlib.metadata import distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import kaczmatch
from kaczmatch.extras import missing_extra
from licences import canonical, needed_by

ROOT = Path(__file__).parents[2]
BUILT = pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling is missing; make test installs it")


def built(folder: Path) -> dict[str, Path]:
    """The wheel and the sdist, by their endings."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=os.environ | {"SOURCE_DATE_EPOCH": "1750000000"})  # noqa: S603
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return built(tmp_path_factory.mktemp("dist"))


@BUILT
def test_the_same_source_gives_the_same_bytes(packages: dict[str, Path], tmp_path: Path) -> None:
    def digests(found: dict[str, Path]) -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in found.values()}

    assert sorted(packages) == [".gz", ".whl"]
    assert digests(built(tmp_path)) == digests(packages)
    assert packages[".whl"].stat().st_size < 2_000_000


@BUILT
def test_the_wheel_has_every_file_of_the_package_and_no_others(packages: dict[str, Path]) -> None:
    listed = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "zipfile", "--list", str(packages[".whl"])], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[0] for line in listed.splitlines()[1:] if ".dist-info/" not in line}
    made = {"__pycache__", "kaczmatch.egg-info"}
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and not made & set(path.parts)]
    assert names == {str(path.relative_to(ROOT / "src")) for path in files}


@BUILT
def test_the_thin_client_works_where_there_is_nothing_else(packages: dict[str, Path], tmp_path: Path) -> None:
    """In an environment of its own, with links to what `kaczmatch[client]` needs and is installed here."""
    venv.create(tmp_path / "env", symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    places = next((tmp_path / "env" / "lib").glob("python3*")) / "site-packages"
    needed = needed_by("client")
    assert {"httpx", "pydantic"} <= needed
    assert not {"numpy", "scipy", "numba", "polars", "typer"} & needed
    for name in needed:
        for file in distribution(name).files or []:
            top = Path(distribution(name).locate_file(Path(file.parts[0])))
            link = places / file.parts[0]
            if ".." not in file.parts and not link.exists():
                link.symlink_to(top)
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*install, str(packages[".whl"])], check=True, capture_output=True)  # noqa: S603

    def run(code: str) -> str:
        done = subprocess.run([str(python), "-I", "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
        return done.stdout + done.stderr

    heavy = "{'numpy', 'numba', 'scipy', 'polars'}"
    assert run(f"import sys, kaczmatch.client as c; print(c.Client.__name__, {heavy} & set(sys.modules))") == "Client set()\n"
    assert "ModuleNotFoundError: numpy is missing; install it with: pip install 'kaczmatch[learn]'" in run(
        "import kaczmatch; kaczmatch.learner"
    )
    assert "install it with: pip install 'kaczmatch[sklearn]'" in run("import kaczmatch.sklearn")
    assert "install it with: pip install 'kaczmatch[river]'" in run("import kaczmatch.river")
    say = "import sys; from kaczmatch.cli.main import main; sys.argv = ['kaczmatch', *{}]; main()"
    assert run(say.format(["--version"])) == f"kaczmatch {kaczmatch.__version__}\n"
    for command, extra in (("", "lab"), ("evaluate", "lab"), ("serve", "service"), ("keys", "service")):
        said = f"kaczmatch: typer is missing; install it with: pip install 'kaczmatch[{extra}]'\n"
        assert run(say.format(command.split())) == said


def test_the_service_alone_works_with_what_its_extra_brings(tmp_path: Path) -> None:
    """Everything else that is installed here is hidden. Only Parquet asks for more."""
    needed = needed_by("service") | {"kaczmatch"}
    hidden = [name for name, brought_by in packages_distributions().items() if not {*map(canonical, brought_by)} & needed]
    assert {"polars", "pandas", "psycopg", "pytest"} <= {*hidden}
    (tmp_path / "people.csv").write_text("id,name,born,i_am,i_look_for\nann,Ann,1990-05-17,woman,man\n")
    code = (
        f"import sys; sys.modules |= dict.fromkeys({hidden})\n"
        "import kaczmatch.app.server, kaczmatch.app.asgi, kaczmatch.app.demo.setup, typer.testing\n"
        "from kaczmatch.cli.app import app\n"
        "for words in sys.stdin.read().splitlines():\n"
        "    done = typer.testing.CliRunner().invoke(app, words.split())\n"
        "    print(done.exit_code, type(done.exception).__name__, done.output)"
    )
    words = "import profiles people.csv\nexport profiles out.csv\nexport profiles out.parquet\npicks picks.csv\npicks --publish"
    known = os.environ | {"KACZMATCH_DATA": "data", "COLUMNS": "300"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], cwd=tmp_path, env=known, input=words, capture_output=True, text=True, check=False
    )
    assert (tmp_path / "out.csv").read_text().startswith("id,name,"), done.stderr
    assert "Parquet cannot be used here: polars is missing; install it with: pip install" in done.stdout
    assert "1 ModuleNotFoundError" in done.stdout  # main says which command installs it
    assert "edition 1 is shown" in done.stdout


def test_a_missing_package_is_named_with_the_command_for_a_checkout() -> None:
    said = str(missing_extra(ModuleNotFoundError(name="uvicorn.config")))
    assert said == f"uvicorn is missing; install it with: pip install -e '{ROOT}[service]'"


def test_one_version_stands_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == kaczmatch.__version__
    assert f"## [{kaczmatch.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_dependency_has_a_version_and_a_licence_on_the_page() -> None:
    pinned = {canonical(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"client", "learn", "lab", "service", "postgres", "sklearn", "river", "dev"} <= set(project["optional-dependencies"])
    page = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    listed = {canonical(line.split("|")[1].strip()) for line in page.splitlines() if line.startswith("| ")}
    assert pinned - listed == set()


def linted(*words: str | Path) -> None:
    program = Path(sys.executable).with_name(str(words[0]))
    if not program.exists():
        pytest.skip(f"{program.name} is missing; make test installs it where it can be had")
    done = subprocess.run([str(program), *map(str, words[1:])], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_containerfile_pleases_its_linter() -> None:
    linted("hadolint", ROOT / "deploy" / "Containerfile")


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("compose-spec", ["deploy/compose.yaml"]),
        ("github-issue-forms", [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/idea.yml"]),
        ("github-issue-config", [".github/ISSUE_TEMPLATE/config.yml"]),
    ],
)
def test_files_for_other_programs_follow_their_schemas(schema: str, files: list[str]) -> None:
    linted("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *(ROOT / file for file in files))


def test_the_systemd_unit_starts_the_service_as_nobody_in_particular() -> None:
    unit = ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment]
    unit.read(ROOT / "deploy" / "kaczmatch.service")
    assert unit["Service"]["ExecStart"].split()[:2] == ["/opt/kaczmatch/bin/kaczmatch", "serve"]
    assert unit["Service"]["DynamicUser"] == "yes"
