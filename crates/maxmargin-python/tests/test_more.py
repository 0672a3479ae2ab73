"""What scikit-learn does not have: judgements, exact updates, cross-validation on the shared engine."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
    cross_val_predict,
    cross_val_score,
)
from sklearn.preprocessing import scale

import maxmargin
from maxmargin._data import width

TOL = 1e-8


def two():
    return make_classification(200, 6, flip_y=0.1, random_state=3)


def test_certificates_bound_the_optimum():
    X, y = two()
    loose, tight = (maxmargin.SVC(tol=tol).fit(X, y).certificate_ for tol in [1e-2, 1e-9])
    assert loose.dual <= tight.primal
    assert tight.dual <= loose.primal
    assert tight.relative_gap < 1e-6
    assert tight.holds
    three = maxmargin.SVC().fit(*load_iris(return_X_y=True))
    assert len(three.certificates_) == 3
    assert three.certificate_.kkt == max(one.kkt for one in three.certificates_)


@pytest.mark.parametrize(
    "name", ["SVC", "NuSVC", "SVR", "NuSVR", "QuantileSVR", "ExpectileSVR", "OneClassSVM", "LinearSVC", "LinearSVR"]
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_models_are_verified_against_their_data_and_no_other(name, form):
    X, y = two()
    parameters = {"max_iter": 10_000} if name == "LinearSVR" else {}
    fitted = getattr(maxmargin, name)(**parameters).fit(form(X), y)
    verdict = fitted.verify(form(X), y)
    assert verdict
    assert all(one.holds for one in verdict.certificates)
    other = X.copy()
    other[7, 3] += 1e-9
    verdict = fitted.verify(form(other), y)
    assert not verdict
    assert any(check.passed is False and check.what == "data hash" for check in verdict.checks)


def test_verify_with_weights_kernels_and_labels():
    X, y = two()
    labels = np.array(["no", "yes"])[y]
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    for estimator in [maxmargin.SVC(), maxmargin.LinearSVC(), maxmargin.SVC(kernel=lambda a, b: a @ b.T)]:
        assert estimator.fit(X, labels, sample_weight=weights).verify(X, labels)
    gram = X @ X.T
    assert maxmargin.SVC(kernel="precomputed").fit(gram, labels).verify(gram, labels)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("several", [False, True])
def test_samples_come_and_go_exactly(form, kernel, several):
    X, y = load_iris(return_X_y=True) if several else two()
    X = scale(X)
    parameters = {"kernel": kernel, "gamma": 0.2, "tol": TOL}
    labels = np.array(["a", "b", "c"])[y]
    fitted = maxmargin.SVC(keep_data=True, **parameters).fit(form(X[:120:2]), labels[:120:2])
    fitted.add(form(X[1:120:2]), labels[1:120:2])
    both = np.concatenate([np.arange(0, 120, 2), np.arange(1, 120, 2)])
    again = maxmargin.SVC(**parameters).fit(form(X[both]), labels[both])
    assert_allclose(fitted.decision_function(form(X)), again.decision_function(form(X)), atol=1e-5)
    assert fitted.shape_fit_ == again.shape_fit_
    if kernel == "rbf":
        assert_array_equal(fitted.support_, again.support_)
        assert_array_equal(fitted.n_support_, again.n_support_)
        assert_allclose(
            np.asarray(fitted.dual_coef_ @ np.eye(len(fitted.support_))),
            again.dual_coef_ @ np.eye(len(again.support_)),
            atol=1e-4,
        )
        assert abs(fitted.support_vectors_ - again.support_vectors_).max() == 0
    gone = [0, 5, 17, 60]
    fitted.remove(gone)
    left = np.delete(both, gone)
    again = maxmargin.SVC(**parameters).fit(form(X[left]), labels[left])
    assert_allclose(fitted.decision_function(form(X)), again.decision_function(form(X)), atol=1e-5)
    assert fitted.verify(form(X[left]), labels[left])


def test_updates_that_cannot_be_are_refused_and_change_nothing():
    X, y = two()
    with pytest.raises(ValueError, match="keep_data=True"):
        maxmargin.SVC().fit(X, y).remove([3])
    fitted = maxmargin.SVC(keep_data=True).fit(X, y)
    before = dict(vars(fitted))
    for call in [
        lambda: fitted.add(X[:1], [7]),
        lambda: fitted.remove([200]),
        lambda: fitted.remove([-1]),
        lambda: fitted.remove([3, 3]),
    ]:
        with pytest.raises(ValueError, match=r"."):
            call()
        assert all(vars(fitted)[name] is value for name, value in before.items())
    with pytest.raises(ValueError, match=r"no sample of class|left"):
        fitted.remove(np.flatnonzero(y == 1))


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(4),
        KFold(4, shuffle=True, random_state=1),
        StratifiedKFold(5, shuffle=True, random_state=2),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=3),
        ShuffleSplit(3, random_state=4),
        TimeSeriesSplit(3),
        GroupKFold(3),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["SVC", "SVR"])
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_cross_validation_is_what_scikit_learn_makes_of_it(cv, name):
    X, y = load_iris(return_X_y=True) if name == "SVC" else load_diabetes(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    X, y = scale(X[order])[:150], y[order][:150]
    if name == "SVR":
        if isinstance(cv, StratifiedKFold):
            pytest.skip("values have no strata")
        # Of some hundreds every error would cost all of C: the bias has then a range, and any of it is right.
        y = scale(y)
    groups = np.arange(len(y)) // 7
    estimator = getattr(maxmargin, name)(gamma=0.1, C=5, tol=TOL)
    found = estimator.cross_validate(X, y, cv=cv, groups=groups)
    assert_allclose(found.test_score, cross_val_score(estimator, X, y, cv=cv, groups=groups), atol=1e-6)
    assert found.shared
    assert found.train_size == tuple(len(train) for train, _ in check_cv(cv, y, classifier=name == "SVC").split(X, y, groups))
    low, high = found.interval(greatest=1)
    assert low < found.test_score.mean() < high <= 1
    assert found.certificate.holds
    assert len(found.certificates) == len(found.test) == len(found.predictions)
    assert not hasattr(estimator, "support_")
    if not isinstance(cv, RepeatedKFold | ShuffleSplit | TimeSeriesSplit):
        assert_allclose(found.predicted(), cross_val_predict(estimator, X, y, cv=cv, groups=groups), atol=1e-4)


def test_scorers_of_decision_values():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    estimator = maxmargin.SVC(gamma=0.02, tol=TOL)
    for scoring in ["roc_auc", "balanced_accuracy", "average_precision", "f1"]:
        assert_allclose(
            estimator.cross_validate(X, y, cv=4, scoring=scoring).test_score,
            cross_val_score(estimator, X, y, cv=4, scoring=scoring),
            atol=1e-6,
        )


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR"])
def test_leave_one_out(name):
    X, y = two()
    X, y = X[:60], y[:60] if name != "SVR" else X[:60, 0] * 2
    estimator = getattr(maxmargin, name)(gamma=0.3, tol=TOL, **({"nu": 0.3} if name == "NuSVC" else {}))
    found = estimator.leave_one_out(X, y)
    assert_allclose(found.predicted(), cross_val_predict(estimator, X, y, cv=LeaveOneOut()), atol=1e-5)
    assert len(found.certificates) == 60


def test_leverage_is_over_machines_and_the_rows_that_they_are_trained_on():
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    machine = maxmargin.SVC(gamma=0.1, tol=TOL, decision_function_shape="ovo")
    found = machine.leave_one_out(X, y)
    whole = clone(machine).fit(X, y).decision_function(X)
    pairs = [(0, 1), (0, 2), (1, 2)]
    for row in (0, 12, 25):
        rest = np.delete(np.arange(len(y)), row)
        change = (clone(machine).fit(X[rest], y[rest]).decision_function(X[rest]) - whole[rest]) ** 2
        means = [change[np.isin(y[rest], pair), at].mean() if y[row] in pair else 0.0 for at, pair in enumerate(pairs)]
        assert found.leverage[row] == pytest.approx(np.sqrt(np.mean(means)), abs=1e-6)


def test_cross_validation_takes_weights_and_precomputed_kernels():
    X, y = two()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    estimator = maxmargin.SVC(gamma=0.2, tol=TOL)
    found = estimator.cross_validate(X, y, cv=KFold(3), sample_weight=weights)
    for (train, test), decided in zip(KFold(3).split(X), found.decisions, strict=True):
        one = clone(estimator).fit(X[train], y[train], sample_weight=weights[train])
        assert_allclose(decided, one.decision_function(X[test]), atol=1e-5)
    gram = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    given = maxmargin.SVC(kernel="precomputed", tol=TOL)
    assert_allclose(
        given.cross_validate(gram, y, cv=KFold(3)).test_score, cross_val_score(given, gram, y, cv=KFold(3)), atol=1e-9
    )
    assert_allclose(
        given.cross_validate(gram, y, cv=ShuffleSplit(3, random_state=1)).test_score,
        cross_val_score(given, gram, y, cv=ShuffleSplit(3, random_state=1)),
        atol=1e-9,
    )


@pytest.mark.parametrize("method", ["platt", "isotonic"])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_probabilities(method, count, name):
    X, y = make_classification(600, 8, n_classes=count, n_informative=5, flip_y=0.1, random_state=7)
    labels = np.array(["c", "a", "b"])[y]
    parameters = {"nu": 0.3} if name == "NuSVC" else {}
    fitted = getattr(maxmargin, name)(calibration=method, **parameters).fit(X[:400], labels[:400])
    probabilities = fitted.predict_proba(X[400:])
    assert probabilities.shape == (200, count)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_allclose(fitted.predict_log_proba(X[400:]), np.log(probabilities))
    plain = getattr(maxmargin, name)(**parameters).fit(X[:400], labels[:400])
    assert_array_equal(fitted.predict(X), plain.predict(X))
    assert_array_equal(fitted.decision_function(X), plain.decision_function(X))
    found = log_loss(labels[400:], probabilities)
    assert found < log_loss(labels[400:], np.tile(np.bincount(np.unique(labels, return_inverse=True)[1]) / 600, (200, 1)))
    # Of samples that took no part in it, so that it holds for these.
    assert fitted.calibration_.method == method
    assert abs(fitted.calibration_.log_loss - found) < 0.2
    back = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(back.predict_proba(X), fitted.predict_proba(X))
    assert fitted.verify(X[:400], labels[:400])


def test_probabilities_have_libsvms_sign():
    X, y = make_classification(2000, 8, flip_y=0.2, random_state=8)
    ours = maxmargin.SVC(probability=True).fit(X, y)
    with pytest.warns(FutureWarning):
        theirs = sklearn.svm.SVC(probability=True, random_state=1).fit(X, y)
    # Other folds; the same order.
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.05)
    with pytest.warns(FutureWarning):
        assert_allclose([ours.probA_, ours.probB_], [theirs.probA_, theirs.probB_], atol=0.2)


def test_probabilities_that_were_not_asked_for():
    X, y = two()
    fitted = maxmargin.SVC().fit(X, y)
    assert fitted.calibration_ is None
    fitted.set_params(calibration="platt")
    with pytest.raises(NotFittedError, match="probability=False"):
        fitted.predict_proba(X)
    with pytest.warns(UserWarning, match="one sample"):
        maxmargin.SVC(calibration="platt").fit(X[:5], ["a", "a", "b", "a", "a"])


def test_probabilities_need_a_class_of_two_samples():
    with pytest.raises(ValueError, match=r"probabilities need a class with at least two samples.*train without probabilities"):
        maxmargin.SVC(probability=True).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"scores need at least two samples of each class.*add samples"):
        maxmargin.SVC(conformal=0.1).fit([[1.0], [2.0]], [0, 1])
    with pytest.warns(UserWarning, match="class 1 has one sample"):
        fitted = maxmargin.SVC(probability=True).fit([[1], [2], [3]], [1, 2, 2])
    assert fitted.predict_proba([[1]]).shape == (1, 2)


def test_splits_that_are_no_folds_are_fitted_one_by_one():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(2).permutation(len(y))
    estimator = maxmargin.SVC(gamma=0.1, tol=TOL)
    doubled = [(np.concatenate([rows[:90], rows[:9]]), rows[90:])]
    # The first trainings of a series of sorted classes lack one.
    for cv in [doubled, [(rows[:100], rows[90:])], TimeSeriesSplit(2, test_size=30)]:
        found = estimator.cross_validate(X, y, cv=cv)
        assert not found.shared
        assert_allclose(found.test_score, cross_val_score(estimator, X, y, cv=cv), atol=1e-9)


@pytest.mark.parametrize("pack", [np.asarray, sp.csr_matrix])
def test_the_mean_squared_distance_of_two_rows_is_a_width(pack):
    X, y = load_iris(return_X_y=True)
    squared = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2).mean()
    ruled, given = (maxmargin.SVC(gamma=gamma, tol=1e-9).fit(pack(X), y) for gamma in ("mean", 1 / (2 * squared)))
    assert_allclose(ruled.decision_function(X), given.decision_function(X), atol=1e-6)
    ours = maxmargin.GridSearchCV(maxmargin.SVC(tol=1e-9), {"gamma": ["mean", "scale"], "C": [1, 10]}, cv=3).fit(pack(X), y)
    theirs = GridSearchCV(maxmargin.SVC(tol=1e-9), {"gamma": ["mean", "scale"], "C": [1, 10]}, cv=3).fit(pack(X), y)
    assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert maxmargin.SVC(gamma="mean").fit(np.ones((4, 2)), [0, 1, 0, 1]).predict(np.ones((1, 2))).shape == (1,)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("pack", [np.asarray, sp.csr_matrix])
def test_the_mean_width_keeps_its_digits(pack, kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    if kind is np.float64:
        # Sums with 1e9 are multiples of 2^-23.
        X = np.round(X * 2**20) / 2**20
        assert width("mean", pack(X + 1e9)) == pytest.approx(width("mean", X), rel=1e-12)
    # Sums of these squares in single precision lose digits.
    X = (X * (rng.random(X.shape) < 0.3) + [0, 0, 100]).astype(kind)
    X[5] = 0
    exact = 0.5 / ((X[:, None].astype(float) - X.astype(float)) ** 2).sum(axis=2).mean()
    assert width("mean", pack(X)) == pytest.approx(exact, rel=1e-12)
    for equal in [np.full((7, 2), 0.1), np.full((1, 2), 0.1), np.tile([0.1, 0.0, 1e9 / 3], (7, 1))]:
        assert width("mean", pack(equal.astype(kind))) == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("pack", [np.asarray, sp.csr_matrix])
def test_data_without_a_width_by_the_rule_are_named(pack):
    for size in [1e160, 1e-160]:
        X = pack([[size], [2 * size]])
        for gamma in ["scale", "mean"]:
            for fit in [maxmargin.SVC(gamma=gamma).fit, partial(maxmargin.train, kernel="rbf", gamma=gamma)]:
                with pytest.raises(ValueError, match=f"gamma='{gamma}' is .* for these data, because values .*; scale the data"):
                    fit(X, [0, 1])
    # Kernels without a width do not need one.
    for size in [1e-160, 1e10]:
        X = pack([[size], [2 * size]])
        assert maxmargin.SVC(kernel="linear").fit(X, [0, 1]).predict(X).shape == (2,)
    # Squares beyond single precision are none beyond double precision.
    assert width("scale", pack(np.array([[1e25], [3e25]], dtype=np.float32))) == pytest.approx(1e-50, rel=1e-6)


@pytest.mark.parametrize("pack", [np.asarray, sp.csr_matrix])
def test_rows_whose_distances_overflow_stop_no_others(pack):
    X, y = np.array([[1.0], [2.0], [4.0]]), [0, 1, 1]
    fitted = maxmargin.SVC(gamma=1.0).fit(pack(X), y)
    found = fitted.decision_function(pack(np.array([[1.0], [1e160], [-1e300], [2.0]])))
    assert_allclose(found[[0, 3]], fitted.decision_function(pack(X))[:2], rtol=1e-12)
    assert_array_equal(found[1:3], [fitted.intercept_[0]] * 2)
    shares, base, decisions, _ = fitted._model.explain([[1e160], [2.0]])
    assert_allclose(shares.sum(axis=2) + base, decisions, atol=1e-12)
    many = np.concatenate([X[[0, 1] * 50], [[1e160]]])
    assert_array_equal(fitted.predict(pack(many))[:100], [0, 1] * 50)
    with pytest.raises(ValueError, match=r"row 1 \(from 0\): its squared distances from other rows .*; scale the data"):
        maxmargin.SVC(gamma=1.0).fit(pack(np.array([[1.0], [1e160]])), [0, 1])


def test_unknown_rules_for_gamma_are_refused():
    X, y = load_iris(return_X_y=True)
    for asked in [maxmargin.train, maxmargin.cross_validate]:
        with pytest.raises(ValueError, match="gamma='foo': there are 'scale', 'auto', 'mean', and numbers"):
            asked(X, y, kernel="rbf", gamma="foo")


@pytest.mark.parametrize("gamma", ["scale", "mean"])
def test_every_training_set_has_the_width_of_its_own_rows(gamma):
    X, y = load_iris(return_X_y=True)
    cut = KFold(3, shuffle=True, random_state=1)
    found = maxmargin.cross_validate(X, y.astype(float), list(cut.split(X)), kernel="rbf", gamma=gamma, tol=1e-9)
    machine = maxmargin.SVC(gamma=gamma, tol=1e-9, keep_data=True)
    assert_array_equal(found["predicted"], cross_val_predict(machine, X, y, cv=cut))
    assert_allclose(
        machine.fit(X[:-1], y[:-1]).add(X[-1:], y[-1:]).decision_function(X),
        clone(machine).fit(X, y).decision_function(X),
        atol=1e-5,
    )
