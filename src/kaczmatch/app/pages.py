"""Which pages a system has: those of the demo on this machine alone, the console everywhere."""

from __future__ import annotations

from fastapi import APIRouter, Request

from kaczmatch.api.address_shares import client_address
from kaczmatch.api.authentication import is_local, wrong_credentials
from kaczmatch.app.demo.routes import check_local
from kaczmatch.app.system import System
from kaczmatch.service.access.console_sessions import ConsoleSessions
from kaczmatch.service.access.credentials import Caller
from kaczmatch.web.api_reference import REFERENCE, reference_router
from kaczmatch.web.console import CONSOLE, Console
from kaczmatch.web.lab import LAB, lab_router
from kaczmatch.web.pages import Site
from kaczmatch.web.reproduction_report import ReproductionReport
from kaczmatch.web.swipe import SWIPE


def pages_of(system: System) -> tuple[Site, tuple[APIRouter, ...]]:
    settings = system.settings
    report = ReproductionReport(settings.data)
    pages = [SWIPE, LAB, CONSOLE, REFERENCE] if settings.demo else [CONSOLE, REFERENCE]
    demo_key = settings.data / "demo-key" if settings.demo else None
    site = Site(pages, demo_key=demo_key)

    def admits(request: Request, caller: Caller) -> bool:
        return caller.key not in system.process.loopback_keys or is_local(request)

    async def hold_back(request: Request) -> None:
        await wrong_credentials(request).hold_back(client_address(request.scope))

    console = Console(site, ConsoleSessions(system.use_cases.credentials), admits, is_local, hold_back)
    routers = (site.router(), console.router(), reference_router(site))
    return site, (*routers, lab_router(site, report, check_local)) if settings.demo else routers
