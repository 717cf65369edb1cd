"""What a notebook shows of results, what tab completion offers, and what help() says."""

from __future__ import annotations

import inspect
import pydoc
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import numpy as np
import pytest

import kaczmatch
from kaczmatch.client import AsyncClient, Client
from kaczmatch.core.html import table
from kaczmatch.recommend.people.profile import Profile


class WellFormed(HTMLParser):
    """Every element that begins ends, and nothing is fetched from anywhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.open, self.elements = "", list[str](), list[str]()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {"src", "href"} & {name for name, _ in attrs}
        self.open.append(tag)
        self.elements.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.elements.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def shown(result: object) -> WellFormed:
    return WellFormed(result._repr_html_())  # type: ignore[attr-defined]


def test_a_learner_shows_its_settings() -> None:
    assert "alpha" in shown(kaczmatch.learner("tk", alpha=2.0)).text
    for slug in kaczmatch.LEARNERS:
        assert slug in shown(kaczmatch.learner(slug)).text


@pytest.mark.parametrize(("slug", "uncertain"), [("tk", False), ("probit", True), ("probit-diag", True), ("probit-traits", True)])
def test_a_state_shows_taste_as_bars_the_largest_first_with_uncertainty(slug: str, uncertain: bool) -> None:
    learner = kaczmatch.learner(slug)
    state = learner.start({"<jazz>": 0.0, "chess": 0.0})
    for _ in range(5):
        state = learner.swipe(state, {"chess": 1}, "like")
    found = shown(state)
    assert found.text.index("chess") < found.text.index("<jazz>")
    assert found.elements.count("rect") == 2
    assert found.elements.count("path") == (2 if uncertain else 0)
    assert "tag 2" in shown(learner.grow(state, 3)).text


def test_influence_profile_and_deck_show_themselves() -> None:
    log = {"user": [1, 1], "label": [True, False], "features": np.eye(2)}
    assert "Influence of 2 swipes" in shown(kaczmatch.influence(kaczmatch.learner("tk"), log)).text
    someone = Profile(
        id="<ann>", i_am=frozenset({"woman"}), i_look_for=frozenset({"man"}), features=np.ones(2), born=date(1990, 1, 1)
    )
    assert "<ann>" in shown(someone).text
    assert "man, of any age, anywhere" in shown(someone).text
    assert "man, from 30 to 40 years, anywhere" in shown(replace(someone, ages=(30, 40))).text
    card = kaczmatch.Card("bea", kaczmatch.Reason.SAMPLED, "you both like chess", 0.25, 0.5)
    deck = kaczmatch.Deck((card,), "mutual", None, 12)  # type: ignore[arg-type]
    assert "you both like chess" in shown(deck).text
    empty = kaczmatch.Deck((), "mutual", None, 0, "nobody is near", (kaczmatch.FilterHint("distance", 7),))  # type: ignore[arg-type]
    assert "nobody is near" in shown(empty).text


def test_influence_shows_the_swipes_that_matter_and_counts_the_rest() -> None:
    log = {"user": [1] * 4, "label": [True, True, False, True], "features": [[1, 0], [0, 0], [0, 1], [0, 0]]}
    found = shown(kaczmatch.influence(kaczmatch.learner("tk"), log))  # learns from the pass alone
    assert found.elements.count("tr") == 1 + 1
    assert "Influence of 4 swipes, 3 of them below 0.001°" in found.text
    found = shown(kaczmatch.influence(kaczmatch.learner("probit"), log))  # has a threshold, and learns from everything
    assert found.elements.count("tr") == 1 + 4
    assert "below" not in found.text


def test_a_long_table_says_how_much_it_leaves_out() -> None:
    assert "and 70 more" in WellFormed(table("t", ["n"], [(row,) for row in range(100)])).text


def test_tab_completion_offers_what_a_user_calls_and_its_settings() -> None:
    offered = [name for name in dir(kaczmatch.learner("tk")) if not name.startswith("_")]
    calls = ["advance", "direction", "end_session", "from_bytes", "grow", "score", "slug", "start", "swipe"]
    assert offered == sorted([*calls, "alpha", "hinge"])
    assert {"probability", "covariance", "draw", "label_noise"} <= set(dir(kaczmatch.learner("probit")))


def test_every_public_function_and_method_says_what_it_does_and_returns() -> None:
    public = {name: getattr(kaczmatch, name) for name in kaczmatch.__all__ if not name.startswith("__")}
    assert len(public) > 40
    classes = {name: each for name, each in public.items() if inspect.isclass(each)}
    assert [name for name, each in classes.items() if not inspect.getdoc(each)] == []
    called = {name: each for name, each in public.items() if inspect.isfunction(each)}
    for name, owner in classes.items():
        called |= {f"{name}.{m}": f for m, f in inspect.getmembers(owner, inspect.isroutine) if not m.startswith("_")}
    ours = {name: each for name, each in called.items() if str(getattr(each, "__module__", "")).startswith("kaczmatch")}
    assert len(ours) > 100
    assert [name for name, each in ours.items() if not inspect.getdoc(each)] == []
    assert [name for name, each in ours.items() if inspect.signature(each).return_annotation is inspect.Signature.empty] == []


def test_help_of_a_client_says_what_a_call_returns() -> None:
    assert str(inspect.signature(Client.create_deck).return_annotation) == "Deck"
    assert str(inspect.signature(AsyncClient.create_deck).return_annotation) == "Awaitable[Deck]"
    assert "-> 'dict[str, Any]'" in pydoc.render_doc(Client.export_personal_data)
