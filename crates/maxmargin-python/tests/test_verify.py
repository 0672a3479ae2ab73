"""Models checked against data that somebody says they were trained on: labels, values and weights of the arguments count."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import maxmargin

X, y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "virginica"])[y]
CLASSIFIERS = [maxmargin.SVC(), maxmargin.NuSVC(nu=0.2), maxmargin.LinearSVC(), maxmargin.SVC(kernel="linear")]
REGRESSORS = [maxmargin.SVR(), maxmargin.NuSVR(), maxmargin.QuantileSVR(quantile=0.2), maxmargin.LinearSVR(max_iter=10_000)]


def failed(verdict):
    return [check.what for check in verdict.checks if check.passed is False]


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_labels_are_those_that_are_given(estimator, form):
    fitted = estimator.fit(form(X), WORDS)
    assert fitted.verify(form(X), WORDS)
    # Other names for the same classes, another order, classes of the others, none of one class.
    renamed = fitted.verify(form(X), np.array(["a", "b", "c"])[y])
    assert not renamed
    assert failed(renamed) == ["classes"]
    assert "row 0 (from 0) has the label 'a'" in renamed.checks[0].detail
    assert not fitted.verify(form(X), np.roll(WORDS, 1))
    one_other = WORDS.copy()
    one_other[[0, 149]] = one_other[[149, 0]]
    assert not fitted.verify(form(X), one_other)
    assert not fitted.verify(form(X), y)
    assert not fitted.verify(form(X[:100]), WORDS[:100])
    assert not fitted.verify(form(X[:50]), WORDS[:50])
    assert_array_equal(fitted.classes_, np.unique(WORDS))


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_values_are_those_that_are_given(estimator):
    values = X[:, 0] * 2
    fitted = estimator.fit(X[:, 1:], values)
    assert fitted.verify(X[:, 1:], values)
    other = values.copy()
    other[7] += 1e-9
    assert failed(fitted.verify(X[:, 1:], other)) == ["data hash"]


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS + [maxmargin.OneClassSVM()], ids=str)
def test_weights_are_those_that_are_given(estimator):
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    weights[3] = 0.0
    target = WORDS if hasattr(estimator, "class_weight") else X[:, 0]
    plain, fitted = estimator.fit(X, target).verify(X, target, np.ones(len(y))), estimator.fit(X, target, sample_weight=weights)
    assert plain
    assert fitted.verify(X, target, weights)
    silent = fitted.verify(X, target)
    assert silent
    assert [check.what for check in silent.checks if check.passed is None][-1:] == ["sample weights"]
    other = weights.copy()
    other[5] *= 2
    verdict = fitted.verify(X, target, other)
    assert not verdict
    assert failed(verdict) == ["sample weights"]
    assert not fitted.verify(X, target, np.ones(len(y)))


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=str)
def test_arguments_of_different_lengths_are_errors(estimator):
    fitted = estimator.fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted.verify(X, y[:10])
    with pytest.raises(ValueError, match="incompatible shapes"):
        fitted.verify(X, y, np.ones(10))
    with pytest.raises(ValueError, match="features"):
        fitted.verify(X[:, :2], y)


def test_kernels_that_are_given_and_called():
    gram = X @ X.T
    for estimator, rows in [(maxmargin.SVC(kernel="precomputed"), gram), (maxmargin.SVC(kernel=lambda a, b: a @ b.T), X)]:
        fitted = estimator.fit(rows, WORDS)
        assert fitted.verify(rows, WORDS)
        assert not fitted.verify(rows, np.roll(WORDS, 1))


def test_a_certificate_that_rounding_hides_does_not_hold_in_the_model_either():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 3)) * 1e5
    side = (rows[:, 0] + rows[:, 1] ** 2 / 1e5 > 0).astype(int)
    fitted = maxmargin.SVC(kernel="linear").fit(rows, side)
    verdict = fitted.verify(rows, side)
    assert fitted.certificate_.kkt < fitted.tol
    assert not fitted.certificate_.holds
    assert not verdict
    assert not failed(verdict)
    scaled = maxmargin.SVC(kernel="linear").fit(rows / 1e5, side)
    assert scaled.certificate_.holds
    assert scaled.verify(rows / 1e5, side)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "parameters", [{"nu": 0.6, "kernel": "linear"}, {"nu": 0.3, "gamma": 0.37}, {"nu": 0.6, "gamma": 0.37}], ids=str
)
def test_a_model_without_a_margin_is_what_it_claims(parameters):
    rng = np.random.default_rng(3)
    rows, side = rng.integers(0, 2, (23, 2)) * 10.0, rng.integers(0, 2, 23)
    assert not failed(maxmargin.NuSVC(**parameters).fit(rows, side).verify(rows, side))
