"""LinearSVC and LinearSVR beside LIBLINEAR's."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import scale

import maxmargin

TOL = 1e-9


def data(name):
    X, y = {"iris": load_iris, "cancer": load_breast_cancer}[name](return_X_y=True)
    return scale(X), y


def labelled(decisions):
    return (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)


@pytest.mark.parametrize("name", ["iris", "cancer"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [{}, {"fit_intercept": False}, {"intercept_scaling": 3.0}])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 4.0, 1: 0.5}])
def test_svc(name, loss, intercept, class_weight):
    X, y = data(name)
    parameters = {"loss": loss, "class_weight": class_weight, "tol": TOL, "max_iter": 1_000_000, "C": 0.1, **intercept}
    ours = maxmargin.LinearSVC(**parameters).fit(X, y)
    theirs = sklearn.svm.LinearSVC(dual=True, random_state=1, **parameters).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_array_equal(ours.predict(X), ours.classes_[labelled(ours.decision_function(X))])
    assert len(ours.certificates_) == len(ours.coef_)
    assert ours.verify(X, y)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_svr(loss, form):
    X, y = load_diabetes(return_X_y=True)
    X, y = form(scale(X)), scale(y)
    parameters = {"loss": loss, "epsilon": 0.1, "tol": TOL, "max_iter": 1_000_000, "C": 0.1}
    ours = maxmargin.LinearSVR(**parameters).fit(X, y)
    theirs = sklearn.svm.LinearSVR(dual=True, random_state=1, **parameters).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)


def test_what_is_left_to_scikit_learn():
    X, y = data("iris")
    for parameters in [{"penalty": "l1"}, {"multi_class": "crammer_singer"}]:
        ours = maxmargin.LinearSVC(random_state=1, max_iter=100_000, **parameters).fit(X, y)
        theirs = sklearn.svm.LinearSVC(random_state=1, max_iter=100_000, **parameters).fit(X, y)
        assert_array_equal(ours.coef_, theirs.coef_)
        assert not hasattr(ours, "certificate_")


def test_samples_of_weight_0_take_no_part():
    X, y = data("cancer")
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    some = weights > 0
    ours = maxmargin.LinearSVC(tol=TOL).fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, maxmargin.LinearSVC(tol=TOL).fit(X[some], y[some]).coef_, atol=1e-7)
    assert ours.verify(X, y)


def test_sparsify():
    X, y = data("cancer")
    ours = maxmargin.LinearSVC().fit(X, y)
    before = ours.decision_function(X)
    assert sp.issparse(ours.sparsify().coef_)
    assert_allclose(ours.decision_function(X), before)


def test_weights_of_a_million_features():
    rng = np.random.default_rng(1)
    X = sp.random(300, 1_000_000, density=2e-5, format="csr", random_state=rng)
    y = rng.integers(0, 4, 300)
    for estimator in [maxmargin.LinearSVC(), maxmargin.SVC(kernel="linear")]:
        fitted = estimator.fit(X, y)
        assert fitted.coef_.shape == (4 if isinstance(fitted, maxmargin.LinearSVC) else 6, 1_000_000)
        assert abs(fitted.coef_).sum() > 0
