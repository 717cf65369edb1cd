"""Which pages a system has: those of the demo on this machine alone."""

from __future__ import annotations

from fastapi import APIRouter

from kaczmatch.settings.model import Settings
from kaczmatch.web.demo import SWIPE
from kaczmatch.web.pages import Page, Site


def pages_of(settings: Settings) -> tuple[APIRouter, ...]:
    pages: list[Page] = []
    if settings.demo:
        pages.append(SWIPE)
    return (Site(pages).router(),) if pages else ()
