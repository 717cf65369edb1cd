from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kaczmatch import InvalidInput
from kaczmatch.evaluation.protocol.split import fit_users
from worlds.logs import small_table


def test_even_identifiers_fit_and_odd_ones_are_tested() -> None:
    table = small_table(0)
    assert fit_users(table).tolist() == [user % 2 == 0 for user in table.users]


def test_a_column_divides_users_by_its_value() -> None:
    table = small_table(0)
    table = replace(table, others={"wave": table.user // 5 + 1.0})
    assert fit_users(table, "wave").tolist() == [user // 5 == 1 for user in table.users]


def test_texts_are_divided_the_same_way_every_time() -> None:
    table = replace(small_table(0), users=[f"user {i}" for i in range(12)])
    fit = fit_users(table)
    assert fit.tolist() == fit_users(table).tolist()
    assert fit.any()
    assert not fit.all()


def test_a_user_in_two_groups_is_refused() -> None:
    table = small_table(0)
    wave = np.ones(len(table), int)
    wave[3] = 2
    with pytest.raises(InvalidInput, match="user 0 has more than one 'wave'"):
        fit_users(replace(table, others={"wave": wave}), "wave")


def test_nobody_left_to_test_is_refused() -> None:
    table = replace(small_table(0), users=list(range(0, 24, 2)))
    with pytest.raises(InvalidInput, match="leaves nobody to be tested"):
        fit_users(table)
