"""Every option of an estimator gives what scikit-learn's own searches and cross-validations give, whichever way the engine takes."""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import model_selection
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import distributed

COSTS = {"C": [0.01, 1, 100]}
EXACT = {"tol": 1e-9}


def iris():
    return load_iris(return_X_y=True)


def unequal():
    """Classes of very different sizes."""
    return make_classification(103, 4, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.15, random_state=5)


def stored(folder, X, y):
    np.savez(folder / "data.npz", X=X, y=y)
    return folder / "data.npz"


def column_of(y):
    return y[:, None]


def frame_of(y):
    return pytest.importorskip("pandas").DataFrame({"target": y})


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("form", [column_of, frame_of])
def test_targets_in_a_column_are_those_of_a_row(form):
    X, y = iris()
    search = maxmargin.GridSearchCV(maxmargin.SVC(), COSTS).fit(X, form(y))
    assert_allclose(search.cv_results_["mean_test_score"], [139 / 150, 145 / 150, 146 / 150])
    assert search.best_params_ == {"C": 100}
    theirs = model_selection.GridSearchCV(sklearn.svm.SVC(), COSTS).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    for estimator, grid in [
        (maxmargin.SVC(gamma=0.1), COSTS),
        (maxmargin.LinearSVC(max_iter=100_000), COSTS),
        (make_pipeline(StandardScaler(), maxmargin.SVC()), {"svc__C": [0.01, 1]}),
    ]:
        flat, upright = (maxmargin.GridSearchCV(estimator, grid).fit(X, of) for of in [y, form(y)])
        assert upright.shared_
        assert_array_equal(upright.cv_results_["mean_test_score"], flat.cv_results_["mean_test_score"])
    found = maxmargin.SVCCV(Cs=COSTS["C"], gammas="scale").fit(X, form(y))
    assert_array_equal(found.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    for gamma in ["scale", 0.1]:
        machine = maxmargin.SVC(gamma=gamma)
        assert_array_equal(machine.cross_validate(X, form(y)).test_score, machine.cross_validate(X, y).test_score)
        assert_array_equal(
            machine.leave_one_out(X[::3], form(y[::3])).test_score, machine.leave_one_out(X[::3], y[::3]).test_score
        )


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_a_column_of_targets_in_a_file_is_a_row(tmp_path):
    X, y = iris()
    search = distributed.grid(
        stored(tmp_path, X, column_of(y)), maxmargin.GridSearchCV(maxmargin.SVC(), COSTS, refit=False), None
    )
    assert_allclose(search.cv_results_["mean_test_score"], [139 / 150, 145 / 150, 146 / 150])


@pytest.mark.parametrize("of", [{}, {"gamma": 0.05}, {"kernel": "linear"}])
def test_balanced_weights_are_those_of_each_training_set_in_all_entries(of, tmp_path):
    X, y = make_classification(120, 4, n_informative=3, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=1)
    order = np.argsort(y, kind="stable")[np.r_[0:55, 60:120, 55:60]]
    X, y = X[order], y[order]
    machine = maxmargin.SVC(C=0.01, class_weight="balanced", **EXACT, **of)
    cv = KFold(3, shuffle=True, random_state=3)
    right = model_selection.cross_val_score(machine, X, y, cv=cv)
    assert_array_equal(machine.cross_validate(X, y, cv=cv).test_score, right)
    path = stored(tmp_path, X, y)
    assert_array_equal(distributed.cross_validate(path, machine, None, cv=cv).test_score, right)
    search = maxmargin.GridSearchCV(machine, {"C": [0.01]}, cv=cv, refit=False)
    assert_array_equal(search.fit(X, y).cv_results_["mean_test_score"], [right.mean()])
    found = distributed.grid(path, search, None)
    assert_array_equal(found.cv_results_["mean_test_score"], [right.mean()])
    alone = model_selection.cross_val_score(machine, X, y, cv=model_selection.LeaveOneOut())
    assert_array_equal(machine.leave_one_out(X, y).test_score, alone)


def test_balanced_searches_have_the_scores_of_scikit_learn():
    X, y = unequal()
    search = maxmargin.GridSearchCV(maxmargin.SVC(gamma=0.3, class_weight="balanced"), {"C": [0.1, 1, 10]}).fit(X, y)
    # At C=0.1 all samples are at their bounds, and every bias between two is optimal: ours is in
    # the middle, LIBSVM's that of the sample which rounding
    # left below its bound (0.777).
    assert_allclose(search.cv_results_["mean_test_score"], [0.7467, 0.7767, 0.6881], atol=0.0001)
    theirs = model_selection.GridSearchCV(sklearn.svm.SVC(gamma=0.3, class_weight="balanced"), {"C": [1, 10]}).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"][1:], theirs.cv_results_["mean_test_score"])
    unshared = model_selection.GridSearchCV(search.estimator, search.param_grid).fit(X, y)
    assert_allclose(search.cv_results_["mean_test_score"], unshared.cv_results_["mean_test_score"], rtol=0, atol=1e-12)
    assert search.shared_


def test_gamma_of_a_rule_is_that_of_each_training_set_in_all_entries(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120].copy(), y[:120]
    X[80:] *= 20
    cv = KFold(3)
    right = model_selection.cross_val_score(sklearn.svm.SVR(C=50, **EXACT), X, y, cv=cv)
    machine = maxmargin.SVR(C=50, **EXACT)
    assert_allclose(machine.cross_validate(X, y, cv=cv).test_score, right, atol=1e-7)
    search = maxmargin.GridSearchCV(machine, {"C": [50]}, cv=cv, refit=False)
    assert_allclose(search.fit(X, y).cv_results_["mean_test_score"], [right.mean()], atol=1e-7)
    path = stored(tmp_path, X, y)
    assert_allclose(distributed.cross_validate(path, machine, None, cv=cv).test_score, right, atol=1e-7)
    assert_allclose(distributed.grid(path, search, None).cv_results_["mean_test_score"], [right.mean()], atol=1e-7)


def test_pipelines_of_imbalanced_learn_are_scikit_learns_to_search():
    sampling = pytest.importorskip("imblearn.over_sampling", reason="imbalanced-learn is not installed")
    pipelines = pytest.importorskip("imblearn.pipeline")
    X, y = unequal()
    pipeline = pipelines.Pipeline(
        [("sample", sampling.SMOTE(random_state=1)), ("scale", StandardScaler()), ("svc", maxmargin.SVC())]
    )
    for ours, theirs in [
        (maxmargin.GridSearchCV, model_selection.GridSearchCV),
        (maxmargin.RandomizedSearchCV, model_selection.RandomizedSearchCV),
    ]:
        grid = {"svc__C": [0.1, 1, 10]}
        more = {"n_iter": 2, "random_state": 1} if "Random" in ours.__name__ else {}
        found, right = (search(pipeline, grid, **more).fit(X, y) for search in [ours, theirs])
        assert not found.shared_
        assert_array_equal(found.cv_results_["mean_test_score"], right.cv_results_["mean_test_score"])
    # A sampler in scikit-learn's pipeline is an error there as here.
    wrong = Pipeline([("sample", sampling.SMOTE()), ("svc", maxmargin.SVC())])
    for search in [maxmargin.GridSearchCV, model_selection.GridSearchCV]:
        with pytest.raises(ValueError, match="All the 5 fits failed"):
            search(wrong, {"svc__C": [1]}).fit(X, y)


class Failing(TransformerMixin, BaseEstimator):
    """Raises for one setting, when fitted or when it transforms."""

    def __init__(self, kind="none", when="fit"):
        self.kind = kind
        self.when = when

    def fit(self, X, y=None):
        return self._go(X, "fit")

    def transform(self, X):
        self._go(X, "transform")
        return X

    def _go(self, X, when):
        errors = {"runtime": RuntimeError, "key": KeyError, "type": TypeError, "value": ValueError, "stop": KeyboardInterrupt}
        if self.kind in errors and self.when == when:
            raise errors[self.kind]("this setting fails")
        return self


@pytest.mark.parametrize("kind", ["runtime", "key", "type", "value"])
@pytest.mark.parametrize("when", ["fit", "transform"])
def test_a_step_that_fails_for_one_setting_has_no_score(kind, when):
    X, y = iris()
    pipeline = Pipeline([("step", Failing(when=when)), ("svc", maxmargin.SVC())])
    search = maxmargin.GridSearchCV(pipeline, {"step__kind": ["none", kind], "svc__C": [1, 10]})
    with pytest.warns(FitFailedWarning, match="this setting fails"), pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, y)
    assert_array_equal(np.isnan(search.cv_results_["mean_test_score"]), [False, False, True, True])
    assert search.best_params_ == {"step__kind": "none", "svc__C": 10}
    strict = maxmargin.GridSearchCV(pipeline, {"step__kind": [kind]}, error_score="raise")
    with pytest.raises({"runtime": RuntimeError, "key": KeyError, "type": TypeError, "value": ValueError}[kind], match="fails"):
        strict.fit(X, y)


def test_interruptions_are_no_failed_settings():
    X, y = iris()
    pipeline = Pipeline([("step", Failing()), ("svc", maxmargin.SVC())])
    with pytest.raises(KeyboardInterrupt):
        maxmargin.GridSearchCV(pipeline, {"step__kind": ["none", "stop"]}).fit(X, y)


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_log_loss",
        "neg_brier_score",
        "roc_auc",
        ["accuracy", "neg_log_loss"],
        {"hits": "accuracy", "area": "roc_auc"},
        lambda estimator, X, y: float(estimator.predict_proba(X)[:, 1].mean()),
        lambda estimator, X, y: {"mean": float(estimator.predict(X).mean()), "rows": len(y)},
    ],
    ids=lambda of: repr(of).split(" at 0x")[0],
)
@pytest.mark.parametrize("gamma", ["scale", 0.2])
def test_scores_may_ask_for_anything(scoring, gamma):
    X, y = unequal()
    machine = maxmargin.SVC(probability=True, gamma=gamma, random_state=1, **EXACT)
    found = machine.cross_validate(X, y, scoring=scoring).test_score
    theirs = model_selection.cross_validate(machine, X, y, scoring=scoring)
    right = {name.removeprefix("test_"): values for name, values in theirs.items() if name.startswith("test_")}
    assert (set(found) if isinstance(found, dict) else {"score"}) == set(right)
    for name, values in right.items():
        assert_allclose(found[name] if isinstance(found, dict) else found, values, rtol=0, atol=1e-9)


def test_intervals_of_several_scores_are_those_of_one():
    X, y = unequal()
    found = maxmargin.SVC(gamma=0.2).cross_validate(X, y, scoring=["accuracy", "roc_auc"])
    low, high = found.interval(0, 1, score="accuracy")
    assert low < found.test_score["accuracy"].mean() < high
    with pytest.raises(ValueError, match="there are accuracy, roc_auc"):
        found.interval()


class Opposite(maxmargin.SVC):
    """Predicts the other class."""

    def predict(self, X):
        return 1 - super().predict(X)


def test_subclasses_and_replaced_methods_count(monkeypatch):
    X, y = unequal()
    grid = {"C": [0.1, 1]}
    for own in [Opposite(gamma=0.1), make_pipeline(StandardScaler(), Opposite(gamma=0.1))]:
        given = grid if isinstance(own, Opposite) else {"opposite__C": [0.1, 1]}
        ours, theirs = (of.GridSearchCV(own, given).fit(X, y) for of in [maxmargin, model_selection])
        assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    right = model_selection.cross_val_score(Opposite(gamma=0.1), X, y)
    assert_array_equal(Opposite(gamma=0.1).cross_validate(X, y).test_score, right)
    before = maxmargin.SVC(gamma=0.1).cross_validate(X, y)
    monkeypatch.setattr(maxmargin.SVC, "predict", lambda self, X: np.ones(len(X)))
    after = maxmargin.SVC(gamma=0.1).cross_validate(X, y)
    assert before.shared
    assert not after.shared
    assert_allclose(after.test_score, [np.mean(y[test] == 1) for test in after.test])


def test_masks_and_places_from_the_end_are_rows():
    X, y = iris()
    X, y = X[:100], y[:100]
    rows = np.arange(100)
    test = rows % 4 == 0
    for train, tested in [(~test, test), (rows[~test] - 100, rows[test].tolist()), (np.flatnonzero(~test), test)]:
        for machine in [maxmargin.SVC(gamma=0.1), maxmargin.SVC()]:
            found = machine.cross_validate(X, y, cv=[(train, tested)])
            assert_array_equal(found.test[0], np.flatnonzero(test))
            assert found.train_size == (75,)
            assert_array_equal(found.test_score, model_selection.cross_val_score(machine, X, y, cv=[(train, tested)]))
            search = maxmargin.GridSearchCV(machine, {"C": [1]}, cv=[(train, tested)]).fit(X, y)
            assert_array_equal(search.cv_results_["split0_test_score"], found.test_score)


@pytest.mark.parametrize("splits", [KFold, StratifiedKFold, ShuffleSplit])
def test_splits_that_are_drawn_are_drawn_once(splits):
    X, y = unequal()
    pipeline = Pipeline([("step", Failing()), ("svc", maxmargin.SVC(**EXACT))])
    grid, how = {"step__kind": ["none", "runtime"]}, {} if splits is ShuffleSplit else {"shuffle": True}
    found = []
    for search in [maxmargin.GridSearchCV, model_selection.GridSearchCV]:
        state = np.random.RandomState(3)
        with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
            of = search(pipeline, grid, cv=splits(3, random_state=state, **how)).fit(X, y)
        found.append((of.cv_results_["mean_test_score"], state.randint(1000)))
    assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_a_fold_that_cannot_be_trained_has_no_score():
    X, y = iris()
    # Each third is a class: no training set has all, and one without the third is of two.
    cv = [(np.arange(50), np.arange(50, 150)), (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    with pytest.warns(FitFailedWarning):
        found = maxmargin.SVC(gamma=0.1).cross_validate(X, y, cv=cv)
    assert np.isnan(found.test_score[0])
    assert found.test_score[1] > 0.9
    assert np.isnan(found.predictions[0]).all()
    assert not found.certificate.holds
    with pytest.raises(ValueError, match="All the 5 fits failed"):
        maxmargin.NuSVC(nu=0.9).cross_validate(*unequal())


def test_a_linear_machine_beyond_the_duals_cross_validates():
    X, y = unequal()
    machine = maxmargin.LinearSVC(penalty="l1", dual=False, random_state=1, max_iter=100_000)
    found = machine.cross_validate(X, y)
    assert not found.shared
    assert_array_equal(found.test_score, model_selection.cross_val_score(machine, X, y))


def test_a_matrix_that_is_symmetric_within_the_training_set_alone_is_read_by_rows():
    X, y = unequal()
    train, test = np.arange(70), np.arange(70, 103)
    kernel = X @ X.T
    kernel[np.ix_(train, test)] = np.random.default_rng(1).normal(size=(70, 33))
    machine, cv = maxmargin.SVC(kernel="precomputed", C=0.1), [(train, test)]
    found = machine.cross_validate(kernel, y, cv=cv)
    assert_array_equal(found.test_score, model_selection.cross_val_score(machine, kernel, y, cv=cv))
    search = maxmargin.GridSearchCV(machine, {"C": [0.1]}, cv=cv, refit=False).fit(kernel, y)
    assert_array_equal(search.cv_results_["mean_test_score"], found.test_score)


def test_decision_values_of_0_are_the_first_class_of_linear_machines():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.array(["a", "b"] * 30)
    X[y == "b"] += 1
    X[:12] = 0
    machine = maxmargin.LinearSVC(fit_intercept=False)
    right = model_selection.cross_val_score(machine, X, y, cv=KFold(3))
    assert_array_equal(machine.cross_validate(X, y, cv=KFold(3)).test_score, right)
    for scoring in ["accuracy", "f1_macro"]:
        found, theirs = (
            of.GridSearchCV(machine, {"C": [1]}, cv=KFold(3), scoring=scoring).fit(X, y) for of in [maxmargin, model_selection]
        )
        assert found.shared_
        assert_array_equal(found.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_steps_that_fail_are_said_before_units_are_handed_out(tmp_path):
    path = stored(tmp_path, *iris())
    pipeline = Pipeline([("step", Failing()), ("svc", maxmargin.SVC())])
    plan = maxmargin.GridSearchCV(pipeline, {"step__kind": ["none", "key"]}, refit=False)
    with pytest.raises(ValueError, match="the steps before the machine fail with KeyError: 'this setting fails'"):
        distributed.grid(path, plan, None)
    with pytest.raises(ValueError, match=r"split 1 of 5 cannot be trained: the steps .* RuntimeError: this setting fails"):
        distributed.cross_validate(path, pipeline.set_params(step__kind="runtime"), None)
    fine = distributed.cross_validate(path, pipeline.set_params(step__kind="none"), None)
    assert_array_equal(fine.test_score, model_selection.cross_val_score(pipeline, *iris()))
