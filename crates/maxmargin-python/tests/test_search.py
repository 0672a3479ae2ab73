"""Searches on the shared engine beside scikit-learn's."""

import pickle
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import model_selection
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler, scale

import maxmargin

GRID = {"C": [0.1, 1, 100], "gamma": [0.01, 0.1, 1]}
TIMES = {f"{of}_{what}_time" for of in ["mean", "std"] for what in ["fit", "score"]}


def iris():
    return load_iris(return_X_y=True)


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def searched(X, y, grid=GRID, *, svm="SVC", fit=None, of=None, **parameters):
    """Ours and scikit-learn's search for the same."""
    of = {} if of is None else of
    fit = {} if fit is None else fit
    ours = maxmargin.GridSearchCV(getattr(maxmargin, svm)(**of), grid, **parameters).fit(X, y, **fit)
    theirs = model_selection.GridSearchCV(getattr(sklearn.svm, svm)(**of), grid, **parameters).fit(X, y, **fit)
    return ours, theirs


def assert_same(ours, theirs, each=0.0):
    """The same attributes, keys and parameters; scores of splits apart by no more than `each`."""
    assert ours.shared_
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name, values in theirs.cv_results_.items():
        found = ours.cv_results_[name]
        if name.startswith("param_"):
            assert found.tolist() == values.tolist()
            assert found.dtype == values.dtype
        elif name.startswith("split") or name.startswith("mean_test"):
            assert_allclose(found, values, rtol=0, atol=each + 1e-12, err_msg=name)
        elif name != "params" and each == 0.0 and name not in TIMES:
            assert_allclose(found, values, atol=1e-12, err_msg=name)
    public = {name for name in vars(theirs) if name.endswith("_")}
    assert {name for name in vars(ours) if name.endswith("_")} == public | {"shared_", "certificates_"}
    assert len(ours.certificates_) == len(theirs.cv_results_["params"])
    assert all(len(splits) == theirs.n_splits_ for splits in ours.certificates_)
    assert all(one.holds for splits in ours.certificates_ for one in splits)


@pytest.mark.parametrize("data", [iris, cancer])
@pytest.mark.parametrize("scoring", [None, "accuracy", "f1_macro", "balanced_accuracy"])
def test_results_are_those_of_scikit_learn(data, scoring):
    X, y = data()
    ours, theirs = searched(X, y, scoring=scoring)
    # A sample of a fold may be on either side within the tolerance.
    assert_same(ours, theirs, each=1.5 / (len(y) / 5) if scoring in {None, "accuracy"} else 0.04)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_accuracy_has_the_bits_of_scikit_learns(scoring):
    """It is computed here, and by scikit-learn where it is one of several scores."""
    X, y = iris()
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    scaled = Pipeline([("scale", StandardScaler()), ("svc", maxmargin.SVC())])
    for machine, grid in [(maxmargin.SVC(), GRID), (scaled, {f"svc__{name}": values for name, values in GRID.items()})]:
        one = maxmargin.GridSearchCV(machine, grid, scoring=scoring).fit(X, y)
        several = maxmargin.GridSearchCV(machine, grid, scoring=["accuracy"], refit="accuracy").fit(X, y)
        assert one.shared_
        assert several.shared_
        for split in range(5):
            assert_array_equal(one.cv_results_[f"split{split}_test_score"], several.cv_results_[f"split{split}_test_accuracy"])


def test_a_tight_tolerance_gives_the_same_numbers():
    X, y = cancer()
    ours, theirs = searched(X, y, of={"tol": 1e-8})
    assert_same(ours, theirs)
    assert ours.best_index_ == theirs.best_index_


def test_scores_of_decision_values_several_scores_and_repeated_folds():
    X, y = cancer()
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1)
    ours, theirs = searched(X, y, scoring=["roc_auc", "f1"], refit="roc_auc", cv=cv, of={"tol": 1e-6})
    assert_same(ours, theirs, each=1e-3)
    assert ours.multimetric_
    assert set(ours.scorer_) == {"roc_auc", "f1"}
    assert ours.best_params_ == theirs.best_params_


def test_kernels_rules_and_lists_of_grids():
    X, y = iris()
    grid = [
        {"kernel": ["linear"], "C": [1, 10]},
        {"kernel": ["rbf", "poly"], "C": [0.5, 1, 1], "gamma": ["auto", 0.25, "auto"]},
        {"C": [np.inf], "gamma": [0.1]},
    ]
    ours, theirs = searched(X, y, grid, of={"tol": 1e-6})
    assert_same(ours, theirs, each=1 / 30)


def test_a_rule_for_gamma_counts_for_each_training_set():
    X, y = load_diabetes(return_X_y=True)
    X[:80] *= 30
    ours, theirs = searched(X, y, {"C": [1, 100], "gamma": ["scale", 2.0]}, svm="SVR", of={"tol": 1e-8}, cv=KFold(3))
    assert_same(ours, theirs, each=1e-6)
    assert ours.best_estimator_.certificate_.holds


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_labels_that_are_words_and_groups(form):
    X, y = iris()
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    groups = np.random.default_rng(1).integers(0, 12, len(y))
    # Where all samples are bounded, one that a loose tolerance leaves short of it says another bias.
    ours, theirs = searched(form(X), y, cv=GroupKFold(4), fit={"groups": groups}, of={"tol": 1e-8})
    assert_same(ours, theirs, each=1.5 / 30)
    assert_array_equal(ours.classes_, theirs.classes_)
    assert ours.predict(form(X)).dtype == y.dtype


@pytest.mark.parametrize(
    "cv", [ShuffleSplit(4, train_size=0.5, random_state=1), TimeSeriesSplit(4, gap=3, max_train_size=60)], ids=str
)
def test_training_sets_that_are_not_the_rest_share_the_engine(cv):
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X)[:200], scale(y)[:200]
    ours, theirs = searched(X, y, svm="SVR", cv=cv, of={"tol": 1e-6, "epsilon": 0.2})
    assert ours.shared_
    assert_same(ours, theirs, each=1e-4)


def test_weights_of_samples_and_of_classes():
    X, y = make_classification(300, 5, weights=[0.8], flip_y=0.1, random_state=7)
    weights = np.random.default_rng(1).uniform(0.1, 2, len(y))
    ours, theirs = searched(X, y, of={"tol": 1e-9, "class_weight": {0: 1, 1: 3}}, fit={"sample_weight": weights})
    assert_same(ours, theirs, each=0.02)
    ours, theirs = searched(X, y, {"C": [1, 10, 100], "gamma": [0.1, 1]}, of={"tol": 1e-9, "class_weight": "balanced"})
    assert_same(ours, theirs)


def test_balanced_weights_belong_to_each_training_set():
    X, y = iris()
    # Thirds of iris are of very different classes.
    grid, cv = GRID | {"C": [1, 10, 100]}, KFold(3, shuffle=True, random_state=5)
    ours, theirs = searched(X, y, grid, cv=cv, of={"tol": 1e-9, "class_weight": "balanced"})
    assert_same(ours, theirs)
    in_order = maxmargin.GridSearchCV(maxmargin.SVC(), GRID, cv=KFold(3))
    assert not in_order.fit(X, y).shared_


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error", "neg_median_absolute_error"])
def test_values_and_their_scores(scoring):
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), scale(y)
    ours, theirs = searched(X, y, svm="SVR", scoring=scoring, of={"tol": 1e-6, "epsilon": 0.2})
    assert_same(ours, theirs, each=1e-4)
    assert ours.best_params_ == theirs.best_params_
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)


def test_matrices_and_callables_are_kernels():
    X, y = cancer()
    X, y = X[:200], y[:200]
    called = maxmargin.GridSearchCV(maxmargin.SVC(kernel=lambda a, b: a @ b.T), {"C": [0.1, 1]}).fit(X, y)
    # Its values may depend on the rows that it is called with.
    assert not called.shared_
    given, theirs = searched(X @ X.T, y, {"C": [0.1, 1]}, of={"kernel": "precomputed"})
    assert_same(given, theirs, each=1.5 / 40)
    assert_array_equal(called.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"])


def test_without_refit_there_is_nothing_to_ask():
    X, y = iris()
    ours, theirs = searched(X, y, refit=False)
    assert_same(ours, theirs, each=1.5 / 30)
    assert ours.best_params_ == theirs.best_params_
    assert not hasattr(ours, "best_estimator_")
    by_hand, _ = searched(X, y, refit=lambda results: int(np.argmin(results["mean_test_score"])))
    assert by_hand.best_index_ == np.argmin(by_hand.cv_results_["mean_test_score"])
    found = maxmargin.SVCCV(refit=False).fit(X, y)
    assert found.best_params_["C"] == found.C_
    with pytest.raises(NotFittedError, match="refit=False"):
        found.predict(X)


@pytest.mark.parametrize(
    ("estimator", "grid", "parameters"),
    [
        (maxmargin.SVC(), {"C": [1], "probability": [False, True]}, {}),
        (maxmargin.SVC(), GRID, {"cv": [(np.arange(110), np.arange(100, 150))]}),
        (maxmargin.SVC(), GRID, {"scoring": make_scorer(lambda truth, predicted: float((truth == predicted).mean()))}),
        (maxmargin.SVC(), GRID, {"return_train_score": True}),
        (maxmargin.SVC(max_iter=10**6), GRID, {}),
        (maxmargin.SVC(), GRID, {"cv": iter([(np.arange(0, 150, 2), np.arange(1, 150, 2))])}),
        (maxmargin.NuSVC(nu=0.1), {"gamma": [0.1, 1]}, {}),
        (sklearn.svm.SVC(), GRID, {}),
    ],
    ids=lambda of: re.sub(" at 0x[0-9a-f]+", "", str(of)),
)
def test_what_the_engine_does_not_share_is_scikit_learns_own(estimator, grid, parameters):
    X, y = iris()
    ours = maxmargin.GridSearchCV(estimator, grid, **parameters)
    if isinstance(parameters.get("cv"), type(iter([]))):
        parameters = parameters | {"cv": [(np.arange(0, 150, 2), np.arange(1, 150, 2))]}
    ours.fit(X, y)
    theirs = model_selection.GridSearchCV(estimator, grid, **parameters).fit(X, y)
    assert not ours.shared_
    assert ours.certificates_ == ()
    assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_parameters_that_are_no_problem_are_told_as_scikit_learn_does():
    X, y = iris()
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):
        search = maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [-1, 1]}).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"][0])
    assert search.best_params_ == {"C": 1}
    with pytest.raises(ValueError, match="The 'C' parameter of SVC"):
        maxmargin.SVCCV(Cs=[-1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        maxmargin.SVCCV().fit(X * np.nan, y)


def test_estimators_that_find_their_own_parameters():
    X, y = cancer()
    theirs = model_selection.GridSearchCV(sklearn.svm.SVC(), GRID, cv=StratifiedKFold(4)).fit(X, y)
    found = maxmargin.SVCCV(Cs=GRID["C"], gammas=GRID["gamma"], cv=StratifiedKFold(4), keep_data=True).fit(X, y)
    assert found.shared_
    assert (found.C_, found.gamma_) == (theirs.best_params_["C"], theirs.best_params_["gamma"])
    assert found.best_params_ == theirs.best_params_
    assert_allclose(found.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=0.01)
    assert {"std_test_score", "rank_test_score", "split3_test_score", "param_C", "param_gamma"} <= found.cv_results_.keys()
    assert_array_equal(found.predict(X), theirs.predict(X))
    assert_allclose(found.decision_function(X), theirs.decision_function(X), atol=1e-2)
    assert found.score(X, y) == theirs.score(X, y)
    assert found.best_estimator_.verify(X, y)
    assert found.best_estimator_.add(X[:1], y[:1]).shape_fit_ == (len(X) + 1, X.shape[1])
    assert not hasattr(found, "predict_proba")

    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.predict(X), found.predict(X))
    assert again.certificates_ == found.certificates_
    assert clone(found).get_params().keys() == found.get_params().keys()
    linear = maxmargin.SVCCV(Cs=0.1, kernel="linear", probability=True).fit(X, y, sample_weight=np.ones(len(y)))
    assert (linear.C_, linear.gamma_) == (0.1, None)
    assert_allclose(linear.predict_proba(X).sum(axis=1), 1)


def test_estimators_that_search_have_the_methods_of_the_best():
    X, y = load_iris(return_X_y=True)
    for kind in (maxmargin.SVCCV, maxmargin.SVRCV):
        with pytest.raises(NotFittedError):
            kind().score(X, y)
    found = maxmargin.SVCCV(probability=True, cv=3, Cs=[1.0], gammas=[0.1]).fit(X, y)
    assert_allclose(found.predict_log_proba(X), np.log(found.predict_proba(X)))
    assert not hasattr(maxmargin.SVCCV(), "predict_log_proba")


def test_estimators_of_values_that_find_their_own_parameters():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), scale(y)
    found = maxmargin.SVRCV(Cs=[0.1, 1, 10], gammas=[0.01, 0.1], cv=3, scoring="neg_mean_squared_error").fit(X, y)
    theirs = model_selection.GridSearchCV(
        sklearn.svm.SVR(), {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}, cv=3, scoring="neg_mean_squared_error"
    ).fit(X, y)
    assert found.best_params_ == theirs.best_params_
    assert found.best_score_ == pytest.approx(theirs.best_score_, abs=1e-3)
    assert found.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-3)


@pytest.mark.parametrize("gamma", [np.float32(0.125), np.float64(0.125), np.int64(1), np.array(0.125), np.str_("scale")])
def test_scalars_of_numpy_are_pythons(gamma):
    X, y = iris()
    found = maxmargin.SVCCV(Cs=np.float32(1), gammas=gamma, cv=3).fit(X, y)
    usual = maxmargin.SVCCV(Cs=1.0, gammas=gamma.item(), cv=3).fit(X, y)
    assert found.best_params_ == usual.best_params_ == {"C": 1.0, "gamma": gamma.item()}
    assert found.best_score_ == usual.best_score_
    values = load_diabetes(return_X_y=True)
    assert maxmargin.SVRCV(Cs=[1.0], gammas=gamma, cv=3).fit(*values).gamma_ == gamma.item()


def test_groups_weights_and_routing_reach_estimators_that_search():
    X, y = iris()
    groups = np.arange(len(y)) % 7
    weights = np.random.default_rng(1).uniform(0.5, 1, len(y))
    found = maxmargin.SVCCV(cv=GroupKFold(3)).fit(X, y, weights, groups)
    assert found.n_splits_ == 3
    assert found.shared_
    with sklearn.config_context(enable_metadata_routing=True):
        routed = maxmargin.SVCCV(cv=GroupKFold(3)).fit(X, y, weights, groups)
        asks = maxmargin.SVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        assert maxmargin.GridSearchCV(asks, GRID).fit(X, y, sample_weight=weights).shared_
    assert routed.best_params_ == found.best_params_


def test_frames_keep_their_names():
    pandas = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True, as_frame=True)
    found = maxmargin.SVCCV().fit(X, y)
    assert_array_equal(found.feature_names_in_, X.columns)
    assert found.n_features_in_ == 4
    search = maxmargin.GridSearchCV(maxmargin.SVC(), GRID).fit(X, pandas.Series(y).astype(str))
    assert search.shared_
    assert_array_equal(search.feature_names_in_, X.columns)


def test_same_bits_for_any_number_of_threads():
    X, y = cancer()
    threads, found = maxmargin.threads(), []
    try:
        for count in [1, 3]:
            maxmargin.set_threads(count)
            found.append(maxmargin.SVCCV(gammas=[0.01, 0.1], scoring="roc_auc").fit(X, y))
    finally:
        maxmargin.set_threads(threads)
    assert_array_equal(found[0].cv_results_["mean_test_score"], found[1].cv_results_["mean_test_score"])
    assert found[0].certificates_ == found[1].certificates_


LONG = """
    import os, signal, threading, time
    import numpy as np
    import maxmargin
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(6_000, 40)), rng.integers(0, 2, 6_000)
    search = maxmargin.{search}.fit(X[:100], y[:100])
    before = dict(vars(search))
    sent = []
    def send():
        time.sleep({after})
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        search.fit(X, y)
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
        assert vars(search).keys() == before.keys() and all(vars(search)[name] is before[name] for name in before)
        print(f"interrupted {{late:.3f}}")
    else:
        print("done before")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "search",
    [
        "SVCCV(Cs=[1e3, 1e5], gammas=[0.01, 0.1])",
        "SVRCV(Cs=[1e3, 1e5], gammas=[0.01, 0.1], epsilon=1e-3)",
        "GridSearchCV(maxmargin.SVC(), {'C': [1e3, 1e5], 'gamma': [0.01, 0.1]})",
    ],
)
def test_ctrl_c_comes_through_and_leaves_the_search_as_it_was(search):
    script = textwrap.dedent(LONG.format(search=search, after=1.0))
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.startswith("interrupted"), ran.stdout + ran.stderr
    assert float(ran.stdout.split()[1]) < 1.0, ran.stdout


def test_scores_are_drawn():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed").use("Agg")
    X, y = cancer()
    found = maxmargin.SVCCV(Cs=[1.0, 10.0, 100.0], gammas=[0.01, "scale"], refit=False).fit(X, y)
    axes = found.plot()
    assert [of.get_text() for of in axes.get_xticklabels()] == ["1", "10", "100"]
    assert [of.get_text() for of in axes.get_yticklabels()] == ["0.01", "scale"]
    (drawn,) = axes.get_images()
    assert drawn.get_array().max() == found.best_score_
    (frame,) = axes.patches
    gamma, cost = np.unravel_index(drawn.get_array().argmax(), (2, 3))
    assert frame.get_xy() == (cost - 0.5, gamma - 0.5)
    line = maxmargin.SVCCV(Cs=[0.1, 1.0], kernel="linear", refit=False).fit(X, y).plot().lines[0]
    assert len(line.get_xdata()) == 2


def test_scores_that_differ_by_rounding_have_one_rank_and_the_first_of_them_is_the_best():
    """No dual variable reaches C here, so that the solution is the same for all values of C."""
    X, y = make_regression_of_few_rows()
    grid = {"C": [1e3, 3e3, 1e4, 1e5], "gamma": [0.5]}
    found = maxmargin.GridSearchCV(maxmargin.SVR(epsilon=0.2, tol=1e-10), grid, cv=3).fit(X, y)
    assert found.shared_
    assert_array_equal(found.cv_results_["rank_test_score"], 1)
    assert found.best_params_ == {"C": 1e3, "gamma": 0.5}
    assert_allclose(found.cv_results_["mean_test_score"], found.best_score_, rtol=1e-9)


def test_ranks_beyond_rounding_are_those_of_scikit_learn():
    X, y = make_regression_of_few_rows()
    grid = {"C": [1e-3, 0.1, 10], "gamma": [0.01, 0.1, 1]}
    for scoring in ["r2", "neg_mean_squared_error"]:
        ours = maxmargin.GridSearchCV(maxmargin.SVR(tol=1e-10), grid, cv=3, scoring=scoring).fit(X, y * 1e-6)
        theirs = model_selection.GridSearchCV(sklearn.svm.SVR(tol=1e-10), grid, cv=3, scoring=scoring).fit(X, y * 1e-6)
        assert ours.shared_
        assert ours.best_params_ == theirs.best_params_
        assert_array_equal(ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])


def make_regression_of_few_rows():
    generator = np.random.default_rng(3)
    X = generator.normal(size=(40, 3))
    return X, np.sin(X[:, 0]) + 0.1 * generator.normal(size=40)
