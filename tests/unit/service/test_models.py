"""Another learner, another prior, more words: while people go on swiping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.recommend.decks.recommender import Recommender
from kaczmatch.service.domain.catalogue import neutral_prior
from kaczmatch.service.domain.records import ActiveVersions, Model, StoredState
from kaczmatch.service.operations.models import Models
from kaczmatch.service.operations.verification import verify
from worlds.town import Town


def current(town: Town) -> ActiveVersions:
    with town.context.store.read() as reader:
        return town.context.catalogue.current(reader)


def some_swipes(town: Town, people: int = 3) -> None:
    for user in range(people):
        for card in town.deck(f"w{user}").cards[:3]:
            person = card.person
            town.swipe(f"w{user}", person.id, "like" if person.features[:1] == b"\x00" else "pass", deck=card.impression.deck)


def test_setting_up_twice_changes_nothing(town: Town) -> None:
    from kaczmatch import Vocabulary

    assert Models(town.context).set_up(Vocabulary.of(["other"]), "probit", {}) == ActiveVersions(
        model=1, building=0, vocabulary=1
    )
    assert len(town.find(Model)) == 1


def test_a_new_model_learns_the_whole_log_and_takes_over(town: Town) -> None:
    town.couples(6)
    some_swipes(town)
    steps: list[tuple[int, int]] = []
    number = town.relearning.relearn(
        "probit", {}, neutral_prior(town.world.recommender.index.learner, 6), lambda *at: steps.append(at)
    )
    assert current(town) == ActiveVersions(model=number, building=0, vocabulary=1, previous=1)
    assert steps[-1] == (3, 3)  # who has not swiped is at the start, under any model
    assert verify(town.context).identical == 12
    town.world.follow()
    assert town.world.recommender.index.learner.slug == "probit"
    town.relearning.resume()
    assert current(town) == ActiveVersions(model=number, building=0, vocabulary=1)
    assert {(one.model, one.user) for one in town.find(StoredState)} == {(number, f"w{user}") for user in range(3)}
    some_swipes(town)
    assert verify(town.context).problems == ()


def test_swipes_that_come_while_a_model_is_built_are_learned_by_both(town: Town) -> None:
    town.couples(6)
    some_swipes(town)
    swiped = []

    def meanwhile(done: int, _: int) -> None:
        if not swiped:
            swiped.append(done)
            some_swipes(town, people=5)
            assert verify(town.context).problems == ()

    town.relearning.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6), meanwhile)
    assert verify(town.context).problems == ()


def test_a_model_that_was_interrupted_is_finished_later(town: Town) -> None:
    town.couples(3)
    some_swipes(town, people=2)

    def crash(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        town.relearning.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6), crash)
    assert current(town) == ActiveVersions(model=1, building=2, vocabulary=1)
    assert verify(town.context).problems == ()
    assert town.relearning.resume() == 2
    assert current(town) == ActiveVersions(model=2, building=0, vocabulary=1, previous=1)
    assert verify(town.context).problems == ()
    assert town.relearning.resume() == 0


def test_decks_go_on_right_after_a_switch(town: Town) -> None:
    town.couples(3)
    town.relearning.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6))
    assert len(town.deck("w0").cards) == 3  # memory had not followed


def test_a_learner_that_the_policy_cannot_use_is_refused(town: Town) -> None:
    with pytest.raises(InvalidInput, match="mutual"):
        town.relearning.relearn("tk", {}, neutral_prior(town.world.recommender.index.learner, 6))
    assert current(town) == ActiveVersions(model=1, building=0, vocabulary=1)


def test_a_population_prior_is_fitted_once_there_are_enough_people(town: Town) -> None:
    town.couples(25)
    some_swipes(town, people=5)
    assert town.models.fit("probit-diag", {"appeal": True}) is None
    some_swipes(town, people=25)
    fitted = town.models.fit("probit-diag", {"appeal": True})
    assert fitted is not None
    prior = fitted.prior
    assert prior.weights[0] == prior.weights.max()  # everybody likes the first tag
    town.relearning.relearn("probit-diag", {"appeal": True}, prior)
    town.world.follow()
    assert np.array_equal(town.world.recommender.index.prior.weights, prior.weights)


def test_words_are_added_renamed_and_retired_under_existing_states(town: Town) -> None:
    town.couples(4)
    some_swipes(town)
    before = {user: town.learned(user) for user in ("w0", "w1")}
    words = town.models.change_vocabulary(lambda words: words.add(tags=["opera"]).rename("jazz", "bebop").retire("chess"))
    assert (words.version, words.dimensions) == (2, 7)
    assert {user: town.learned(user) for user in ("w0", "w1")} == before
    assert verify(town.context).problems == ()
    town.move_in("m9", man=True, tags=["opera", "bebop"])
    with pytest.raises(InvalidInput, match="retired"):
        town.move_in("m8", man=True, tags=["chess"])
    town.wait(hours=2)
    for user in ("w0", "w2"):
        town.swipe(user, "m9")
    assert verify(town.context).problems == ()
    assert "opera" in {one.term for one in town.preferences.of("w0").liked}
    assert "chess" not in {one.term for one in (*town.preferences.of("w0").liked, *town.preferences.of("w0").disliked)}


def test_who_joins_and_swipes_while_a_model_is_built_is_learned_by_both(town: Town) -> None:
    town.couples(4)
    joined: list[int] = []

    def meanwhile(done: int, _: int) -> None:
        if not joined:
            joined.append(done)
            town.move_in("a")  # before everybody who was passed already
            town.swipe("a", "m0")

    town.relearning.relearn("probit", {}, neutral_prior(town.world.recommender.index.learner, 6), meanwhile)
    assert verify(town.context).problems == ()
    assert town.learned("a") is not None


def test_a_build_that_another_process_has_finished_switches_nothing(town: Town) -> None:
    town.couples(2)
    prior = neutral_prior(town.world.recommender.index.learner, 6)
    first = town.relearning.relearn("probit", {}, prior)

    def meanwhile(*_: Any) -> None:
        town.relearning._build(first, None)  # as the other process, which was slower

    assert town.relearning.relearn("probit", {"alpha": 2.0}, prior, meanwhile) == first + 1
    assert current(town).model == first + 1
    assert verify(town.context).problems == ()


def test_a_deck_that_began_before_the_vocabulary_grew_is_dealt_with_the_new_one(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    town.couples(3)
    deal, grew = Recommender.deck, []

    def slowly(recommender: Recommender, *arguments: Any, **more: Any) -> Any:
        if not grew:
            grew.append(town.models.change_vocabulary(lambda words: words.add(["sailing"])))
            town.world.follow()
        return deal(recommender, *arguments, **more)

    monkeypatch.setattr(Recommender, "deck", slowly)
    assert town.deck("w0").cards
