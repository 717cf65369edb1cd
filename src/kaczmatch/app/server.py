"""`kaczmatch serve`: checks that it may start here, then hands over to uvicorn."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import tempfile
from collections.abc import Callable

import uvicorn

from kaczmatch.api.metrics import SHARED_FOLDER
from kaczmatch.app.asgi import create_app
from kaczmatch.app.composition import open_store
from kaczmatch.app.demo.key import NAME
from kaczmatch.app.logs import set_up_logs
from kaczmatch.core.errors import InvalidInput
from kaczmatch.service.domain.records import ServiceKey
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage import SqlStore

DRAIN_SECONDS = 30
TURN_SECONDS = 0.0005  # requests and commits take turns; with Python's own five milliseconds they wait for each other
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Run until a signal stops it. Requests in progress are answered first."""
    check(settings)
    settings = settings.model_copy(update={"port": free_port(settings.host, settings.port)})
    sys.setswitchinterval(TURN_SECONDS)
    announce(
        f"kaczmatch listens on http://{settings.host}:{settings.port}; its first start takes half a minute until it is ready"
    )
    options = {
        "host": settings.host,
        "port": settings.port,
        "access_log": False,
        "log_config": None,
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": DRAIN_SECONDS,
        "http": "httptools",
    }
    if settings.workers == 1:
        set_up_logs(settings.log_level)
        uvicorn.run(create_app(settings), **options)  # type: ignore[arg-type]
        return
    # What was chosen on the command line; the rest every process reads from the environment and the file itself.
    for name, value in settings.model_dump(mode="json", include={"data", "demo", "host", "port", "workers"}).items():
        os.environ[f"{PREFIX}{name.upper()}"] = "none" if value is None else str(value)
    with tempfile.TemporaryDirectory(prefix="kaczmatch-figures-") as folder:
        os.environ[SHARED_FOLDER] = folder
        uvicorn.run("kaczmatch.app.asgi:create", factory=True, workers=settings.workers, **options)  # type: ignore[arg-type]


def check(settings: Settings) -> None:
    """Refuse settings under which the service must not start."""
    if settings.workers > 1 and not settings.url.startswith("postgresql"):
        raise InvalidInput("workers", "more than one process needs PostgreSQL: a SQLite file has one writer")
    if settings.demo and settings.workers > 1:
        raise InvalidInput("demo", "runs in one process")
    if settings.demo and not is_loopback(settings.host):
        raise InvalidInput("demo", f"is for this machine alone, and {settings.host} is beyond it")
    if settings.workers > 1 or not is_loopback(settings.host):
        store = open_store(settings)  # each process would fail for itself, and be started again and again
        try:
            if not is_loopback(settings.host) and not has_key(store):
                problem = f"{settings.host} can be reached by others, and there is no key yet: run `kaczmatch keys create` first"
                raise InvalidInput("host", problem)
        finally:
            store.close()


def free_port(host: str, port: int) -> int:
    """The port itself if it can be listened on, or for 0 any that can; said now, before everything is loaded for nothing."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            return int(probe.getsockname()[1])
    except OSError as error:
        why = str(error.strerror).partition(" (")[0].lower()  # the rest repeats the address
        problem = f"{host}:{port} cannot be listened on ({why}); choose another with --port (0: any free one)"
        raise InvalidInput("port", problem) from None


def has_key(store: SqlStore) -> bool:
    with store.read() as reader:
        return any(key.revoked is None and key.name != NAME for key in reader.find(ServiceKey))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
