"""What routes get from the application: the use cases, and how the process does.

The framework would call a function that is not `async` in a thread of the pool that routes share, and wait until one is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from fastapi import Request

from kaczmatch.service.use_cases import UseCases


@final
@dataclass(frozen=True, slots=True)
class ProcessState:
    """Whether this process can serve, and which keys this machine alone may use."""

    not_ready_reason: Callable[[], str]  # why requests cannot be served yet; empty: they can
    unhealthy_reason: Callable[[], str]  # why another process should be asked instead; empty: all is well
    loopback_keys: frozenset[str]


async def use_cases(request: Request) -> UseCases:
    found: UseCases = request.app.state.use_cases
    return found


async def process_state(request: Request) -> ProcessState:
    found: ProcessState = request.app.state.process
    return found
