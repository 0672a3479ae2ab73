"""Quantiles and expectiles: their shares, scikit-learn's quantiles of the same data, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import d2_pinball_score, make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin._data import packed

LEVELS = [0.1, 0.5, 0.9]
NARROW = {"C": 10, "gamma": 0.5, "tol": 1e-6}


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
    assert ours.shared_
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-2)
    # A function of the user may look up rows by the index of the targets.
    own = make_scorer(lambda truth, predicted: -np.abs(truth - predicted).mean())
    assert not maxmargin.GridSearchCV(machine, grid, scoring=own, cv=3).fit(X, y).shared_
    # By name the engine is shared as well, the quantile among what varies.
    several = {"C": [1.0, 10.0], "quantile": [0.25, 0.75]}
    shared = maxmargin.GridSearchCV(machine, several, scoring="neg_mean_absolute_error", cv=3).fit(X, y)
    alone = GridSearchCV(machine, several, scoring="neg_mean_absolute_error", cv=3).fit(X, y)
    assert shared.shared_
    assert_allclose(shared.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"], atol=1e-2)


@pytest.mark.parametrize(
    "machine", [maxmargin.QuantileSVR(gamma=0.1, tol=1e-8), maxmargin.ExpectileSVR(gamma=0.1, tol=1e-8)], ids=str
)
def test_searches_take_the_default_score(machine):
    X, y = noisy(90)
    scaled = Pipeline([("scale", StandardScaler()), ("machine", machine)])
    for estimator, asked in [(machine, {"C": [1.0, 10.0]}), (scaled, {"machine__C": [1.0, 10.0]})]:
        ours = maxmargin.GridSearchCV(estimator, asked, cv=3).fit(X, y)
        theirs = GridSearchCV(estimator, asked, cv=3).fit(X, y)
        assert ours.shared_
        assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-5)
    assert_allclose(machine.cross_validate(X, y, cv=3).test_score, cross_val_score(machine, X, y, cv=3), atol=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_several_levels_are_the_machines_of_each(form):
    X, y = noisy()
    X = form(X)
    levels = [0.9, 0.05, 0.5]
    for single, several in [
        (lambda level: maxmargin.QuantileSVR(quantile=level, **NARROW), maxmargin.QuantileSVR(quantile=levels, **NARROW)),
        (lambda level: maxmargin.ExpectileSVR(expectile=level, **NARROW), maxmargin.ExpectileSVR(expectile=levels, **NARROW)),
    ]:
        several.fit(X, y)
        alone = [single(level).fit(X, y) for level in levels]
        predicted = several.predict(X)
        assert predicted.shape == (300, 3)
        apart = np.column_stack([one.predict(X) for one in alone])
        in_order = np.sort(apart, axis=1)[:, [2, 0, 1]]
        assert_allclose(predicted, in_order, atol=1e-4)
        assert (predicted[:, 1] <= predicted[:, 2]).all()
        assert (predicted[:, 2] <= predicted[:, 0]).all()
        # Values of two levels that are equal cross or not by rounding.
        steps = np.diff(apart[:, [1, 2, 0]], axis=1).min(axis=1)
        assert (steps < -1e-4).sum() <= several.crossings(X) <= (steps < 1e-4).sum()
        assert_allclose(several.intercept_, [one.intercept_[0] for one in alone], atol=1e-4)
        assert several.dual_coef_.shape == (3, len(several.support_))
        assert several.n_iter_.shape == (3,)
        assert len(several.certificates_) == 3
        assert several.certificate_.holds
        assert several.verify(X, y)
        assert_allclose(single(levels[0]).set_params(**several.get_params()).fit(X, y).predict(X), predicted)
    scores = [d2_pinball_score(y, column, alpha=level) for level, column in zip(levels, several.predict(X).T, strict=True)]
    assert several.score(X, y) == pytest.approx(np.mean(scores))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kind", [maxmargin.QuantileSVR, maxmargin.ExpectileSVR])
def test_everything_of_several_levels_is_in_the_order_of_the_list(kind, form):
    X, _ = noisy(100)
    # Levels of noise that is the same everywhere cross nowhere.
    y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(2).normal(size=100)
    X = form(X)
    level = kind._level
    levels = [0.9, 0.05, 0.5]
    fitted = kind(**{level: levels}, kernel="linear", C=10).fit(X, y)
    alone = [kind(**{level: one}, kernel="linear", C=10).fit(X, y) for one in levels]
    assert fitted.crossings(X) == 0
    assert_allclose(X @ fitted.coef_.T + fitted.intercept_, fitted.predict(X), atol=1e-12)
    duals = [one.certificate_.dual for one in alone]
    assert_allclose([one.dual for one in fitted.certificates_], duals, rtol=1e-3)
    assert_allclose([one.dual for one in fitted.verify(X, y).certificates], duals, rtol=1e-3)
    why = fitted.explain(X[:5], background=X[:9], interactions=True)
    assert why.output_names == tuple(f"{level} {one}" for one in levels)
    assert_allclose(why.decision_values, fitted.predict(X[:5]), atol=1e-12)
    assert why.efficiency_error < 1e-12
    each = [one.explain(X[:5], background=X[:9]) for one in alone]
    # Weights of the machine of a list and of one by itself are both within the tolerance.
    assert_allclose(why.values, np.stack([one.values for one in each], axis=-1), atol=2e-2)
    fitted.set_params(**{level: [0.1, 0.9]})
    for changed in [lambda: fitted.coef_, lambda: fitted.explain(X), lambda: fitted.predict(X)]:
        with pytest.raises(ValueError, match="was changed after fit: 3 levels"):
            changed()
    for other in (0.5, [0.1, 0.2, 0.3]):
        fitted.set_params(**{level: other})
        with pytest.raises(ValueError, match="was changed after fit: 3 levels"):
            fitted.predict(X)
    single = kind(**{level: 0.5}, **NARROW).fit(X, y)
    with pytest.raises(ValueError, match="was changed after fit: 1 levels"):
        single.set_params(**{level: [0.1, 0.9]}).predict(X)


def test_several_levels_are_searched_by_scikit_learn():
    X, y = noisy(90)
    machine = maxmargin.QuantileSVR(quantile=[0.1, 0.9], gamma=0.5)
    search = maxmargin.GridSearchCV(machine, {"C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert not search.shared_
    assert search.best_estimator_.predict(X).shape == (90, 2)
    varied = maxmargin.GridSearchCV(machine, {"quantile": [[0.1, 0.9], [0.2, 0.8]]}, cv=3).fit(X, y)
    assert np.isfinite(varied.cv_results_["mean_test_score"]).all()


def test_leave_one_out_of_several_levels_has_the_mean_of_their_scores():
    X, y = noisy(30)
    for kind in (maxmargin.QuantileSVR, maxmargin.ExpectileSVR):
        found = kind(**{kind._level: [0.9, 0.1]}, **NARROW).leave_one_out(X, y)
        errors = np.abs(np.concatenate(found.predictions) - y[:, np.newaxis])
        assert_allclose(found.test_score, -errors.mean(axis=1), atol=1e-12)


@pytest.mark.parametrize("levels", [[], [0.5, 0.5], [0.1, 1.0], [[0.1, 0.9]], ["half"]])
def test_lists_that_are_no_levels_are_refused(levels):
    X, y = noisy(20)
    with pytest.raises(ValueError, match=r"quantile|could not convert"):
        maxmargin.QuantileSVR(quantile=levels).fit(X, y)


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


def test_a_kernel_without_an_optimum_is_named():
    """Squared losses have no bounds, so that an indefinite kernel leaves no optimum: once coefficients of 10^171."""
    with pytest.warns(ConvergenceWarning, match="positive semidefinite"):
        fitted = maxmargin.ExpectileSVR(kernel="precomputed").fit(np.diag([-3.0, 1.0, 1.0]), [0.0, 1.0, 2.0])
    assert not fitted.certificate_.holds
    assert np.all(np.abs(fitted.predict(np.eye(3))) <= 2.0)
