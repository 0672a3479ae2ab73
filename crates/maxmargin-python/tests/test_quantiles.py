"""Quantiles and expectiles: their shares, scikit-learn's quantiles of the same data, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV

import maxmargin
from maxmargin._data import packed

LEVELS = [0.1, 0.5, 0.9]


def noisy(rows=300):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (rows, 3))
    return X, X @ [1.0, -2.0, 0.5] + (1 + X[:, 0]) * rng.exponential(size=rows)


@pytest.mark.parametrize("quantile", LEVELS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_shares_are_those_of_the_quantile(quantile, form):
    X, y = noisy()
    fitted = maxmargin.QuantileSVR(quantile=quantile, C=10, gamma=0.5, tol=1e-6).fit(form(X), y)
    errors = y - fitted.predict(form(X))
    assert (errors < -1e-5).mean() <= quantile
    assert (errors > 1e-5).mean() <= 1 - quantile
    assert fitted.certificate_.holds
    assert (np.abs(errors) < 1e-5).mean() < 0.2


@pytest.mark.parametrize("quantile", LEVELS)
def test_linear_quantiles_are_scikit_learns_where_c_is_large(quantile):
    X, y = noisy()
    theirs = QuantileRegressor(quantile=quantile, alpha=0.0).fit(X, y)
    least = mean_pinball_loss(y, theirs.predict(X), alpha=quantile)
    ours = maxmargin.QuantileSVR(quantile=quantile, kernel="linear", C=1e4, tol=1e-6, cache_size=64).fit(X, y)
    loss = mean_pinball_loss(y, ours.predict(X), alpha=quantile)
    # The optimum for this C is at most the regularised objective of their weights, divided by C and the number of rows.
    assert least - 1e-9 <= loss <= least + 0.5 * float((theirs.coef_**2).sum()) / (1e4 * len(y)) + 1e-6


def test_the_median_and_the_mean_are_those_of_epsilon_0():
    X, y = noisy()
    median = maxmargin.QuantileSVR(quantile=0.5, C=4.0, gamma=0.5).fit(X, y)
    assert_allclose(median.predict(X), maxmargin.SVR(C=2.0, gamma=0.5, epsilon=0.0).fit(X, y).predict(X), atol=1e-12)
    mean = maxmargin.ExpectileSVR(expectile=0.5, C=4.0, gamma=0.5, tol=1e-8).fit(X, y)
    squared = maxmargin.train(
        X, y, formulation="epsilon-svr", kernel="rbf", gamma=0.5, C=2.0, epsilon=0.0, squared=True, tol=1e-8
    )
    assert_allclose(mean.predict(X), squared.predict(packed(X)), atol=1e-6)
    high = maxmargin.ExpectileSVR(expectile=0.9, C=4.0, gamma=0.5).fit(X, y)
    assert (high.predict(X) > mean.predict(X)).mean() > 0.95


def test_searches_take_the_pinball_loss():
    X, y = noisy(120)
    pinball = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    machine = maxmargin.QuantileSVR(quantile=0.9, gamma=0.5)
    grid = {"C": [0.01, 1.0, 100.0]}
    ours = maxmargin.GridSearchCV(machine, grid, scoring=pinball, cv=3).fit(X, y)
    theirs = GridSearchCV(machine, grid, scoring=pinball, cv=3).fit(X, y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9)
    # By name the engine is shared, the quantile among what varies.
    several = {"C": [1.0, 10.0], "quantile": [0.25, 0.75]}
    shared = maxmargin.GridSearchCV(machine, several, scoring="neg_mean_absolute_error", cv=3).fit(X, y)
    alone = GridSearchCV(machine, several, scoring="neg_mean_absolute_error", cv=3).fit(X, y)
    assert shared.shared_
    assert_allclose(shared.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"], atol=1e-2)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, float("nan"), "half"])
def test_levels_outside_0_and_1_are_refused(level):
    X, y = noisy(20)
    with pytest.raises(ValueError, match=r"'quantile' parameter of QuantileSVR must be a float in the range \(0.0, 1.0\)"):
        maxmargin.QuantileSVR(quantile=level).fit(X, y)
    with pytest.raises(ValueError, match=r"'expectile' parameter of ExpectileSVR must be a float in the range \(0.0, 1.0\)"):
        maxmargin.ExpectileSVR(expectile=level).fit(X, y)
    if isinstance(level, float):
        with pytest.raises(ValueError, match="it must be above 0 and below 1"):
            maxmargin.train(X, y, formulation="quantile", tau=level)


def test_models_are_written_read_and_handed_to_scikit_learn(tmp_path):
    X, y = noisy(60)
    for fitted in [maxmargin.QuantileSVR(quantile=0.9).fit(X, y), maxmargin.ExpectileSVR(expectile=0.1).fit(X, y)]:
        maxmargin.save(fitted, tmp_path / "model")
        assert_allclose(maxmargin.load(tmp_path / "model").predict(packed(X)), fitted.predict(X), rtol=0, atol=0)
        twin = maxmargin.to_sklearn(fitted)
        assert type(twin).__name__ == "SVR"
        assert_allclose(twin.predict(X), fitted.predict(X), atol=1e-10)
        assert fitted.verify(X, y)
