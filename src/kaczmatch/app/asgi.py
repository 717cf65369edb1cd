"""The ASGI application of a system, made once in every process."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.concurrency import run_in_threadpool

from kaczmatch import __version__
from kaczmatch.api.application import RequestLimits, application
from kaczmatch.app.composition import open_store
from kaczmatch.app.demo.setup import add_demo
from kaczmatch.app.logs import set_up_logs_of
from kaczmatch.app.pages import pages_of
from kaczmatch.app.shared_socket import SharingLoop
from kaczmatch.app.system import System, compose
from kaczmatch.app.system_metrics import watch_system
from kaczmatch.settings.model import Settings
from kaczmatch.settings.reading import read
from kaczmatch.web.not_found import show_not_found

TURN_SECONDS = 0.0005  # requests and commits take turns; with Python's own five milliseconds they wait for each other
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


def create() -> FastAPI:
    """For uvicorn, in every worker: everything from the environment."""
    sys.setswitchinterval(TURN_SECONDS)
    threading.Thread(target=_end_with_parent, name="kaczmatch parent", daemon=True).start()
    settings = read()
    set_up_logs_of(settings)
    return create_app(settings)


def _end_with_parent() -> None:
    """A process whose parent was killed would serve on with nobody in charge, and keep the port from the next start."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def create_app(settings: Settings) -> FastAPI:
    # FastAPI silences this one for a moment at a time, which is undone while another thread compiles: numba does the same.
    warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)
    system = compose(settings, open_store(settings))
    routers = add_demo(system) if settings.demo else ()
    return app_of(system, routers=routers)


def app_of(system: System, *, routers: Iterable[APIRouter] = ()) -> FastAPI:
    """The application of a composed system, which it starts and stops."""
    settings = system.settings

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        del app
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        loop = asyncio.get_running_loop()
        if isinstance(loop, SharingLoop):  # connections go to the processes that are ready; one that starts takes none from them
            loop.started = system.health.started
        system.start()
        yield
        await run_in_threadpool(system.stop)

    limits = RequestLimits(
        body=settings.body_limit,
        upload=settings.upload_limit,
        in_progress=settings.waiting_limit,
        decks=settings.deck_limit,
        share=settings.address_share,
        wrong_credentials=settings.wrong_keys_a_minute,
        origins=settings.cors_origins,
        hosts=LOOPBACK_NAMES if settings.demo else frozenset(),
    )
    site, pages = pages_of(system)
    app = application(
        system.use_cases,
        system.process,
        limits,
        routers=routers,
        pages=pages,
        lifespan=lifespan,
        version=__version__,
    )
    show_not_found(app, site)
    app.state.system = system
    system.on_webhook.append(app.state.metrics.count_webhook)
    watch_system(app.state.metrics, system)
    return app
