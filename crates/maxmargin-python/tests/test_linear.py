"""LinearSVC and LinearSVR beside LIBLINEAR's."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import model_selection
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_classification
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import maxmargin
from maxmargin._certificate import Certificate, early_ends, warn_of

TOL = 1e-9


def data(name):
    X, y = {"iris": load_iris, "cancer": load_breast_cancer}[name](return_X_y=True)
    return scale(X), y


def labelled(decisions):
    return (decisions > 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)


@pytest.mark.parametrize("name", ["iris", "cancer"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", [{}, {"fit_intercept": False}, {"intercept_scaling": 3.0}])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 4.0, 1: 0.5}])
def test_svc(name, loss, intercept, class_weight):
    X, y = data(name)
    parameters = {"loss": loss, "class_weight": class_weight, "tol": TOL, "max_iter": 1_000_000, "C": 0.1, **intercept}
    ours = maxmargin.LinearSVC(**parameters).fit(X, y)
    theirs = sklearn.svm.LinearSVC(dual=True, random_state=1, **parameters).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_array_equal(ours.predict(X), ours.classes_[labelled(ours.decision_function(X))])
    assert len(ours.certificates_) == len(ours.coef_)
    assert ours.verify(X, y)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_svr(loss, form):
    X, y = load_diabetes(return_X_y=True)
    X, y = form(scale(X)), scale(y)
    parameters = {"loss": loss, "epsilon": 0.1, "tol": TOL, "max_iter": 1_000_000, "C": 0.1}
    ours = maxmargin.LinearSVR(**parameters).fit(X, y)
    theirs = sklearn.svm.LinearSVR(dual=True, random_state=1, **parameters).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)


def test_samples_of_weight_0_take_no_part():
    X, y = data("cancer")
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    some = weights > 0
    ours = maxmargin.LinearSVC(tol=TOL).fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, maxmargin.LinearSVC(tol=TOL).fit(X[some], y[some]).coef_, atol=1e-7)
    assert ours.verify(X, y)


def test_sparsify():
    X, y = data("cancer")
    ours = maxmargin.LinearSVC().fit(X, y)
    before = ours.decision_function(X)
    assert sp.issparse(ours.sparsify().coef_)
    assert_allclose(ours.decision_function(X), before)


def test_weights_of_a_million_features():
    rng = np.random.default_rng(1)
    X = sp.random(300, 1_000_000, density=2e-5, format="csr", random_state=rng)
    y = rng.integers(0, 4, 300)
    for estimator in [maxmargin.LinearSVC(), maxmargin.SVC(kernel="linear")]:
        fitted = estimator.fit(X, y)
        assert fitted.coef_.shape == (4 if isinstance(fitted, maxmargin.LinearSVC) else 6, 1_000_000)
        assert abs(fitted.coef_).sum() > 0


EXACT = {"tol": TOL, "max_iter": 1_000_000}


def searched(X, y, grid, *, of=None, fit=None, **parameters):
    """Ours and scikit-learn's search for the same."""
    name = "LinearSVR" if y.dtype.kind == "f" and len(np.unique(y)) > 20 else "LinearSVC"
    more = EXACT | ({} if of is None else of)
    ours = maxmargin.GridSearchCV(getattr(maxmargin, name)(**more), grid, **parameters).fit(X, y, **(fit or {}))
    theirs = getattr(sklearn.svm, name)(dual=True, random_state=1, **more)
    return ours, model_selection.GridSearchCV(theirs, grid, **parameters).fit(X, y, **(fit or {}))


def assert_scores(ours, theirs, atol):
    assert ours.shared_
    for name, values in theirs.cv_results_.items():
        if "test_" in name and not name.startswith("rank"):
            assert_allclose(ours.cv_results_[name], values, atol=atol, err_msg=name)
    assert ours.best_params_ == theirs.best_params_
    assert all(one.holds for splits in ours.certificates_ for one in splits)


@pytest.mark.parametrize("name", ["iris", "cancer"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_searches_share_the_engine_and_find_what_scikit_learn_finds(name, form):
    X, y = data(name)
    labels = np.array(["a", "b", "c"])[y]
    grid = {"C": [0.01, 0.1, 1.0], "loss": ["hinge", "squared_hinge"], "intercept_scaling": [1.0, 3.0]}
    assert_scores(*searched(form(X), labels, grid, of={"class_weight": {"a": 2.0}}), atol=1e-12)
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    scoring = ["accuracy", "f1_macro"] + (["roc_auc"] if name == "cancer" else [])
    cv = StratifiedKFold(4, shuffle=True, random_state=2)
    fit = {"sample_weight": weights}
    assert_scores(*searched(form(X), y, {"C": [0.01, 0.1]}, cv=cv, scoring=scoring, refit="accuracy", fit=fit), atol=1e-12)


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_searches_of_values_share_the_engine(scoring):
    X, y = load_diabetes(return_X_y=True)
    grid = {"C": [0.01, 0.1], "epsilon": [0.0, 0.1], "loss": ["epsilon_insensitive", "squared_epsilon_insensitive"]}
    assert_scores(*searched(scale(X), scale(y), grid, cv=KFold(4), scoring=scoring), atol=1e-6)


def test_a_scaler_before_a_linear_machine_is_fitted_to_each_training_set():
    X, y = load_breast_cancer(return_X_y=True)
    search = []
    for module in [maxmargin, sklearn.svm]:
        of = getattr(module, "GridSearchCV", model_selection.GridSearchCV)
        pipeline = make_pipeline(StandardScaler(), module.LinearSVC(**EXACT))
        search.append(of(pipeline, {"linearsvc__C": [0.01, 0.1, 1.0]}, scoring="roc_auc").fit(X, y))
    assert_scores(*search, atol=1e-7)


@pytest.mark.parametrize("cv", [StratifiedKFold(4), ShuffleSplit(3, random_state=1, test_size=0.2)])
def test_cross_validation_is_fitting_one_by_one(cv):
    X, y = data("iris")
    found = maxmargin.LinearSVC(C=0.3, **EXACT).cross_validate(X, y, cv=cv)
    assert found.shared
    assert found.certificate.holds
    for (train, test), decisions, predictions in zip(cv.split(X, y), found.decisions, found.predictions, strict=True):
        alone = maxmargin.LinearSVC(C=0.3, **EXACT).fit(X[train], y[train])
        assert_allclose(decisions, alone.decision_function(X[test]), atol=1e-6)
        assert_array_equal(predictions, alone.predict(X[test]))


def test_leave_one_out_of_values():
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X)[:60], scale(y)[:60]
    found = maxmargin.LinearSVR(C=0.1, epsilon=0.1, **EXACT).leave_one_out(X, y)
    for row in [0, 17, 59]:
        rest = np.delete(np.arange(60), row)
        alone = maxmargin.LinearSVR(C=0.1, epsilon=0.1, **EXACT).fit(X[rest], y[rest])
        assert_allclose(found.predicted()[row], alone.predict(X[row : row + 1])[0], atol=1e-6)


def test_searches_that_do_not_converge_or_are_not_ours_are_scikit_learns_own():
    X, y = data("iris")
    grid = {"C": [0.1, 1.0]}
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        assert (
            not maxmargin.GridSearchCV(maxmargin.LinearSVC(max_iter=1, loss="hinge", tol=1e-17), {"C": [1e3, 1e5]})
            .fit(X, y)
            .shared_
        )
    for machine in [maxmargin.LinearSVC(max_time=60.0), maxmargin.LinearSVC(multi_class="crammer_singer", max_iter=100_000)]:
        assert not maxmargin.GridSearchCV(machine, grid).fit(X, y).shared_
    assert not maxmargin.GridSearchCV(maxmargin.LinearSVC(), {"dual": [True, False]}).fit(X, y).shared_


def test_a_tolerance_that_is_met_needs_no_warning():
    X, y = make_classification(300, 10, flip_y=0.1, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", sklearn.exceptions.ConvergenceWarning)
        fitted = maxmargin.LinearSVC(C=1e8, max_iter=10_000).fit(X, y)
        search = maxmargin.GridSearchCV(maxmargin.LinearSVC(max_iter=10_000), {"C": [1e8]}, cv=2).fit(X, y)
        found = maxmargin.LinearSVC(C=1e8, max_iter=10_000).cross_validate(X, y, cv=2)
    # Sums in twice the precision show it, where plain ones would hide it in rounding.
    assert [machine["status"] for machine in fitted._model.machines()] == ["converged"]
    assert fitted.certificate_.holds
    assert search.shared_
    assert found.shared
    # The warning names the end of a training that missed the tolerance, not that of another.
    met, missed = Certificate(1.0, 1.0, 0.0, 1e-5, 0.0, True), Certificate(2.0, 1.0, 0.5, 0.1, 0.0, False)
    assert early_ends(["stalled"], [met], 1e-3) == set()
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="found no further progress"):
        assert warn_of(early_ends(["time_limit", "stalled"], [met, missed], 1e-3), missed, 1e-3)


def test_a_great_index_is_refused_before_its_memory_is_asked_for():
    X = sp.csr_matrix(([1.0, 1.0, -1.0, -1.0, 1.0], ([0, 1, 2, 3, 1], [0, 0, 0, 0, 1_999_999_999])), shape=(4, 2_000_000_000))
    y = [1, 1, 0, 0]
    with pytest.raises(MemoryError, match="a weight for each of 2000000000 features, and there are"):
        maxmargin.LinearSVC().fit(X, y)
    svc = maxmargin.SVC(kernel="linear").fit(X, y)
    assert_array_equal(svc.predict(X), y)
    with pytest.raises(MemoryError, match="2000000000 features"):
        _ = svc.coef_


def test_features_that_nobody_scaled_are_as_good_as_scaled_ones():
    # Beside rows of 1e8 the last digit of one coefficient moves the weights by their own size.
    X, y = load_wine(return_X_y=True)
    flowers = load_iris(return_X_y=True)
    D, t = load_diabetes(return_X_y=True, scaled=False)
    values = {"loss": "squared_epsilon_insensitive", "dual": False}
    rng = np.random.default_rng(0)
    # Times in milliseconds, and three features that matter.
    times = np.c_[1.7e12 + rng.random(300) * 3e10, rng.normal(size=(300, 3))]
    late = times[:, 1] * 2 + rng.normal(size=300)
    with warnings.catch_warnings():
        for estimator, large, target, least, warned in [
            (maxmargin.LinearSVC(), X * 1e5, y, 0.9, "error"),
            (maxmargin.LinearSVC(), flowers[0] * 1e8, flowers[1], 0.95, "error"),
            (maxmargin.LinearSVR(**values), D * 1e6, t, 0.45, "error"),
            # The dual of rows of 1e12 is only as near as coefficients in double precision: a fold may say so.
            (maxmargin.LinearSVR(**values), times, late, 0.7, "ignore"),
        ]:
            warnings.simplefilter(warned, sklearn.exceptions.ConvergenceWarning)
            scores = model_selection.cross_val_score(estimator, large, target, cv=5)
            assert scores.mean() > least, (estimator, scores)
            assert_allclose(estimator.cross_validate(large, target, cv=5).test_score, scores, atol=1e-2)
    fitted = maxmargin.LinearSVC().fit(X * 1e5, y)
    assert fitted.certificate_.holds
    assert fitted.verify(X * 1e5, y).matches


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_dual_does_not_matter_with_the_l2_norm(loss):
    X, y = data("cancer")
    weights = [maxmargin.LinearSVC(loss=loss, dual=dual, random_state=1).fit(X, y).coef_ for dual in [True, False, "auto"]]
    assert_array_equal(weights[0], weights[1])
    assert_array_equal(weights[0], weights[2])
    targets = X[:, 0] + X[:, 1]
    biases = [maxmargin.LinearSVR(dual=dual).fit(X, targets).intercept_ for dual in [True, False]]
    assert_array_equal(*biases)
    for wrong in [{"loss": "hinge", "dual": False}, {"loss": "squared_hinge", "dual": True}]:
        with pytest.raises(ValueError, match="Unsupported set of arguments"):
            maxmargin.LinearSVC(penalty="l1", **wrong).fit(X, y)


@pytest.mark.parametrize("sizes", [(-8, 9), (0, 7)], ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_certificates_are_those_of_the_weights_between_rows_of_different_size(sizes, epsilon):
    # Sums over α in another order were other weights: an estimator that had converged had a gap of 0.98.
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.normal(size=(10, 1)) * 10.0 ** random.integers(*sizes, size=(10, 1))
        y = np.round(random.normal(size=10))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = maxmargin.LinearSVR(C=1000.0, epsilon=epsilon).fit(X, y)
        w, b = found.coef_, found.intercept_[0]
        primal = 0.5 * (w @ w + b * b) + 1000 * np.maximum(0, np.abs(X @ w + b - y) - epsilon).sum()
        assert found.certificate_.primal == pytest.approx(primal, rel=1e-7), seed
        assert found.certificate_.kkt <= 1e-3 or caught, seed
        assert found.verify(X, y), seed
