"""The page of guarantees names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guarantees.md"


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE.read_text())
    assert len(links) > 40
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_every_promise_names_a_test() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| P\d+ \|", line)]
    numbers = [int(row.split()[1][1:]) for row in rows]
    assert numbers == sorted(set(numbers))
    assert len(rows) >= 8
    assert all("../tests/" in row for row in rows)
