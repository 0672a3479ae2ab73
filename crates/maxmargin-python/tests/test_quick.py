"""Checks of plain arguments: the quick ones find, refuse and warn of what scikit-learn's do."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn.svm
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import InvalidParameterError

import maxmargin
from maxmargin import _classes, _data, _quick

X, Y = load_iris(return_X_y=True)


def test_plain_arrays_take_the_quick_way(monkeypatch):
    """No check of scikit-learn's runs for plain arrays, and all of them for others."""
    called = []
    monkeypatch.setattr(_data, "validate_data", lambda *_, **__: called.append("rows") or (X, Y))
    monkeypatch.setattr(_classes, "column_or_1d", lambda y, **_: called.append("targets") or y)
    maxmargin.SVC().fit(X, Y)
    assert called == []
    maxmargin.SVC().fit(X.tolist(), Y)
    maxmargin.SVC().fit(np.asfortranarray(X), Y)
    assert called == ["rows", "rows"]


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.astype(np.int8),
        Y.astype(float),
        Y == 1,
        np.array(["a", "b", "c"])[Y],
        np.array(["a", "b", "c"], dtype=object)[Y],
        Y.tolist(),
        Y.astype(float) / 2,
        np.where(Y == 1, np.nan, Y),
        Y[:-1],
        Y.reshape(-1, 1),
        np.stack([Y, Y], axis=1),
        np.zeros(len(Y)),
        np.arange(len(Y)),
        np.arange(len(Y)) // 2,
        None,
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}-{np.shape(y)}",
)
@pytest.mark.parametrize("name", ["SVC", "LinearSVC"])
def test_targets_are_taken_or_refused_as_by_scikit_learn(name, y):
    """Kinds of errors, and texts of warnings."""
    told = []
    for package in (maxmargin, sklearn.svm):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                classes = getattr(package, name)().fit(X, y).classes_.tolist()
            except (ValueError, TypeError) as error:
                classes = type(error).__name__
        relevant = [
            str(one.message) for one in seen if "unique classes" in str(one.message) or "column-vector" in str(one.message)
        ]
        told.append((classes, sorted(set(relevant))))
    assert told[0] == told[1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "LinearSVC", "LinearSVR"])
def test_values_that_are_not_finite_are_refused(name, value):
    rows = X.copy()
    rows[3, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        getattr(maxmargin, name)().fit(rows, Y)


def test_names_of_columns_do_not_outlive_a_training_without_them():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = maxmargin.SVC().fit(frame, Y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 4
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:, :3])


@pytest.mark.parametrize("name", ["SVC", "LinearSVC"])
def test_a_parameter_is_checked_whenever_it_has_changed(name):
    model = getattr(maxmargin, name)(C=1.0)
    for _ in range(2):
        model.set_params(C=1.0).fit(X, Y)
        for wrong in (-1.0, "1", np.float64(-1.0), True + 0j):
            with pytest.raises(InvalidParameterError):
                model.set_params(C=wrong).fit(X, Y)


def test_sets_of_parameters_are_not_collected_without_end(monkeypatch):
    monkeypatch.setattr(_quick, "_MOST_KNOWN", 3)
    monkeypatch.setattr(_quick, "_VALID", {})
    for c in range(1, 7):
        maxmargin.SVC(C=float(c)).fit(X, Y)
    assert len(_quick._VALID[maxmargin.SVC]) == 3


def test_arrays_are_not_written_to():
    rows, targets = X.copy(), Y.astype(float)
    maxmargin.SVC().fit(rows, targets).predict(rows)
    maxmargin.SVR().fit(rows, targets).predict(rows)
    assert_array_equal(rows, X)
    assert_array_equal(targets, Y)
