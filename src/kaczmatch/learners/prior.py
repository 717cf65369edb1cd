"""Where users start: the expected weight of each tag before the first swipe, with a version."""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from kaczmatch.core.compiled import add_scaled, compiled, dot
from kaczmatch.core.errors import InvalidInput, check_integer, check_number
from kaczmatch.core.tags import Tags, checked_tags, named_vector, tags_in
from kaczmatch.core.vectors import Matrix, Vector, as_matrix, as_vector, check_vector, read_only

# A user of the paper likes what has a cosine of at least 0.52 to a 0/1 taste of d/2 tags. With weights of 1 on average (0 or 2
# a tag) that taste has length 2√(d/2) = √2·‖weights‖, hence the threshold of a prior that states none.
PAPER_COSINE = 0.52

_LARGEST = 1e6  # of a threshold or a variance, in units where a tag weighs about one

_MAGIC = b"kp"
_FORMAT = 4  # 3 had no directions of tags
# magic, format, bytes of the version, tags, how many of them came later, whether a covariance follows, traits, directions; then
# version, threshold, appeal, ε (-1: none), weights, weights of traits, map from tags to directions and traits
_HEADER = struct.Struct("<2sBBIIBBB")
MOST_TRAITS = 64  # and as many directions
_CHECKSUM = struct.Struct("<I")


def _no_traits() -> Vector:
    return np.empty(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """The expected weight of each tag and, for belief learners, threshold, appeal weight, covariance and label noise.

    ``version`` names the prior in stored states and events. A prior made from a plain vector has none and is stored inside each
    state. ``covariance`` is over (tags, threshold, appeal), so (d + 2) x (d + 2). ``added_tags`` counts the tags at the end that
    a growing vocabulary added.

    A prior of traits has, in place of appeal, the expected weight of each of K ``traits``, and ``trait_map``, (d + 1) x (D + K):
    from tags and a constant to D directions of tags, whose weights are expected to be 0, and to what is expected of a candidate's
    traits. Its covariance is over (tags, threshold, directions, traits).
    """

    weights: Vector
    version: str = ""
    threshold: float | None = None
    appeal: float = 0.0
    covariance: Matrix | None = None
    label_noise: float | None = None
    added_tags: int = 0
    traits: Vector = field(default_factory=_no_traits)
    trait_map: Matrix | None = None
    tags: Tags = ()  # their names, where somebody said them; kept beside the weights, never stored
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
        self._check_traits()
        if self.covariance is not None:
            object.__setattr__(self, "covariance", read_only(self._checked_covariance(self.covariance)))
        if self.label_noise is not None:
            object.__setattr__(self, "label_noise", check_number("label_noise", self.label_noise, low=1e-9, high=0.499))
        if self.tags:
            object.__setattr__(self, "tags", checked_tags(self.tags, self.dimensions))
        check_integer("added_tags", self.added_tags, low=0, high=self.dimensions)
        says_more = (
            self.appeal
            or self.added_tags
            or self.traits.size
            or any(each is not None for each in (self.threshold, self.covariance, self.label_noise))
        )
        if not self.version and says_more:
            raise InvalidInput("version", "a prior that says more than its weights needs a version")
        object.__setattr__(self, "fingerprint", zlib.crc32(self._content()))

    def _check_traits(self) -> None:
        object.__setattr__(self, "traits", read_only(as_vector(self.traits, "traits").copy()))
        if not self.traits.size and self.trait_map is None:
            return
        size = len(self.traits)
        if not 0 < size <= MOST_TRAITS or self.trait_map is None or self.covariance is None or self.appeal:
            raise InvalidInput("traits", f"1 to {MOST_TRAITS}, with a map and a covariance, and in place of appeal")
        mapped = as_matrix(self.trait_map, "trait_map").copy()
        if len(mapped) != self.dimensions + 1 or not size <= mapped.shape[1] <= size + MOST_TRAITS:
            wanted = f"{self.dimensions + 1} x {size} (tags and 1, traits), or wider by at most {MOST_TRAITS} directions"
            raise InvalidInput("trait_map", f"must be {wanted}, got {mapped.shape}")
        if not (np.abs(mapped) <= _LARGEST).all() or not (np.abs(self.traits) <= _LARGEST).all():
            raise InvalidInput("traits", f"weights and map must be within ±{_LARGEST:g}")
        object.__setattr__(self, "trait_map", read_only(mapped))

    def _checked_covariance(self, value: ArrayLike) -> Matrix:
        covariance = as_matrix(value, "covariance").copy()
        side = self.dimensions + (2 if self.trait_map is None else 1 + self.trait_map.shape[1])
        if covariance.shape != (side, side):
            problem = f"must be {side} x {side} (tags, threshold, appeal or directions and traits), got {covariance.shape}"
            raise InvalidInput("covariance", problem)
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
            self.traits,
        ]
        if self.trait_map is not None:
            parts.append(self.trait_map.ravel())
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
        numbers = (len(version), self.dimensions, self.added_tags, self.covariance is not None, len(self.traits), self.directions)
        header = _HEADER.pack(_MAGIC, _FORMAT, *numbers)
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
        if data[2] != _FORMAT:
            instead = "export with the release that stored it, and import with this one"
            raise InvalidInput("prior", f"stored in format {data[2]}, this release reads format {_FORMAT}; {instead}")
        body, checksum = data[: -_CHECKSUM.size], data[-_CHECKSUM.size :]
        if _CHECKSUM.pack(zlib.crc32(body)) != checksum:
            raise InvalidInput("prior", "these bytes were damaged or cut short: the checksum does not fit")
        _, _, length, d, later, with_covariance, traits, directions = _HEADER.unpack_from(body)
        k = traits + directions
        version = body[_HEADER.size : _HEADER.size + length].decode()
        numbers = np.frombuffer(body[_HEADER.size + length :], "<f8").astype(np.float64)
        threshold, appeal, label_noise = numbers[:3].tolist()
        weights, liked, mapped, lower = np.split(numbers[3:], np.cumsum([d, traits, (d + 1) * k]))
        if not version:  # a plain vector says its weights only
            return cls(weights)
        covariance = None
        if with_covariance:
            side = d + (1 + k if k else 2)
            covariance = np.empty((side, side))
            rows, columns = np.tril_indices(side)
            covariance[rows, columns] = covariance[columns, rows] = lower
        noise = None if label_noise < 0.0 else label_noise
        trait_map = mapped.reshape(d + 1, k) if k else None
        return cls(weights, version, threshold, appeal, covariance, noise, later, liked, trait_map)

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
    def of(cls, prior: AnyPrior) -> Prior:
        """`prior` itself, or a plain vector or dictionary of weights as a prior."""
        if isinstance(prior, Mapping):
            return cls(named_vector(prior, tags_in([prior]), "prior"), tags=tags_in([prior]))
        return prior if isinstance(prior, Prior) else cls(as_vector(prior, "prior"))

    def named(self, tags: Tags) -> Prior:
        """The same prior with names for its tags, or in the order of these names where it has its own."""
        if not tags or tags == self.tags:
            return self
        if not self.tags:
            return replace(self, tags=tags)
        if self.version or set(self.tags) != set(tags):
            raise InvalidInput("prior", "has other tags than the log, or in another order; pass the log's tags=prior.tags")
        return Prior(self.weights[[self.tags.index(name) for name in tags]], tags=tags)

    def features(self, named: Mapping[str, float], dimensions: int) -> Vector:
        """A dictionary of tags as a vector, for a state over so many tags."""
        if not self.tags:
            hint = "start from names too: learner.start({'climbing': 0.0, 'jazz': 0.0})"
            raise InvalidInput("features", f"is a dictionary, and this state does not know the names of its tags; {hint}")
        if len(self.tags) != dimensions:
            raise InvalidInput("features", f"is a dictionary, and only {len(self.tags)} of {dimensions} tags have names")
        return named_vector(named, self.tags, "features")

    @property
    def dimensions(self) -> int:
        return len(self.weights)

    @property
    def directions(self) -> int:
        """The number of directions of tags beside the traits."""
        return 0 if self.trait_map is None else self.trait_map.shape[1] - len(self.traits)

    @property
    def said_width(self) -> int:
        """The numbers that others say of a candidate: directions, traits and their variances."""
        return self.directions + 2 * len(self.traits)

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

    def others(self, others: Vector, features: Vector) -> Vector:
        """What others said of a candidate; what is expected of these tags where they said nothing of this prior's traits."""
        if self.trait_map is None or len(others) == self.said_width:
            return others
        return np.asarray(self.grown(len(features)).expected_traits(features[None])[0])

    def expected_traits(self, features: Matrix) -> Matrix:
        """Candidates of whom nobody has said anything: directions and traits from tags, then variances of 1 of the traits."""
        if self.trait_map is None:
            return np.empty((len(features), 0))
        found = np.ones((len(features), self.trait_map.shape[1] + len(self.traits)))
        expect_traits(features, self.trait_map, found)
        return found


AnyPrior = Prior | ArrayLike | Mapping[str, float]


@lru_cache(64)  # a whole population grows from the same few
def _grown(prior: Prior, dimensions: int) -> Prior:
    new = dimensions - prior.dimensions
    first = prior.original_tags  # of these the average is taken, so that it does not matter in how many steps a prior has grown
    weights = np.concatenate([prior.weights, np.full(new, prior.weights[:first].mean())])
    covariance = None
    if prior.covariance is not None:
        side = len(prior.covariance) + new
        old = np.r_[: prior.dimensions, dimensions:side]
        covariance = np.zeros((side, side))
        covariance[np.ix_(old, old)] = prior.covariance
        added = np.arange(prior.dimensions, dimensions)
        covariance[added, added] = np.diag(prior.covariance)[:first].mean()
    # The threshold belongs to the users, not to the vocabulary: new tags do not move it.
    later = prior.added_tags + new
    version = f"{prior.version.removesuffix(f'+{prior.added_tags}') if prior.added_tags else prior.version}+{later}"
    mapped = None if prior.trait_map is None else np.insert(prior.trait_map, [prior.dimensions] * new, 0.0, axis=0)
    threshold = prior.effective_threshold
    return Prior(weights, version, threshold, prior.appeal, covariance, prior.label_noise, later, prior.traits, mapped)


@compiled
def expect_traits(features: Matrix, trait_map: Matrix, found: Matrix) -> None:
    """Wᵀ(a/‖a‖, 1) of each row a of features, in the first columns."""
    d, many = features.shape[1], trait_map.shape[1]
    for row in range(len(features)):
        squared = dot(features[row], features[row])
        scale = 1.0 / math.sqrt(squared) if squared > 0.0 else 0.0
        for k in range(many):
            found[row, k] = trait_map[d, k]
        for i in range(d):
            if features[row, i] != 0.0:
                add_scaled(found[row, :many], features[row, i] * scale, trait_map[i])
