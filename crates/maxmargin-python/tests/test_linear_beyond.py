"""LinearSVC with the L1 norm and with all classes at once, beside scikit-learn's LIBLINEAR."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import model_selection
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

import maxmargin

LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}
L1 = {"penalty": "l1", "dual": False}
ALL_CLASSES = {"multi_class": "crammer_singer"}


def data(name):
    X, y = LOADERS[name](return_X_y=True)
    return scale(X), y


def factors(class_weight, y, sample_weight):
    """The cost of each row as a share of C, by class and by row."""
    own = {} if class_weight is None else class_weight
    return np.array([own.get(label, 1.0) for label in y]) * (1.0 if sample_weight is None else sample_weight)


def objectives(fitted, X, y, sample_weight=None):
    """The primal objectives of the machines of either package, in the terms of the documentation of LIBLINEAR."""
    coef, classes = fitted.coef_, fitted.classes_
    X = np.asarray(X.toarray() if sp.issparse(X) else X)
    bias = np.broadcast_to(fitted.intercept_, len(coef)) / (fitted.intercept_scaling if fitted.fit_intercept else 1.0)
    decisions = X @ coef.T + np.broadcast_to(fitted.intercept_, len(coef))
    rows = np.ones(len(y)) if sample_weight is None else sample_weight
    cost = fitted.C * factors(fitted.class_weight, y, sample_weight)
    if fitted.multi_class == "crammer_singer":
        if len(classes) == 2:
            # The difference of both classes is known: at an optimum each has half of it.
            decisions = np.column_stack([-decisions[:, 0] / 2, decisions[:, 0] / 2])
            norm = np.sum(coef**2) / 2 + np.sum(bias**2) / 2
        else:
            norm = np.sum(coef**2) + np.sum(bias**2)
        places = np.searchsorted(classes, y)
        own = decisions[np.arange(len(y)), places]
        slack = (decisions + (np.arange(len(classes)) != places[:, None])).max(axis=1) - own
        return np.array([0.5 * norm + cost @ slack])
    found = []
    for m in range(len(coef)):
        one = classes[1] if len(coef) == 1 else classes[m]
        sign = np.where(y == one, 1.0, -1.0)
        # Of more than two classes the rest has C itself.
        own = cost if len(coef) == 1 else np.where(y == one, cost, fitted.C * rows)
        slack = np.maximum(0.0, 1.0 - sign * decisions[:, m])
        found.append(np.abs(coef[m]).sum() + abs(bias[m]) + own @ slack**2)
    return np.array(found)


def both(X, y, sample_weight=None, **parameters):
    parameters = {"tol": 1e-6, "max_iter": 100_000} | parameters
    ours = maxmargin.LinearSVC(**parameters).fit(X, y, sample_weight=sample_weight)
    return ours, sklearn.svm.LinearSVC(random_state=1, **parameters).fit(X, y, sample_weight=sample_weight)


def assert_not_worse(ours, theirs, X, y, sample_weight=None):
    """Our certificates hold, their objective is the one of the documentation, and no solution of theirs is better than rounding allows."""
    own, other = objectives(ours, X, y, sample_weight), objectives(theirs, X, y, sample_weight)
    certificates = ours.certificates_[: len(own)]
    assert ours.certificate_.holds
    assert len(ours.certificates_) == len(ours.coef_)
    assert_allclose([one.primal for one in certificates], own, rtol=1e-9)
    duals = np.array([one.dual for one in certificates])
    assert (duals <= other * (1 + 1e-9)).all()
    # Both have the same tolerance.
    assert (own <= other * (1 + 1e-6)).all(), own / other - 1
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)


@pytest.mark.parametrize("name", ["iris", "wine", "cancer"])
@pytest.mark.parametrize("kind", [L1, ALL_CLASSES])
@pytest.mark.parametrize("intercept", [{}, {"fit_intercept": False}, {"intercept_scaling": 3.0}])
@pytest.mark.parametrize("class_weight", [None, {0: 4.0, 1: 0.5}])
def test_objectives_are_not_worse(name, kind, intercept, class_weight):
    X, y = data(name)
    parameters = {"C": 0.3, "class_weight": class_weight, "max_iter": 100_000, **kind, **intercept}
    ours, theirs = both(X, y, **parameters)
    assert_not_worse(ours, theirs, X, y)
    assert ours.verify(X, y)
    expected = ours.decision_function(X)
    labels = (expected > 0).astype(int) if expected.ndim == 1 else expected.argmax(axis=1)
    assert_array_equal(ours.predict(X), ours.classes_[labels])


@pytest.mark.parametrize("kind", [L1, ALL_CLASSES])
@pytest.mark.parametrize("name", ["cancer", "digits"])
def test_rows_may_be_sparse_and_weighted(kind, name):
    X, y = LOADERS[name](return_X_y=True)
    X = X / X.max()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    dense, theirs = both(X, y, weights, max_iter=100_000, **kind)
    assert_not_worse(dense, theirs, X, y, weights)
    sparse = maxmargin.LinearSVC(tol=1e-6, max_iter=100_000, **kind).fit(sp.csr_matrix(X), y, sample_weight=weights)
    assert_allclose(objectives(sparse, X, y, weights), objectives(dense, X, y, weights), rtol=1e-6)
    assert sparse.verify(sp.csr_matrix(X), y, sample_weight=weights)
    weights[::3] = 0
    some = weights > 0
    left_out = maxmargin.LinearSVC(max_iter=100_000, **kind).fit(X, y, sample_weight=weights)
    alone = maxmargin.LinearSVC(max_iter=100_000, **kind).fit(X[some], y[some], sample_weight=weights[some])
    assert_array_equal(left_out.coef_, alone.coef_)


def test_the_l1_norm_at_a_large_c_needs_few_passes():
    """It took 10,057 passes and warned."""
    X, y = load_wine(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = maxmargin.LinearSVC(C=100, **L1).fit(X, y)
    assert machine.certificate_.holds
    assert machine.n_iter_ <= 13


def test_the_l1_norm_leaves_most_weights_at_zero():
    X, y = data("cancer")
    ours, theirs = both(X, y, C=0.01, **L1)
    assert_array_equal(ours.coef_ != 0, theirs.coef_ != 0)
    assert 0 < np.count_nonzero(ours.coef_) < X.shape[1] / 2


@pytest.mark.parametrize("name", ["iris", "cancer"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": "l1", "loss": "hinge"},
        {"penalty": "l1", "loss": "hinge", "dual": True},
        {"penalty": "l1", "loss": "hinge", "dual": False},
        {"penalty": "l1", "dual": True},
        {"penalty": "l1", "C": 0.0},
        {"multi_class": "crammer_singer", "C": -1.0},
        {"penalty": "l3"},
        {"multi_class": "ovo"},
    ],
)
def test_errors_are_scikit_learns(name, parameters):
    X, y = data(name)
    said = []
    for module in [maxmargin, sklearn.svm]:
        with pytest.raises(ValueError, match=r".") as error:
            module.LinearSVC(**parameters).fit(X, y)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_all_classes_at_once_ignores_penalty_loss_and_dual():
    X, y = data("iris")
    plain = maxmargin.LinearSVC(max_iter=100_000, **ALL_CLASSES).fit(X, y)
    other = maxmargin.LinearSVC(penalty="l1", loss="hinge", dual=True, max_iter=100_000, **ALL_CLASSES).fit(X, y)
    assert_array_equal(plain.coef_, other.coef_)


@pytest.mark.parametrize("kind", [L1, ALL_CLASSES])
def test_too_few_passes_are_warned_of(kind):
    X, y = data("digits")
    with pytest.warns(ConvergenceWarning, match="Liblinear failed to converge, increase the number of iterations"):
        ours = maxmargin.LinearSVC(max_iter=1, C=10.0, tol=1e-9, **kind).fit(X, y)
    assert not ours.certificate_.holds
    assert np.isfinite([ours.certificate_.primal, ours.certificate_.dual]).all()
    assert np.isfinite(ours.coef_).all()
    more = maxmargin.LinearSVC(max_iter=100_000, **kind).fit(X, y)
    assert 1 <= more.n_iter_ <= 100_000


@pytest.mark.parametrize("kind", [L1, ALL_CLASSES])
def test_a_fitted_machine_is_like_others(kind, tmp_path):
    X, y = data("wine")
    ours = maxmargin.LinearSVC(max_iter=100_000, **kind).fit(X, y)
    copy = pickle.loads(pickle.dumps(ours))
    assert_array_equal(copy.decision_function(X), ours.decision_function(X))
    assert copy.verify(X, y)
    wrong = y.copy()
    wrong[0] = (wrong[0] + 1) % 3
    assert not ours.verify(X, wrong)
    assert not ours.verify(X * 1.001, y).matches
    maxmargin.save(ours, tmp_path / "model")
    model = maxmargin.load(tmp_path / "model")
    assert_array_equal(model.predict(maxmargin._native.Data.dense(X)), ours.predict(X))
    assert_allclose(ours.explain(X[:5]).decision_values, ours.decision_function(X[:5]), atol=1e-12)
    assert_allclose(maxmargin.to_sklearn(ours).decision_function(X), ours.decision_function(X), atol=1e-12)
    with pytest.raises(ValueError, match="permutation_importance"):
        ours.importance(X, y)


@pytest.mark.parametrize("kind", [L1, ALL_CLASSES])
def test_searches_train_each_split_by_itself(kind):
    X, y = data("iris")
    machine = maxmargin.LinearSVC(max_iter=100_000, **kind)
    ours = maxmargin.GridSearchCV(machine, {"C": [0.1, 1.0]}).fit(X, y)
    assert not ours.shared_
    plain = model_selection.GridSearchCV(clone(machine), {"C": [0.1, 1.0]}).fit(X, y)
    assert_array_equal(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_few_rows_take_few_passes_at_a_large_c():
    # They took 389,505 passes at C = 1e6, and take 1,446.
    X = np.random.default_rng(101).normal(size=(4, 40))
    for C in (1e4, 1e6):
        found = maxmargin.LinearSVC(penalty="l1", dual=False, C=C, max_iter=10**6).fit(X, [1, -1, 1, -1])
        assert found.certificate_.holds
        assert found.n_iter_ < 3000
