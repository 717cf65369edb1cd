"""Writes docs/licences.md: every package of constraints.txt with the licence that it states."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distributions, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"
WORDS = """# Licences of dependencies

kaczmatch is Apache-2.0. This page lists the packages that it uses, with the licence that each
states in its metadata. `make licences` writes it from what is installed. `make sbom` writes a
CycloneDX file with versions. Nothing of them is copied into this repository.
"""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needs(name: str) -> list[str]:
    """What a package asks for; of kaczmatch by its own file, since an installed one may be older."""
    if name != "kaczmatch":
        return requires(name) or []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    marked = [f"{line} {'and' if ';' in line else ';'} extra == '{extra}'" for extra, lines in extras for line in lines]
    return [*project["dependencies"], *marked]


def needed_by(extra: str) -> set[str]:
    """Everything that `kaczmatch[extra]` brings in."""
    found: set[tuple[str, str]] = set()
    waiting = [("kaczmatch", extra)]
    while waiting:
        name, wanted = waiting.pop()
        try:
            lines = needs(name)
        except PackageNotFoundError:
            continue  # for another system than this
        for line in lines:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": wanted}):
                for each in need.extras or {""}:
                    if (canonical(need.name), each) not in found:
                        found.add((canonical(need.name), each))
                        waiting.append((need.name, each))
    return {name for name, _ in found} - {"kaczmatch"}


def licence(name: str) -> str:
    about = metadata(name)
    stated = about.get("License-Expression") or ""
    if not stated:
        kinds = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
        stated = ", ".join(kind for kind in kinds if kind != "OSI Approved")
    return stated or (about.get("License") or "").partition("\n")[0].strip()


def page(names: list[str]) -> str:
    service = needed_by("postgres")
    rows = [
        f"| {name} | {licence(name) or 'see its files'} | {'service' if canonical(name) in service else 'development'} |"
        for name in names
    ]
    return "\n".join([WORDS, "| package | licence | used by |", "| --- | --- | --- |", *rows, ""])


def main() -> None:
    names = [line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()]
    if missing := [name for name in names if not list(distributions(name=name))]:
        raise SystemExit(f"not installed here: {', '.join(missing)}; pip install -c constraints.txt {' '.join(missing)}")
    PAGE.write_text(page(names), encoding="utf-8")


if __name__ == "__main__":
    main()
