"""Why somebody is shown: only what is known of the viewer's taste is spoken of."""

from __future__ import annotations

from kaczmatch.recommend.decks.deck import Reason
from kaczmatch.service.domain.records import Person
from kaczmatch.service.meeting.card_reasons import CardReason, CardReasons
from kaczmatch.service.meeting.viewer_context import ViewerState, load_viewer_state
from kaczmatch.storage import MemoryStore
from worlds.town import Town


def tags_told(town: Town, viewer: str, shown: str) -> tuple[str, ...]:
    with town.context.store.read() as reader:
        person, known = reader.get(Person, shown), load_viewer_state(reader, town.context, viewer)
    assert person is not None
    return reason(known, "sampled", person).tags


def reason(known: ViewerState, logged: str, person: Person) -> CardReason:
    [found] = CardReasons(known).reasons([logged], [person], [None])
    return found


def test_a_guess_is_not_told_as_somebodys_taste() -> None:
    town = Town(MemoryStore())
    town.move_in("ann")
    town.move_in("blank", man=True, tags=())
    town.move_in("bob", "carl", "dan", man=True, tags=("jazz", "chess"))
    town.move_in("ed", man=True, tags=("theatre",))
    assert tags_told(town, "ann", "bob") == ()
    town.swipe("ann", "blank", "pass")  # says nothing of any tag
    assert tags_told(town, "ann", "bob") == ()
    for man in ("bob", "carl", "dan"):
        town.swipe("ann", man)
    town.swipe("ann", "ed", "pass")
    assert set(tags_told(town, "ann", "bob")) == {"jazz", "chess"}
    assert tags_told(town, "ann", "ed") == ()


def test_nobody_is_said_to_get_along_with_somebody_of_whom_all_is_against() -> None:
    """It follows from the viewer's side alone, so it tells nothing of the other's."""
    town = Town(MemoryStore())
    town.move_in("ann")
    town.move_in("bob", "carl", "dan", man=True, tags=("jazz", "chess"))
    town.move_in("ed", "finn", "gus", man=True, tags=("theatre",))
    town.move_in("hal", man=True, tags=())
    for man in ("bob", "carl"):
        town.swipe("ann", man)
    for man in ("ed", "finn"):
        town.swipe("ann", man, "pass")
    with town.context.store.read() as reader:
        known = load_viewer_state(reader, town.context, "ann")
        people = {man: reader.get(Person, man) for man in ("dan", "gus", "hal")}
    codes = {man: {reason(known, how, one).code for how in ("sampled", "explored")} for man, one in people.items() if one}
    assert codes == {"dan": {"liked-tags"}, "gus": {"unlike-usual"}, "hal": {"early"}}


def test_every_reason_has_a_code_so_that_an_app_can_write_it_in_its_own_language() -> None:
    town = Town(MemoryStore())
    town.move_in("ann")
    town.move_in("bob", man=True, tags=("jazz", "chess"))
    with town.context.store.read() as reader:
        person, known = reader.get(Person, "bob"), load_viewer_state(reader, town.context, "ann")
    assert person is not None
    reasons = {str(logged): reason(known, logged, person) for logged in Reason}
    codes = {logged: found.code for logged, found in reasons.items()}
    assert codes["sampled"] == codes["explored"] == "early"  # the difference would tell who has not liked the viewer
    assert (codes["repeat"], codes["relaxed"]) == ("passed-before", "met-before")
    for _ in range(3):
        town.import_swipe("ann", "bob")
        town.wait(minutes=1)
    with town.context.store.read() as reader:
        known = load_viewer_state(reader, town.context, "ann")
    told = reason(known, "sampled", person)
    assert (told.code, set(told.tags)) == ("liked-tags", {"jazz", "chess"})
