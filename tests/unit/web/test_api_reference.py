"""The page about the HTTP API says everything that the OpenAPI document says, and asks no other host."""

from __future__ import annotations

import json
import re
from pathlib import Path

from kaczmatch.web.api_reference import REFERENCE, SUBJECTS, operations, reference_page, type_words
from kaczmatch.web.pages import Site

DOCUMENT = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))


def test_every_operation_and_schema_is_on_the_page_and_nothing_is_fetched() -> None:
    found, page = operations(DOCUMENT), reference_page(Site([REFERENCE]), DOCUMENT)
    ids = {operation["operationId"] for ways in DOCUMENT["paths"].values() for operation in ways.values()}
    assert {each.id for each in found} == ids
    assert tuple(dict.fromkeys(each.subject for each in found)) == SUBJECTS
    assert all(f'id="{each}"' in page for each in ids)
    assert all(f'id="schema-{name}"' in page for name in DOCUMENT["components"]["schemas"])
    assert re.findall(r'(?:src|href)="(?:https?:)?//', page) == []
    deck = next(each for each in found if each.id == "createDeck")
    assert (deck.method, deck.path, deck.returns) == ("POST", "/v1/people/{user}/deck", "Deck")
    assert "anything" not in {field.type for each in found for field in each.parameters}


def test_types_are_said_as_people_say_them() -> None:
    assert type_words({"anyOf": [{"type": "integer"}, {"type": "null"}]}) == "integer | null"
    assert type_words({"type": "array", "items": {"$ref": "#/components/schemas/Card"}}) == "list of Card"
    assert type_words({"enum": ["like", "pass"]}) == "'like' | 'pass'"
    assert type_words({"type": "object", "additionalProperties": {"type": "number"}}) == "number by name"
    assert type_words({"type": "string", "format": "date-time"}) == "string (date-time)"
