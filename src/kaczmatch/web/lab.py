"""The lab page: several learners learn from the swipes of one simulated person, and their curves grow.

A run has a few hundred swipes. It is traced as a whole when it is first requested, and sent in segments.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, final

import numpy as np
from fastapi import APIRouter, Depends, Request, Response
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from scipy.special import stdtrit
from starlette.concurrency import run_in_threadpool

from kaczmatch.core.vectors import Matrix, Vector
from kaczmatch.learners.registry import learner
from kaczmatch.simulation.metrics import alignment, unseen_auc
from kaczmatch.simulation.trace import priors_of, trace
from kaczmatch.simulation.world import HONEST, PAPER, Condition, World, world
from kaczmatch.web.lab_market import MARKET_VALUES, MarketCurve, MarketRequest, market_curve
from kaczmatch.web.pages import Site, SitePage, headers_of
from kaczmatch.web.reproduction_report import ReproductionReport

Slug = Literal["probit", "probit-diag", "logistic", "tk", "nk", "block-nk", "rocchio", "all-ones"]

LEARNERS: Final[dict[Slug, tuple[str, str]]] = {
    "probit": ("probit", "a belief with its covariance"),
    "probit-diag": ("probit-diag", "a belief tag by tag; the service's own"),
    "logistic": ("logistic", "gradient steps on log-odds"),
    "tk": ("tk", "damped projections (paper)"),
    "nk": ("nk", "normalised projections (paper)"),
    "block-nk": ("block-nk", "projections on blocks (paper’s best)"),
    "rocchio": ("rocchio", "mean of likes minus mean of passes"),
    "all-ones": ("all-ones", "learns nothing"),
}
SELECTED: Final = ("probit", "probit-diag", "tk", "block-nk", "all-ones")
CONDITIONS: Final[dict[str, Condition]] = {"paper": PAPER, "honest": HONEST}
SESSIONS, PEOPLE, STEP = 20, 2_000, 8  # AUC is taken every so many swipes
TOTAL: Final = SESSIONS * PAPER.deck
_SEGMENT = 128  # swipes per response

_VALUES: Final = {"learners": LEARNERS, "selected": SELECTED, "total": TOTAL, **MARKET_VALUES}
LAB: Final = SitePage("/lab", "lab.html.j2", "Lab", _VALUES, cached=False)


class LabRequest(BaseModel):
    """Which segment of which run. The same request has the same response."""

    model_config = ConfigDict(extra="forbid")

    learners: list[Slug] = Field(min_length=1, max_length=len(LEARNERS))
    condition: Literal["paper", "honest"]
    noise: float = Field(ge=0.0, le=0.5, description="Label noise: the probability that a swipe says the opposite.")
    seed: int = Field(ge=0, le=9_999)
    people: Literal[1, 20] = 1
    first: int = Field(ge=0, lt=TOTAL)
    last: int = Field(gt=0, le=TOTAL)


class LabCurve(BaseModel):
    """One learner's values. The first segment has one more: before the first swipe."""

    alignment: list[float]  # after each swipe of the segment
    auc: list[tuple[int, float]]  # after some swipes, with their numbers
    alignment_within: list[float]  # half the width of a 95 % interval of each mean; none for one person
    auc_within: list[float]


class LabSegment(BaseModel):
    """Some swipes of the first person, and the learners' curves over them."""

    liked: list[bool]
    flipped: list[bool]  # label noise: the opposite of what the person feels
    curves: dict[Slug, LabCurve]


@final
@dataclass(frozen=True, slots=True, eq=False)
class LabRun:
    """One learner's whole curves: means over people, beginning before the first swipe."""

    alignment: Vector
    auc: Vector
    alignment_within: Vector  # half the width of a 95 % interval of the mean; nothing for one person
    auc_within: Vector
    labels: NDArray[np.int8]


_one_run_at_a_time = threading.Lock()


def segment(asked: LabRequest) -> LabSegment:
    last = min(asked.last, asked.first + _SEGMENT)
    with _one_run_at_a_time:
        here = _world(asked.condition, round(asked.noise, 2), asked.seed, asked.people)
        runs = {slug: _run(slug, here) for slug in asked.learners}
    some = next(iter(runs.values()))
    part = slice(asked.first, last)
    return LabSegment(
        liked=(some.labels[part] > 0).tolist(),
        flipped=(here.turned[0, part] == 1).tolist(),
        curves={slug: _cut(run, asked.first, last) for slug, run in runs.items()},
    )


def lab_router(site: Site, report: ReproductionReport, local: Callable[[Request], None]) -> APIRouter:
    """`local` refuses requests from other machines."""
    router = APIRouter(prefix=LAB.path, include_in_schema=False, dependencies=[Depends(local)])

    @router.get("", response_model=None)
    async def page() -> Response:
        return Response(site.render(LAB, report=report), 200, headers_of(LAB), "text/html; charset=utf-8")

    @router.post("/run", response_model=LabSegment)
    async def run(asked: LabRequest) -> LabSegment:
        return await run_in_threadpool(segment, asked)

    @router.post("/market", response_model=MarketCurve)
    async def market(asked: MarketRequest) -> MarketCurve:
        return await run_in_threadpool(market_curve, asked)

    @router.get("/report", response_model=None)
    async def show_report() -> Response:
        return await run_in_threadpool(report.response)

    return router


@lru_cache(maxsize=8)
def _world(condition: str, noise: float, seed: int, people: int) -> World:
    return world(replace(CONDITIONS[condition], label_noise=noise, users=people, sessions=SESSIONS, people=PEOPLE), seed)


@lru_cache(maxsize=64)  # worlds compare by identity, so runs of a forgotten world are never found
def _run(slug: Slug, here: World) -> LabRun:
    rule, times = learner(slug), list(range(STEP, TOTAL + 1, STEP))
    traced = trace(rule, here, times)
    # Learners start differently: all-ones takes no prior.
    start = np.array([rule.weights(rule.start(prior).cells, prior.dimensions) for prior in priors_of(rule, here)])
    aligned = np.column_stack([alignment(start, here.tastes[0]), traced.alignment])
    known = [start, *(traced.weights(time) for time in times)]
    area = np.column_stack([unseen_auc(weights, here, 1) for weights in known])  # tastes do not drift here
    return LabRun(aligned.mean(axis=0), area.mean(axis=0), _within(aligned), _within(area), traced.labels[0])


def _within(values: Matrix) -> Vector:
    """Half the width of a 95 % interval of the mean over people, by Student's t."""
    people = len(values)
    if people < 2:
        return np.empty(0)
    return np.asarray(stdtrit(people - 1, 0.975) * values.std(axis=0, ddof=1) / math.sqrt(people))


def _cut(run: LabRun, first: int, last: int) -> LabCurve:
    times = range(first + (first > 0), last + 1)
    aligned = [round(float(run.alignment[time]), 4) for time in times]
    area = [(time, round(float(run.auc[time // STEP]), 4)) for time in times if time % STEP == 0]
    some = [time for time in times if time % STEP == 0]
    return LabCurve(
        alignment=aligned,
        auc=area,
        alignment_within=[round(float(run.alignment_within[time]), 4) for time in times if len(run.alignment_within)],
        auc_within=[round(float(run.auc_within[time // STEP]), 4) for time in some if len(run.auc_within)],
    )
