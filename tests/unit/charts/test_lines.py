"""Lines that can be told apart."""

from __future__ import annotations

from kaczmatch.charts.lines import colours


def test_no_two_lines_of_a_chart_share_a_colour() -> None:
    base = [
        "probit-traits + population",
        "probit-diag + population + appeal",
        "probit-diag + population",
        "probit-diag",
        "probit",
    ]
    names = [*base, "probit-diag(alpha=2)", "appeal alone", "all-ones", "River logistic", "somebody else's"]
    assert len(set(colours(names))) == len(names)
    assert colours(["tk"]) == colours(["tk + population"])  # a learner keeps its own where it is free
