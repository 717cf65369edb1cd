"""Where users start: the expected weight of each tag before the first swipe, with a version."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, as_vector, check_vector, read_only

# A user of the paper likes what has a cosine of at least 0.52 to a 0/1 taste of d/2 tags. With weights of 1 on average (0 or 2
# a tag) that taste has length 2√(d/2) = √2·‖weights‖, hence the threshold of a prior that states none.
PAPER_COSINE = 0.52

_LARGEST = 1e6  # of a threshold or a variance, in units where a tag weighs about one

_MAGIC = b"kp"
_FORMAT = 2  # 1 did not say how many tags came later
# magic, format, bytes of the version, tags, how many of them came later, whether a covariance follows; then version, threshold,
# appeal, ε (-1: none), weights
_HEADER = struct.Struct("<2sBBIIB")
_CHECKSUM = struct.Struct("<I")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The expected weight of each tag and, for belief learners, threshold, appeal weight, covariance and label noise.

    ``version`` names the prior in stored states and events. A prior made from a plain vector has none and is stored inside each
    state. ``covariance`` is over (tags, threshold, appeal), so (d + 2) x (d + 2). ``added_tags`` counts the tags at the end that
    a growing vocabulary added.
    """

    weights: Vector
    version: str = ""
    threshold: float | None = None
    appeal: float = 0.0
    covariance: Matrix | None = None
    label_noise: float | None = None
    added_tags: int = 0
    fingerprint: int = field(init=False, repr=False)  # tells apart priors that go by the same version

    def __post_init__(self) -> None:
        weights = read_only(check_vector(as_vector(self.weights, "prior"), "prior").copy())
        if not weights.size:
            raise InvalidInput("prior", "must have at least one tag")
        object.__setattr__(self, "weights", weights)
        if not isinstance(self.version, str) or len(self.version.encode()) > 200:
            raise InvalidInput("version", f"must be a text of at most 200 bytes, got {self.version!r}")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", check_number("threshold", self.threshold, low=-_LARGEST, high=_LARGEST))
        object.__setattr__(self, "appeal", check_number("appeal", self.appeal, low=-_LARGEST, high=_LARGEST))
        if self.covariance is not None:
            object.__setattr__(self, "covariance", read_only(self._checked_covariance(self.covariance)))
        if self.label_noise is not None:
            object.__setattr__(self, "label_noise", check_number("label_noise", self.label_noise, low=1e-9, high=0.499))
        check_integer("added_tags", self.added_tags, low=0, high=self.dimensions)
        says_more = (
            self.appeal
            or self.added_tags
            or any(each is not None for each in (self.threshold, self.covariance, self.label_noise))
        )
        if not self.version and says_more:
            raise InvalidInput("version", "a prior that says more than its weights needs a version")
        object.__setattr__(self, "fingerprint", zlib.crc32(self._content()))

    def _checked_covariance(self, value: ArrayLike) -> Matrix:
        covariance = as_matrix(value, "covariance").copy()
        side = self.dimensions + 2
        if covariance.shape != (side, side):
            raise InvalidInput("covariance", f"must be {side} x {side} (tags, threshold, appeal), got {covariance.shape}")
        if not np.isfinite(covariance).all() or not np.array_equal(covariance, covariance.T):
            raise InvalidInput("covariance", "must be finite and symmetric")
        variances = np.linalg.eigvalsh(covariance)
        if not (variances[0] >= 1.0 / _LARGEST and variances[-1] <= _LARGEST):
            raise InvalidInput(
                "covariance", f"must be positive definite, its eigenvalues between {1 / _LARGEST:g} and {_LARGEST:g}"
            )
        return covariance

    def _content(self) -> bytes:
        parts = [
            np.array([self.effective_threshold, self.appeal, -1.0 if self.label_noise is None else self.label_noise]),
            self.weights,
        ]
        if self.covariance is not None:
            parts.append(self.covariance[np.tril_indices(len(self.covariance))])
        return b"".join(part.astype("<f8").tobytes() for part in parts)

    def with_content_version(self, name: str) -> Prior:
        """The same prior under a version made of `name` and a hash of its content: equal priors have equal versions."""
        version = f"{name}-{hashlib.sha256(self._content()).hexdigest()[:12]}"
        return replace(self, version=version, threshold=self.effective_threshold)

    def to_bytes(self) -> bytes:
        """The prior as bytes; :meth:`from_bytes` is the way back."""
        version = self.version.encode()
        header = _HEADER.pack(_MAGIC, _FORMAT, len(version), self.dimensions, self.added_tags, self.covariance is not None)
        body = header + version + self._content()
        return body + _CHECKSUM.pack(zlib.crc32(body))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Prior:
        """The prior that :meth:`to_bytes` wrote."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InvalidInput("prior", f"must be bytes, got {type(data).__name__}")
        data = bytes(data)
        if len(data) < _HEADER.size + _CHECKSUM.size or data[:2] != _MAGIC:
            raise InvalidInput("prior", "these bytes are not a kaczmatch prior")
        if data[2] not in (1, _FORMAT):
            raise InvalidInput("prior", f"stored in format {data[2]}, this release reads formats 1 to {_FORMAT}")
        body, checksum = data[: -_CHECKSUM.size], data[-_CHECKSUM.size :]
        if _CHECKSUM.pack(zlib.crc32(body)) != checksum:
            raise InvalidInput("prior", "these bytes were damaged or cut short: the checksum does not fit")
        if data[2] == 1:  # nothing came later
            body = body[:8] + bytes(4) + body[8:]
        _, _, length, d, later, with_covariance = _HEADER.unpack_from(body)
        version = body[_HEADER.size : _HEADER.size + length].decode()
        numbers = np.frombuffer(body[_HEADER.size + length :], "<f8").astype(np.float64)
        threshold, appeal, label_noise = numbers[:3].tolist()
        weights, lower = numbers[3 : d + 3], numbers[d + 3 :]
        if not version:  # a plain vector says its weights only
            return cls(weights)
        covariance = None
        if with_covariance:
            covariance = np.empty((d + 2, d + 2))
            rows, columns = np.tril_indices(d + 2)
            covariance[rows, columns] = covariance[columns, rows] = lower
        return cls(weights, version, threshold, appeal, covariance, None if label_noise < 0.0 else label_noise, later)

    @classmethod
    def ones(cls, dimensions: int) -> Prior:
        """A weight of one for every tag: the neutral start where nothing is known."""
        return cls(np.ones(check_integer("dimensions", dimensions, low=1, high=10**6)), version=f"ones-{dimensions}")

    @classmethod
    def from_version(cls, version: str) -> Prior | None:
        """The prior that its version alone determines, `Prior.ones`; None for any other."""
        name, _, dimensions = version.partition("-")
        return cls.ones(int(dimensions)) if name == "ones" and dimensions.isdecimal() and int(dimensions) > 0 else None

    @classmethod
    def of(cls, prior: Prior | ArrayLike) -> Prior:
        """`prior` itself, or a plain vector of weights as a prior."""
        return prior if isinstance(prior, Prior) else cls(as_vector(prior, "prior"))

    @property
    def dimensions(self) -> int:
        return len(self.weights)

    @property
    def effective_threshold(self) -> float:
        """The given threshold, or the paper's for a taste of this length."""
        if self.threshold is not None:
            return self.threshold
        return -PAPER_COSINE * math.sqrt(2.0) * float(np.linalg.norm(self.weights))

    @property
    def original_tags(self) -> int:
        """The number of tags when the threshold was set."""
        return self.dimensions - self.added_tags

    def grown(self, dimensions: int) -> Prior:
        """This prior with new tags. It expects each to be like the average tag, and independent of the others."""
        new = check_integer("dimensions", dimensions, low=1, high=10**6) - self.dimensions
        if new < 0:
            raise InvalidInput("dimensions", f"cannot shrink from {self.dimensions} to {dimensions} tags")
        return _grown(self, dimensions) if new else self


@lru_cache(64)  # a whole population grows from the same few
def _grown(prior: Prior, dimensions: int) -> Prior:
    new = dimensions - prior.dimensions
    weights = np.concatenate([prior.weights, np.full(new, prior.weights.mean())])
    covariance = None
    if prior.covariance is not None:
        old = np.r_[: prior.dimensions, dimensions, dimensions + 1]
        covariance = np.zeros((dimensions + 2, dimensions + 2))
        covariance[np.ix_(old, old)] = prior.covariance
        added = np.arange(prior.dimensions, dimensions)
        covariance[added, added] = np.diag(prior.covariance)[: prior.dimensions].mean()
    # The threshold belongs to the users, not to the vocabulary: new tags do not move it.
    version, later = f"{prior.version}+{new}", prior.added_tags + new
    return Prior(weights, version, prior.effective_threshold, prior.appeal, covariance, prior.label_noise, later)
