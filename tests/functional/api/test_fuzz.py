"""Requests that schemathesis makes up from the OpenAPI document never make the service fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from kaczmatch.app.openapi_document import openapi_of_fresh_service
from worlds.served import Service


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.parquet", "text/csv")
def as_it_is(ctx: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


DOCUMENT = openapi_of_fresh_service()
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture
def answered() -> Iterator[list[int]]:
    """The answers to one operation. A test whose requests were all turned away would have shown nothing."""
    statuses: list[int] = []
    yield statuses
    assert statuses, "every request was turned away: the service was too busy to be tested"


@schema.parametrize()
@settings(max_examples=8, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_no_request_makes_it_fail(case: schemathesis.Case, one_service: Service, answered: list[int]) -> None:
    if "user" in case.path_parameters and len(case.path_parameters["user"]) % 2:  # half of the time somebody who exists
        case.path_parameters["user"] = "fuzzed"
        if one_service.call("GET", "/people/fuzzed").status_code == 404:
            with suppress(AssertionError):  # who has just asked to be erased cannot come back before it is done
                one_service.person("fuzzed")
    answer = case.call(base_url=one_service.address, headers={"Authorization": f"Bearer {one_service.key}"})
    if answer.status_code != 503:
        answered.append(answer.status_code)
        case.validate_response(answer, checks=[not_a_server_error])
