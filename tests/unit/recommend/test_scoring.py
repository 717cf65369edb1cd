from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaczmatch import InvalidInput
from kaczmatch.recommend.scoring import FUSIONS, fusion

scores = st.floats(-1.0, 1.0)


@pytest.mark.parametrize("name", FUSIONS)
@given(scores, scores, st.floats(0.0, 1.0))
def test_a_fusion_is_symmetric_monotone_and_never_fooled_by_dislikes(name: str, a: float, b: float, more: float) -> None:
    fuse = fusion(name)
    together = float(fuse(a, b))
    assert together == float(fuse(b, a))
    assert float(fuse(a + more, b)) >= together - 1e-15
    assert 0.0 <= together <= max(a, b, 0.0) + 1e-15
    if min(a, b) <= 0.0:
        assert together == 0.0


def test_fusions_of_known_numbers() -> None:
    found = {name: float(fuse(0.2, 0.8)) for name, fuse in FUSIONS.items()}
    assert found == pytest.approx({"geometric": 0.4, "harmonic": 0.32, "minimum": 0.2, "product": 0.16})
    assert FUSIONS["geometric"]([0.5, -0.5], [0.5, -0.5]).tolist() == [0.5, 0.0]


def test_the_weaker_side_counts_more_from_mean_to_minimum() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 100))
    assert (FUSIONS["minimum"](a, b) <= FUSIONS["harmonic"](a, b) + 1e-15).all()
    assert (FUSIONS["harmonic"](a, b) <= FUSIONS["geometric"](a, b) + 1e-15).all()


def test_what_cannot_be_fused_is_refused() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'geometric'"):
        fusion("geometrc")
    with pytest.raises(InvalidInput, match="scores: must be numbers, got NaN"):
        fusion("minimum")(float("nan"), 1.0)
