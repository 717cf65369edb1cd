"""Log lines tell what happened to requests, and nothing of anybody."""

from __future__ import annotations

import io
import json

import pytest
import structlog

from kaczmatch.app.logs import set_up_logs

from .conftest import Opened


def test_logs_hold_routes_and_ids_of_requests_and_nobodys_data(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    before = structlog.get_config()
    lines_written = set_up_logs("debug", to=stream)
    try:
        service = opened("sqlite")
        one, two = "canary-ada", "canary-bo"
        service.person(one, "woman", "man", name="Canary Ada")
        service.person(two, "man", "woman", name="Canary Bo")
        service.swipe(one, two, swipe="canary-swipe")
        token = service.token(one)
        service.call("GET", f"/people/{one}/events", by=token, params={"cursor": "canary-cursor"})
        service.call("GET", f"/people/{two}", by=token)
        service.call("GET", "/canary-path", headers={"X-Request-ID": "canary-id"})
        service.call("PUT", f"/people/{one}", json={"name": "canary\0"})

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("canary in an error")

        monkeypatch.setattr(type(service.system.use_cases.profiles), "get", fail)
        failed = service.call("GET", f"/people/{one}")
        lines_written.flush()
        text = stream.getvalue()
    finally:
        lines_written.close()
        structlog.configure(**before)
    lines = [json.loads(line) for line in text.splitlines()]
    assert "canary" not in text.lower()
    assert token not in text
    assert service.key.rsplit("_", 1)[1] not in text
    assert {"/v1/people/{user}", "/v1/people/{user}/swipes/{swipe}"} <= {line.get("route") for line in lines}
    refused = {(line["status"], line.get("code")) for line in lines if line["event"] == "request" and line["status"] >= 400}
    assert {(404, "not-found"), (422, "invalid"), (500, "failure")} <= refused
    assert all(line.get("code") is None for line in lines if line["event"] == "request" and line["status"] < 400)
    assert all(line["time"].endswith("Z") for line in lines)
    (failure,) = [line for line in lines if line["event"] == "failure"]
    assert (failure["error"], failure["request_id"]) == ("RuntimeError", failed.json()["request_id"])
    assert failure["where"]
