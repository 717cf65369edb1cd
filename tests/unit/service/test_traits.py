"""Traits in the service: what everybody's swipes say of a candidate, kept with every swipe and exact when taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kaczmatch.learners.population.traits import CandidateTraits
from kaczmatch.learners.prior import Prior
from kaczmatch.service.domain.records import Event, Model, Person, SeenTraits, StoredPrior, StoredState, StoredTraits
from kaczmatch.service.domain.traits import people_traits
from kaczmatch.service.experiments.hindsight import Hindsight
from kaczmatch.service.meeting.card_reasons import CardReasons
from kaczmatch.service.meeting.preferences import Preferences
from kaczmatch.service.meeting.profile_features import features_of
from kaczmatch.service.meeting.viewer_context import load_viewer_context, load_viewer_state
from kaczmatch.service.operations import models
from kaczmatch.service.operations.overview import overview
from kaczmatch.service.operations.recent_loss import latest_from
from kaczmatch.service.operations.refit import Refit
from kaczmatch.service.operations.trait_pass import TraitPass
from kaczmatch.service.operations.verification import verify
from kaczmatch.settings.model import Settings
from kaczmatch.storage import MemoryStore
from kaczmatch.storage.memory import MemoryTransaction
from worlds.town import TAGS, Town

TRAITS, DIRECTIONS = 2, 3
SHAPE = {"traits": TRAITS, "directions": DIRECTIONS}
NEUTRAL = Prior(np.zeros(len(TAGS)), "neutral-6", threshold=0.0)


def a_prior(seed: int = 0, traits: int = TRAITS, dimensions: int = len(TAGS)) -> Prior:
    rng, from_tags = np.random.default_rng(seed), DIRECTIONS + traits
    return Prior(
        rng.normal(size=dimensions),
        f"fit-{seed}-{traits}",
        threshold=0.2,
        covariance=np.diag(rng.uniform(0.2, 2.0, dimensions + 1 + from_tags)),
        traits=rng.normal(size=traits),
        trait_map=rng.normal(size=(dimensions + 1, from_tags)),
    )


def a_town(**rules: Any) -> Town:
    """Everybody is learned from a fitted prior."""
    town = Town(MemoryStore(), learner="probit-traits", settings=SHAPE, **rules)
    town.couples(4)
    town.relearning.relearn("probit-traits", SHAPE, a_prior())
    town.world.follow()
    town.relearning.resume()  # nobody deals by the first model any more
    return town


def sums_of(town: Town, user: str) -> CandidateTraits:
    found = [one for one in town.find(StoredTraits) if one.user == user and one.model == town.world.current.model]
    return CandidateTraits.from_bytes(found[0].sums) if found else CandidateTraits.unknown(TRAITS)


def test_a_swipe_records_what_was_seen_and_says_something_of_the_candidate() -> None:
    town = a_town()
    town.import_swipe("w0", "m0")
    (first,) = town.find(SeenTraits, user="w0")
    assert sums_of(town, "m0") == CandidateTraits.unknown(TRAITS).plus(np.frombuffer(first.site, np.int32))
    assert np.frombuffer(first.said)[-TRAITS:] == pytest.approx(1.0)  # nobody had said anything
    town.import_swipe("w1", "m0", "pass")
    (second,) = town.find(SeenTraits, user="w1")
    assert (np.frombuffer(second.said)[-TRAITS:] < 1.0).any()
    assert verify(town.context).problems == ()


def test_nobody_sees_their_own_part_of_a_candidates_traits() -> None:
    town = a_town()
    town.import_swipe("w0", "m0")
    town.undoing.reset("w0").result()
    town.import_swipe("w0", "m0", "pass")  # teaches again after a reset, and says nothing more of m0
    first, again = sorted(town.find(SeenTraits, user="w0"), key=lambda one: len(one.site), reverse=True)
    assert again.site == b""
    np.testing.assert_array_equal(np.frombuffer(again.said), np.frombuffer(first.said))
    assert verify(town.context).problems == ()


def test_undo_and_erasure_take_a_part_out_exactly() -> None:
    town = a_town()
    town.import_swipe("w0", "m0")
    before = sums_of(town, "m0")
    town.import_swipe("w1", "m0", "pass", id="s")
    town.undoing.undo("w1", "s").result()
    assert sums_of(town, "m0") == before
    town.import_swipe("w2", "m0")
    town.erasing.erase("w0")
    (left,) = town.find(SeenTraits, candidate="m0")
    assert sums_of(town, "m0") == CandidateTraits.unknown(TRAITS).plus(np.frombuffer(left.site, np.int32))
    town.erasing.erase("m0")
    assert not [
        one for one in town.find(SeenTraits) + town.find(StoredTraits) if "m0" in (one.user, getattr(one, "candidate", ""))
    ]
    assert verify(town.context).problems == ()


def test_decks_go_by_the_traits_that_the_store_has() -> None:
    town = a_town()
    for rater in ("w0", "w1", "w2"):
        town.import_swipe(rater, "m1")
    town.world.follow()
    with town.context.store.read() as reader:
        known = load_viewer_state(reader, town.context, "w3")
        around = load_viewer_context(reader, town.context, known, town.now)
        person = reader.get(Person, "m1")
        assert person is not None
        features = features_of(person, known.vocabulary)
        said = people_traits(reader, known.fold, ["m1"], features[None], town.now)
    with town.world.recommender.index.reading() as view:
        rows = view.candidate_rows(view.numbers(["m1"]))
    np.testing.assert_allclose(rows.others, said, rtol=1e-5)
    expected = float(known.fold.learner.probability(known.state, features, said[0]))  # type: ignore[attr-defined]
    assert around.viewer.forward(rows.features, rows.others)[0] == pytest.approx(expected, rel=1e-5)
    assert town.deck("w3").cards


def test_a_model_with_traits_follows_the_log_and_swipes_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Swipes, an undo and an erasure while the pass is under way; the same pass at once gives the same bits."""
    monkeypatch.setattr("kaczmatch.service.operations.trait_pass._AT_ONCE", 2)
    town = Town(MemoryStore())
    town.couples(4)
    for place in range(4):
        town.import_swipe("w0", f"m{place}", "like" if place % 2 else "pass")
        town.import_swipe("w1", f"m{place}", "pass", id=f"last{place}")
    happened: list[int] = []

    def meanwhile(done: int, total: int) -> None:
        happened.append(done)
        if len(happened) == 2:
            town.import_swipe("w2", "m0")
            town.undoing.undo("w1", "last3").result()
            town.erasing.erase("m2")

    assert town.relearning.relearn("probit-traits", SHAPE, a_prior(), meanwhile) == 2
    assert len(happened) >= 3
    assert verify(town.context).problems == ()
    states = {one.user: one.state for one in town.find(StoredState, model=2)}
    sums = {one.user: one.sums for one in town.find(StoredTraits, model=2)}
    town.relearning.relearn("probit-traits", SHAPE, a_prior())
    assert {one.user: one.state for one in town.find(StoredState, model=3)} == states
    kept = {one.user: one.sums for one in town.find(StoredTraits, model=3)}
    assert kept == {user: some for user, some in sums.items() if user in kept}


def test_the_commit_that_ends_a_pass_reads_nobodys_whole_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where people answered again, before and after a reset."""
    town = Town(MemoryStore())
    town.couples(3)
    find = MemoryTransaction.find

    def bounded(transaction: MemoryTransaction, kind: type[Any], **how: Any) -> list[Any]:
        assert kind is not Event or how.get("limit")
        return find(transaction, kind, **how)

    for user in ("w0", "w1"):
        town.import_swipe(user, "m0")
        town.import_swipe(user, "m1", "pass")
    town.undoing.reset("w1").result()
    for user in ("w0", "w1"):
        town.import_swipe(user, "m0", "pass")
        town.import_swipe(user, "m0")
    came: list[str] = []

    def look_ahead(trait_pass: TraitPass) -> Any:
        found = looked(trait_pass)
        if not came:
            came.append(town.import_swipe("w1", "m1").event.id)  # after the look, and after a reset
        return found

    looked = TraitPass.look_ahead
    monkeypatch.setattr(TraitPass, "look_ahead", look_ahead)
    monkeypatch.setattr(MemoryTransaction, "find", bounded)
    monkeypatch.setattr("kaczmatch.service.operations.trait_pass._AT_ONCE", 2)
    assert town.relearning.relearn("probit-traits", SHAPE, a_prior()) == 2
    assert came
    assert verify(town.context).problems == ()


@pytest.mark.parametrize(("full", "slug"), [(False, "probit-diag"), (True, "probit")])
def test_before_the_first_fit_and_where_traits_do_not_pay_there_are_none(full: bool, slug: str) -> None:
    settings = {"full": full, "half_life_days": 90.0}
    town = Town(MemoryStore(), learner="probit-traits", settings=settings)
    with town.context.store.read() as reader:
        fold = town.context.catalogue.fold(reader, 1)
    assert (fold.learner.slug, fold.learner.half_life, fold.traits) == (slug, 90.0 * 86_400, None)
    assert overview(town.context).traits is False
    town.couples(1)
    assert town.relearning.relearn("probit-traits", settings, replace(NEUTRAL, version="without")) == 2
    with town.context.store.read() as reader:
        assert town.context.catalogue.fold(reader, 2).learner == fold.learner


def test_the_overview_says_whether_there_are_traits() -> None:
    assert overview(a_town().context).traits is True
    assert overview(Town(MemoryStore()).context).traits is None


def test_the_default_learner_gets_traits_where_people_tell_more_of_each_other_than_their_tags_do() -> None:
    ours, rng = Settings(), np.random.default_rng(0)
    town = Town(MemoryStore(), learner=ours.learner, settings=ours.learner_settings)
    town.couples(40)
    raters, candidates = [f"w{number}" for number in range(40)], [f"m{number}" for number in range(40)]
    humour, weight = rng.normal(size=len(candidates)), rng.normal(size=len(raters))
    for rater, name in enumerate(raters):
        for place in rng.permutation(len(candidates)):
            likes = 3.0 * weight[rater] * humour[place] + 2.0 * humour[place] + rng.normal() > 0.0
            town.wait(seconds=1)  # what is decided at the same moment is not known to one another
            town.import_swipe(name, candidates[place], "like" if likes else "pass")
    assert Refit(town.context).run() is not None
    with town.context.store.read() as reader:
        model = reader.get(Model, town.context.catalogue.current(reader).model)
        assert model is not None
        assert town.context.catalogue.fold(reader, model.id).learner.slug == "probit-traits"
        assert reader.find(StoredTraits, model=model.id)
    assert verify(town.context).problems == ()


def test_fitted_sites_are_kept_by_the_pass() -> None:
    town = a_town()
    town.import_swipe("w0", "m0", id="s")
    site = np.array([9_000, 8_000, 700, -600], np.int32)
    town.relearning.relearn("probit-traits", SHAPE, a_prior(5), sites=[("w0", "m0", site), ("w1", "m0", site)])
    model = max(one.id for one in town.find(Model))
    (seen,) = town.find(SeenTraits, model=model)
    assert (seen.swipe, seen.site) == ("s", site.tobytes())
    assert len(seen.said) == 8 * (DIRECTIONS + 2 * TRAITS)
    assert verify(town.context).problems == ()


class Killed(Exception):
    """The process that built a model has died."""


def test_who_is_erased_while_a_model_is_built_is_gone_from_its_states_too() -> None:
    """Of all that the pass had learned from w0 by then, nothing is left."""
    town = a_town()
    town.import_swipe("w0", "m0")

    def dies(_done: int, _total: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        town.relearning.relearn("probit-traits", SHAPE, a_prior(5), dies)
    town.erasing.erase("m0")
    town.import_swipe("w0", "m1")
    town.relearning.resume()
    assert verify(town.context).problems == ()


@pytest.mark.parametrize("act", ["undo", "reset", "erase"])
def test_a_model_whose_pass_has_not_begun_goes_by_the_progress_of_no_other(act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    town = a_town()
    town.import_swipe("w0", "m0", id="s")
    town.relearning.relearn("probit-traits", SHAPE, a_prior(5))

    def dies(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(TraitPass, "step", dies)
        with pytest.raises(Killed):
            town.relearning.relearn("probit-traits", SHAPE, a_prior(6))
    if act == "undo":
        town.undoing.undo("w0", "s").result()
    elif act == "reset":
        town.undoing.reset("w0").result()
    else:
        town.erasing.erase("m0")
    town.relearning.resume()
    assert verify(town.context).problems == ()


def test_a_refit_that_predicts_worse_is_not_put_in_use_and_a_change_can_be_taken_back() -> None:
    town = a_town()
    for man in range(4):
        town.import_swipe("w0", f"m{man}")
        town.import_swipe("w1", f"m{man}")
    dislikes = replace(a_prior(), threshold=-9.0, version="dislikes")
    assert town.relearning.relearn("probit-traits", SHAPE, dislikes, refit=True) == 0
    assert {one.id: one.status for one in town.find(Model)} == {1: "retired", 2: "in use", 3: "rejected"}
    assert not town.find(SeenTraits, model=3)
    assert not town.find(StoredState, model=3)
    assert town.relearning.relearn("probit-diag", {"appeal": True}, NEUTRAL) == 4
    assert town.relearning.rollback() == 5
    assert [one.prior for one in sorted(town.find(Model), key=lambda one: one.id)][-1] == a_prior().version
    assert {one.version for one in town.find(StoredPrior)} >= {"dislikes"}
    assert verify(town.context).problems == ()


def test_a_refit_without_swipes_to_try_it_on_is_not_put_in_use() -> None:
    town = Town(MemoryStore())
    town.couples(2)
    town.import_swipe("w0", "m0")
    assert town.relearning.relearn("probit-diag", {}, replace(NEUTRAL, version="other"), refit=True) == 0


def test_a_refit_that_predicts_worse_by_less_than_a_standard_error_is_not_put_in_use() -> None:
    """Half of the people like everybody, the others nobody: what one half wins by a higher start, the other loses, and more."""
    town = Town(MemoryStore())
    town.couples(10)
    for man in range(10):
        for woman in range(10):
            town.import_swipe(f"w{woman}", f"m{man}", "like" if woman % 2 else "pass")
    higher = replace(NEUTRAL, version="higher", threshold=0.1)
    with town.context.store.read() as reader:
        neutral = town.context.catalogue.fold(reader, 1).prior
    assert neutral.threshold == 0.0
    assert town.relearning.relearn("probit-diag", {}, higher, refit=True) == 0


def test_a_refit_does_not_see_the_swipes_that_it_is_tried_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaczmatch.service.operations.models._ENOUGH_PEOPLE", 1)
    town = Town(MemoryStore())
    town.couples(10)
    for man in range(10):
        for woman in range(10):
            town.import_swipe(f"w{woman}", f"m{man}")
    seen, fit = list[int](), models.fit_prior

    def noted(rule: Any, log: Any, **more: Any) -> Prior:
        seen.append(len(log))
        return fit(rule, log, **more)

    monkeypatch.setattr(models, "fit_prior", noted)
    with town.context.store.read() as reader:
        first = latest_from(reader)
    Refit(town.context).run()
    assert seen == [sum(event.number < first for event in town.find(Event))]
    assert 70 < seen[0] < 90  # of a hundred


def test_decks_and_swipes_go_on_when_a_fit_drops_traits_and_another_brings_them_back() -> None:
    town = a_town()
    fits = [
        ("probit-diag", {"appeal": True}, NEUTRAL),
        ("probit-traits", {"traits": TRAITS + 1, "directions": DIRECTIONS}, a_prior(7, TRAITS + 1)),
    ]
    for woman, fit in enumerate([None, *fits]):
        if fit is not None:
            assert town.relearning.relearn(*fit)
        for user in (f"w{woman}", f"m{woman}"):  # by the model before, and then by the new one
            (card,) = town.deck(user, 1).cards
            town.swipe(user, card.person.id, deck=card.impression.deck)
            town.world.follow()
        town.relearning.resume()
        assert verify(town.context).problems == ()


def test_hindsight_knows_traits_as_of_each_deck() -> None:
    town = a_town()
    town.import_swipe("w0", "m1")
    town.world.follow()
    town.wait(minutes=1)
    hand = town.deck("w3")
    assert hand.deck is not None
    town.wait(minutes=1)
    town.import_swipe("w1", "m1")  # after the deck
    with town.context.store.read() as reader:
        (past,) = Hindsight(town.context, reader, town.context.config.policy).past_decks()
        with past.recommender.index.reading() as view:
            rows = view.candidate_rows(view.numbers(["m1"]))
    with town.world.recommender.index.reading() as view:
        then = view.candidate_rows(view.numbers(["m1"])).others
    np.testing.assert_allclose(rows.others, then, rtol=1e-4)


def test_a_card_may_say_that_people_with_this_taste_like_this_person() -> None:
    town = a_town()
    town.import_swipe("w3", "m0", "pass")
    with town.context.store.read() as reader:
        known = load_viewer_state(reader, town.context, "w3")
        person = reader.get(Person, "m1")
    assert person is not None
    fold = known.fold
    assert fold.traits is not None
    expected = fold.traits.expected(features_of(person, known.vocabulary))[0]
    weights = known.fold.learner.mean(known.state)[-TRAITS:]  # type: ignore[attr-defined]
    expected[DIRECTIONS:] += 9.0 * weights
    liked, few = (np.append(expected, [doubt] * TRAITS) for doubt in (0.2, 0.9))
    by_many, by_few, by_nobody = CardReasons(known).reasons(["sampled"] * 3, [person] * 3, [liked, few, None])
    assert by_many.code == "liked-by-others"
    assert "liked-by-others" not in {by_few.code, by_nobody.code}
    assert Preferences(town.context).of("w3").beyond_tags
