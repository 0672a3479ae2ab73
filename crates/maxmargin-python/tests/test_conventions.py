"""scikit-learn's conventions at their borders: weights of classes and samples, kernels that are constant, what messages count from."""

import ast
import inspect
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification

import maxmargin
from maxmargin import _native

TOL = 1e-9


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("class_weight", [None, "balanced", "dict"])
@pytest.mark.parametrize("name", ["SVC", "LinearSVC"])
def test_classes_weigh_what_they_weigh_in_scikit_learn(name, class_weight, form, words, weighted, count):
    """Linear machines balance classes by the sums of their weights there, kernel machines by their numbers of samples."""
    shares = [0.7] if count == 2 else [0.6, 0.3]
    X, y = make_classification(
        120, 5, n_informative=4, n_redundant=0, n_classes=count, weights=shares, flip_y=0.2, random_state=1
    )
    y = np.array(["c", "a", "b"])[y] if words else y
    weights = np.random.default_rng(0).uniform(0.01, 5, len(y)) * (1 + 9 * (y == y[0]))
    weights[::11] = 0
    weights = weights if weighted else None
    class_weight = {y[0]: 3.0} if class_weight == "dict" else class_weight
    rest = {"max_iter": 100_000} if name == "LinearSVC" else {"gamma": 0.2}
    ours = getattr(maxmargin, name)(class_weight=class_weight, tol=TOL, **rest).fit(form(X), y, sample_weight=weights)
    theirs = getattr(sklearn.svm, name)(class_weight=class_weight, tol=TOL, **rest).fit(form(X), y, sample_weight=weights)
    assert_allclose(ours.decision_function(form(X)), theirs.decision_function(form(X)), atol=1e-5)
    assert_array_equal(ours.predict(form(X)), theirs.predict(form(X)))
    if name == "SVC":
        assert_allclose(ours.class_weight_, theirs.class_weight_)


def test_balanced_linear_classes_are_counted_by_weight():
    """By hand: weights 6 of "a" and 2 of "b" in 4 samples make 8 / (2 * 6) and 8 / (2 * 2)."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    fitted = maxmargin.LinearSVC(class_weight="balanced").fit(X, list("aaab"), sample_weight=[1.0, 2.0, 3.0, 2.0])
    assert_allclose(fitted._factors, [8 / 12, 2.0])


@pytest.mark.parametrize("estimator", [maxmargin.SVC(), maxmargin.NuSVC(nu=0.2), maxmargin.LinearSVC()], ids=str)
def test_weights_that_leave_a_class_without_samples_name_it(estimator):
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    with pytest.raises(ValueError, match="all samples of 'versicolor' have weight 0"):
        estimator.fit(X, words, sample_weight=(y != 1).astype(float))
    with pytest.raises(ValueError, match="all samples of 2 have weight 0"):
        estimator.fit(X, y, sample_weight=(y != 2).astype(float))
    with pytest.raises(ValueError, match=r"belong to the same class.*'setosa', 'virginica'"):
        estimator.fit(X, words, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        estimator.fit(X, words, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("estimator", [maxmargin.SVC(), maxmargin.NuSVC(nu=0.03)], ids=str)
def test_classes_without_weight_or_with_too_few_samples_are_named(estimator):
    X, y = load_iris(return_X_y=True)
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    for weight in [0, -1, np.inf, np.nan]:
        with pytest.raises(ValueError, match=f"the weight of class 'versicolor' is {weight:g}"):
            clone(estimator).set_params(class_weight={"versicolor": weight}).fit(X, words)
    with pytest.raises(ValueError, match=r"the weight of class 1 is -1"):
        maxmargin.LinearSVC(class_weight={1: -1}).fit(X, y)
    lonely = np.r_[:50, 100:150, 60]
    # As LIBSVM and scikit-learn do, but not without a word.
    with pytest.warns(UserWarning, match="class 'versicolor' has one sample: the trainings"):
        fitted = clone(estimator).set_params(probability=True).fit(X[lonely], words[lonely])
    shares = fitted.predict_proba(X)
    assert shares.shape == (150, 3)
    assert np.isfinite(shares).all()
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert (fitted.predict(X[lonely]) == words[lonely]).mean() > 0.9


def test_limits_beyond_all_clocks_and_memories_are_none():
    X, y = load_iris(return_X_y=True)
    for parameters in [{"max_time": 1e30}, {"cache_size": 1e30}]:
        assert maxmargin.SVC(**parameters).fit(X, y).certificate_.holds
    assert maxmargin.LinearSVC(max_time=1e30).fit(X, y).certificate_.holds


CONSTANT = [
    {"kernel": "rbf", "gamma": 0.0},
    {"kernel": "poly", "gamma": 0.0, "coef0": 0.5},
    {"kernel": "poly", "gamma": 0.0},
    {"kernel": "poly", "degree": 0},
    {"kernel": "sigmoid", "gamma": 0.0, "coef0": 0.3},
    {"kernel": "sigmoid", "gamma": 0.0},
]


@pytest.mark.parametrize("parameters", CONSTANT, ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVR", "OneClassSVM"])
@pytest.mark.parametrize("rows", [150, 100, 90])
def test_constant_kernels_are_trained_as_scikit_learn_does(name, form, parameters, rows):
    X, y = load_iris(return_X_y=True)
    X, y = form(X[:rows]), y[:rows]
    # Every pair of classes is a tie but for rounding, so that votes are not compared.
    shape = {"decision_function_shape": "ovo"} if name == "SVC" else {}
    ours = getattr(maxmargin, name)(tol=TOL, **parameters, **shape).fit(X, y)
    theirs = getattr(sklearn.svm, name)(tol=TOL, **parameters, **shape).fit(X, y)
    assert ours.certificate_.holds
    asked = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    values = getattr(theirs, asked)(X)
    assert_allclose(getattr(ours, asked)(X), values, atol=1e-6)
    # A hyperbolic tangent is rounded: LIBSVM's kernel values of 24 bits decide then what should be
    # a tie.
    if not (np.abs(values[values != 0]) < 1e-6).any():
        assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)


def test_a_search_may_begin_at_a_gamma_of_0():
    X, y = load_iris(return_X_y=True)
    found = maxmargin.GridSearchCV(maxmargin.SVC(), {"C": [1, 10], "gamma": [0.0, 0.1]}).fit(X, y)
    theirs = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), {"C": [1, 10], "gamma": [0.0, 0.1]}).fit(X, y)
    assert_allclose(found.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)
    assert found.cv_results_["mean_test_score"][0] == pytest.approx(1 / 3)


def test_kernel_matrices_are_counted_from_0():
    X, y = load_iris(return_X_y=True)
    gram = X @ X.T
    lopsided, holes, huge = gram.copy(), gram.copy(), gram.copy()
    lopsided[3, 7] += 1
    holes[3, 7] = np.nan
    huge[3, 7] = huge[7, 3] = 1e39
    both = f"has {lopsided[3, 7]} in row 3, column 7, but {lopsided[7, 3]} in row 7, column 3 (both from 0)"
    for make in [lambda K: (maxmargin.SVC(kernel="precomputed"), K), lambda K: (maxmargin.SVC(kernel=lambda *_: K), X)]:
        estimator, rows = make(lopsided)
        with pytest.raises(ValueError, match="a kernel matrix is symmetric") as error:
            estimator.fit(rows, y)
        assert both in str(error.value)
        estimator, rows = make(huge)
        with pytest.raises(ValueError, match=r"row 3 \(from 0\): its kernel values reach"):
            estimator.fit(rows, y)
    with pytest.raises(ValueError, match=r"has NaN in row 3, column 7 \(both from 0\)"):
        maxmargin.SVC(kernel=lambda *_: holes).fit(X, y)
    far = X.copy()
    far[4] *= 1e20
    with pytest.raises(ValueError, match=r"row 4 \(from 0\): its kernel values reach"):
        maxmargin.SVC(kernel="poly", gamma=1.0).fit(far, y)


@pytest.mark.parametrize(
    "estimator",
    [
        maxmargin.SVC(max_iter=1),
        maxmargin.NuSVC(nu=0.1, max_iter=1),
        maxmargin.SVR(max_iter=1),
        maxmargin.NuSVR(max_iter=1),
        maxmargin.QuantileSVR(max_iter=1),
        maxmargin.OneClassSVM(max_iter=1, tol=1e-9),
        maxmargin.LinearSVC(loss="hinge", max_iter=1, tol=1e-12),
        maxmargin.LinearSVR(max_iter=1, tol=1e-12),
    ],
    ids=str,
)
def test_filters_of_scikit_learn_know_our_warnings(estimator):
    X, y = load_iris(return_X_y=True)
    linear = type(estimator).__name__.startswith("Linear")
    known = "Liblinear failed to converge, increase the number of iterations" if linear else "Solver terminated early"
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match=f"^{known}.*max_iter=1"):
        estimator.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=known)
        estimator.fit(X, y)


def test_a_cross_validation_is_one_line_to_read():
    X, y = load_iris(return_X_y=True)
    found = maxmargin.SVC(C=10, gamma=0.1).cross_validate(X, y, cv=5)
    mean, spread = found.test_score.mean(), found.test_score.std()
    assert repr(found) == (
        f"<CrossValidation of 5 splits, 150 rows tested: test_score {mean:.4g} ± {spread:.2g}; 5 of 5 certificates hold, "
        f"shared=True, {found.iterations} iterations>"
    )
    many = maxmargin.SVC().leave_one_out(X, y)
    assert len(repr(many)) < 200


def test_folds_without_a_sample_are_named_before_they_are_made():
    """Numbers such as dates once made as many folds as the greatest of them, in all of the memory."""
    X, y = np.arange(8.0)[:, None], [0, 1] * 4
    for folds, gap in ([20260101 + i % 4 for i in range(8)], 0), ([0, 0, 2, 2, 3, 3, 10**12, 10**12], 1):
        with pytest.raises(ValueError, match=f"fold {gap} tests no sample"):
            maxmargin.cross_validate(X, y, np.array(folds), kernel="rbf", gamma=1.0)


def test_the_stub_has_the_keywords_and_defaults_of_the_native_estimator():
    stub = ast.parse((Path(maxmargin.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))
    (estimator,) = [node for node in stub.body if isinstance(node, ast.ClassDef) and node.name == "Svm"]
    (init,) = [node for node in estimator.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    in_stub = dict(zip([keyword.arg for keyword in init.args.kwonlyargs], init.args.kw_defaults, strict=True))
    keywords = inspect.signature(_native.Svm).parameters.values()
    native = {keyword.name: keyword.default for keyword in keywords if keyword.kind is keyword.KEYWORD_ONLY}
    assert list(in_stub) == list(native)
    for name, default in in_stub.items():
        # The native signature shows an ellipsis for defaults that are not literals.
        if native[name] is not ... and ast.literal_eval(default) is not ...:
            assert ast.literal_eval(default) == native[name], name


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR"])
def test_frames_of_sparse_columns_are_sparse_rows(name):
    """Estimators with kernels took them for dense rows, and said "setting an array element with a sequence"."""
    rows = sp.random_array((40, 3), density=0.5, format="csr", rng=np.random.default_rng(0))
    labels = (np.arange(40) % 3 > 0).astype(int)
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(rows))
    of_frame, of_rows = (getattr(maxmargin, name)().fit(X, labels) for X in (frame, rows))
    assert_array_equal(of_frame.predict(frame), of_rows.predict(rows))
    assert sp.issparse(getattr(of_frame, "support_vectors_", rows))
    assert of_frame.verify(frame, labels)


def test_a_frame_of_sparse_columns_is_no_kernel_matrix():
    matrix = pd.DataFrame.sparse.from_spmatrix(sp.eye_array(4, format="csr"))
    with pytest.raises(TypeError, match="Sparse precomputed kernels are not supported"):
        maxmargin.SVC(kernel="precomputed").fit(matrix, [0, 1, 0, 1])


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
@pytest.mark.parametrize("kernel", ["linear", "precomputed", lambda X, Z: X @ Z.T])
def test_the_shape_of_the_training_set_is_that_of_its_rows(name, kernel):
    X, y = load_iris(return_X_y=True)
    rows = X @ X.T if kernel == "precomputed" else X
    parameters = {"kernel": kernel} if name in {"SVC", "SVR"} else {"kernel": kernel, "nu": 0.3}
    ours, theirs = (getattr(module, name)(**parameters) for module in (maxmargin, sklearn.svm))
    assert ours.fit(rows, y).shape_fit_ == theirs.fit(rows, y).shape_fit_
    assert ours.predict(rows[:5]).shape == (5,)


@pytest.mark.parametrize(
    "made",
    [
        lambda: maxmargin.SVC(C="100"),
        lambda: maxmargin.SVC(degree=2.5),
        lambda: maxmargin.NuSVC(nu=".1"),
        lambda: maxmargin.SVR(epsilon=None),
        lambda: maxmargin.LinearSVC(loss="log"),
    ],
)
def test_parameters_of_another_kind_are_refused_where_nobody_checks_them(made):
    X, y = load_iris(return_X_y=True)
    with sklearn.config_context(skip_parameter_validation=True), pytest.raises((TypeError, ValueError)):
        made().fit(X, y)


def test_a_kernel_that_was_changed_has_no_weights():
    X, y = load_iris(return_X_y=True)
    assert not hasattr(maxmargin.SVC().fit(X, y).set_params(kernel="linear"), "coef_")
