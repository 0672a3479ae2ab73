"""Searches of pipelines, of combinations that are drawn, and by successive halving, on the shared engine beside scikit-learn's."""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import loguniform
from sklearn import model_selection
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import maxmargin

#: Both solve it to so much that no sample changes its side.
EXACT = {"tol": 1e-8}


def both(steps, grid, X, y, *, svm="SVC", fit=None, **parameters):
    """Our search and scikit-learn's, of the same pipeline with each other's machine at its end."""
    found = []
    for package, searches in [(maxmargin, maxmargin), (sklearn.svm, model_selection)]:
        pipeline = Pipeline([*((name, step) for name, step in steps), ("svm", getattr(package, svm)(**EXACT))])
        found.append(searches.GridSearchCV(pipeline, grid, **parameters).fit(X, y, **(fit or {})))
    return found


def assert_same(ours, theirs):
    assert ours.shared_
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for name in theirs.cv_results_:
        if "test" in name:
            assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6, err_msg=name)
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    public = {name for name in vars(theirs) if name.endswith("_")}
    assert {name for name in vars(ours) if name.endswith("_")} == public | {"shared_", "certificates_"}
    assert len(ours.certificates_) == len(theirs.cv_results_["params"])
    assert all(one.holds for splits in ours.certificates_ for one in splits)


def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize("scoring", [None, "roc_auc", ["accuracy", "f1"]])
def test_a_scaler_is_fitted_to_each_training_set(scoring):
    X, y = cancer()
    grid = {"svm__C": [0.5, 5], "svm__gamma": [0.02, 0.2, "scale"]}
    refit = "f1" if isinstance(scoring, list) else True
    ours, theirs = both([("scaler", StandardScaler())], grid, X, y, scoring=scoring, refit=refit)
    assert_same(ours, theirs)
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_scale_that_a_test_set_would_change_is_not_seen():
    rng = np.random.default_rng(1)
    X, y = make_classification(120, 5, random_state=1)
    # Far rows in the last fold alone: a scaler of all rows would shrink the others to nothing.
    X[96:] += 1e4 * rng.normal(size=(24, 5))
    cv = model_selection.KFold(5)
    ours, theirs = both([("scaler", MinMaxScaler())], {"svm__gamma": [1.0, 10.0]}, X, y, cv=cv)
    assert_same(ours, theirs)


def test_steps_before_the_machine_are_varied_too():
    X, y = cancer()
    grid = [
        {"scaler": [StandardScaler(), MinMaxScaler()], "svm__C": [1, 10]},
        {"pick__n_components": [3, 6], "svm__C": [1], "svm__kernel": ["linear", "rbf"]},
        {"pick": [SelectKBest(k=5), "passthrough"]},
    ]
    ours, theirs = both([("scaler", StandardScaler()), ("pick", PCA(4, random_state=1))], grid, X, y, cv=3)
    assert_same(ours, theirs)
    assert len(ours.certificates_) == 10


def test_texts_become_sparse_rows_in_each_split():
    words = np.array(["alpha", "beta", "gamma", "delta", "margin", "kernel", "gap", "dual", "primal", "bias"])
    rng = np.random.default_rng(3)
    y = np.array(["left", "right"] * 40)
    texts = [" ".join(rng.choice(words[:7] if side == "left" else words[3:], 12)) for side in y]
    ours, theirs = both([("words", TfidfVectorizer())], {"svm__C": [0.1, 1, 10], "svm__gamma": [0.5]}, texts, y)
    assert_same(ours, theirs)


def test_values_weights_and_time():
    X, y = load_diabetes(return_X_y=True)
    weights = np.random.default_rng(2).uniform(0.5, 2, len(y))
    grid = {"svm__C": [1.0, 100.0], "svm__epsilon": [0.1, 10.0]}
    fit = {"svm__sample_weight": weights}
    ours, theirs = both([("scaler", StandardScaler())], grid, X, y, svm="SVR", fit=fit, cv=TimeSeriesSplit(3))
    assert_same(ours, theirs)


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning", "ignore:Scoring failed", "ignore:One or more of the test scores"
)
@pytest.mark.parametrize(
    ("pipeline", "grid"),
    [
        (make_pipeline(StandardScaler(), maxmargin.LinearSVC(max_time=600.0)), {"linearsvc__C": [1, 10]}),
        (make_pipeline(StandardScaler(), maxmargin.SVC(max_iter=10**6)), {"svc__C": [1, 10]}),
        (make_pipeline(StandardScaler(), maxmargin.SVC()), {"svc": [maxmargin.SVC(C=2), maxmargin.LinearSVC()]}),
        (make_pipeline(PCA(), maxmargin.SVC()), {"pca__n_components": [2, 1000]}),
    ],
)
def test_what_the_engine_does_not_share_is_scikit_learns_own(pipeline, grid):
    X, y = cancer()
    search = maxmargin.GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert not search.shared_
    assert search.certificates_ == ()
    assert search.best_score_ > 0.8


def test_degrees_tolerances_and_a_machine_alone_in_a_pipeline():
    X, y = cancer()
    X = StandardScaler().fit_transform(X)
    grid = [{"svm__kernel": ["poly"], "svm__degree": [1, 2], "svm__coef0": [1.0]}, {"svm__tol": [1e-5, 1e-8], "svm__C": [1, 10]}]
    ours, theirs = both([], grid, X, y, cv=3)
    assert_same(ours, theirs)


def test_combinations_that_are_drawn_are_scikit_learns():
    X, y = cancer()
    found = []
    for package, searches in [(maxmargin, maxmargin), (sklearn.svm, model_selection)]:
        pipeline = make_pipeline(StandardScaler(), package.SVC(**EXACT))
        drawn = {"svc__C": loguniform(0.1, 100), "svc__gamma": [0.01, 0.1]}
        found.append(searches.RandomizedSearchCV(pipeline, drawn, n_iter=6, random_state=5).fit(X, y))
    assert_same(*found)
    assert found[0].cv_results_["params"] == found[1].cv_results_["params"]
    alone = maxmargin.RandomizedSearchCV(maxmargin.SVC(), {"C": loguniform(0.1, 10)}, n_iter=3, random_state=1).fit(X, y)
    assert alone.shared_


def test_halving_goes_on_with_the_same_combinations():
    X, y = cancer()
    X = StandardScaler().fit_transform(X)
    found = []
    for package, searches in [(maxmargin, maxmargin), (sklearn.svm, model_selection)]:
        search = searches.HalvingGridSearchCV(
            package.SVC(**EXACT),
            {"C": [0.1, 1, 10], "gamma": [0.001, 0.01, 0.1]},
            random_state=3,
            min_resources=60,
            return_train_score=False,
        )
        found.append(search.fit(X, y))
    ours, theirs = found
    assert_same(ours, theirs)
    assert ours.n_resources_ == theirs.n_resources_ == [60, 180, 540]
    assert_array_equal(ours.cv_results_["iter"], theirs.cv_results_["iter"])
    assert ours.best_params_ == theirs.best_params_
    assert ours.n_candidates_ == theirs.n_candidates_
    trained = maxmargin.HalvingGridSearchCV(maxmargin.SVC(), {"C": [1, 10]}, return_train_score=True, random_state=1).fit(X, y)
    assert not trained.shared_
