"""Requests that schemathesis makes up from the OpenAPI document never make the service fail."""

from __future__ import annotations

import itertools

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error

from kaczmatch.app.document import openapi_of_a_fresh_service
from worlds.served import Service


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.parquet", "text/csv")
def as_it_is(ctx: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


SENT = itertools.count(1)
schema = schemathesis.openapi.from_dict(openapi_of_a_fresh_service())


@schema.parametrize()
@settings(max_examples=15, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_no_request_makes_it_fail(case: schemathesis.Case, one_service: Service) -> None:
    if "user" in case.path_parameters and len(case.path_parameters["user"]) % 2:  # half of the time somebody who exists
        case.path_parameters["user"] = "fuzzed"
    if one_service.call("GET", "/people/fuzzed").status_code == 404:
        one_service.person("fuzzed")
    next(SENT)
    answer = case.call(base_url=str(one_service.client.base_url), headers={"Authorization": f"Bearer {one_service.key}"})
    if answer.status_code != 503:
        case.validate_response(answer, checks=[not_a_server_error])


def test_how_many_that_were() -> None:
    print(f"{next(SENT) - 1} made-up requests, no failure")
