"""P1 and P4: a swipe that was acknowledged survives a killed process, and every state is the replay of its events.

`make endure` does the same by the hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from killing import Nursery, crash_server, kill_process, nursery
from survival import prepare
from victim import JOBS
from worlds.postgres import Server

KILLS, KILLS_OF_JOBS = 10, 2  # `make endure` kills by the hundred


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    with nursery(tmp_path_factory.mktemp("ledger")) as made:
        yield made


def test_no_acknowledged_swipe_is_lost_in_ten_kills(
    url: str, children: Nursery, record_property: Callable[[str, object], None]
) -> None:
    rng, found = Random(1), []  # noqa: S311
    for cycle in range(KILLS):
        prepare(url, cycle)
        found.append(kill_process(children, "swipe", url, cycle, rng))
    acknowledged, unknown = sum(one.acknowledged for one in found), sum(one.unknown for one in found)
    words = f"{KILLS} kills, {acknowledged:,} acknowledged swipes, 0 lost; {unknown} committed that nobody had been told of"
    record_property("found", words)
    assert acknowledged > KILLS


@pytest.mark.parametrize("job", [job for job in JOBS if job != "migrate"])
def test_a_job_that_was_killed_is_finished_and_nothing_is_kept_by_half(url: str, job: str, children: Nursery) -> None:
    rng = Random(job)  # noqa: S311
    for cycle in range(KILLS_OF_JOBS):
        prepare(url, cycle)
        kill_process(children, job, url, cycle, rng)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_migration_that_was_killed_is_done_again(
    kind: str, children: Nursery, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server: Server | None = request.getfixturevalue("postgres") if kind == "postgres" else None
    for cycle in range(KILLS_OF_JOBS):
        url = f"sqlite:///{tmp_path}/{cycle}.db" if server is None else server.new("template0")
        kill_process(children, "migrate", url, cycle, Random(cycle))  # noqa: S311
        if server is not None:
            server.drop(url)


def test_a_crash_of_the_server_loses_nothing(postgres: Server, postgres_url: str, children: Nursery) -> None:
    prepare(postgres_url, 0)
    crash_server(children, postgres, postgres_url, 0, Random(0))  # noqa: S311
