"""The committed OpenAPI document is the one that the code makes."""

from __future__ import annotations

from pathlib import Path

from kaczmatch.app.document import document
from worlds.served import Service

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_the_committed_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8").rstrip("\n") == document(), "run: kaczmatch openapi > docs/openapi.json"


def test_no_answer_for_users_has_scores_of_others() -> None:
    for word in ('"propensity"', '"appeal"', '"information"', '"excess"'):
        assert word not in document()
    assert document().count('"score"') == 2  # of `rank`, for back ends: the property, and that it is required


def test_the_document_is_served(one_service: Service) -> None:
    assert one_service.ok("GET", "/openapi.json")["info"]["title"] == "kaczmatch"
