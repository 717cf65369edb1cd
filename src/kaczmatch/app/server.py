"""`kaczmatch serve`: checks that it may start here, then hands over to uvicorn."""

from __future__ import annotations

import ipaddress
import logging
import os
import resource
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn

from kaczmatch.api.metrics import SHARED_FOLDER
from kaczmatch.app.asgi import TURN_SECONDS, create_app
from kaczmatch.app.composition import open_store, service_config_of, webhook_sender_of
from kaczmatch.app.connections import ConnectionLimits, Connections
from kaczmatch.app.demo.key import NAME
from kaczmatch.app.first_vocabulary import first_vocabulary
from kaczmatch.app.health import ProcessHealth
from kaczmatch.app.http_protocol import LimitedHttpProtocol
from kaczmatch.app.logs import log_file, set_up_logs_of
from kaczmatch.core.errors import InvalidInput
from kaczmatch.recommend.people.schema import Schema
from kaczmatch.service.domain.catalogue import model_learner
from kaczmatch.service.domain.records import Person, ServiceKey
from kaczmatch.service.operations.models import check_learner
from kaczmatch.settings.model import PREFIX, Settings
from kaczmatch.storage.sql import SqlReader, looked_at

DRAIN_SECONDS = 30
PATIENCE = 2.0  # seconds of silence, then people want to know what is being done
SLOW_STEPS = {"compiling kernels": ", once per installation, which takes half a minute"}
OTHER_FILES = 256  # that a process has open beside connections: databases, logs, imports
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Run until a signal stops it. Requests in progress are answered first."""
    check(settings)
    settings = settings.model_copy(update={"port": free_port(settings.host, settings.port)})
    sys.setswitchinterval(TURN_SECONDS)
    if (file := log_file(settings)) is not None:
        announce(f"Log lines go to {file} (--log json: to standard error)")
    options = uvicorn_options(settings)
    set_up_logs_of(settings)
    if settings.workers == 1:
        app = create_app(settings)
        threading.Thread(target=announce_start, args=(settings, announce, app.state.system.health), daemon=True).start()
        uvicorn.run(app, **options)
        return
    if settings.url.startswith("sqlite"):
        # Tables are made here: processes that made them at the same moment would be in each other's way.
        open_store(settings).close()
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)  # which says when a process has died
    announce(f"Starting {settings.workers} processes; the first start of an installation compiles kernels for half a minute …")
    threading.Thread(target=announce_start, args=(settings, announce), daemon=True).start()
    # What was chosen on the command line; the rest every process reads from the environment and the file itself.
    for name, value in settings.model_dump(mode="json", include={"data", "demo", "host", "log", "port", "workers"}).items():
        os.environ[f"{PREFIX}{name.upper()}"] = "none" if value is None else str(value)
    with tempfile.TemporaryDirectory(prefix="kaczmatch-figures-") as folder:
        os.environ[SHARED_FOLDER] = folder
        create, loop = "kaczmatch.app.asgi:create", "kaczmatch.app.shared_socket:SharingLoop"
        uvicorn.run(create, factory=True, workers=settings.workers, loop=loop, **options)


def uvicorn_options(settings: Settings) -> dict[str, Any]:
    """How uvicorn is run. Each process gets its own copy of the connections, which is empty at the start."""
    limits = ConnectionLimits(
        connections=allowed_connections(settings.connection_limit),
        share=settings.address_share,
        header_bytes=settings.header_limit,
        head_seconds=settings.head_seconds,
        body_seconds=settings.body_seconds,
        idle_seconds=settings.idle_seconds,
        proxies=tuple(map(ipaddress.ip_network, settings.trusted_proxies)),
    )
    return {
        "host": settings.host,
        "port": settings.port,
        "access_log": False,
        "log_config": None,
        "proxy_headers": bool(settings.trusted_proxies),
        "forwarded_allow_ips": list(settings.trusted_proxies),
        "server_header": False,
        "timeout_keep_alive": settings.idle_seconds,
        "timeout_graceful_shutdown": DRAIN_SECONDS,
        "http": partial(LimitedHttpProtocol, Connections(limits)),
        "ws": "none",
    }


def allowed_connections(wanted: int) -> int:
    """As many as this process may have open. It asks the system for more first, because many start with 1,024 files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted + OTHER_FILES if hard == resource.RLIM_INFINITY else min(wanted + OTHER_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(2, min(wanted, most - OTHER_FILES))


def announce_start(
    settings: Settings, announce: Callable[[str], None], health: ProcessHealth | None = None, patience: float = PATIENCE
) -> None:
    """Say what takes long, and when the service is ready. Several processes listen only once they are ready."""
    said = ""
    while health is not None and not health.started.wait(patience):
        if health.step != said:
            said = health.step
            announce(f"Starting: {said}{SLOW_STEPS.get(said, '')} …")
    if health is not None and not health.ready.is_set():
        announce(f"Not ready: {health.step}")
        return
    ready = f"Ready: open http://{f'[{settings.host}]' if ':' in settings.host else settings.host}:{settings.port}"
    when_listening(settings.host, settings.port, partial(announce, ready))


def when_listening(host: str, port: int, then: Callable[[], None], pause: float = 0.1) -> None:
    """Wait until a connection is accepted. With several processes that is the first one to listen."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    while True:
        try:
            socket.create_connection((reachable, port), timeout=1.0).close()
        except OSError:
            time.sleep(pause)
        else:
            then()
            return


def check(settings: Settings) -> None:
    """Refuse settings under which the service must not start, or cannot. Nothing is made or changed here."""
    config = service_config_of(settings)
    first_vocabulary(settings, config.schema)
    check_learner(model_learner(settings.learner, settings.learner_settings), config)
    if settings.webhook_url is not None:
        webhook_sender_of(settings)
    if settings.demo and settings.workers > 1:
        raise InvalidInput("demo", "runs in one process")
    if settings.demo and not is_loopback(settings.host):
        raise InvalidInput("demo", f"is for this machine alone, and {settings.host} is beyond it")
    _check_writable("data", settings.data)
    if settings.url.startswith("sqlite"):
        _check_writable("database", Path(settings.url.partition(":///")[2]))
    with looked_at(settings.url) as stored:
        if stored is not None:
            _check_stored_kinds(stored, config.schema)
        if not is_loopback(settings.host) and not (stored is not None and has_key(stored)):
            problem = f"{settings.host} can be reached by others, and there is no key yet: run `kaczmatch keys create` first"
            raise InvalidInput("host", problem)


def _check_writable(name: str, path: Path) -> None:
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not os.access(there, os.W_OK) or (there != path and not there.is_dir()):
        raise InvalidInput(name, f"{path} cannot be written: {there} is not a folder, or not writable")


def _check_stored_kinds(stored: SqlReader, schema: Schema) -> None:
    """Nobody could be loaded whose kind the settings do not have any more."""
    used = {kind for both in stored.distinct(Person, "i_am", "i_look_for") for kinds in both for kind in kinds}
    if unknown := sorted(used - set(schema.kinds)):
        problem = f"stored profiles name {', '.join(map(repr, unknown))}: keep it among the kinds, or change those profiles first"
        raise InvalidInput("kinds", problem)


def free_port(host: str, port: int) -> int:
    """The port itself if it can be listened on, or for 0 any that can; said now, before everything is loaded for nothing."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            return int(probe.getsockname()[1])
    except OSError as error:
        why = str(error.strerror).partition(" (")[0].lower()  # the rest repeats the address
        problem = f"{host}:{port} cannot be listened on ({why}); choose another with --port (0: any free one)"
        raise InvalidInput("port", problem) from None


def has_key(stored: SqlReader) -> bool:
    return any(key.revoked is None and key.name != NAME for key in stored.find(ServiceKey))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
