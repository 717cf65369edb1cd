"""How requests fared: what the metrics count, kept by the minute and told for a range of time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kaczmatch.api.metrics import Metrics
from kaczmatch.recommend.decks.exposure import gini
from kaczmatch.service.domain.records import ActiveVersions, AuditEntry, Model, RequestMinute
from kaczmatch.service.domain.refusals import Conflict, NotFound
from kaczmatch.service.operations.maintenance import Maintenance
from kaczmatch.service.operations.overview import overview
from kaczmatch.service.operations.request_log import BOUNDS, STEPS, RequestLog, quantile
from kaczmatch.service.operations.timeline import OperatorActions
from worlds.town import Town

DECK = ("POST", "/v1/people/{user}/deck")


def health(town: Town, hours: int = 1, **gauges: float):  # type: ignore[no-untyped-def]
    return OperatorActions(town.context).health(hours, "", gauges.get)


def test_quantiles_lie_evenly_within_their_bounds_and_never_beyond_the_last() -> None:
    assert quantile([0] * (len(BOUNDS) + 1), 0.5) is None
    counts = [0] * (len(BOUNDS) + 1)
    counts[3], counts[-1] = 98, 2  # between 5 and 10 milliseconds, and beyond 5 seconds
    assert quantile(counts, 0.49) == pytest.approx(0.0075)
    assert quantile(counts, 0.99) == BOUNDS[-1]


def test_what_the_metrics_count_is_told_minute_by_minute(town: Town) -> None:
    metrics = Metrics()
    log = RequestLog(town.context, metrics.request_counts)
    for status, seconds, times in ((200, 0.004, 90), (200, 0.15, 8), (500, 0.3, 1), (503, 0.0005, 1), (404, 0.0005, 5)):
        for _ in range(times):
            metrics.observe(*DECK, status, seconds)
    metrics.observe("GET", "/v1/operator/overview", 200, 4.0)  # the console's own
    metrics.observe("-", "", 404, 4.0)
    log.note()
    town.wait(minutes=10)
    log.note()  # nothing since
    metrics.observe("GET", "/v1/vocabulary", 200, 0.004)
    log.note()
    told = health(town)
    assert (told.total.requests, told.total.errors, told.total.turned_away, told.total.refused) == (106, 1, 1, 5)
    assert 0.002 <= told.total.p50 <= 0.005 < 0.1 <= told.total.p95 <= 0.2
    assert [one.figures.requests for one in told.steps if one.figures.requests] == [105, 1]
    assert len(told.steps) == 60
    assert told.seconds_per_step == 60
    assert [one.route for one in told.routes] == ["POST /v1/people/{user}/deck", "GET /v1/vocabulary"]
    with town.context.store.read() as reader:
        assert reader.count(RequestMinute) == 2


@pytest.mark.parametrize("hours", STEPS)
def test_a_range_holds_what_happened_in_it_and_no_more(town: Town, hours: int) -> None:
    metrics = Metrics()
    log = RequestLog(town.context, metrics.request_counts)
    for wait in (0, hours * 60 + 125, 1):
        town.wait(minutes=wait)
        metrics.observe(*DECK, 200, 0.01)
        log.note()
    told = health(town, hours)
    assert told.total.requests == sum(one.figures.requests for one in told.steps) == 2
    assert (town.now - told.steps[0].at).total_seconds() <= hours * 3600


def test_several_processes_add_up_and_a_restarted_one_counts_on(town: Town) -> None:
    for _ in range(3):
        metrics = Metrics()
        metrics.observe(*DECK, 200, 0.01)
        RequestLog(town.context, metrics.request_counts).note()
    assert health(town).total.requests == 3


def test_starts_and_refits_are_marked_and_all_is_dropped_in_time(town: Town) -> None:
    log = RequestLog(town.context, dict)
    log.note_start("1.0")
    log.note_start("1.0")  # another process, in the same minute
    town.wait(minutes=5)
    with town.context.store.read() as reader:
        (model,) = reader.find(Model)
        assert reader.find(ActiveVersions)
    changed = replace(model, id=2, refit=True, used_from=town.now)
    town.context.store.write(lambda transaction: transaction.put(changed)).result()
    assert [(mark.kind, mark.detail) for mark in health(town).marks] == [("start", "1.0"), ("refit", f"model 2: {model.learner}")]
    town.wait(days=9)
    assert Maintenance(town.context).run()["starts dropped"] == 1


def test_gauges_are_those_of_the_metrics(town: Town) -> None:
    told = health(town, writes_waiting=3.0, change_lag_seconds=0.5, store_bytes=2048.0, disk_free_bytes=4096.0)
    assert (told.writes_waiting, told.seconds_behind, told.store_bytes, told.disk_free_bytes) == (3, 0.5, 2048, 4096)
    assert health(town).store_bytes is None  # a store in memory has no disk


def test_the_lowest_gini_is_that_of_cards_shared_evenly(town: Town) -> None:
    town.couples(3)
    town.deck("w0")
    told = overview(town.context)
    cards, people = told.sample.cards, told.people
    even = [cards // people + (place < cards % people) for place in range(people)]
    assert told.exposure_gini_lowest == pytest.approx(gini(np.array(even)))
    assert told.exposure_gini is not None
    assert told.exposure_gini >= told.exposure_gini_lowest


def test_an_operator_takes_back_a_hold_a_block_and_a_closed_report(town: Town) -> None:
    town.couples(2)
    operators = OperatorActions(town.context)
    operators.hold("m0", "key", True).result()
    (held,) = operators.found([one.user for one in operators.held_people((), 10)])
    assert (held.id, held.paused, held.held_by, held.held_at) == ("m0", True, "key", town.now)
    operators.hold("m0", "key", False).result()
    assert operators.held_people((), 10) == []
    assert operators.found(["m0", "nobody"])[0].held_by is None
    town.safety.block("w0", "m0").result()
    assert [(one.user, one.other) for one in operators.timeline("m0", "key").blocks] == [("w0", "m0")]
    town.safety.unblock("w0", "m0", actor="key").result()
    assert operators.timeline("w0", "key").blocks == ()
    report = town.safety.report("w1", "m1", "rude").result()
    with pytest.raises(Conflict):
        town.safety.unblock("w1", "m1", actor="key").result()
    town.safety.close(report.id, "no action", "key").result()
    assert town.safety.open_reports() == []
    assert town.safety.reopen(report.id, "key").result().closed is None
    assert [one.id for one in town.safety.open_reports()] == [report.id]
    with pytest.raises(NotFound):
        town.safety.reopen("none", "key").result()
    with town.context.store.read() as reader:
        actions = [one.action for one in reader.find(AuditEntry)]
    assert {"took back a block", f"reopened report {report.id}", "released"} <= set(actions)
