"""A typed client of the HTTP API: `Client` blocks, `AsyncClient` is awaited. Both return the models of `kaczmatch.schemas`."""

from kaczmatch.extras import missing_extra

try:
    import httpx as _httpx  # noqa: F401
    import pydantic as _pydantic  # noqa: F401
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

from kaczmatch.client.clients import AsyncClient, Client
from kaczmatch.client.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitError,
    ServiceUnavailableError,
    ServiceUnreachableError,
    UnauthorizedError,
)
from kaczmatch.client.retries import RetryPolicy

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "ConflictError",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "PreconditionFailedError",
    "RateLimitError",
    "RetryPolicy",
    "ServiceUnavailableError",
    "ServiceUnreachableError",
    "UnauthorizedError",
]
