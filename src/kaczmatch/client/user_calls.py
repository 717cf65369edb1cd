"""Every call about one user."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from kaczmatch.client import answers
from kaczmatch.client.calling import Call, answer, given, nothing, path, plain


def put_profile(
    user: str,
    *,
    name: str,
    born: date | str,
    i_am: Iterable[str],
    i_look_for: Iterable[str],
    youngest: int | None = None,
    oldest: int | None = None,
    location: tuple[float, float] | None = None,
    within_km: float | None = None,
    tags: Iterable[str] = (),
    features: Mapping[str, float] | None = None,
    if_version: int | None = None,
) -> Call[answers.Profile]:
    """Add or replace a profile; with `if_version`, only if that is still the version (0: only if there is none)."""
    body = {
        "name": name,
        "born": str(born),
        "i_am": sorted(i_am),
        "i_look_for": sorted(i_look_for),
        "tags": sorted(tags),
        "features": dict(features or {}),
        "within_km": within_km,
        "location": None if location is None else {"latitude": location[0], "longitude": location[1]},
    }
    headers = {"If-None-Match": "*"} if if_version == 0 else given(**{"If-Match": if_version and f'"{if_version}"'})
    body |= given(youngest=youngest, oldest=oldest)
    whole = path("/people/{user}", user=user)
    return Call("PUT", whole, answer(answers.Profile), json=body, headers=headers, repeatable=if_version is None)


def profile(user: str) -> Call[answers.Profile]:
    """Somebody's own profile."""
    return Call("GET", path("/people/{user}", user=user), answer(answers.Profile))


def pause(user: str) -> Call[answers.Profile]:
    """Shown to nobody, until resumed."""
    return Call("POST", path("/people/{user}/pause", user=user), answer(answers.Profile))


def resume(user: str) -> Call[answers.Profile]:
    """Take part again."""
    return Call("POST", path("/people/{user}/resume", user=user), answer(answers.Profile))


def erase(user: str) -> Call[None]:
    """Leave nothing of a person."""
    return Call("DELETE", path("/people/{user}", user=user), nothing, repeatable=False)


def personal_data(user: str) -> Call[dict[str, Any]]:
    """All that is kept about somebody, for that person."""
    return Call("GET", path("/people/{user}/export", user=user), plain)


def deck(user: str, *, size: int | None = None) -> Call[answers.Deck]:
    """The open deck, or a new one."""
    return Call("POST", path("/people/{user}/deck", user=user), answer(answers.Deck), json=given(size=size))


def rank(user: str, candidates: Iterable[str]) -> Call[answers.Ranking]:
    """People whom the app brings, in order."""
    body = {"candidates": list(candidates)}
    return Call("POST", path("/people/{user}/rank", user=user), answer(answers.Ranking), json=body)


def swipe(user: str, candidate: str, decision: str, *, deck: str, id: str | None = None) -> Call[answers.Swiped]:
    """Decide on a card: like, pass or skip. Tries share one id, so it has one effect however often it is sent."""
    body = {"candidate": candidate, "decision": decision, "deck": deck}
    chosen = id or secrets.token_hex(16)
    return Call("PUT", path("/people/{user}/swipes/{swipe}", user=user, swipe=chosen), answer(answers.Swiped), json=body)


def undo(user: str, swipe: str) -> Call[None]:
    """Take back the last swipe."""
    return Call("DELETE", path("/people/{user}/swipes/{swipe}", user=user, swipe=swipe), nothing)


def end_session(user: str) -> Call[answers.Ended]:
    """Learners that wait for the end of a session learn now."""
    return Call("POST", path("/people/{user}/session/end", user=user), answer(answers.Ended))


def matches(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[answers.Matches]:
    """Matches that have not ended, the newest first."""
    query = given(limit=limit, cursor=cursor)
    return Call("GET", path("/people/{user}/matches", user=user), answer(answers.Matches), query)


def unmatch(user: str, match: str) -> Call[None]:
    """End a match for both."""
    return Call("DELETE", path("/people/{user}/matches/{match}", user=user, match=match), nothing)


def outcome(user: str, match: str, what: str) -> Call[answers.Outcomes]:
    """Tell what came of a match: message or met."""
    whole = path("/people/{user}/matches/{match}/outcomes", user=user, match=match)
    return Call("POST", whole, answer(answers.Outcomes), json={"outcome": what})


def blocks(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[answers.Others]:
    """Whom somebody has blocked."""
    query = given(limit=limit, cursor=cursor)
    return Call("GET", path("/people/{user}/blocks", user=user), answer(answers.Others), query)


def block(user: str, other: str) -> Call[None]:
    """Keep two people apart."""
    return Call("PUT", path("/people/{user}/blocks/{other}", user=user, other=other), nothing)


def unblock(user: str, other: str) -> Call[None]:
    """Take one's own block back."""
    return Call("DELETE", path("/people/{user}/blocks/{other}", user=user, other=other), nothing)


def report(user: str, other: str, reason: str, words: str = "") -> Call[answers.Complained]:
    """Tell an operator, and block."""
    body = {"other": other, "reason": reason, "words": words}
    whole = path("/people/{user}/reports", user=user)
    return Call("POST", whole, answer(answers.Complained), json=body, repeatable=False)


def likes(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[answers.Others]:
    """Whom somebody likes, the newest first."""
    query = given(limit=limit, cursor=cursor)
    return Call("GET", path("/people/{user}/likes", user=user), answer(answers.Others), query)


def history(user: str, *, limit: int | None = None, cursor: str | None = None) -> Call[answers.History]:
    """Everything somebody did, the newest first."""
    query = given(limit=limit, cursor=cursor)
    return Call("GET", path("/people/{user}/history", user=user), answer(answers.History), query)


def preference(user: str, *, most: int | None = None) -> Call[answers.Preference]:
    """What was learned, in words."""
    return Call("GET", path("/people/{user}/preference", user=user), answer(answers.Preference), given(most=most))


def growth(user: str, *, most: int | None = None, last: int | None = None) -> Call[answers.Growth]:
    """How the preference grew, event by event."""
    query = given(most=most, last=last)
    return Call("GET", path("/people/{user}/preference/growth", user=user), answer(answers.Growth), query)


def reset(user: str) -> Call[None]:
    """Forget what was learned."""
    return Call("POST", path("/people/{user}/preference/reset", user=user), nothing)


def why(user: str, other: str) -> Call[answers.Why]:
    """Why somebody was shown."""
    return Call("GET", path("/people/{user}/why/{other}", user=user, other=other), answer(answers.Why))
