from __future__ import annotations

import pickle

import pytest

from kaczmatch import InvalidInput
from kaczmatch.core.errors import check_number, did_you_mean


def test_the_message_names_the_field_and_survives_pickling() -> None:
    error = InvalidInput("label", "must be 'like'")
    assert str(error) == "label: must be 'like'"
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (again.field, again.problem) == ("label", "must be 'like'")


def test_an_unknown_name_is_answered_with_the_nearest_or_with_all() -> None:
    assert did_you_mean("blok-nk", ["tk", "block-nk"]) == "did you mean 'block-nk'?"
    assert did_you_mean("zzz", ["tk", "nk"]) == "known: nk, tk"


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf"), "x", None])
def test_numbers_outside_their_range_are_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match=r"^share: must be") as caught:
        check_number("share", value, low=0.0, high=1.0)
    assert caught.value.field == "share"


def test_a_range_can_leave_out_its_lower_end() -> None:
    assert check_number("x", 0, low=0.0) == 0.0
    with pytest.raises(InvalidInput, match="above 0"):
        check_number("x", 0, low=0.0, open_low=True)
