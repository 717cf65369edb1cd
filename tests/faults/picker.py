"""Makes or publishes picks until it is killed: says when it has begun, and then waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from kaczmatch.app.composition import context_of
from kaczmatch.cli.operate.picks import PicksOptions, run
from kaczmatch.recommend.picks import tiles
from kaczmatch.service.operations import picks_job
from kaczmatch.service.operations.picks_job import PicksJob
from kaczmatch.service.operations.picks_progress import PicksProgress
from kaczmatch.settings.model import Settings
from kaczmatch.storage import SqlStore


def options(file: Path | None) -> PicksOptions:
    return PicksOptions(
        ray=None,
        file=file,
        size=3,
        assignment="top",
        assignment_settings=None,
        longest=20,
        profiles=None,
        swipes=None,
        device="cpu",
        workers=1,
        publish=False,
        force=False,
    )


def and_wait(act: Callable[..., Any], calls: int) -> Callable[..., Any]:
    """`act`, and after so many calls nothing more."""
    made = 0

    def call(*given: Any, **how: Any) -> Any:
        nonlocal made
        result = act(*given, **how)
        made += 1
        if made == calls:
            print("begun", flush=True)
            time.sleep(600)
        return result

    return call


def main() -> None:
    job, data = sys.argv[1], Path(sys.argv[2])
    if job == "make":
        tiles._PAIRS_PER_PART = 1
        PicksProgress.save = and_wait(PicksProgress.save, 2)  # type: ignore[method-assign]
        run(None, options(data / "picks.parquet"))
    else:
        picks_job._USERS = picks_job._IN_FLIGHT = 1
        settings = Settings(data=data)
        with closing(SqlStore(settings.url)) as store:
            PicksJob(context_of(settings, store)).publish([("p0", [("p3", 0.5)])] * 50, "top", and_wait(lambda *_: None, 5))


if __name__ == "__main__":
    main()
