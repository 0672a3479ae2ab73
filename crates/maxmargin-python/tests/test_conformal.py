"""Intervals and sets: shapes, coverage of samples that no fold saw, and what estimators must do with one more parameter."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, SVCCV, SVR, NuSVC, NuSVR, QuantileSVR


def waves(rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (rows, 1))
    return X, np.sin(X[:, 0]) + 0.3 * rng.normal(size=rows)


@pytest.mark.parametrize("estimator", [SVR(conformal=0.1), NuSVR(conformal=0.1), QuantileSVR(C=10, conformal=0.1)])
def test_intervals_cover_new_samples(estimator):
    X, y = waves(300)
    fitted = estimator.fit(X, y)
    new, truth = waves(2000, seed=1)
    bounds = fitted.predict_interval(new)
    assert bounds.shape == (2000, 2)
    covered = ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean()
    # Five deviations of the binomial of the calibration samples.
    assert abs(covered - 0.9) < 5 * np.sqrt(0.09 / 300)
    assert fitted.conformal_.missing is None
    assert fitted.conformal_.level == 0.1
    wide = fitted.predict_interval(new, alpha=0.01)
    assert (wide[:, 0] <= bounds[:, 0]).all()
    assert (bounds[:, 1] <= wide[:, 1]).all()


@pytest.mark.parametrize("estimator", [SVC(conformal=0.1), NuSVC(nu=0.1, conformal=0.1)])
def test_sets_have_classes_as_columns(estimator):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    fitted = estimator.fit(X[::2], names[::2])
    sets = fitted.predict_set(X[1::2])
    assert sets.shape == (75, 3)
    assert sets.dtype == bool
    truth = np.searchsorted(fitted.classes_, names[1::2])
    assert sets[np.arange(75), truth].mean() > 0.75
    assert fitted.predict_set(X[1::2], per_class=True).shape == (75, 3)
    assert (sets <= fitted.predict_set(X[1::2], alpha=0.01)).all()


def test_the_machine_is_the_one_without():
    X, y = waves(120)
    plain, fitted = SVR().fit(X, y), SVR(conformal=0.2).fit(X, y)
    assert (plain.predict(X) == fitted.predict(X)).all()
    assert plain.conformal_ is None
    assert not hasattr(plain, "predict_interval")
    assert hasattr(fitted, "predict_interval")


def test_copies_keep_it():
    X, y = waves(120)
    fitted = SVR(conformal=0.2).fit(X, y)
    bounds = fitted.predict_interval(X)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_interval(X) == bounds).all()
    assert again.conformal_ == fitted.conformal_
    twin = clone(fitted)
    assert twin.get_params()["conformal"] == 0.2
    assert twin.set_params(conformal=None).fit(X, y).conformal_ is None
    assert fitted.verify(X, y)


def test_searches_take_it_along():
    X, y = load_iris(return_X_y=True)
    found = GridSearchCV(SVC(conformal=0.1), {"C": [1, 10]}, cv=3).fit(X, y)
    assert found.best_estimator_.predict_set(X).shape == (150, 3)
    assert SVCCV(Cs=[1, 10], gammas=[0.5], cv=3, conformal=0.1).fit(X, y).predict_set(X).shape == (150, 3)


@pytest.mark.parametrize("level", [0, 1, -0.1, "0.1"])
def test_levels_outside_are_refused(level):
    X, y = waves(30)
    with pytest.raises(ValueError, match="conformal"):
        SVR(conformal=level).fit(X, y)
    fitted = SVR(conformal=0.2).fit(X, y)
    if not isinstance(level, str):
        with pytest.raises(ValueError, match="above 0 and below 1"):
            fitted.predict_interval(X, alpha=level)


@pytest.mark.parametrize("score", ["plain", "aps"])
def test_searches_score_no_training_that_fails(score):
    X = np.random.default_rng(1).normal(size=(22, 3))
    y = np.array([0] * 20 + [1] * 2)
    machine = SVC(gamma=0.5, conformal=0.1, conformal_score=score)
    for asked in [GridSearchCV, maxmargin.GridSearchCV]:
        with pytest.raises(ValueError, match="trains on no row of class 1"):
            asked(machine, {"C": [1, 10]}, cv=2).fit(X, y)
    for wrong in [SVC(gamma=0.5, conformal=0.1, conformal_score="scaled"), SVR(gamma=0.5, conformal=0.1, conformal_score="aps")]:
        with pytest.raises(ValueError, match=r"conformal prediction: .* has no"):
            maxmargin.GridSearchCV(wrong, {"C": [1, 10]}, cv=2).fit(X, np.arange(22) % 2)
    # A training set of one value has no folds.
    for asked in [GridSearchCV, maxmargin.GridSearchCV]:
        with pytest.raises(ValueError, match="conformal prediction: scores need at least two rows"):
            asked(SVR(gamma=0.5, conformal=0.1), {"C": [1, 10]}, cv=2, scoring="neg_mean_absolute_error").fit(X[:2], X[:2, 0])
    with pytest.raises(ValueError, match="trains on no row of class 1"):
        machine.cross_validate(X, y, cv=2)


def test_runs_that_ended_early_say_why_there_is_nothing():
    X, y = load_iris(return_X_y=True)
    early = {"conformal": 0.1, "max_time": 1e-9}
    why = "the run was ended before all folds had a solution; raise max_time"
    with pytest.warns(ConvergenceWarning, match=rf"{why}|Solver terminated early"):
        fitted = SVC(calibration="platt", **early).fit(X, y)
    for copied in [fitted, pickle.loads(pickle.dumps(fitted))]:
        for asked in [copied.predict_proba, copied.predict_log_proba, copied.predict_set]:
            with pytest.raises(NotFittedError, match=why):
                asked(X)
    for machine in [SVR(**early), QuantileSVR(**early)]:
        with pytest.warns(ConvergenceWarning, match=rf"{why}|Solver terminated early"):
            machine.fit(X, y)
        with pytest.raises(NotFittedError, match=why):
            machine.predict_interval(X)


def test_given_folds_are_those_of_separate_trainings():
    """CV+ by its definition, with a training for each fold."""
    X, y = waves(60)
    new = waves(20, seed=2)[0]
    of = np.arange(60) % 5
    folds = [(np.flatnonzero(of == fold).tolist(), []) for fold in range(5)]
    settings = {"kernel": "rbf", "gamma": 0.5, "c": 2.0, "epsilon": 0.05, "tol": 1e-10}
    native, data = maxmargin._native.Svm("epsilon-svr", **settings, conformal=0.2), maxmargin._native.Data
    model = native.fit(data.dense(X, y), folds=folds)
    apart = [SVR(gamma=0.5, C=2.0, epsilon=0.05, tol=1e-10).fit(X[of != fold], y[of != fold]) for fold in range(5)]
    residuals = np.array([abs(y[i] - apart[of[i]].predict(X[i : i + 1])[0]) for i in range(60)])
    centres = np.array([one.predict(new) for one in apart])[of]
    low, high = np.sort(centres - residuals[:, None], axis=0), np.sort(centres + residuals[:, None], axis=0)
    rank = int(np.floor(0.2 * 61))
    expected = np.stack([low[rank - 1], high[60 - rank]], axis=1)
    assert np.abs(model.intervals(data.dense(new)) - expected).max() < 1e-7


def test_changed_samples_have_new_folds():
    X, y = load_iris(return_X_y=True)
    fitted = SVC(gamma=0.5, conformal=0.1, keep_data=True).fit(X[:-6], y[:-6])
    fitted.add(X[-6:], y[-6:])
    fresh = SVC(gamma=0.5, conformal=0.1).fit(X, y)
    assert (fitted.predict_set(X) == fresh.predict_set(X)).all()


@pytest.mark.parametrize("score", ["aps", "raps", "raps:0.05:2"])
def test_sets_of_probabilities(score):
    X, y = load_iris(return_X_y=True)
    fitted = SVC(conformal=0.1, conformal_score=score).fit(X[::2], y[::2])
    sets = fitted.predict_set(X[1::2])
    assert sets[np.arange(75), y[1::2]].mean() > 0.75
    # A row has the same set wherever it stands, and in a copy.
    assert (fitted.predict_set(X[1::2][::-1])[::-1] == sets).all()
    assert (pickle.loads(pickle.dumps(fitted)).predict_set(X[1::2]) == sets).all()
    assert clone(fitted).get_params()["conformal_score"] == score
    assert fitted.verify(X[::2], y[::2])
    assert SVCCV(Cs=[1], gammas=[0.5], cv=3, conformal=0.1, conformal_score=score).fit(X, y).predict_set(X).shape == (150, 3)


@pytest.mark.parametrize("kind", [SVR, NuSVR])
def test_scaled_errors_are_wide_where_the_noise_is(kind):
    rng = np.random.default_rng(1)
    X, new = rng.uniform(0, 6, (300, 1)), rng.uniform(0, 6, (300, 1))
    y, truth = (np.sin(x[:, 0]) + (0.05 + x[:, 0] / 6) * rng.normal(size=300) for x in (X, new))
    fitted = kind(C=10, gamma=0.2, conformal=0.1, conformal_score="scaled").fit(X, y)
    bounds = fitted.predict_interval(new)
    covered = ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean()
    assert abs(covered - 0.9) < 5 * np.sqrt(0.09 / 300)
    widths = bounds[:, 1] - bounds[:, 0]
    assert widths[new[:, 0] > 4].mean() > 2 * widths[new[:, 0] < 2].mean()
    assert (fitted.predict(new) == kind(C=10, gamma=0.2).fit(X, y).predict(new)).all()
    assert fitted.verify(X, y)


def test_scores_that_are_none_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="plain, scaled, aps"):
        SVC(conformal=0.1, conformal_score="lac").fit(X, y)
    with pytest.raises(ValueError, match="no errors to be scaled"):
        SVC(conformal=0.1, conformal_score="scaled").fit(X, y)
    with pytest.raises(ValueError, match="no classes"):
        SVR(conformal=0.1, conformal_score="aps").fit(X, y.astype(float))
    with pytest.raises(ValueError, match="conformal_score"):
        SVR(conformal=0.1, conformal_score=1).fit(X, y.astype(float))


def two_noises(rows, seed=0):
    """Values of a sine, whose noise is ten times as large in one of two groups."""
    rng = np.random.default_rng(seed)
    X, loud = rng.uniform(-3, 3, (rows, 1)), rng.integers(0, 2, rows)
    return X, np.sin(X[:, 0]) + np.where(loud, 0.5, 0.05) * rng.normal(size=rows), loud


@pytest.mark.parametrize("estimator", [SVR(conformal=0.1), QuantileSVR(C=10, conformal=0.1)])
def test_each_group_has_intervals_of_its_own(estimator):
    X, y, loud = two_noises(300)
    new, truth, of = two_noises(2000, seed=1)
    fitted = estimator.fit(X, y, conformal_groups=loud)
    bounds = fitted.predict_interval(new, conformal_groups=of)
    covered = (bounds[:, 0] <= truth) & (truth <= bounds[:, 1])
    widths = bounds[:, 1] - bounds[:, 0]
    for group in (0, 1):
        # Five deviations of the binomial of the calibration samples of the group.
        assert abs(covered[of == group].mean() - 0.9) < 5 * np.sqrt(0.09 / (loud == group).sum())
    assert widths[of == 1].mean() > 3 * widths[of == 0].mean()
    assert list(fitted.conformal_.groups) == ["0", "1"]
    assert fitted.conformal_.small_groups == []
    # A number is the same group as a float or a word, and a copy keeps groups.
    again = pickle.loads(pickle.dumps(fitted))
    assert again.conformal_ == fitted.conformal_
    for words in (of.astype(float), of.astype(str), of.astype(object)):
        assert (again.predict_interval(new, conformal_groups=words) == bounds).all()


def test_groups_of_classes_are_the_promise_for_each_class():
    X, y = load_iris(return_X_y=True)
    by_group = SVC(conformal=0.1).fit(X, y, conformal_groups=y)
    by_class = SVC(conformal=0.1).fit(X, y).predict_set(X, per_class=True)
    for label in (0, 1, 2):
        found = by_group.predict_set(X, conformal_groups=np.full(150, label))
        assert (found[:, label] == by_class[:, label]).all()
    both = by_group.predict_set(X, per_class=True, conformal_groups=y)
    assert both.shape == (150, 3)


def test_groups_go_by_metadata_routing():
    X, y, loud = two_noises(120)
    with config_context(enable_metadata_routing=True):
        svr = SVR(conformal=0.2).set_fit_request(conformal_groups=True)
        piped = make_pipeline(StandardScaler(), svr).fit(X, y, conformal_groups=loud)
    fitted = SVR(conformal=0.2).fit(StandardScaler().fit_transform(X), y, conformal_groups=loud)
    assert piped[-1].conformal_ == fitted.conformal_
    search = GridSearchCV(SVR(conformal=0.2), {"C": [1, 10]}, cv=3).fit(X, y, conformal_groups=loud)
    assert list(search.best_estimator_.conformal_.groups) == ["0", "1"]


def test_wrong_groups_are_refused():
    X, y, loud = two_noises(60)
    fitted = SVR(conformal=0.2).fit(X, y, conformal_groups=loud)
    plain = SVR(conformal=0.2).fit(X, y)
    for estimator, groups, what in [
        (fitted, None, "give the group of each row: 0, 1"),
        (fitted, np.full(60, 2), "row 1 is of group `2`, which no training row has"),
        (fitted, loud[1:], "one group for each sample"),
        (plain, loud, "trained without groups"),
    ]:
        with pytest.raises(ValueError, match=what):
            estimator.predict_interval(X, conformal_groups=groups)
    gap = np.where(np.arange(60) == 7, np.nan, loud)
    with pytest.raises(ValueError, match=r"sample 7 \(from 0\) has no group"):
        SVR(conformal=0.2).fit(X, y, conformal_groups=gap)
    with pytest.raises(ValueError, match="conformal_groups are for intervals"):
        SVR().fit(X, y, conformal_groups=loud)
    few = np.where(np.arange(60) < 3, "few", "many")
    with pytest.warns(UserWarning, match="too few samples .* few"):
        found = SVR(conformal=0.1).fit(X, y, conformal_groups=few)
    assert found.conformal_.small_groups == ["few"]
    assert np.isinf(found.predict_interval(X, conformal_groups=few)[:3]).all()


def test_changed_samples_have_no_groups():
    X, y = load_iris(return_X_y=True)
    fitted = SVC(gamma=0.5, conformal=0.1, keep_data=True).fit(X, y, conformal_groups=np.arange(150) % 2)
    with pytest.raises(ValueError, match="fit on the changed data"):
        fitted.remove([3])
