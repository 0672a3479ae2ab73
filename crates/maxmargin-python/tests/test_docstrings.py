"""Docstrings: every public class has its parameters and an example, and the examples run."""

import doctest
import inspect

import pytest
from sklearn.base import BaseEstimator

import maxmargin

CLASSES = [of for name in maxmargin.__all__ if inspect.isclass(of := getattr(maxmargin, name))]
ESTIMATORS = [
    of
    for of in CLASSES
    if issubclass(of, BaseEstimator) and of.__module__ in {"maxmargin._classes", "maxmargin._linear", "maxmargin._svccv"}
]


@pytest.mark.parametrize("of", [of for of in CLASSES if of.__module__.startswith("maxmargin.")], ids=lambda of: of.__name__)
def test_examples_run(of):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for test in finder.find(of, of.__name__):
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("of", [maxmargin.load, maxmargin.GridSearchCV], ids=lambda of: of.__name__)
def test_searches_and_files_have_examples(of):
    assert ">>> " in inspect.getdoc(of)
    test_examples_run(of)


@pytest.mark.parametrize("of", ESTIMATORS, ids=lambda of: of.__name__)
def test_every_parameter_is_described(of):
    text = inspect.getdoc(of)
    assert "Examples\n--------\n>>> " in text
    base = getattr(of, "_of", None)
    inherited = set(base._get_param_names()) if base else set()
    described = {name.strip() for line in text.splitlines() if not line.startswith(" ") for name in line.split(":")[0].split(",")}
    assert set(of._get_param_names()) - inherited <= described


def test_reports_are_shown_as_tables():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    fitted = maxmargin.SVC(kernel="linear").fit(X, y)
    assert repr(fitted.certificate_).startswith("<Certificate holds: KKT ")
    assert fitted.certificate_._repr_html_().count("<tr>") == 6
    verdict = fitted.verify(X, y)
    assert repr(verdict) == "<Verdict matches; certificates meet the tolerance>"
    assert "Verdict: verified" in verdict._repr_html_()
    found = maxmargin.SVC().cross_validate([[float(i % 7)] for i in range(40)], [i % 2 for i in range(40)], cv=4)
    html = found._repr_html_()
    assert html.count("<circle") == 4
    assert "test_score" in html


def test_a_default_search_tries_several_gammas():
    X, y = [[float(i % 7), float(i % 3)] for i in range(40)], [i % 2 for i in range(40)]
    found = maxmargin.SVCCV(cv=2, refit=False).fit(X, y)
    gammas = sorted({of["gamma"] for of in found.cv_results_["params"]})
    assert len(gammas) == 5
    assert gammas[-1] / gammas[0] == pytest.approx(256)
