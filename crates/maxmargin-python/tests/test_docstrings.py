"""Docstrings: every public class has its parameters and an example, and the examples run."""

import doctest
import inspect

import pytest
from sklearn.base import BaseEstimator

import maxmargin
import maxmargin.distributed
import maxmargin.svmutil

CLASSES = [of for name in maxmargin.__all__ if inspect.isclass(of := getattr(maxmargin, name))]
ESTIMATORS = [
    of
    for of in CLASSES
    if issubclass(of, BaseEstimator) and of.__module__ in {"maxmargin._classes", "maxmargin._linear", "maxmargin._svccv"}
]


NAMES = [name for name in maxmargin.__all__ if name != "__version__"]
MODULES = [maxmargin.distributed, maxmargin.svmutil]


def test_of_public_names_all_but_the_version_are_documented_objects():
    assert isinstance(maxmargin.__version__, str)
    assert all(callable(getattr(maxmargin, name)) for name in NAMES)


@pytest.mark.parametrize("of", [*(getattr(maxmargin, name) for name in NAMES), *MODULES], ids=lambda of: of.__name__)
def test_every_public_name_has_an_example_that_runs(of):
    text = inspect.getdoc(of)
    assert "Examples\n--------\n>>> " in text
    globs = {}
    test = doctest.DocTestParser().get_doctest(text, globs, of.__name__, None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("of", [getattr(maxmargin, name) for name in NAMES], ids=lambda of: of.__name__)
def test_parameters_of_functions_are_described(of):
    if inspect.isclass(of):
        return
    described = {name.strip() for line in inspect.getdoc(of).splitlines() for name in line.split(" : ")[0].split(",")}
    parameters = {("**" if of.kind is of.VAR_KEYWORD else "") + of.name for of in inspect.signature(of).parameters.values()}
    assert parameters <= described


@pytest.mark.parametrize("of", ESTIMATORS, ids=lambda of: of.__name__)
def test_estimators_are_shown_as_scikit_learn_s_diagram(of):
    html = of()._repr_html_()
    assert "sk-top-container" in html
    assert of.__name__ in html
    X, y = [[float(i)] for i in range(40)], [i // 20 for i in range(40)]
    if of.__name__.endswith("CV"):
        return
    fitted = of().fit(X, y)
    assert "sk-estimator fitted" in " ".join(fitted._repr_html_().split())


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
