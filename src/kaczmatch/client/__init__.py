"""A typed client of the HTTP API, to call at once (`Client`) or to await (`AsyncClient`)."""

from kaczmatch.client.clients import AsyncClient, Client
from kaczmatch.client.problems import (
    Changed,
    Conflict,
    Denied,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    TooMany,
    Unavailable,
    Unreachable,
)
from kaczmatch.client.retrying import Patience

__all__ = [
    "AsyncClient",
    "Changed",
    "Client",
    "Conflict",
    "Denied",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Patience",
    "Problem",
    "TooMany",
    "Unavailable",
    "Unreachable",
]
