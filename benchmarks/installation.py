"""What an installation takes: `make serve` in a fresh clone, the thin client in an empty environment, and `kaczmatch --help`.

`make serve` is measured until the service answers, beside the last commit at which it installed everything. Packages are
fetched anew each time, so seconds say as much about the way to the package index as about kaczmatch. `--help` is processor
time, beside Python alone and the import of typer, one after another in turn.

    python benchmarks/installation.py [--times 20] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import pty
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kaczmatch.app.server import free_port
from kaczmatch.report.results import Table
from tables import add_out, tell

ROOT = Path(__file__).parents[1]
BEFORE = "bf0f591"  # the last commit at which `make serve` installed everything
PATIENCE = 900.0  # seconds
FRESH = os.environ | {"PIP_NO_CACHE_DIR": "1"}
FRESH.pop("PYTHONPATH", None)


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    return subprocess.run([str(word) for word in command], cwd=cwd, env=FRESH, check=True, capture_output=True, text=True).stdout  # noqa: S603


def served(what: str, commit: str, folder: Path) -> dict[str, Any]:
    """One row: a clone of a commit, from `make serve` until it answers."""
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, folder)
    run("git", "checkout", "--quiet", commit, cwd=folder)
    port = free_port("127.0.0.1", 0)
    begun, used = time.monotonic(), children_seconds()
    heard: list[tuple[float, str]] = [(begun, "")]
    terminal, there = pty.openpty()  # as a person meets it
    process = subprocess.Popen(
        ["make", "serve"],  # noqa: S607
        cwd=folder,
        env=FRESH | {"KACZMATCH_PORT": str(port)},
        stdout=there,
        stderr=there,
        start_new_session=True,
    )
    os.close(there)
    listening = threading.Thread(target=listen, args=(terminal, heard))
    listening.start()
    try:
        while not answers(port):
            if process.poll() is not None or time.monotonic() - begun > PATIENCE:
                raise SystemExit(f"make serve at {commit} did not start:\n{''.join(line for _, line in heard)}")
            time.sleep(0.2)
        seconds = time.monotonic() - begun
        time.sleep(1.0)  # for its last line
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        listening.join()
        used = children_seconds() - used
    times = [at for at, _ in heard if at <= begun + seconds] + [begun + seconds]
    return {
        "installed": what,
        "megabytes": megabytes(folder / ".venv"),
        "packages": len(list((folder / ".venv").glob("lib/python3*/site-packages/*.dist-info"))),
        "seconds until it answers": seconds,
        "processor seconds": used,
        "longest silence in seconds": max(after - at for at, after in itertools.pairwise(times)),
    }


def listen(terminal: int, heard: list[tuple[float, str]]) -> None:
    with contextlib.suppress(OSError), os.fdopen(terminal, errors="replace") as out:  # a terminal ends with an error
        heard.extend((time.monotonic(), line) for line in out)


def children_seconds() -> float:
    """Of the processor, for what has ended. Seconds of the clock say little on a machine that does other things too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health/ready", timeout=2.0) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False


def thin_client(folder: Path) -> dict[str, Any]:
    """The wheel with the extra `client`, in an environment that has nothing else."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    wheel = next(folder.glob("*.whl"))
    run(sys.executable, "-m", "venv", folder / "env")
    python, empty = folder / "env" / "bin" / "python", megabytes(folder / "env")
    begun = time.monotonic()
    run(python, "-m", "pip", "install", "-c", ROOT / "constraints.txt", f"{wheel}[client]")
    seconds = time.monotonic() - begun
    heavy = "{'numpy', 'scipy', 'numba', 'polars', 'pandas'} & set(sys.modules)"
    return {
        "wheel in kilobytes": wheel.stat().st_size / 1e3,
        "installed in megabytes": megabytes(folder / "env") - empty,
        "seconds": seconds,
        "packages": len(list((folder / "env").glob("lib/python3*/site-packages/*.dist-info"))) - 1,  # pip is there before
        "heavy imports": run(python, "-I", "-c", f"import sys, kaczmatch.client; print(len({heavy}))").strip(),
    }


def processor_milliseconds(command: Sequence[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})  # noqa: S603
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {command}")
    return 1e3 * (used.ru_utime + used.ru_stime)


def help_times(times: int) -> list[dict[str, Any]]:
    main = "import sys; from kaczmatch.cli.main import main; sys.argv[0] = 'kaczmatch'; main()"
    commands = {
        "python -c pass": ["-c", "pass"],
        "python -c 'import typer'": ["-c", "import typer"],
        "kaczmatch --version": ["-c", main, "--version"],
        "kaczmatch --help": ["-c", main, "--help"],
        "kaczmatch evaluate --help": ["-c", main, "evaluate", "--help"],
    }
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(times):
        for name, words in commands.items():
            found[name].append(processor_milliseconds([sys.executable, *words]))
    return [
        {"command": name, "median": statistics.median(taken), "least": min(taken), "most": max(taken)}
        for name, taken in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="runs of each command")
    add_out(parser)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kaczmatch-installation-"))
    try:
        (folder / "client").mkdir()
        tell(
            asked.out,
            Table("help", "Processor time in milliseconds", help_times(asked.times)),
            Table("client", "The thin client", [thin_client(folder / "client")]),
            Table(
                "serve",
                "make serve in a fresh clone",
                [served("the service alone", "HEAD", folder / "now"), served("everything, as before", BEFORE, folder / "before")],
            ),
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
