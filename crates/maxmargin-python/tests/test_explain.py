"""Shapley values of decision values: the sum over all subsets, signs, forms of data, what is refused."""

import itertools
import math
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.datasets import make_classification

import maxmargin
from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR

FEATURES = 5

ESTIMATORS = [
    SVC(gamma=0.3),
    SVC(kernel="poly", degree=3, gamma=0.4, coef0=1.0),
    SVC(kernel="linear"),
    NuSVC(nu=0.3, gamma=0.2),
    SVR(gamma=0.3),
    NuSVR(kernel="linear"),
    QuantileSVR(quantile=0.9, gamma=0.3),
    OneClassSVM(gamma=0.3, nu=0.2),
    LinearSVC(),
    LinearSVR(),
]


def problem(count=2, rows=60):
    return make_classification(
        rows, FEATURES, n_informative=4, n_redundant=0, n_classes=count, n_clusters_per_class=1, flip_y=0.1, random_state=3
    )


def decided(fitted, X):
    """Decision values of every machine, rows × machines, as ``decision_function`` has them."""
    if not hasattr(fitted, "decision_function"):
        return fitted.predict(X)[:, np.newaxis]
    if getattr(fitted, "decision_function_shape", "") == "ovr" and len(fitted.classes_) > 2:
        fitted = pickle.loads(pickle.dumps(fitted)).set_params(decision_function_shape="ovo")
    found = fitted.decision_function(X)
    return found.reshape(len(found), -1)


def brute(fitted, row, others):
    """The definition: the mean over all orders, by subsets, of what a feature adds; features that are absent have the values of others."""
    games = {}
    for size in range(FEATURES + 1):
        for known in itertools.combinations(range(FEATURES), size):
            mixed = np.array(others, dtype=float)
            mixed[:, known] = row[list(known)]
            games[known] = decided(fitted, mixed).mean(axis=0)
    values = []
    for j in range(FEATURES):
        share = 0.0
        for known, value in games.items():
            if j not in known:
                weight = math.factorial(len(known)) * math.factorial(FEATURES - len(known) - 1) / math.factorial(FEATURES)
                share = share + weight * (games[tuple(sorted((*known, j)))] - value)
        values.append(share)
    return games[()], np.array(values)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_values_are_those_of_all_subsets(estimator, count):
    if count > 2 and not is_classifier(estimator):
        pytest.skip("values have no classes")
    X, y = problem(count)
    fitted = estimator.fit(X, y)
    found = fitted.explain(X[:3], background=X[10:14])
    machines = decided(fitted, X[:3]).shape[1]
    assert found.values.shape == ((3, FEATURES) if machines == 1 else (3, FEATURES, machines))
    values, bases = found.values.reshape(3, FEATURES, -1), found.base_values.reshape(3, -1)
    assert_allclose(found.decision_values.reshape(3, -1), decided(fitted, X[:3]), atol=1e-10)
    for i in range(3):
        base, exact = brute(fitted, X[i], X[10:14])
        assert_allclose(bases[i], base, atol=1e-10)
        assert_allclose(values[i], exact, atol=1e-10)
    assert len(found.output_names) == machines


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_values_add_up_without_a_background(estimator):
    X, y = problem()
    fitted = estimator.fit(X, y)
    found = fitted.explain(X, interactions=True)
    assert_allclose(found.values.sum(axis=1) + found.base_values, decided(fitted, X).ravel(), atol=1e-9)
    assert found.efficiency_error < 1e-9
    assert_array_equal(found.interactions, found.interactions.transpose(0, 2, 1))
    linear = isinstance(fitted, LinearSVC | LinearSVR) or fitted.kernel == "linear"
    assert (np.abs(found.interactions).max() == 0) == linear
    if linear:
        assert_allclose(found.values, X * np.asarray(fitted.coef_).ravel(), atol=1e-9)


def test_signs_are_those_of_scikit_learn():
    """A feature that is large in one class alone raises the decision value of that class."""
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    for estimator in [SVC(), LinearSVC(), NuSVC(nu=0.5)]:
        fitted = estimator.fit(X, ["no", "no", "yes", "yes"])
        values = fitted.explain([[1.2]], background=X).values
        assert values.item() > 0, estimator
        assert fitted.explain([[1.2]]).output_names == ("yes",)
    several = SVC(decision_function_shape="ovo").fit(np.array([[0.0], [1.0], [2.0]]), [0, 1, 2])
    found = several.explain([[0.0]], background=[[0.0], [1.0], [2.0]])
    assert_allclose(found.decision_values, several.decision_function([[0.0]]), atol=1e-12)
    assert found.output_names == ("0 or 1", "0 or 2", "1 or 2")
    assert (found.values[0, 0, :2] > 0).all()


def test_sparse_rows_have_the_values_of_dense_ones():
    X, y = problem()
    X[np.abs(X) < 0.8] = 0
    for estimator in [SVC(gamma=0.3), LinearSVC()]:
        dense = estimator.fit(X, y).explain(X[:5], background=X[5:9])
        thin = sp.csr_matrix(X)
        sparse = estimator.fit(thin, y).explain(thin[:5], background=thin[5:9])
        assert_allclose(sparse.values, dense.values, atol=1e-9)
        assert sp.issparse(sparse.data)


def test_data_frames_keep_their_names():
    X, y = problem()
    names = [f"measure {j}" for j in range(FEATURES)]
    frame = pd.DataFrame(X, columns=names)
    found = SVC(gamma=0.3).fit(frame, y).explain(frame[:4])
    assert found.feature_names == tuple(names)
    assert found.feature_names[int(np.argmax(found.mean_magnitudes()))] in repr(found)
    assert re.match(
        r"<Explanation of 4 rows, 5 features: largest mean \|value\| measure \d [\d.]+, .*; efficiency error \S+>", repr(found)
    )
    assert SVC().fit(X, y).explain(X[:1]).feature_names is None


def test_an_explanation_and_its_estimator_survive_pickles():
    X, y = problem(3)
    fitted = SVC(gamma=0.3).fit(X, y)
    found = fitted.explain(X[:4], X[:9], interactions=True)
    again = pickle.loads(pickle.dumps(found))
    for name in ["values", "base_values", "decision_values", "interactions", "data"]:
        assert_array_equal(getattr(again, name), getattr(found, name))
    assert again.output_names == found.output_names
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).explain(X[:4], X[:9]).values, found.values)


def test_what_cannot_be_explained_is_refused():
    X, y = problem()
    square = X @ X.T
    for kernel, rows, name in [("sigmoid", X, "sigmoid"), ("precomputed", square, "precomputed"), (np.inner, X, "callable")]:
        fitted = SVC(kernel=kernel, gamma=0.01).fit(rows, y)
        with pytest.raises(ValueError, match=f"linear, poly and rbf; this SVC has a {name} kernel"):
            fitted.explain(rows[:2])
    steep = SVC(kernel="poly", degree=60, gamma=0.01, coef0=1.0).fit(X, y)
    with pytest.raises(ValueError, match="a polynomial kernel of degree 60"):
        steep.explain(X[:2])
    fitted = SVC(gamma=0.3).fit(X, y)
    with pytest.raises(ValueError, match="4 features"):
        fitted.explain(X[:2], background=X[:, :4])
    with pytest.raises(ValueError, match="0 sample"):
        fitted.explain(X[:2], background=X[:0])
    with pytest.raises(ValueError, match="NaN"):
        fitted.explain(np.full((1, FEATURES), np.nan))
    of_before = LinearSVC(penalty="l1").fit(X, y)
    del of_before._model
    with pytest.raises(ValueError, match=r"trained by scikit-learn.*fit it again"):
        of_before.explain(X)
    with pytest.raises(maxmargin._classes.NotFittedError):
        SVC().explain(X)


def test_shap_is_asked_for_by_name(monkeypatch):
    X, y = problem()
    found = SVC(gamma=0.3).fit(X, y).explain(X[:4])
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="to_shap needs shap: pip install shap"):
        found.to_shap()


@pytest.mark.parametrize("count", [2, 3])
def test_shap_gets_the_values(count):
    shap = pytest.importorskip("shap")
    X, y = problem(count)
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = SVC(gamma=0.3).fit(frame, y).explain(frame[:4], frame[:10])
    theirs = found.to_shap()
    assert isinstance(theirs, shap.Explanation)
    assert_array_equal(theirs.values, found.values)
    assert_array_equal(theirs.base_values, found.base_values)
    assert theirs.feature_names == list("abcde")


@pytest.mark.parametrize("estimator", [SVC(gamma=0.3), SVC(), LinearSVC(), NuSVC(nu=0.2, gamma=0.3)], ids=str)
@pytest.mark.parametrize("count", [2, 3])
def test_flipped_labels_are_suspects(estimator, count):
    X, y = make_classification(
        200,
        FEATURES,
        n_informative=4,
        n_redundant=0,
        n_classes=count,
        n_clusters_per_class=1,
        class_sep=2.0,
        flip_y=0,
        random_state=5,
    )
    wrong = np.random.default_rng(2).choice(len(y), 10, replace=False)
    y[wrong] = (y[wrong] + 1) % count
    words = np.array(["c", "a", "b"])[y]
    found = estimator.suspects(X, words)
    assert len(found) == len(y)
    assert_array_equal(np.sort(found.rows), np.arange(len(y)))
    assert (np.diff(found.margins) >= 0).all()
    assert np.isin(found.rows[:20], wrong).sum() >= 8
    # The margin is that of the decision values out of fold.
    if count == 2:
        out = estimator.cross_validate(X, words)
        signs = np.where(words == "c", 1, -1)
        for test, decisions in zip(out.test, out.decisions, strict=True):
            places = np.argsort(found.rows)[test]
            assert_allclose(found.margins[places], signs[test] * decisions, atol=1e-6)


def test_equal_rows_with_another_label_are_named():
    X, y = problem()
    X[7], y[7] = X[3], 1 - y[3]
    found = SVC(gamma=0.3).suspects(X, y, cv=4)
    at = {int(row): found.contradicting[place] for place, row in enumerate(found.rows)}
    assert (at[3], at[7], at[0]) == ((7,), (3,), ())
    assert "2 equal to a row with another label" in repr(found)
    with pytest.raises(ValueError, match="number of classes"):
        SVC().suspects(X, np.zeros(len(y)))
