"""Parts on the nodes of a Ray cluster. Ray runs a part again when its node dies, and makes a result again that died with one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar, final

import kaczmatch
from kaczmatch.runner.contract import Runner, in_order
from kaczmatch.runner.memory import limited
from kaczmatch.runner.processes import TRIES, died

P = TypeVar("P")
R = TypeVar("R")


def _ray() -> Any:
    """Imported when a cluster is used, because it is large and not always there."""
    return import_module("ray")


@final
class RayRunner(Runner):
    """One part per core of the cluster at `address`, as `ray.init` takes it: auto, HOST:PORT or ray://HOST:PORT.

    Every node needs the same version of kaczmatch and reaches the same files.
    """

    def __init__(self, address: str) -> None:
        ray = _ray()
        if not ray.is_initialized():
            try:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise ConnectionError(f"there is no Ray cluster at {address}: {str(error).splitlines()[0]}") from None

    @property
    def workers(self) -> int:
        ray = _ray()
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def results(self, function: Callable[[P], R], parts: Iterable[P], *, memory: int = 0) -> Generator[R]:
        ray = _ray()
        most = max((node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"]), default=0)
        if memory > most:  # Ray would wait for such a node
            raise OSError(
                f"a part takes {memory / 2**20:,.0f} MiB, and the largest node of the cluster has {most / 2**20:,.0f} MiB"
            )
        shared = [ray.put(function)]  # in a list, so that Ray does not read it anew for each part
        run = ray.remote(_run).options(num_cpus=1, memory=memory or None, max_retries=TRIES)
        begun: list[Any] = []

        def begin(part: P) -> Callable[[], R]:
            task = run.remote(shared, part, memory, kaczmatch.__version__)
            begun.append(task)

            def result() -> R:
                begun.remove(task)
                found: R = _result(task, part, memory)
                return found

            return result

        try:
            yield from in_order(begin, parts, 2 * self.workers)
        finally:
            for task in begun:
                ray.cancel(task, force=True)


def _result(task: Any, part: object, memory: int) -> Any:
    ray = _ray()
    try:
        return ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # as if it had happened here
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError):
        raise ChildProcessError(died(part, memory)) from None


def _run(shared: Sequence[Any], part: P, memory: int, version: str) -> Any:
    if kaczmatch.__version__ != version:
        raise RuntimeError(f"a node of the cluster has kaczmatch {kaczmatch.__version__}, and the job was started with {version}")
    function = _function(shared[0])
    with limited(memory):
        return function(part)


@lru_cache(1)
def _function(reference: Any) -> Any:
    """Read once per process: what the function has worked out for one part serves the next."""
    return _ray().get(reference)
