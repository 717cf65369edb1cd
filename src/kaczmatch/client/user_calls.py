"""Every call about one user."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from kaczmatch.client.call import Call, given, mapping, model, nothing, path
from kaczmatch.schemas.decks import Deck, RankingResult
from kaczmatch.schemas.matches import MatchOutcomes, MatchPage
from kaczmatch.schemas.preferences import AdmirerPage, CandidateExplanation, EventPage, LikePage, Preference, PreferenceHistory
from kaczmatch.schemas.profiles import ErasureStatus, Profile
from kaczmatch.schemas.safety import BlockPage, ReportReceipt
from kaczmatch.schemas.swipes import SessionEnd, SwipeResult


def put_profile(
    user: str,
    *,
    name: str,
    i_am: Iterable[str],
    i_look_for: Iterable[str] = (),
    born: date | str | None = None,
    youngest: int | None = None,
    oldest: int | None = None,
    location: tuple[float, float] | None = None,
    within_km: float | None = None,
    capacity: int | None = None,
    tags: Iterable[str] = (),
    features: Mapping[str, float] | None = None,
    data: Mapping[str, Any] | None = None,
    if_version: int | None = None,
) -> Call[Profile]:
    """Add or replace a profile; with `if_version`, only if that is still the version (0: only if there is none)."""
    body = {
        "name": name,
        "born": None if born is None else str(born),
        "i_am": sorted(i_am),
        "i_look_for": sorted(i_look_for),
        "tags": sorted(tags),
        "features": dict(features or {}),
        "data": dict(data or {}),
        "within_km": within_km,
        "location": None if location is None else {"latitude": location[0], "longitude": location[1]},
    }
    body |= given(youngest=youngest, oldest=oldest, capacity=capacity)
    headers = {"If-None-Match": "*"} if if_version == 0 else given(**{"If-Match": if_version and f'"{if_version}"'})
    route = path("/people/{user}", user=user)
    return Call("PUT", route, model(Profile), json=body, headers=headers, repeatable=if_version is None)


def get_profile(user: str) -> Call[Profile]:
    """A user's own profile. `version` is what `if_version` of `put_profile` takes."""
    return Call("GET", path("/people/{user}", user=user), model(Profile))


def pause_profile(user: str) -> Call[Profile]:
    """Stop showing a person, until they resume."""
    return Call("POST", path("/people/{user}/pause", user=user), model(Profile))


def resume_profile(user: str) -> Call[Profile]:
    """End a pause."""
    return Call("POST", path("/people/{user}/resume", user=user), model(Profile))


def erase_person(user: str) -> Call[ErasureStatus]:
    """Erase a person, who is gone when this returns. The service then removes every trace in other people's data."""
    return Call("DELETE", path("/people/{user}", user=user), model(ErasureStatus))


def get_erasure(user: str) -> Call[ErasureStatus]:
    """How far the erasure of a person is."""
    return Call("GET", path("/people/{user}/erasure", user=user), model(ErasureStatus))


def export_personal_data(user: str) -> Call[dict[str, Any]]:
    """Everything that is stored about a user, for that user."""
    return Call("GET", path("/people/{user}/export", user=user), mapping)


def list_picks(user: str) -> Call[Deck]:
    """The people picked for a user today; `id` is the deck to name in swipes on them."""
    return Call("GET", path("/people/{user}/picks", user=user), model(Deck))


def create_deck(user: str, *, size: int | None = None) -> Call[Deck]:
    """The open deck, or a new one."""
    return Call("POST", path("/people/{user}/deck", user=user), model(Deck), json=given(size=size))


def rank_candidates(user: str, candidates: Iterable[str], *, open_deck: bool | None = None) -> Call[RankingResult]:
    """Order candidates from the app's own search, and open a deck of the best of them."""
    body = {"candidates": list(candidates), **given(open_deck=open_deck)}
    return Call("POST", path("/people/{user}/rank", user=user), model(RankingResult), json=body)


def record_swipe(
    user: str, candidate: str, decision: str, *, deck: str | None = None, id: str | None = None
) -> Call[SwipeResult]:
    """Decide on a card: like, pass or skip. All attempts share one id, so the swipe has one effect however often it is sent."""
    body = {"candidate": candidate, "decision": decision, **given(deck=deck)}
    route = path("/people/{user}/swipes/{swipe}", user=user, swipe=id or secrets.token_hex(16))
    return Call("PUT", route, model(SwipeResult), json=body)


def undo_swipe(user: str, swipe: str) -> Call[None]:
    """Take back the last swipe."""
    return Call("DELETE", path("/people/{user}/swipes/{swipe}", user=user, swipe=swipe), nothing)


def end_session(user: str) -> Call[SessionEnd]:
    """End the session, so that block rules learn now."""
    return Call("POST", path("/people/{user}/session/end", user=user), model(SessionEnd))


def list_matches(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[MatchPage]:
    """Matches that have not ended, the newest first."""
    return Call("GET", path("/people/{user}/matches", user=user), model(MatchPage), given(limit=limit, cursor=cursor))


def end_match(user: str, match: str) -> Call[None]:
    """End a match for both sides."""
    return Call("DELETE", path("/people/{user}/matches/{match}", user=user, match=match), nothing)


def record_outcome(user: str, match: str, outcome: str) -> Call[MatchOutcomes]:
    """Record what came of a match: message or met."""
    route = path("/people/{user}/matches/{match}/outcomes", user=user, match=match)
    return Call("POST", route, model(MatchOutcomes), json={"outcome": outcome})


def list_blocks(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[BlockPage]:
    """The people whom the user has blocked, the newest first."""
    return Call("GET", path("/people/{user}/blocks", user=user), model(BlockPage), given(limit=limit, cursor=cursor))


def block_person(user: str, other: str) -> Call[None]:
    """Keep two people apart."""
    return Call("PUT", path("/people/{user}/blocks/{other}", user=user, other=other), nothing)


def unblock_person(user: str, other: str) -> Call[None]:
    """Take the user's own block back."""
    return Call("DELETE", path("/people/{user}/blocks/{other}", user=user, other=other), nothing)


def create_report(user: str, other: str, reason: str, text: str = "") -> Call[ReportReceipt]:
    """Report a person to the operators, and block them."""
    body = {"other": other, "reason": reason, "text": text}
    return Call("POST", path("/people/{user}/reports", user=user), model(ReportReceipt), json=body, repeatable=False)


def list_likes(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[LikePage]:
    """The candidates whom the user likes, the newest first."""
    return Call("GET", path("/people/{user}/likes", user=user), model(LikePage), given(limit=limit, cursor=cursor))


def list_admirers(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[AdmirerPage]:
    """Who likes the user without a match so far, where the setting `admirers_listed` is on."""
    return Call("GET", path("/people/{user}/admirers", user=user), model(AdmirerPage), given(limit=limit, cursor=cursor))


def list_events(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[EventPage]:
    """Everything that the user did, the newest first."""
    return Call("GET", path("/people/{user}/events", user=user), model(EventPage), given(limit=limit, cursor=cursor))


def get_preference(user: str, *, most: int | None = None) -> Call[Preference]:
    """What was learned about the user, in words."""
    return Call("GET", path("/people/{user}/preference", user=user), model(Preference), given(most=most))


def get_preference_history(user: str, *, most: int | None = None, last: int | None = None) -> Call[PreferenceHistory]:
    """The preference after each of the last events."""
    route = path("/people/{user}/preference/history", user=user)
    return Call("GET", route, model(PreferenceHistory), given(most=most, last=last))


def reset_preference(user: str) -> Call[None]:
    """Forget what was learned."""
    return Call("POST", path("/people/{user}/preference/reset", user=user), nothing)


def explain_candidate(user: str, candidate: str) -> Call[CandidateExplanation]:
    """Why a candidate was shown."""
    return Call("GET", path("/people/{user}/why/{candidate}", user=user, candidate=candidate), model(CandidateExplanation))
