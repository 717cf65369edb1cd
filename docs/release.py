"""What must be true before a release: run by `make release-check`. Prints every problem; none: the release can be tagged."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]


def said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


def problems(version: str, changelog: str, citation: str, changes: str, tags: list[str]) -> list[str]:
    """In words."""
    found = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        found.append(f"{version!r} is no semantic version, such as 0.2.0")
    heading = re.search(rf"^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changelog, re.MULTILINE)
    if heading is None:
        found.append(f"CHANGELOG.md has no line '## [{version}] - {date(2026, 1, 31)}' with the day of the release")
    if f"version: {version}" not in citation:
        found.append(f"CITATION.cff does not say version: {version}")
    if changes:
        found.append(f"not everything is committed: {changes.splitlines()[0]}")
    if f"v{version}" in tags:
        found.append(f"v{version} is tagged already; raise __version__ in src/kaczmatch/__init__.py")
    return found


def main() -> None:
    version = re.findall(r'^__version__ = "(.*)"', (ROOT / "src/kaczmatch/__init__.py").read_text(), re.MULTILINE)[0]
    read = [(ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")]
    found = problems(version, *read, said("git", "status", "--porcelain"), said("git", "tag").split())
    print("\n".join(found) or f"v{version} can be released: make test, make dist, make sbom, then git tag v{version}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
