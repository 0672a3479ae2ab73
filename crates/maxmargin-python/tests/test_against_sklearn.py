"""Beside scikit-learn's own classes, on its data sets and on real ones: attributes, decision values and predictions."""

import numpy as np
import pytest
import scipy.sparse as sp
import sets
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import scale

import maxmargin

#: Both are asked for so much; decision values then agree to some tens of it.
TOL = 1e-6
CLOSE = 1e-4


def classes(name):
    if name == "two":
        return make_classification(300, 8, random_state=3)
    if name == "five":
        return make_classification(400, 10, n_informative=6, n_classes=5, random_state=4)
    X, y = {"iris": load_iris, "wine": load_wine, "digits": load_digits, "cancer": load_breast_cancer}[name](return_X_y=True)
    return scale(X)[:600], y[:600]


#: Sets of files, by what their values are divided by: two classes and up to 26, binary, whole and real values, text.
REAL = {
    "heart_scale": 1,
    "diabetes_scale": 1,
    "banana": 1,
    "a9a": 1,
    "w8a": 1,
    "ijcnn1": 1,
    "splice": 1,
    "madelon": 500,
    "pendigits": 100,
    "usps": 1,
    "letter.scale": 1,
    "reuters": 1,
}

#: Rows that stay sparse.
TEXT = {"reuters"}


def real(name, rows=600):
    """About so many rows from all over a set."""
    if sets.place(name) is None:
        pytest.skip(f"no data {name}")
    X, y, _ = sets.real(name)
    step = max(1, X.shape[0] // rows)
    X, y = X[::step] / REAL[name], y[::step]
    return X.tocsr() if name in TEXT else X.toarray(), y


def firsts(X):
    """The place of the first row that is like each."""
    seen = {}
    return np.array([seen.setdefault(row.tobytes(), at) for at, row in enumerate(dense(X))])


def values():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), (y - y.mean()) / y.std()


def assert_same_machine(ours, theirs, X):
    assert_array_equal(ours.support_, theirs.support_)
    assert_array_equal(ours.n_support_, theirs.n_support_)
    for name in ["support_", "n_support_", "n_iter_"]:
        assert np.asarray(getattr(ours, name)).dtype == np.asarray(getattr(theirs, name)).dtype, name
    assert_allclose(dense(ours.dual_coef_), dense(theirs.dual_coef_), atol=CLOSE, rtol=CLOSE)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=CLOSE, rtol=CLOSE)
    assert_array_equal(dense(ours.support_vectors_), dense(theirs.support_vectors_))
    assert ours.fit_status_ == theirs.fit_status_
    assert ours.shape_fit_ == theirs.shape_fit_
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=CLOSE) if hasattr(
        theirs, "decision_function"
    ) else None
    if ours.kernel == "linear":
        assert_allclose(dense(ours.coef_), dense(theirs.coef_), atol=CLOSE, rtol=CLOSE)


def dense(of):
    return of.toarray() if sp.issparse(of) else np.asarray(of)


@pytest.mark.parametrize("name", ["two", "five", "iris", "wine", "digits", "cancer"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, np.asfortranarray])
def test_svc(name, form):
    X, y = classes(name)
    parameters = {"C": 1.5, "gamma": "scale", "tol": TOL}
    ours = maxmargin.SVC(**parameters).fit(form(X), y)
    theirs = sklearn.svm.SVC(**parameters).fit(form(X), y)
    assert_same_machine(ours, theirs, form(X))
    assert_array_equal(ours.predict(form(X)), theirs.predict(form(X)))
    assert ours.certificate_.holds
    assert type(ours.dual_coef_) is type(theirs.dual_coef_)
    assert type(ours.support_vectors_) is type(theirs.support_vectors_)
    for shape in ["ovo", "ovr"]:
        ours.set_params(decision_function_shape=shape)
        theirs.set_params(decision_function_shape=shape)
        assert_allclose(ours.decision_function(form(X)), theirs.decision_function(form(X)), atol=CLOSE)


@pytest.mark.parametrize("name", REAL)
def test_svc_on_real_sets(name):
    X, y = real(name)
    # Of equal rows only the sum of the coefficients is one of the problem.
    rows = np.unique(firsts(X))[:400]
    X, y = X[rows], y[rows]
    ours, theirs = (of.SVC(C=4, tol=TOL).fit(X, y) for of in [maxmargin, sklearn.svm])
    assert_same_machine(ours, theirs, X)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=10 * TOL)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.certificate_.holds


def test_equal_rows_have_the_coefficients_of_scikit_learn_together():
    X, y = real("a9a", rows=1500)
    same = firsts(X)
    assert len(np.unique(same)) < len(y) - 20
    ours, theirs = (of.SVC(gamma=0.05, tol=TOL).fit(X, y) for of in [maxmargin, sklearn.svm])
    # Those of both labels: what one has more of, the other may have more of, too, up to the bound.
    sums = [np.bincount(same[of.support_], of.dual_coef_[0], minlength=len(y)) for of in [ours, theirs]]
    assert_allclose(sums[0], sums[1], atol=CLOSE)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=10 * TOL)


@pytest.mark.parametrize(
    "kernel",
    [
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.1},
        {"kernel": "rbf", "gamma": "auto"},
    ],
)
@pytest.mark.parametrize("name", ["two", "wine"])
def test_kernels(name, kernel):
    X, y = classes(name)
    ours = maxmargin.SVC(tol=TOL, **kernel).fit(X, y)
    theirs = sklearn.svm.SVC(tol=TOL, **kernel).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=CLOSE)
    assert_same_machine(ours, theirs, X)


@pytest.mark.parametrize("name", ["two", "iris", "cancer"])
def test_nu_svc(name):
    X, y = classes(name)
    ours = maxmargin.NuSVC(nu=0.3, tol=TOL).fit(X, y)
    theirs = sklearn.svm.NuSVC(nu=0.3, tol=TOL).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=CLOSE)
    assert_same_machine(ours, theirs, X)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("SVR", {"C": 2.0, "epsilon": 0.2}), ("NuSVR", {"C": 2.0, "nu": 0.4}), ("OneClassSVM", {"nu": 0.2})],
)
def test_regression_and_one_class(name, parameters, form):
    X, y = values()
    ours = getattr(maxmargin, name)(tol=TOL, **parameters).fit(form(X), y)
    theirs = getattr(sklearn.svm, name)(tol=TOL, **parameters).fit(form(X), y)
    assert_same_machine(ours, theirs, form(X))
    # Of one class the free support vectors are at 0, and either side is right.
    apart = np.abs(theirs.decision_function(form(X))) > CLOSE if name == "OneClassSVM" else slice(None)
    assert_allclose(ours.predict(form(X))[apart], theirs.predict(form(X))[apart], atol=CLOSE)
    assert type(ours.n_iter_) is type(theirs.n_iter_)
    if name == "OneClassSVM":
        assert_allclose(ours.offset_, theirs.offset_, atol=CLOSE)
        assert_allclose(ours.score_samples(form(X)), theirs.score_samples(form(X)), atol=CLOSE)


@pytest.mark.parametrize("name", ["two", "wine"])
def test_weights_of_classes_and_samples(name):
    X, y = classes(name)
    weights = np.random.default_rng(1).uniform(0, 3, len(y))
    for class_weight in [None, "balanced", {0: 3.0, 1: 0.5}]:
        ours = maxmargin.SVC(tol=TOL, class_weight=class_weight).fit(X, y, sample_weight=weights)
        theirs = sklearn.svm.SVC(tol=TOL, class_weight=class_weight).fit(X, y, sample_weight=weights)
        assert_array_equal(ours.class_weight_, theirs.class_weight_)
        assert_same_machine(ours, theirs, X)


def test_callable_and_precomputed_kernels():
    X, y = classes("wine")
    kernel = lambda x, z: (x @ z.T + 1.0) ** 2 / 100  # noqa: E731
    ours = maxmargin.SVC(kernel=kernel, tol=TOL).fit(X[::2], y[::2])
    theirs = sklearn.svm.SVC(kernel=kernel, tol=TOL).fit(X[::2], y[::2])
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=CLOSE)
    given = maxmargin.SVC(kernel="precomputed", tol=TOL).fit(kernel(X[::2], X[::2]), y[::2])
    assert_allclose(given.decision_function(kernel(X, X[::2])), theirs.decision_function(X), atol=CLOSE)
    assert_array_equal(given.support_, theirs.support_)
    assert (
        given.support_vectors_.shape
        == sklearn.svm.SVC(kernel="precomputed").fit(kernel(X[::2], X[::2]), y[::2]).support_vectors_.shape
    )


def test_one_class_of_a_callable_kernel():
    X, _ = values()
    kernel = lambda x, z: x @ z.T / 10  # noqa: E731
    ours, theirs = (of.OneClassSVM(kernel=kernel, nu=0.3, tol=TOL).fit(X) for of in [maxmargin, sklearn.svm])
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=CLOSE)
    assert ours.verify(X)


def test_an_infinite_c_is_a_hard_margin():
    X, y = make_classification(60, 30, class_sep=3.0, random_state=5)
    ours, theirs = (of.SVC(C=np.inf, kernel="linear", tol=TOL).fit(X, y) for of in [maxmargin, sklearn.svm])
    assert_allclose(ours.coef_, theirs.coef_, atol=CLOSE)


def test_many_rows_of_a_linear_kernel_go_another_way_to_the_same_place():
    X, y = make_classification(2600, 12, random_state=6)
    ours, theirs = (of.SVC(kernel="linear", tol=TOL).fit(X, y) for of in [maxmargin, sklearn.svm])
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert_allclose(ours.dual_coef_ @ ours.support_vectors_, ours.coef_, atol=1e-9)
    assert ours.verify(X, y)


def test_labels_of_any_type():
    X, y = classes("iris")
    for labels in [
        np.array(["c", "a", "b"])[y],
        np.array(["c", "a", "b"], dtype=object)[y],
        y * 10 - 7,
        y > 0,
        y.astype(float),
    ]:
        ours = maxmargin.SVC().fit(X, labels)
        theirs = sklearn.svm.SVC().fit(X, labels)
        assert_array_equal(ours.classes_, theirs.classes_)
        assert ours.predict(X).dtype == theirs.predict(X).dtype
        assert_array_equal(ours.predict(X), theirs.predict(X))


def test_float32_and_long_indices():
    X, y = classes("two")
    X = X.astype(np.float32)
    sparse = sp.csr_matrix(X)
    sparse.indices = sparse.indices.astype(np.int64)
    sparse.indptr = sparse.indptr.astype(np.int64)
    expected = maxmargin.SVC(gamma=0.1, tol=TOL).fit(X.astype(np.float64), y).decision_function(X)
    assert_array_equal(maxmargin.SVC(gamma=0.1, tol=TOL).fit(X, y).decision_function(X), expected)
    assert_allclose(maxmargin.SVC(gamma=0.1, tol=TOL).fit(sparse, y).decision_function(sparse), expected, atol=CLOSE)


def test_ties_are_broken_as_there():
    X, y = classes("five")
    ours, theirs = (of.SVC(C=0.01, break_ties=True, tol=TOL).fit(X, y) for of in [maxmargin, sklearn.svm])
    assert_array_equal(ours.predict(X), theirs.predict(X))
    with pytest.raises(ValueError, match="break_ties must be False"):
        ours.set_params(decision_function_shape="ovo").predict(X)
