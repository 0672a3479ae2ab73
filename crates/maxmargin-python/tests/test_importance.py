"""Permutation importance out of fold: what it finds, beside scikit-learn's on each split, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.inspection import permutation_importance
from sklearn.model_selection import StratifiedKFold

from maxmargin import SVC, SVR, ExpectileSVR, LinearSVC, QuantileSVR


def rows(count=240):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(count, 4))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("estimator", [SVC(gamma=0.2), SVC(kernel="linear"), LinearSVC(max_iter=10_000)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_features_that_matter_are_those_of_scikit_learn(estimator, form):
    X, y = rows()
    X = form(X)
    cv = StratifiedKFold(4)
    found = estimator.importance(X, y, cv=cv, n_repeats=20)
    again = estimator.importance(X, y, cv=cv, n_repeats=20)
    assert_array_equal(found.importances_mean, again.importances_mean)
    dense = X.toarray() if sp.issparse(X) else X
    theirs = []
    for train, test in cv.split(X, y):
        fitted = estimator.fit(dense[train], y[train])
        theirs.append(permutation_importance(fitted, dense[test], y[test], n_repeats=20, random_state=1).importances_mean)
    assert_allclose(found.importances_mean, np.mean(theirs, axis=0), atol=0.03)
    assert found.score == pytest.approx(np.mean(estimator.cross_validate(X, y, cv=cv).test_score), abs=1e-12)


def test_values_have_scores_by_name():
    X, _ = rows()
    y = 3 * X[:, 2] + np.sin(X[:, 0])
    frame = pd.DataFrame(X, columns=list("abcd"))
    for estimator, scoring in [
        (SVR(gamma=0.2), None),
        (SVR(gamma=0.2), "neg_mean_squared_error"),
        (QuantileSVR(gamma=0.2), "pinball_loss"),
    ]:
        found = estimator.importance(frame, y, scoring=scoring, random_state=3)
        assert found.feature_names[int(found.importances_mean.argmax())] == "c"
        assert found.importances_mean.argmin() in (1, 3)


def test_what_has_no_importance_is_refused():
    X, y = rows(40)
    with pytest.raises(ValueError, match="precomputed"):
        SVC(kernel="precomputed").importance(X @ X.T, y)
    with pytest.raises(ValueError, match="there are accuracy"):
        SVC().importance(X, y, scoring="top_k_accuracy")
    with pytest.raises(ValueError, match="n_repeats=0"):
        SVC().importance(X, y, n_repeats=0)
    for several in [QuantileSVR(quantile=[0.9, 0.1]), ExpectileSVR(expectile=[0.1, 0.9])]:
        with pytest.raises(ValueError, match="there are 2: ask for it one level"):
            several.importance(X, X[:, 0])
    assert (
        QuantileSVR(quantile=[0.9], gamma=0.1).importance(X, X[:, 0]).score
        == QuantileSVR(quantile=0.9, gamma=0.1).importance(X, X[:, 0]).score
    )
    lone = np.array(["yes"] + ["no"] * 39)
    with pytest.raises(ValueError, match="class"):
        SVC().importance(X, lone, cv=3)
