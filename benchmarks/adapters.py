"""scikit-learn's and River's own checks of their `SwipeClassifier`, with every learner: how many there are, and how many pass.

No speed is measured here. `tests/contract` runs the same checks on three kinds of learners, with the exemptions from this file.

    python benchmarks/adapters.py [--out FOLDER]
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from importlib.metadata import version
from typing import Any

from river.checks import yield_checks
from sklearn.utils.estimator_checks import check_estimator

import kaczmatch
from kaczmatch import river, sklearn
from kaczmatch.report.results import Table
from tables import add_out, tell

ACCURACY = "check_classifiers_train"
INACCURATE = {
    "all-ones": "learns nothing: the baseline that any learner has to beat",
    "k-nonorm": "the paper's rule without a denominator: its steps are too long for rows that are longer than 1",
}


def exemptions(slug: str) -> dict[str, str]:
    """Checks of scikit-learn that a learner must fail, with the reason. One that passes is an error in the tests."""
    return {ACCURACY: INACCURATE[slug]} if slug in INACCURATE else {}


def of_scikit_learn(slug: str) -> list[dict[str, Any]]:
    """Status and reason of each check; scikit-learn says itself which it skips."""
    with warnings.catch_warnings(action="ignore"):
        found = check_estimator(
            sklearn.SwipeClassifier(slug), expected_failed_checks=exemptions(slug), on_skip=None, on_fail=None
        )
    return [{"check": one["check_name"], "status": one["status"], "why": str(one["exception"] or "")} for one in found]


def of_river(slug: str) -> list[dict[str, Any]]:
    """The same of River, which skips nothing and knows no exemptions."""
    found = []
    for check in yield_checks(river.SwipeClassifier(slug)):
        try:
            check(river.SwipeClassifier(slug).clone())
        except Exception as error:  # whatever a check raises is its finding
            found.append({"check": check.__name__, "status": "failed", "why": str(error)})
        else:
            found.append({"check": check.__name__, "status": "passed", "why": ""})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_out(parser)
    asked = parser.parse_args()
    totals, others = [], []
    for library, package, checks in (("scikit-learn", "scikit-learn", of_scikit_learn), ("River", "river", of_river)):
        statuses: Counter[str] = Counter()
        reasons: Counter[tuple[str, str, str, str]] = Counter()
        for slug in kaczmatch.LEARNERS:
            for one in checks(slug):
                statuses[one["status"]] += 1
                if one["status"] != "passed":
                    learner = "every learner" if one["status"] == "skipped" else slug
                    exempt = one["status"] == "xfail"
                    why = INACCURATE[slug] if exempt else one["why"].partition("\n")[0]
                    reasons[learner, one["check"], "exempt" if exempt else one["status"], why] += 1
        totals.append(
            {
                "library": f"{library} {version(package)}",
                "learners": len(kaczmatch.LEARNERS),
                "checks": statuses.total(),
                "pass": statuses["passed"],
                "skipped by the library": statuses["skipped"],
                "exempt": statuses["xfail"],
                "fail": statuses["failed"],
            }
        )
        others += [
            {"learner": learner, "check": f"{library}: {check}", "status": status, "times": times, "reason": why}
            for (learner, check, status, why), times in reasons.items()
        ]
    tell(asked.out, Table("checks", "Checks", totals), Table("exemptions", "What does not pass", others))


if __name__ == "__main__":
    main()
