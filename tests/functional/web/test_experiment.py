"""The console's panel of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from kaczmatch.recommend.decks.policy import MutualPolicy
from kaczmatch.service.domain.context import Context
from kaczmatch.service.domain.experiment import Arm, Experiment
from kaczmatch.service.domain.records import Event, StoredDeck
from kaczmatch.service.domain.store import Transaction
from worlds.cards import put_deck

from .conftest import PHONE, Site, Visiting, Visitor
from .test_access_for_all import check
from .test_console import opened, operating

TRIAL = Experiment(name="<b>spring</b>", arms=(Arm("usual", MutualPolicy()), Arm("bold", MutualPolicy(uniform_floor=0.5))))


@pytest.fixture
def running(site: Site) -> Iterator[Context]:
    """An experiment that has been watched to the end: eighty people, some of them in each arm, and the bold like more."""
    context = site.system.context
    rules, before = replace(context.config, experiment=TRIAL), context.clock() - timedelta(days=30)

    def work(transaction: Transaction) -> None:
        for place in range(80):
            user, at = f"past-{place}", before + timedelta(minutes=place)
            arm = TRIAL.arm(user).name
            for card in range(10):
                liked = card < (6 + place % 3 if arm == "bold" else 2 + place % 3)
                decision = "like" if liked else "pass"
                said = {"candidate": f"{card}", "decision": decision, "deck": "d"}
                transaction.append(Event(user=user, id=f"s{card}", kind="swiped", at=at, **said))

    def deal(transaction: Transaction) -> None:
        for place in range(80):
            user, at, cards = f"past-{place}", before + timedelta(minutes=place), [f"{card}" for card in range(10)]
            put_deck(transaction, user, "d", cards, at, experiment=TRIAL.name, arm=TRIAL.arm(user).name)

    def clear(transaction: Transaction) -> None:
        for place in range(80):
            transaction.drop(StoredDeck, f"past-{place}", "d")
            for card in range(10):
                transaction.drop(Event, f"past-{place}", f"s{card}")

    context.store.write(work).result()
    context.store.write(deal).result()
    kept = site.system.use_cases.answers  # for a minute, in which no process starts with other settings
    object.__setattr__(context, "config", rules)
    kept.clear()
    yield context
    object.__setattr__(context, "config", replace(rules, experiment=None))
    kept.clear()
    context.store.write(clear).result()


def test_the_panel_says_and_draws_how_the_experiment_stands(visiting: Visiting, running: Context) -> None:
    page = opened(visiting(), "Experiment")
    panel = page.locator("#experiment")
    expect(panel.get_by_role("heading").first).to_have_text("Experiment: <b>spring</b>")
    expect(panel.locator("#arms tr")).to_have_count(2)
    expect(panel.locator("#arms tr", has_text="bold")).to_contain_text("+0.4")
    expect(panel.locator("#arms tr", has_text="bold")).to_contain_text(": more")
    expect(panel.locator("#forest .whisker.first-line")).to_have_count(1)  # the interval of likes does not cross the line
    expect(panel.locator("#forest")).to_contain_text("more")
    expect(panel.locator("#courses .band").first).to_be_attached()
    expect(panel.locator("#arms tr", has_text="bold")).to_contain_text("cannot be said yet")  # of matches: there was none
    assert "past-" not in panel.inner_text()
    check(page)
    page.set_viewport_size(PHONE)
    assert panel.locator("#forest text").first.evaluate("text => text.getBoundingClientRect().height") > 9  # can be read
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]


def test_without_an_experiment_there_is_no_tab(visitor: Visitor) -> None:
    page = operating(visitor).page
    expect(page.get_by_role("tab", name="Research")).to_be_visible()
    expect(page.get_by_role("tab", name="Experiment")).to_be_hidden()
