"""Random cases of every entry point beside scikit-learn's: 200 of them, ``MAXMARGIN_DIFFERENTIAL=10000`` says how many."""

import pytest
from differential import run
from differential_cases import count_of_cases

#: Cases of one test.
PART = 50


@pytest.mark.parametrize("first", range(0, count_of_cases(), PART))
def test_scores_and_failures_are_those_of_scikit_learn(first):
    report = run(1, range(first, min(first + PART, count_of_cases())))
    assert not report.found, "\n".join(report.found)
    # A comparison of nothing is none.
    assert sum(report.apart.values()) <= PART // 3, report.apart
