"""The committed OpenAPI document is the one that the code makes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from kaczmatch.app.openapi_document import openapi_document, openapi_of_fresh_service
from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE
from worlds.served import Service

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"


def test_the_committed_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8").rstrip("\n") == openapi_document(), "run: kaczmatch openapi > docs/openapi.json"


def test_no_answer_for_users_has_scores_of_others() -> None:
    for word in ('"propensity"', '"appeal"', '"information"', '"excess"'):
        assert word not in openapi_document()
    assert openapi_document().count('"score"') == 2  # of `rank`, for back ends: the property, and that it is required


def test_problems_are_documented_as_what_they_are() -> None:
    operations = [one for path in openapi_of_fresh_service()["paths"].values() for one in path.values()]
    for operation in operations:
        content = operation["responses"]["4XX"]["content"]
        assert content == {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    assert len(operations) > 40


def test_operation_ids_are_verb_and_noun_and_schemas_follow_one_convention() -> None:
    found = openapi_of_fresh_service()
    ids = [one["operationId"] for path in found["paths"].values() for one in path.values()]
    assert all(re.fullmatch("[a-z]+([A-Z][a-z]+)+", name) for name in ids)
    assert len(ids) == len(set(ids))
    sent = {
        reference.rpartition("/")[2]
        for path in found["paths"].values()
        for one in path.values()
        for reference in re.findall("#/components/schemas/[A-Za-z]+", json.dumps(one.get("requestBody", {})))
    }
    assert all(name.endswith(("Request", "Input")) for name in sent)
    pages = {name for name, one in found["components"]["schemas"].items() if "items" in one.get("properties", {})}
    assert all(name.endswith("Page") for name in pages)


def test_the_document_is_served(one_service: Service) -> None:
    assert one_service.ok("GET", "/openapi.json")["info"]["title"] == "kaczmatch"
