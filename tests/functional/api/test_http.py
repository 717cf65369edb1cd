"""What HTTP itself asks for (RFC 9110): conditions, HEAD, addresses, methods."""

from __future__ import annotations

import pytest

from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE
from worlds.served import NUMBERS, Service

from .test_limits import PROFILE


@pytest.mark.parametrize("condition", ['"0"', '"01"', "1", 'W/"1"', '"7", W/"1"', '"x"', "*"])
def test_a_condition_on_a_profile_that_is_not_there_never_holds(one_service: Service, condition: str) -> None:
    user = f"nobody-{next(NUMBERS)}"
    answer = one_service.call("PUT", f"/people/{user}", json=PROFILE, headers={"If-Match": condition})
    assert (answer.status_code, answer.headers["Content-Type"]) == (412, PROBLEM_MEDIA_TYPE)
    assert one_service.call("GET", f"/people/{user}").status_code == 404


@pytest.mark.parametrize(
    ("condition", "status"),
    [('"1"', 200), ("*", 200), ('"7", "1"', 200), ('"0"', 412), ('"01"', 412), ("1", 412), ('W/"1"', 412), ('"2"', 412)],
)
def test_a_condition_holds_if_one_of_its_tags_is_the_very_one(one_service: Service, condition: str, status: int) -> None:
    user = f"ada-{next(NUMBERS)}"
    assert one_service.call("PUT", f"/people/{user}", json=PROFILE).headers["ETag"] == '"1"'
    answer = one_service.call("PUT", f"/people/{user}", json=PROFILE, headers={"If-Match": condition})
    assert answer.status_code == status, answer.text


def test_any_of_several_tags_spares_the_answer(one_service: Service) -> None:
    one, _ = one_service.couple()
    for condition in ('"1"', 'W/"1"', '"9", "1"', "*"):
        assert one_service.call("GET", f"/people/{one}", headers={"If-None-Match": condition}).status_code == 304
    assert one_service.call("GET", f"/people/{one}", headers={"If-None-Match": '"9"'}).status_code == 200


def test_head_is_get_without_the_body(one_service: Service) -> None:
    one, _ = one_service.couple()
    for path in (f"/people/{one}", "/vocabulary", "/health/live", "/people/nobody-at-all", "/nothing"):
        got, head = one_service.call("GET", path), one_service.call("HEAD", path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        for name in ("Content-Type", "ETag", "Cache-Control"):
            assert head.headers.get(name) == got.headers.get(name)
        if got.is_success:
            assert head.headers["Content-Length"] == str(len(got.content))
    assert one_service.call("HEAD", "/tokens").status_code == 405


def test_the_address_with_a_slash_too_many_is_another_address(one_service: Service) -> None:
    one, _ = one_service.couple()
    for method, path in (("GET", f"/people/{one}/"), ("PUT", f"/people/{one}/"), ("GET", "/vocabulary/"), ("GET", "/feed/")):
        answer = one_service.call(method, path, json=PROFILE if method == "PUT" else None, follow_redirects=False)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, PROBLEM_MEDIA_TYPE)
        assert answer.json()["code"] == "not-found"


def test_a_wrong_method_names_the_right_ones(one_service: Service) -> None:
    answer = one_service.call("PATCH", "/tokens")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_a_file_of_another_type_is_told_which_types_there_are(one_service: Service) -> None:
    xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    answer = one_service.call("POST", "/import/profiles", content=b"PK", headers={"Content-Type": xlsx})
    assert (answer.status_code, answer.json()["code"]) == (415, "media-type")
    for accepted in ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet"):
        assert accepted in answer.json()["detail"]
        assert accepted in answer.headers["Accept-Post"]
    assert "save a spreadsheet as CSV" in answer.json()["detail"]
