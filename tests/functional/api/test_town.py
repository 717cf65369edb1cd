"""A town of 40 that swipes until nobody is left, through the API: who comes when, who never comes back, and how it ends."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from structlog.testing import capture_logs

from kaczmatch.app.asgi import app_of
from kaczmatch.app.composition import open_store
from kaczmatch.app.system import System, compose
from kaczmatch.service.access.credentials import SCOPES
from kaczmatch.service.operations.verification import verify
from kaczmatch.settings.model import Settings
from worlds.clock import Clock

PEOPLE = [f"p{place}" for place in range(40)]
SWIPES = 160
COOLDOWN = timedelta(days=14)


class Town:
    """The whole application in this process, without a socket in between."""

    def __init__(self, folder: Path, clock: Clock, **settings: Any) -> None:
        self.clock = clock
        usual: dict[str, Any] = {
            "swipes_a_day": None,
            "decks_a_day": None,
            "deck_limit": len(PEOPLE),
            "away_days": None,
            "refit": False,
        }
        chosen = Settings(**usual | {"data": folder, "deck_size": 20, "log_level": "error"} | settings)
        self.system: System = compose(chosen, open_store(chosen), clock=clock)
        self.app: FastAPI = app_of(self.system)
        self.key = self.system.use_cases.credentials.create("test", tuple(SCOPES))[1].encode()

    async def ok(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        sent = json.dumps(body).encode()
        headers = [(b"authorization", b"Bearer " + self.key), (b"content-type", b"application/json"), (b"host", b"town")]
        scope = {"type": "http", "method": method, "path": f"/v1{path}", "query_string": b"", "http_version": "1.1"}
        scope |= {"headers": [*headers, (b"content-length", b"%d" % len(sent))], "client": ("127.0.0.1", 1), "scheme": "http"}
        scope |= {"raw_path": f"/v1{path}".encode(), "server": ("town", 80), "asgi": {"version": "3.0"}, "root_path": ""}
        answered: list[Any] = []
        waiting = [{"type": "http.request", "body": sent, "more_body": False}]

        async def receive() -> Any:
            return waiting.pop() if waiting else await asyncio.Future()

        async def send(message: Any) -> None:
            answered.append(message)

        await self.app(scope, receive, send)
        content = b"".join(message.get("body", b"") for message in answered[1:])
        assert answered[0]["status"] in (200, 201), content
        found: dict[str, Any] = json.loads(content)
        return found


class Player:
    """One of them, who likes one in nine, and what happened to them."""

    town: Town

    def __init__(self, place: int) -> None:
        self.place, self.me = place, PEOPLE[place]
        self.likes: set[str] = set()
        self.passes: dict[str, datetime] = {}
        self.swipes = 0

    def wants(self, other: str) -> bool:
        return (self.place * 7 + int(other[1:]) * 5) % 9 == 0

    async def play(self) -> dict[str, Any] | None:
        """Until nobody is left, or all swipes are made; the empty deck."""
        while self.swipes < SWIPES:
            deck = await self.town.ok("POST", f"/people/{self.me}/deck", {})
            if not deck["cards"]:
                return deck
            self.check(deck)
            for card in deck["cards"][: SWIPES - self.swipes]:
                await self.answer(card["id"], deck["id"])
        return None

    def check(self, deck: dict[str, Any]) -> None:
        shown, new = [card["id"] for card in deck["cards"]], set(PEOPLE) - {self.me} - self.likes - self.passes.keys()
        assert len(set(shown)) == len(shown)
        assert self.likes.isdisjoint(shown), "a like that is open, or a match, came back"
        if new:
            assert set(shown) <= new, "somebody came again while others were still unseen"
            assert {card["reason"] for card in deck["cards"]} == {"sampled"}
            assert len(shown) == min(len(new), 20)
        else:
            assert {card["reason"] for card in deck["cards"]} == {"repeat"}
            oldest = sorted(self.passes.values())[: len(shown)]
            assert sorted(self.passes[other] for other in shown) == oldest, "the longest ago first"
            assert max(oldest) + COOLDOWN <= self.town.clock.now

    async def answer(self, other: str, deck: str) -> None:
        liked = self.wants(other)
        body = {"candidate": other, "decision": "like" if liked else "pass", "deck": deck}
        await self.town.ok("PUT", f"/people/{self.me}/swipes/s{self.swipes}", body)
        self.swipes += 1
        if liked:
            self.likes.add(other)
            self.passes.pop(other, None)
        else:
            self.passes[other] = self.town.clock.now


async def move_in(town: Town) -> None:
    for name in PEOPLE:
        about = {"name": name, "born": "1990-01-01", "i_am": ["woman"], "i_look_for": ["woman"], "tags": ["jazz", "climbing"]}
        await town.ok("PUT", f"/people/{name}", about)
    await asyncio.to_thread(town.system.serving_index.follow)


async def play(players: list[Player], town: Town, rounds: int) -> None:
    """Everybody swipes until nobody is left, and again after the cooldown."""
    async with town.app.router.lifespan_context(town.app):
        await asyncio.to_thread(town.system.wait_ready)
        if not players[0].swipes:
            await move_in(town)
        for player in players:
            player.town = town
        for _ in range(rounds):
            ends = await asyncio.gather(*(player.play() for player in players))
            for player, end in zip(players, ends, strict=True):
                if end is not None:
                    assert (end["empty_code"], end["hints"]) == ("all-answered", [])
                    again = min(player.passes.values()) + COOLDOWN if town.system.settings.repeats else None
                    assert (None if end["next_at"] is None else datetime.fromisoformat(end["next_at"])) == again
            town.clock.wait(days=15)
        if town.system.settings.repeats:
            assert verify(town.system.context).problems == ()
        preferences = town.system.use_cases.preferences
        assert {preferences.of(player.me).swipes for player in players} == {len(PEOPLE) - 1}, "everybody is counted once"


def test_a_town_of_40_sees_everybody_once_and_then_only_passes_where_the_app_allows_it(tmp_path: Path) -> None:
    clock = Clock()
    players = [Player(place) for place in range(len(PEOPLE))]
    with capture_logs():  # a line per request is half of the time
        asyncio.run(play(players, Town(tmp_path, clock), rounds=2))
        assert {player.swipes for player in players} == {len(PEOPLE) - 1}, "everybody was seen once"
        asyncio.run(play(players, Town(tmp_path, clock, repeats=True), rounds=8))
    assert {player.swipes for player in players} == {SWIPES}
