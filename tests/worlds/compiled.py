"""Compiles all kernels, and imports every module so that its bytecode is kept: for all processes of the tests, once.

`make test` runs it while the rest is installed and checked.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import kaczmatch
from kaczmatch.app.warm_up import warm_up
from kaczmatch.recommend.assignments.registry import ASSIGNMENTS
from kaczmatch.settings.model import Settings

LAST = "surplus_kernel.*.nbi"


def compile_all() -> None:
    """Unless it was done by a run before: some are compiled as they are imported, the last one here."""
    if any(Path(kaczmatch.__path__[0]).rglob(LAST)):
        return
    for module in walk_packages(kaczmatch.__path__, "kaczmatch."):
        if not module.name.endswith("__main__") and not {"versions", "cuda"} & set(module.name.split(".")):
            try:
                import_module(module.name)
            except ModuleNotFoundError:  # what needs more than the service is installed at this moment
                continue
    warm_up(Settings())
    for rule in ASSIGNMENTS:
        warm_up(Settings(picks_hour=0, picks_assignment=rule))


if __name__ == "__main__":
    compile_all()
