"""What HTTP itself asks for (RFC 9110): conditions, HEAD, addresses, methods."""

from __future__ import annotations

import json
import re
import socket
import sys
from urllib.parse import urlsplit

import pytest

from kaczmatch.schemas.problems import PROBLEM_MEDIA_TYPE
from worlds.served import NUMBERS, Service

from .test_limits import PROFILE

MOMENT = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d|)")


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


def answered(service: Service, request: bytes) -> tuple[int, bytes]:
    """Status and body of what no client library would send."""
    host, port = urlsplit(service.address).netloc.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as opened:
        opened.sendall(request)
        got = b""
        while piece := opened.recv(65_536):
            got += piece
    return int(got[9:12]), got.partition(b"\r\n\r\n")[2]


def raw(service: Service, request: bytes) -> tuple[int, dict[str, str]]:
    status, body = answered(service, request)
    return status, json.loads(body)


def headed(service: Service, line: str, *headers: str, body: str = "") -> bytes:
    given = ("Host: localhost", "Connection: close", f"Authorization: Bearer {service.key}", *headers)
    return "\r\n".join([f"{line} HTTP/1.1", *given, "", body]).encode()


def test_a_length_of_too_many_digits_is_refused(stored: Service) -> None:
    for length, body in (("0" * 5_000, ""), ("0" * 19 + "2", "{}")):
        status, told = raw(stored, headed(stored, "PUT /v1/people/x", f"Content-Length: {length}", body=body))
        assert (status, told["code"]) == (400, "http")


@pytest.mark.parametrize(
    "path", ["/people/ada-1%2Fevents", "/people/ada-1%2fswipes%2Fone", "/%2Fv1/vocabulary", "/operator%2Foverview"]
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_encoded_slash_is_no_separator(stored: Service, method: str, path: str) -> None:
    answer = stored.call(method, path, json={} if method == "PUT" else None)
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@pytest.mark.parametrize("header", ["Authorization: Bearer other", "Host: elsewhere"])
@pytest.mark.parametrize("line", ["GET /v1/vocabulary", "PUT /v1/people/ada/swipes/one"])
def test_a_header_that_must_stand_alone_is_refused_twice(stored: Service, line: str, header: str) -> None:
    status, told = raw(stored, headed(stored, line, header, "Content-Length: 2", body="{}"))
    assert (status, told["code"]) == (400, "http")
    assert header.partition(":")[0] in told["detail"]


@pytest.mark.parametrize("line", ["GET /v1/vocabulary", "GET /v1/health/live", "PUT /v1/people/ada/swipes/one", "GET /console"])
def test_a_request_without_host_is_refused_unless_it_is_of_http_1_0(stored: Service, line: str) -> None:
    told = headed(stored, line, "Content-Length: 2", body="{}").replace(b"Host: localhost\r\n", b"")
    status, problem = raw(stored, told)
    assert (status, problem["code"]) == (400, "http")
    assert "Host" in problem["detail"]
    assert answered(stored, told.replace(b"HTTP/1.1", b"HTTP/1.0"))[0] != 400


@pytest.mark.parametrize("path", ["/v1/people/ada", "/v1/people/ada/swipes/one", "/console/login"])
@pytest.mark.parametrize("header", [[], ["Authorization: Bearer wrong"]], ids=["none", "wrong"])
def test_large_bodies_of_strangers_are_not_read_to_the_end(stored: Service, path: str, header: list[str]) -> None:
    lines = [f"PUT {path} HTTP/1.1", "Host: localhost", "Content-Length: 500000", *header, "", "[" * 5_000]
    status, told = raw(stored, "\r\n".join(lines).encode())
    assert (status, told["code"]) == (401, "unauthenticated")


def test_what_follows_a_body_is_no_header(stored: Service) -> None:
    request = (
        b"POST /v1/tokens HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\n{}\r\n0\r\nAuthorization: Bearer " + stored.key.encode() + b"\r\n\r\n"
    )
    assert raw(stored, request)[0] == 401


def test_a_file_of_another_type_is_told_which_types_there_are(one_service: Service) -> None:
    xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    answer = one_service.call("POST", "/import/profiles", content=b"PK", headers={"Content-Type": xlsx})
    assert (answer.status_code, answer.json()["code"]) == (415, "media-type")
    for accepted in ("text/csv", "application/x-ndjson", "application/vnd.apache.parquet"):
        assert accepted in answer.json()["detail"]
        assert accepted in answer.headers["Accept-Post"]
    assert "save a spreadsheet as CSV" in answer.json()["detail"]


def test_every_time_ends_in_z(one_service: Service) -> None:
    one, two, match = one_service.matched()
    answers = [
        one_service.call(method, path, **options)
        for method, path, options in (
            ("GET", f"/people/{one}", {}),
            ("GET", f"/people/{one}/events", {}),
            ("GET", f"/people/{one}/likes", {}),
            ("GET", f"/people/{one}/matches", {}),
            ("GET", f"/people/{one}/export", {}),
            ("GET", f"/people/{one}/preference/history", {}),
            ("POST", f"/people/{one}/matches/{match}/outcomes", {"json": {"outcome": "met"}}),
            ("POST", f"/people/{one}/reports", {"json": {"other": two, "reason": "rude"}}),
            ("POST", "/tokens", {"json": {"user": one}}),
            ("GET", "/feed", {}),
            ("GET", "/export/swipes", {}),
            ("GET", "/operator/reports", {}),
            ("GET", "/operator/overview", {}),
            ("GET", f"/operator/people/{one}/timeline", {}),
        )
    ]
    answers.append(one_service.swipe(*one_service.couple()))
    assert [answer.text for answer in answers if not answer.is_success] == []
    moments = [found for answer in answers for found in MOMENT.findall(answer.text)]
    assert len(moments) > 20
    assert {zone for _, zone in moments} == {"Z"}


def test_parquet_is_refused_in_words_where_polars_is_missing(one_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    for answer in (
        one_service.call("GET", "/export/profiles?format=parquet"),
        one_service.call("POST", "/import/profiles", content=b"PAR1", headers={"Content-Type": "application/vnd.apache.parquet"}),
    ):
        assert (answer.status_code, answer.headers["Content-Type"]) == (422, PROBLEM_MEDIA_TYPE)
        assert "polars is missing; install it with: pip install" in answer.text
