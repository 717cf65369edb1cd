"""The HTTP contract: strict about requests, lenient about responses, and light to import."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from kaczmatch.recommend.people import profile
from kaczmatch.schemas.profiles import OLDEST, ProfileInput
from kaczmatch.schemas.swipes import SwipeRequest, SwipeResult

ABOUT: dict[str, Any] = {"name": "Ada", "born": "1990-05-17", "i_am": ["woman"], "i_look_for": ["man"]}


def test_the_client_and_the_contract_load_neither_numpy_nor_a_framework() -> None:
    heavy = ("numpy", "numba", "scipy", "polars", "fastapi", "starlette", "sqlalchemy")
    code = f"import sys, kaczmatch.client; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"  # noqa: S603


def test_a_request_with_an_unknown_member_is_refused_and_a_response_may_have_one() -> None:
    asked = {"candidate": "bo", "decision": "like", "deck": "d", "why": "unknown"}
    with pytest.raises(ValidationError, match="why"):
        SwipeRequest.model_validate(asked)
    said = {"id": "s", "at": "2026-01-01T00:00:00Z", "match": None, "later": 1}
    assert SwipeResult.model_validate(said).id == "s"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "a\0b"),
        ("i_am", []),
        ("oldest", OLDEST + 1),
        ("features", {"x": 1e7}),
        ("tags", ["x" * 81]),
        ("tags", [str(number) for number in range(501)]),
    ],
)
def test_a_profile_out_of_bounds_is_refused(field: str, value: object) -> None:
    assert ProfileInput.model_validate(ABOUT).oldest is None
    with pytest.raises(ValidationError, match=field):
        ProfileInput.model_validate(ABOUT | {field: value})


def test_nobody_is_older_than_the_recommender_knows() -> None:
    assert OLDEST == profile.MAX_AGE
