"""A Ray cluster of several nodes on this machine, as small as it gets."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "memory": 4 * 2**30, "include_dashboard": False}
_QUIET = {
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
    "PYTHONPATH": str(Path(__file__).parents[1]),
}


@contextmanager
def ray_cluster(nodes: int) -> Iterator[Any]:
    """The driver's own node has no core, so that any other node may be killed."""
    before = {name: os.environ.get(name) for name in _QUIET}
    os.environ |= _QUIET
    import ray
    from ray.cluster_utils import Cluster

    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
    Path(tempfile.gettempdir(), "ray").mkdir(exist_ok=True)  # where Ray notes the address, wherever its files are
    cluster = Cluster(initialize_head=True, head_node_args=_NODE | {"num_cpus": 0, "temp_dir": folder})
    try:
        for _ in range(nodes):
            cluster.add_node(**{name: value for name, value in _NODE.items() if name != "include_dashboard"})
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
