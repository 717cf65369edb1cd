"""What the service answers in a scripted life, kept as a file, so that a change of its insides shows what it changed.

Forty people sign up, meet, match, block and leave, over HTTP, in one process whose clock and randomness are the script's.
`test_life.py` compares, on each database. `PYTHONPATH=tests python -m corpus.life` writes the file anew: only where what is right
has changed, in a commit that says why.
"""

from __future__ import annotations

import json
import re
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from corpus.frozen import HERE
from kaczmatch.app import composition
from kaczmatch.app.background import Background
from kaczmatch.app.logs import set_up_logs
from kaczmatch.app.own_process import OwnProcesses
from kaczmatch.app.system import System
from kaczmatch.service.domain.impressions import impressions
from kaczmatch.service.domain.records import StoredDeck
from kaczmatch.service.operations.models import Models, unfitted
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.service.operations.verification import verify
from kaczmatch.settings.model import Settings
from worlds.clock import NOON, Clock
from worlds.receiver import Receiver, receiver
from worlds.served import Service, serving

FILE = HERE / "life.json"
TAGS = ("jazz", "chess", "climbing", "cooking", "theatre", "cycling", "films", "cats")
PEOPLE, VIEWERS, CARDS = 40, 24, 4
TABLES = ("profiles", "swipes")
LAST_JOB = "webhooks"
_NUMBER = {name: n for n, name in enumerate(f"p{n:02}" for n in range(PEOPLE))}
_IDS = re.compile(r"\b(?:[0-9a-f]{24}|[0-9a-f]{12})\b")  # of decks, matches, messages and reports; of keys and priors
_TIMES = re.compile(r"\b2026-11-1\dT\d\d:\d\d:\d\d")
_SUMMARY = ("name", "age", "tags", "data")


# Doors to what no request does. They are no part of what is frozen.


class Jobs(dict[str, Callable[[], object]]):
    """What the service does beside requests, by name: here it is done when the script says so."""

    system: System

    def every(self, _: float, name: str, job: Callable[[], object]) -> None:
        self[name] = job

    def wait(self) -> None:
        """The last of them is there a moment after the service is ready."""
        while LAST_JOB not in self:
            time.sleep(0.01)


def cards_of(system: System, deck: str) -> list[dict[str, Any]]:
    """What no answer tells: how likely each card was."""
    with system.store.read() as reader:
        cards = impressions(reader, reader.find(StoredDeck, id=deck))
    return [{name: getattr(card, name) for name in ("candidate", "propensity", "score", "reason", "position")} for card in cards]


def switch(system: System, learner: str, **settings: Any) -> int:
    """As `kaczmatch relearn` does it. Returns the number of the model."""
    models = Models(system.context)
    fitted = models.fit(learner, settings) or unfitted(learner, settings, models.vocabulary().dimensions)
    return Relearning(system.context).relearn(fitted.learner, fitted.settings, fitted.prior, sites=fitted.sites)


def verified(system: System) -> dict[str, Any]:
    found = verify(system.context)
    return {"people": found.people, "events": found.events, "states": found.identical, "problems": list(found.problems)}


# How answers are kept.


@dataclass
class Kept:
    """Answers by chapter. An id that the service makes up is named by when it came up first, here and in later answers, and what
    is told of a person is left out where it is what was told last."""

    chapters: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    people: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, chapter: str, **said: Any) -> None:
        self.chapters.setdefault(chapter, []).append(self._told(json.loads(json.dumps(said))))

    def _told(self, said: Any) -> Any:
        if isinstance(said, list):
            return [self._told(value) for value in said]
        if isinstance(said, dict):
            if said.keys() >= {"id", *_SUMMARY}:
                summary = {name: said[name] for name in _SUMMARY}
                if self.people.get(said["id"]) == summary:
                    said = {name: value for name, value in said.items() if name not in _SUMMARY}
                self.people[said["id"]] = summary
            return {name: self._told(value) for name, value in said.items()}
        return _TIMES.sub(_since_noon, _IDS.sub(self._name, said)) if isinstance(said, str) else said

    def _name(self, found: re.Match[str]) -> str:
        return self.ids.setdefault(found[0], f"#{len(self.ids) + 1}")


def _since_noon(found: re.Match[str]) -> str:
    """In seconds, which are shorter."""
    return f"+{(datetime.fromisoformat(found[0]).replace(tzinfo=UTC) - NOON).total_seconds():.0f}"


def shown(body: Any) -> Any:
    """An answer without what differs from run to run: credentials, ids of requests, and what a cursor is made of."""
    if isinstance(body, dict):
        hidden = {"token": "a token", "request_id": "an id"} | ({"next": "a cursor"} if isinstance(body.get("next"), str) else {})
        return {name: hidden.get(name, shown(value)) for name, value in body.items()}
    if isinstance(body, list):
        return [shown(value) for value in body]
    return float(f"{body:.10g}") if isinstance(body, float) else body


def compact(kept: Any) -> Any:
    """Rows of the same fields as columns, which are shorter, and a column of one value as that value."""
    if isinstance(kept, dict):
        return {name: compact(value) for name, value in kept.items()}
    if not isinstance(kept, list) or len(kept) < 2:
        return [compact(value) for value in kept] if isinstance(kept, list) else kept
    if all(value == kept[0] for value in kept) and (len(kept) > 3 or len(str(kept[0])) > 3):
        return {f"{len(kept)} times": compact(kept[0])}
    if all(isinstance(row, dict) and row and row.keys() == kept[0].keys() for row in kept):
        return {name: compact([row[name] for row in kept]) for name in kept[0]}
    return [compact(value) for value in kept]


# Who they are and what they do.


def profile(user: str, **more: Any) -> dict[str, Any]:
    """Women and men in turn, in one town; then two who look for everybody, and two who live elsewhere."""
    number = _NUMBER[user]
    sides = ("man", "woman") if number % 2 else ("woman", "man")
    says: dict[str, Any] = {
        "name": f"{['Ada', 'Bo', 'Cleo', 'Dan', 'Eve'][number % 5]} {chr(65 + number % 26)}.",
        "born": f"{1975 + number * 7 % 28}-{1 + number % 12:02}-{1 + number % 28:02}",
        "i_am": sides[:1],
        "i_look_for": sides[1:],
        "location": {"latitude": 52.5 + number % 9 / 50.0, "longitude": 13.4 - number % 5 / 20.0},
        "within_km": 60,
        "tags": sorted({TAGS[number % 8], TAGS[(number * 5 + 2) % 8], TAGS[(number * 3 + 1) % 8]}),
    }
    if number % 6 == 0:
        says |= {"features": {"activity": number / 20.0 - 1.0}, "data": {"photo": f"{user}.jpg"}}
    if number % 7 == 0:
        says |= {"youngest": 20, "oldest": 60}
    if number in (36, 37):
        says |= {"i_am": ["non-binary"], "i_look_for": ["man", "non-binary", "woman"]}
    if number >= 38:
        says |= {"location": {"latitude": -33.9, "longitude": 151.2}, "within_km": 20}
    return says | more


def decision(user: str, other: str) -> str:
    """Tastes that tags tell of, with some noise; some people are skipped."""
    one, two = _NUMBER[user], _NUMBER[other]
    if (one * 11 + two * 7) % 13 == 0:
        return "skip"
    liked = {TAGS[(one * 3 + n) % 8] for n in range(3)} & set(profile(other)["tags"])
    return "like" if len(liked) + (one * 5 + two * 3) % 4 >= 3 else "pass"


@dataclass
class Script:
    """Talks to a service as an app's back end does. A second passes with each request, and the dice are seeded by its number."""

    service: Service
    clock: Clock
    dice: Random
    jobs: Jobs
    app: Receiver
    kept: Kept = field(default_factory=Kept)
    asked: set[tuple[str, str]] = field(default_factory=set)
    exported: dict[str, str] = field(default_factory=dict)
    _requests: Iterator[int] = field(default_factory=lambda: count(1))
    _swipes: Iterator[int] = field(default_factory=lambda: count(1))

    def ask(
        self,
        chapter: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        name: str = "",
        part: Callable[[Any], Any] = shown,
        **how: Any,
    ) -> Any:
        """The answer, of which `part` is kept, under a name that is shorter than the request."""
        self.next_moment()
        options = how | ({} if body is None else {"json": body})
        answer = self.service.call(method, path, **options)
        self.asked.add((method, path.partition("?")[0]))
        is_json = "json" in answer.headers.get("content-type", "") and "ndjson" not in answer.headers["content-type"]
        told = answer.json() if is_json else answer.text
        heads = {name: answer.headers[name] for name in ("etag", "location") if name in answer.headers}
        said = {"ask": name or f"{method} {path.partition('cursor=')[0]}", "status": answer.status_code, **heads}
        self.kept.add(chapter, **said, **({"answer": part(told)} if answer.content else {}))
        return told

    def bring(self, chapter: str, table: str, text: str, kind: str = "application/x-ndjson") -> None:
        self.ask(chapter, "POST", f"/import/{table}", content=text.encode(), headers={"Content-Type": kind})

    def next_moment(self, **time: float) -> None:
        self.clock.wait(**time or {"seconds": 1})
        self.dice.seed(next(self._requests))

    def job(self, *names: str) -> None:
        for name in names:
            self.next_moment()
            self.jobs[name]()

    def deck(self, chapter: str, user: str, size: int = CARDS) -> Any:
        told = self.ask(f"{chapter}, decks", "POST", f"/people/{user}/deck", {"size": size})
        if told.get("id") is not None:
            self.kept.add(f"{chapter}, cards", cards=shown(cards_of(self.service.system, told["id"])))
        return told

    def swipe(self, chapter: str, user: str, other: str, said: str, deck: str | None, id: str = "", **how: Any) -> Any:
        body = {"candidate": other, "decision": said} | ({} if deck is None else {"deck": deck})
        path = f"/people/{user}/swipes/{id or f's{next(self._swipes)}'}"
        return self.ask(f"{chapter}, swipes", "PUT", path, body, name=f"{user} {said} {other}", **how)

    def round(self, chapter: str, users: Sequence[str], size: int = CARDS) -> None:
        """Decks are dealt to all, then answered by all."""
        self.job("follow")
        dealt = {user: self.deck(chapter, user, size) for user in users}
        for user, deck in dealt.items():
            for card in deck["cards"]:
                self.swipe(chapter, user, card["id"], decision(user, card["id"]), deck["id"])
        self.job("follow")


EVERYBODY = tuple(_NUMBER)


def begin(life: Script) -> None:
    """Health, the vocabulary, and people who sign up."""
    life.ask("health", "GET", "/health/live")
    life.ask("health", "GET", "/health/ready")
    life.ask("vocabulary", "GET", "/vocabulary")
    change = {
        "add_tags": ["boats"],
        "add_features": ["height"],
        "rename": [{"old": "films", "new": "cinema"}],
        "retire": ["cats"],
    }
    life.ask("vocabulary", "PATCH", "/vocabulary", change)
    life.ask("vocabulary", "PATCH", "/vocabulary", {"rename": [{"old": "cinema", "new": "films"}]})
    life.ask("vocabulary", "PATCH", "/vocabulary", {"retire": ["never heard of"]})
    for user in EVERYBODY:
        life.ask(
            "profiles", "PUT", f"/people/{user}", profile(user, tags=[tag for tag in profile(user)["tags"] if tag != "cats"])
        )
    for how in ({"if-match": '"1"'}, {"if-match": '"1"'}, {"if-none-match": "*"}, {}):
        life.ask("profiles again", "PUT", "/people/p00", profile("p00", tags=["jazz", "boats"]), headers=how)
    for wrong in ({"tags": ["unheard of"]}, {"born": "2020-01-01"}, {"name": ""}, {"features": {"activity": 1e9}}, {"more": 1}):
        life.ask("profiles again", "PUT", "/people/p01", profile("p01") | wrong)
    life.ask("profiles again", "GET", "/people/p00")
    life.ask("profiles again", "GET", "/people/p00", headers={"if-none-match": '"3"'})
    life.ask("profiles again", "GET", "/people/nobody")
    first = life.ask("lists", "GET", "/people?limit=3")
    life.ask("lists", "GET", f"/people?limit=2&cursor={first['next']}")
    life.ask("lists", "GET", "/people?name=cleo&limit=2")
    life.ask("lists", "GET", "/operator/people?name=p07")


def meet(life: Script) -> None:
    """Three rounds of decks, with some hours between them."""
    life.deck("before anything is known", "p00")
    for number in range(3):
        life.round(f"round {number + 1}", EVERYBODY[:VIEWERS])
        life.next_moment(hours=7)
    life.job("follow")
    life.deck("nobody near", "p38")
    life.deck("everybody", "p36", 30)


def stumble(life: Script) -> None:
    """Requests that are refused, or come twice."""
    deck = life.deck("stumbling", "p01")
    again = life.deck("stumbling", "p01", 9)
    assert again["id"] == deck["id"]
    first, second, *_ = [card["id"] for card in deck["cards"]]
    for said, other in (("like", first), ("like", first), ("pass", first), ("like", second)):
        life.swipe("stumbling", "p01", other, said, deck["id"], "twice" if other == first else "once")
    life.swipe("stumbling", "p01", first, "pass", deck["id"])
    life.swipe("stumbling", "p01", "p01", "like", deck["id"])
    life.swipe("stumbling", "p01", "p03", "like", deck["id"])
    life.swipe("stumbling", "p01", "nobody", "like", None)
    life.swipe("stumbling", "p01", "p38", "like", None)
    life.swipe("stumbling", "p01", "p02", "perhaps", None)
    life.swipe("stumbling", "nobody", "p02", "like", None)
    token = life.ask("tokens", "POST", "/tokens", {"user": "p01", "seconds": 600})["token"]
    life.ask("tokens", "POST", "/tokens", {"user": "p01", "seconds": 0})
    life.ask("tokens", "GET", "/people/p01/likes?limit=1", by=token)
    life.ask("tokens", "GET", "/people/p02/likes?limit=1", by=token)
    life.ask("tokens", "GET", "/operator/overview", by=token)
    life.ask("tokens", "GET", "/people/p01", by="wrong")
    life.swipe("tokens", "p01", "p02", "like", None, by=token)
    life.ask("undo", "DELETE", "/people/p01/swipes/twice")
    life.ask("undo", "DELETE", "/people/p01/swipes/once")
    life.ask("undo", "DELETE", "/people/p01/swipes/once")
    life.swipe("undo", "p01", second, "pass", deck["id"], "otherwise")
    life.ask("undo", "POST", "/people/p01/session/end")
    life.ask("undo", "POST", "/people/p01/session/end")
    for other in ("p06", "p08"):
        life.swipe("outside decks", "p05", other, "like", None)
    life.swipe("outside decks", "p06", "p05", "like", None, "makes-a-match")
    life.ask("undo", "DELETE", "/people/p06/swipes/makes-a-match")
    life.ask("undo", "POST", "/people/p09/preference/reset")
    life.ask("undo", "GET", "/people/p09/preference")


def befriend(life: Script) -> None:
    """Matches, messages, and what people may know of themselves."""
    found = [life.ask("matches", "GET", f"/people/{user}/matches?limit=3") for user in EVERYBODY[:12]]
    mine = [(user, one["id"]) for user, page in zip(EVERYBODY, found, strict=False) for one in page["items"]]
    (user, match), (other, last) = mine[0], mine[-1]
    life.ask("matches", "POST", f"/people/{user}/matches/{match}/outcomes", {"outcome": "message"})
    life.ask("matches", "POST", f"/people/{user}/matches/{match}/outcomes", {"outcome": "met"})
    life.ask("matches", "POST", f"/people/{user}/matches/{match}/outcomes", {"outcome": "married"})
    for _ in range(2):
        life.ask("matches", "DELETE", f"/people/{other}/matches/{last}")
    life.ask("matches", "GET", f"/people/{other}/matches")
    life.job("webhooks")
    sent = sorted((call[0]["webhook-id"], call[0]["webhook-timestamp"], json.loads(call[1])) for call in life.app.calls)
    for identifier, at, body in sent:
        life.kept.add("webhooks", id=identifier, at=at, body=body)
    page = life.ask("feed", "GET", "/feed?limit=5", part=_without_numbers)
    life.ask("feed", "POST", "/feed/ack", {"up_to": page["last"]})
    life.ask("feed", "GET", "/feed?limit=3", part=_without_numbers)
    for who in ("p00", "p01", "p02"):
        likes = life.ask("likes", "GET", f"/people/{who}/likes?limit=2")
        life.ask("likes", "GET", f"/people/{who}/likes?limit=2&cursor={likes['next']}")
        life.ask("likes", "GET", f"/people/{who}/admirers?limit=2")
        events = life.ask("events", "GET", f"/people/{who}/events?limit=3")
        life.ask("events", "GET", f"/people/{who}/events?limit=3&cursor={events['next']}")
        life.ask("preferences", "GET", f"/people/{who}/preference")
        life.ask("preferences", "GET", f"/people/{who}/preference/history?most=2&last=3")
    life.ask("events", "GET", "/people/p00/events?cursor=made-up")
    life.ask("preferences", "GET", "/people/p01/why/p12")
    life.ask("preferences", "GET", "/people/p01/why/nobody")
    life.ask("ranking", "POST", "/people/p03/rank", {"candidates": ["p10", "p12", "p38", "p05", "nobody"], "open_deck": True})
    life.ask("ranking", "POST", "/decks", {"users": ["p04", "p38", "nobody"], "size": 2})
    life.job("picks")
    for who in ("p00", "p07", "p38"):
        life.ask("picks", "GET", f"/people/{who}/picks")


def keep_apart(life: Script) -> None:
    """Blocks, reports, holds and pauses."""
    for other in ("p11", "p13", "nobody", "p00"):
        life.ask("blocks", "PUT", f"/people/p00/blocks/{other}")
    life.ask("blocks", "GET", "/people/p00/blocks?limit=1")
    life.ask("blocks", "DELETE", "/people/p00/blocks/p11")
    life.ask("blocks", "DELETE", "/people/p00/blocks/p11")
    life.swipe("blocks", "p13", "p00", "like", None)
    life.ask("blocks", "PUT", "/people/p02/blocks/p15")
    life.ask("blocks", "DELETE", "/operator/people/p02/blocks/p15")
    report = life.ask("reports", "POST", "/people/p04/reports", {"other": "p17", "reason": "spam", "text": "Sells watches."})[
        "id"
    ]
    life.ask("reports", "POST", "/people/p04/reports", {"other": "nobody", "reason": "spam"})
    life.ask("reports", "GET", "/operator/reports")
    life.ask("reports", "POST", f"/operator/reports/{report}/close", {"resolution": "spoken to"})
    life.ask("reports", "POST", f"/operator/reports/{report}/reopen")
    life.ask("reports", "DELETE", "/operator/people/p04/blocks/p17")
    life.ask("holds", "PUT", "/operator/people/p17/hold")
    life.ask("holds", "POST", "/people/p17/resume")
    life.ask("holds", "GET", "/operator/people")
    life.ask("holds", "GET", "/operator/people/p17/timeline?limit=6")
    life.ask("holds", "DELETE", "/operator/people/p17/hold")
    life.ask("holds", "POST", "/people/p17/resume")
    life.ask("holds", "POST", "/people/p19/pause")
    life.deck("holds", "p19")
    life.job("follow")
    life.deck("apart", "p00", 20)


def learn_anew(life: Script) -> None:
    """A refit, another learner, and decks under each."""
    life.job("refit", "follow")
    life.ask("overview", "GET", "/operator/overview")
    life.round("refitted", EVERYBODY[:6])
    for user in EVERYBODY[:5]:
        life.ask("preferences after a refit", "GET", f"/people/{user}/preference?most=2")
    number = switch(life.service.system, "probit", appeal=True)
    life.job("follow")
    life.kept.add("switched", model=number)
    life.round("switched", EVERYBODY[:6])
    life.ask("preferences after a switch", "GET", "/people/p00/preference?most=3")
    life.ask("overview", "GET", "/operator/overview")


def leave(life: Script) -> None:
    """Two erasures, of which one is looked at on its way."""
    token = life.ask("erasure", "POST", "/tokens", {"user": "p02"})["token"]
    life.ask("erasure", "DELETE", "/people/p02")
    life.ask("erasure", "GET", "/people/p02/erasure")
    life.ask("erasure", "GET", "/people/p02")
    life.ask("erasure", "GET", "/people/p02/likes", by=token)
    life.ask("erasure", "PUT", "/people/p02", profile("p02"))
    life.job("follow", "erasures", "erased ids", "follow")
    life.ask("erasure", "GET", "/people/p02/erasure")
    life.ask("erasure", "DELETE", "/people/p02")
    life.ask("erasure", "GET", "/people/nobody/erasure")
    life.ask("erasure", "DELETE", "/people/p05")
    life.job("follow", "erasures", "erased ids", "maintenance", "follow")
    life.ask("erasure", "GET", "/people/p05/erasure")
    life.ask("erasure", "GET", "/people/p06/matches")
    life.ask("erasure", "GET", "/people/p01/events?limit=4")
    life.ask("erasure", "GET", "/people/p00/preference?most=3")
    life.ask("erasure", "GET", "/feed?after=0&limit=1000", part=lambda page: _without_numbers(page)["items"][-4:])
    life.round("after erasures", EVERYBODY[6:9])
    life.ask("erasure", "PUT", "/people/p02", profile("p02"))


def carry(life: Script) -> None:
    """Everything out and in again, which changes nothing; and files that somebody made."""
    for table in TABLES:
        life.exported[table] = life.ask("export", "GET", f"/export/{table}?format=jsonl", part=_rows)
        life.bring("import", table, life.exported[table])
    life.ask("export", "GET", "/export/swipes?format=csv", part=lambda text: text.splitlines()[:3])
    new = "id,name,born,i_am,i_look_for,tags\nq1,Quin,1990-01-02,woman,man,jazz|chess\nq2,Rae,1991-02-03,man,woman,ships\n"
    liked = "user,candidate,decision,at,id\nq1,q2,like,2026-01-02T03:04:05Z,i1\nq2,q1,like,2026-01-02T03:05:05Z,i2\n"
    for query in ("", "?new_tags=add&dry_run=true", "?new_tags=add"):
        life.bring("import", f"profiles{query}", new, "text/csv")
    for query in ("", "?skip_bad=true", "?skip_bad=true"):
        life.bring("import", f"swipes{query}", liked + "q2,q9,like,,i3\n", "text/csv")
    life.bring("import", "swipes", "", "text/html")
    life.ask("import", "GET", "/people/q1/matches")
    for user in ("p07", "q1"):
        life.ask("personal data", "GET", f"/people/{user}/export")


def look_back(life: Script) -> None:
    """What operators see in the end. Times and sizes differ from run to run: of them there are the names."""
    life.ask("operators", "GET", "/operator/experiment")
    life.ask("operators", "GET", "/operator/group?name=jazz")
    life.ask("operators", "GET", "/operator/people/p00/timeline?limit=8")
    life.ask("operators", "GET", "/operator/health", part=sorted)
    life.ask(
        "operators", "GET", "/metrics", part=lambda text: sorted(set(re.findall(r"^# HELP (kaczmatch\w+)", text, re.MULTILINE)))
    )
    life.kept.add("verified", **verified(life.service.system))


def _without_numbers(page: Any) -> Any:
    """Numbers of messages may have gaps; their order is told."""
    numbers = [message["number"] for message in page["items"]]
    assert numbers == sorted(set(numbers))
    return shown({"items": [{name: value for name, value in one.items() if name != "number"} for one in page["items"]]})


def _rows(text: str) -> Any:
    return shown([json.loads(line) for line in text.splitlines()])


def move_in(life: Script) -> None:
    """The files of one service in another one, whose export is the same."""
    for table in TABLES:
        life.bring("moving", f"{table}?new_tags=add" if table == "profiles" else table, life.exported[table])
    for table in TABLES:
        told = life.ask("moving", "GET", f"/export/{table}?format=jsonl", part=lambda text: len(text.splitlines()))
        assert _rows(told) == _rows(life.exported[table])
    life.round("moved", EVERYBODY[6:9])
    life.ask("moving", "GET", "/people/p07/preference?most=3")
    life.kept.add("moving", **verified(life.service.system))


CHAPTERS = (begin, meet, stumble, befriend, keep_apart, learn_anew, leave, carry, look_back)


@dataclass(frozen=True)
class Lived:
    """What came of it."""

    kept: Mapping[str, Any]
    asked: frozenset[tuple[str, str]]


def live(folder: Path, *, databases: tuple[str | None, str | None] = (None, None)) -> Lived:
    """The whole life of a service over an empty database, and the beginning of that of another one."""
    words = folder / "words"
    words.write_text("\n".join([*TAGS, "~activity"]))
    with receiver() as (address, app), directed() as (clock, dice, jobs):

        @contextmanager
        def opened(place: int) -> Iterator[Service]:
            settings = Settings(
                data=folder / f"data-{place}",
                database=databases[place],
                vocabulary=words,
                token_secret="a secret of the corpus, long enough",  # noqa: S106
                wrong_keys_a_minute=None,
                log_level="error",
                admirers_listed=True,
                picks_hour=0,
                picks_size=2,
                refit_people=20,
                refit_swipes=100,
                webhook_url=address,
                webhook_secret="whsec_" + "A" * 44,
                webhook_trusting=True,
            )
            jobs.clear()
            with serving(settings, clock=clock) as service:
                jobs.wait()
                jobs.system = service.system
                yield service

        with opened(0) as service:
            life = Script(service, clock, dice, jobs, app)
            for chapter in CHAPTERS:
                chapter(life)
        with opened(1) as life.service:
            move_in(life)
    return Lived(compact(life.kept.chapters), frozenset(life.asked))


@contextmanager
def directed() -> Iterator[tuple[Clock, Random, Jobs]]:
    """Time, chance and what runs beside requests, in the hands of the script."""
    clock, dice, jobs, ids = Clock(), Random(0), Jobs(), count(1)  # noqa: S311
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secrets, "randbits", dice.getrandbits)
        patch.setattr(secrets, "token_hex", lambda size=32: f"{next(ids):0{2 * size}x}")
        patch.setattr(Background, "every", lambda _, *job: jobs.every(*job))
        patch.setattr(OwnProcesses, "__call__", lambda _, work: work())  # in this one, where the clock and the dice are
        patch.setattr(composition, "_context_of_own_process", lambda _: nullcontext(jobs.system.context))
        yield clock, dice, jobs


def main() -> None:
    set_up_logs("error")
    with tempfile.TemporaryDirectory() as folder:
        kept = live(Path(folder)).kept
    lines = [f'"{name}":{json.dumps(told, separators=(",", ":"), ensure_ascii=False)}' for name, told in kept.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
