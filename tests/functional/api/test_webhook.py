"""A service that is told where to, posts what happens."""

from __future__ import annotations

import base64
import json
import time

import pytest
import structlog

from kaczmatch.core.errors import InvalidInput
from worlds.receiver import receiver

from .conftest import Opened

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_match_reaches_the_app(opened: Opened, store: str) -> None:
    with receiver() as (url, app):
        service = opened(store, webhook_url=url, webhook_secret=SECRET, webhook_trusting=True)
        _, two, match = service.matched()
        service.ok("DELETE", f"/people/{two}")
        until = time.monotonic() + 30
        while not any(b"profile.erased" in body for _, body in app.calls) and time.monotonic() < until:
            time.sleep(0.05)
        service.system.background.stop()
    told = [json.loads(body) for _, body in app.calls]
    assert ("profile.erased", {"user": two}) in [(one["type"], one["data"]) for one in told]
    assert {one["data"].get("match") for one in told} <= {match, None}


def test_a_webhook_that_fails_is_logged_and_counted_and_shown(opened: Opened) -> None:
    with structlog.testing.capture_logs() as lines, receiver() as (url, app):
        app.answer = lambda body: 500 if b"match" in body else 200
        service = opened("memory", webhook_url=url, webhook_secret=SECRET, webhook_trusting=True)
        service.matched()
        until = time.monotonic() + 30
        while len(app.calls) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        service.system.background.stop()
    failed = [line for line in lines if line["event"] == "webhook failed"]
    assert {(line["topic"], line["problem"], line["log_level"]) for line in failed} == {
        ("match.created", "status 500", "warning")
    }
    assert all(line["again"].endswith("Z") for line in failed)
    assert f'kaczmatch_webhooks_total{{outcome="waiting"}} {len(app.calls)}.0' in service.call("GET", "/metrics").text
    told = service.ok("GET", "/operator/overview")["webhooks"]
    assert (told["waiting"], told["failed"]) == (2, 0)
    assert told["last_error"].endswith("status 500")


def test_wrong_webhook_settings_stop_the_start(opened: Opened) -> None:
    for settings in (
        {"webhook_url": "http://hooks.example.com/", "webhook_secret": SECRET},
        {"webhook_url": "https://hooks.example.com/"},
    ):
        with pytest.raises(InvalidInput, match="webhook"):
            opened("memory", **settings)
