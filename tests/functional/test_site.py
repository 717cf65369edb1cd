"""The documentation as a site: every link leads somewhere, two builds have the same bytes, and no other host is asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from site_pages import ROOT, gather

BUILD = (
    "import sys, mkdocs.config, mkdocs.commands.build\n"
    "config = mkdocs.config.load_config(sys.argv[1], docs_dir=sys.argv[2], site_dir=sys.argv[3], strict=True)\n"
    "mkdocs.commands.build.build(config)"
)


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs-material is missing; make test installs it")
def test_the_site_is_whole_reproducible_and_alone(tmp_path: Path) -> None:
    gather(tmp_path / "pages")
    sites = [tmp_path / name for name in ("one", "two")]
    for site in sites:
        command = [sys.executable, "-c", BUILD, str(ROOT / "mkdocs.yml"), str(tmp_path / "pages"), str(site)]
        known = os.environ | {"SOURCE_DATE_EPOCH": "1750000000", "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == 0, done.stderr  # strict: a link or an anchor that leads nowhere is an error
    files = {path.relative_to(sites[0]) for path in sites[0].rglob("*") if path.is_file()}
    assert len(files) > 80
    assert [str(file) for file in sorted(files) if (sites[0] / file).read_bytes() != (sites[1] / file).read_bytes()] == []
    door = (sites[0] / "index.html").read_text(encoding="utf-8")
    for words in ("I build an app", "I have a swipe log", "I study preference learning"):
        assert f">{words}<" in re.sub(r"\s+", " ", door).replace("> ", ">")
    for page in sites[0].rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r'<(?:script|img|iframe)[^>]*src="?(?:https?:)?//', text) == [], page.name
        assert re.findall(r'<link[^>]*rel="?(?:stylesheet|preconnect)[^>]*href="?(?:https?:)?//', text) == [], page.name


def test_the_generated_pages_say_what_the_code_says(tmp_path: Path) -> None:
    gather(tmp_path)
    python = (tmp_path / "reference" / "python.md").read_text(encoding="utf-8")
    assert "## replay" in python
    assert "`swipe(" in python
    assert "## kaczmatch keys rotate" in (tmp_path / "reference" / "cli.md").read_text(encoding="utf-8")
    assert "## createDeck" in (tmp_path / "reference" / "http.md").read_text(encoding="utf-8")
