"""A disk that is full under a running service: what it keeps in memory equals what is in its store, also after a restart."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import httpx

from kaczmatch.app.composition import context_of
from kaczmatch.service.domain.catalogue import Catalogue, neutral_prior
from kaczmatch.service.domain.records import Person
from kaczmatch.service.domain.refusals import Refusal
from kaczmatch.service.domain.store import StoreUnavailable
from kaczmatch.service.meeting.profile_features import tags_of
from kaczmatch.service.operations.relearning import Relearning
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore
from killing import Served, wait_until
from survival import Survived, prepare

THREADS, CALLS = 4, 24
ROOM = 48 << 20  # bytes of the disk
Found = dict[str, Any]  # the vocabulary, and the tags of people


def full_disk(folder: Path, rng: Random, run: int) -> Survived:
    """Vocabulary, profiles and the model change while the disk is full. Says how many changes were acknowledged."""
    with _small_disk(folder) as (disk, fill, free):
        url = f"sqlite:///{disk}/store.db"
        prepare(url, 0)
        service = Served(url, folder, scopes=("app", "operator"))
        service.start()
        try:
            fill(service)
            acknowledged = _changes(service, url, folder, rng)
            free(service)
            wait_until(service.is_ready, "the service takes no writes although there is room again")
            _call(service, "PATCH", "/vocabulary", {"add_tags": [f"real-{run}"]}).raise_for_status()
            served = _everything(service)
            assert served == _stored(url, folder), "memory is not what is stored"
            service.stop()
            service.start()
            assert _everything(service) == served, "after a restart it is not what it was"
        finally:
            service.stop()
    return Survived(acknowledged, 0)


def _changes(service: Served, url: str, folder: Path, rng: Random) -> int:
    """Some of each at once. Most fail."""
    begun = rng.randrange(1 << 30)

    def patch(thread: int) -> int:
        names = (f"phantom-{begun}-{thread}-{call}" for call in range(CALLS))
        return sum(_call(service, "PATCH", "/vocabulary", {"add_tags": [name]}).is_success for name in names)

    def put(thread: int) -> int:
        done = 0
        for call in range(CALLS):
            tags = [] if call % 2 else _tags(service)[-1:]
            done += _call(service, "PUT", f"/people/x{thread}-{call}", _about(tags)).is_success
        return done

    with ThreadPoolExecutor(2 * THREADS + 1) as threads:
        works = [threads.submit(act, thread) for act in (patch, put) for thread in range(THREADS)]
        threads.submit(_change_model, url, folder).result()
        return sum(work.result() for work in works)


def _change_model(url: str, folder: Path) -> None:
    """By another process than the service, as an operator's command does. What it knows afterwards is what is stored, too."""
    settings = Settings.model_validate({"data": str(folder), "database": url})
    with suppress(StoreUnavailable), closing(SqlStore(url)) as store:
        context = context_of(settings, store)
        relearning = Relearning(context)
        for _ in range(3):
            with suppress(StoreUnavailable, Refusal):
                with store.read() as reader:
                    fold = context.catalogue.fold(reader, context.catalogue.current(reader).model)
                if not relearning.resume():
                    relearning.relearn("probit-diag", {"appeal": True}, neutral_prior(fold.learner, fold.prior.dimensions))
        fresh = Catalogue()
        with store.read() as reader:
            for version, words in context.catalogue._vocabularies.items():
                assert fresh.vocabulary(reader, version) == words
            for model, fold in context.catalogue._folds.items():
                assert fresh.fold(reader, model).prior.to_bytes() == fold.prior.to_bytes()


def _about(tags: list[str]) -> Found:
    return {"name": "X", "born": "1990-01-01", "i_am": ["woman"], "i_look_for": ["man"], "tags": tags}


def _call(service: Served, method: str, path: str, body: Found | None = None) -> httpx.Response:
    return service.call(method, path, json=body)


def _tags(service: Served) -> list[str]:
    terms = _call(service, "GET", "/vocabulary").raise_for_status().json()["terms"]
    return [term["name"] for term in terms if term["is_tag"]]


def _everything(service: Served) -> Found:
    """The vocabulary, and a person with each of its last tags as the service tells of them."""
    tags = _tags(service)
    found: Found = {"vocabulary": tags}
    for place, tag in enumerate(tags[-5:]):
        _call(service, "PUT", f"/people/probe{place}", _about([tag])).raise_for_status()
        found[f"probe{place}"] = _call(service, "GET", f"/people/probe{place}").raise_for_status().json()["tags"]
        assert found[f"probe{place}"] == [tag]
    return found


def _stored(url: str, folder: Path) -> Found:
    """The same as a new process reads it."""
    settings = Settings.model_validate({"data": str(folder), "database": url})
    with closing(SqlStore(url)) as store, store.read() as reader:
        context = context_of(settings, store)
        words = context.catalogue.vocabulary(reader, context.catalogue.current(reader).vocabulary)
        found: Found = {"vocabulary": [term.name for term in words.terms if term.is_tag]}
        for place in range(min(5, len(found["vocabulary"]))):
            person = reader.get(Person, f"probe{place}")
            assert person is not None
            found[f"probe{place}"] = tags_of(person, words)[0]
    return found


@contextmanager
def _small_disk(folder: Path) -> Iterator[tuple[Path, Any, Any]]:
    """A folder, how to leave no room in it, and how to make some. Without the right to mount, a limit on the size of files."""
    disk, filler = folder / "disk", folder / "disk" / "filler"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(disk)]
    mounted = os.getuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0  # noqa: S603

    def fill(service: Served) -> None:
        if not mounted:
            largest = max(file.stat().st_size for file in disk.iterdir())
            service.limit(resource.RLIMIT_FSIZE, largest + (64 << 10))
            return
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    def free(service: Served) -> None:
        filler.unlink(missing_ok=True)
        if not mounted:
            service.limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)

    try:
        yield disk, fill, free
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=True)  # noqa: S603, S607
