"""Files, the functions beneath the estimators, LIBSVM's names, and scikit-learn's names for ours."""

import bz2
import gzip
import lzma
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import _data, svmutil


@pytest.fixture
def text(tmp_path):
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "iris"), zero_based=False)
    return tmp_path / "iris"


def test_texts_are_read_as_scikit_learn_reads_them(text):
    X, y = maxmargin.read_libsvm(text)
    theirs, labels = load_svmlight_file(str(text))
    assert_array_equal(X.toarray(), theirs.toarray())
    assert_array_equal(y, labels)


def test_texts_that_are_none_say_where(tmp_path):
    (tmp_path / "bad").write_text("1 1:2\n2 3:4 2:1\n")
    with pytest.raises(ValueError, match="line 2"):
        maxmargin.read_libsvm(tmp_path / "bad")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_texts_are_read_whatever_their_name(tmp_path, pack):
    plain = b"1 1:2 # a comment\n-1 2:1\n"
    (tmp_path / "packed").write_bytes(pack(plain))
    X, y = maxmargin.read_libsvm(tmp_path / "packed")
    assert_array_equal(X.toarray(), [[2, 0], [0, 1]])
    assert_array_equal(y, [1, -1])
    with (tmp_path / "packed").open("rb") as file:
        assert svmutil.svm_read_problem(file) == ([1.0, -1.0], [{1: 2.0}, {2: 1.0}])
    (tmp_path / "packed").write_bytes(pack(plain)[:-9])
    with pytest.raises(ValueError, match=r"data (is damaged|ends too early).*pack it again"):
        maxmargin.read_libsvm(tmp_path / "packed")


def test_errors_of_writing_name_the_path_of_the_user(tmp_path):
    fitted = maxmargin.SVC().fit([[0.0], [1.0]], [0, 1])
    nowhere, folder = tmp_path / "none" / "model", tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(FileNotFoundError) as raised:
        maxmargin.save(fitted, nowhere)
    assert (raised.value.filename, raised.value.filename2) == (str(nowhere), None)
    with pytest.raises(OSError, match="folder") as raised:
        svmutil.svm_save_model(str(folder), svmutil.svm_train([0, 1], [[0.0], [1.0]], "-q"))
    assert (raised.value.filename, raised.value.filename2) == (str(folder), None)
    assert sorted(tmp_path.iterdir()) == [folder]


def test_methods_of_models_take_arrays(tmp_path):
    X, y = load_iris(return_X_y=True)
    fitted = maxmargin.SVC(probability=True, keep_data=True).fit(X, y)
    maxmargin.save(fitted, tmp_path / "model")
    model = maxmargin.load(tmp_path / "model")
    for rows in [X, X.tolist(), np.asfortranarray(X), sp.csr_matrix(X), sp.coo_array(X)]:
        assert_array_equal(model.predict(rows), fitted._model.predict(_data.packed(X)))
        assert_allclose(model.decisions(rows), fitted._model.decisions(_data.packed(X)), atol=1e-9)
        assert_allclose(model.probabilities(rows), fitted.predict_proba(X), atol=1e-9)
    assert model.explain(X[:2], X[:5])[0].shape == (2, 3, 4)
    assert model.verify(X, y)["matches"]
    grown = maxmargin.train(X[:-1], y[:-1], kernel="rbf", gamma=0.1, keep_data=True).updated(X[-1:], y=y[-1:])
    expected = maxmargin.train(X, y, kernel="rbf", gamma=0.1).decisions(X)
    assert_allclose(grown.decisions(X), expected, atol=1e-2)
    for rows, message in [
        (X[0], "Expected 2D array, got 1D array"),
        (X[:, :3], "X has 3 columns, but the model has 4 features"),
        (sp.csr_matrix(np.ones((2, 5))), "X has 5 columns, but the model has 4 features"),
        (X * np.nan, "Input X contains NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.predict(rows)
    with pytest.raises(ValueError, match="X has 150 rows, but y has 3 values"):
        model.verify(X, y[:3])
    precomputed = maxmargin.SVC(kernel="precomputed").fit(X @ X.T, y)
    assert_array_equal(precomputed._model.predict(X[:9] @ X.T), precomputed.predict(X[:9] @ X.T))
    with pytest.raises(ValueError, match="X has 4 columns, but the model has 150 training samples"):
        precomputed._model.predict(X)


def test_models_of_other_programs_take_features_that_their_vectors_lack(tmp_path):
    model = svmutil.svm_train([1, -1], [[1.0, 0.0], [-1.0, 0.0]], "-t 0 -q")
    svmutil.svm_save_model(str(tmp_path / "model"), model)
    loaded = maxmargin.load(tmp_path / "model")
    assert_array_equal(loaded.predict([[2.0, 5.0], [-2.0, 5.0]]), [1, -1])


@pytest.mark.parametrize("format", ["maxmargin", "libsvm"])
def test_models_are_written_and_read(tmp_path, format):
    X, y = load_iris(return_X_y=True)
    fitted = maxmargin.SVC().fit(X, y)
    maxmargin.save(fitted, tmp_path / "model", format=format)
    back = maxmargin.load(tmp_path / "model")
    assert repr(back) == f"<Model: rbf kernel, 3 classes, {len(fitted.support_)} support vectors, 4 features>"
    queries = maxmargin._native.Data.dense(X)
    assert_array_equal(back.predict(queries), y[np.argmax(y[None] == fitted.predict(X)[:, None], axis=1)])
    assert_allclose(back.decisions(queries), fitted._model.decisions(queries), atol=1e-9)
    assert sorted(tmp_path.iterdir()) == [tmp_path / "model"]
    assert len(maxmargin.certificates(back)) == (3 if format == "maxmargin" else 0)


def test_what_has_one_model_is_written_and_what_has_none_says_why(tmp_path):
    X, y = load_iris(return_X_y=True)
    path, grid = tmp_path / "model", {"C": [1, 10]}
    scaled = make_pipeline(StandardScaler(), maxmargin.SVC())
    alone = make_pipeline(maxmargin.SVC())
    for owner in [
        maxmargin.SVC(),
        maxmargin.LinearSVR(),
        alone,
        GridSearchCV(maxmargin.SVC(), grid),
        maxmargin.SVCCV(),
        maxmargin.GridSearchCV(maxmargin.SVC(), grid, refit=False).fit(X, y),
    ]:
        with pytest.raises(NotFittedError, match=r"not fitted|refit=False"):
            maxmargin.save(owner, path)
    for owner in [scaled.fit(X, y), GridSearchCV(scaled, {"svc__C": [1, 10]}).fit(X, y)]:
        with pytest.raises(TypeError, match=r"save pipeline\[-1\]"):
            maxmargin.save(owner, path)
    for owner in [sklearn.svm.SVC().fit(X, y), 3, None, maxmargin.SVC]:
        with pytest.raises(TypeError, match="no model or estimator of maxmargin"):
            maxmargin.save(owner, path)
    # Earlier versions left these to scikit-learn: pickles of that time have no model.
    of_before = maxmargin.LinearSVC(penalty="l1", max_iter=100_000).fit(X, y)
    del of_before._model
    with pytest.raises(TypeError, match=r"trained by scikit-learn.*fit it again"):
        maxmargin.save(of_before, path)
    assert list(tmp_path.iterdir()) == []
    queries = maxmargin._native.Data.dense(X)
    for owner in [
        alone.fit(X, y),
        scaled[-1],
        GridSearchCV(maxmargin.SVC(), grid).fit(X, y),
        maxmargin.GridSearchCV(alone, {"svc__C": [1, 10]}).fit(X, y),
        maxmargin.RandomizedSearchCV(maxmargin.SVC(), grid, n_iter=2).fit(X, y),
        maxmargin.SVCCV().fit(X, y),
        maxmargin.LinearSVC().fit(X, y),
    ]:
        maxmargin.save(owner, path)
        assert_array_equal(maxmargin.load(path).predict(queries), owner.predict(X))


def test_training_and_cross_validation_of_numbers(text):
    X, y = maxmargin.read_libsvm(text)
    model = maxmargin.train(X, y, kernel="rbf", C=10, tol=1e-6)
    expected = sklearn.svm.SVC(C=10, tol=1e-6).fit(X, y)
    assert_array_equal(np.unique(np.concatenate([machine["rows"] for machine in model.machines()])), np.sort(expected.support_))
    report = maxmargin.cross_validate(X, y, 5, kernel="rbf", C=10)
    assert np.mean(report["predicted"] == y) > 0.9
    assert all(fold["certificate"]["holds"] for fold in report["folds"])
    cold = maxmargin.cross_validate(X, y, 5, kernel="rbf", C=10, tol=1e-8, seeding="cold")
    assert_allclose(cold["decisions"], maxmargin.cross_validate(X, y, 5, kernel="rbf", C=10, tol=1e-8)["decisions"], atol=1e-5)
    with pytest.raises(ValueError, match=r"no seeding is called `warm`; there are .*cold"):
        maxmargin.cross_validate(X, y, 5, seeding="warm")
    splits = list(ShuffleSplit(3, train_size=0.5, random_state=1).split(X))
    some = maxmargin.cross_validate(X, y, splits, kernel="rbf", C=10)
    for (_, test), fold in zip(splits, some["folds"], strict=True):
        assert not np.isnan(some["predicted"][fold["round"] * len(y) + test]).any()
    for folds, what in [
        (np.zeros(3, dtype=int), "whole number"),
        (np.full(len(y), -1), "whole number"),
        ([(test, test)], "twice"),
    ]:
        with pytest.raises(ValueError, match=what):
            maxmargin.cross_validate(X, y, folds)
    for count in [1000, 1, 0, -3]:
        with pytest.raises(ValueError, match=f"{count} folds for 150 samples: use 2 to 150"):
            maxmargin.cross_validate(X, y, count)
    with pytest.raises(ValueError, match="no kernel is called"):
        maxmargin.train(X, y, kernel="best")
    with pytest.raises(ValueError, match="use the linear kernel, or the solver `smo`"):
        maxmargin.train(X, y, kernel="rbf", solver="linear")


def test_a_scale_of_gamma_is_that_of_each_training_set_of_numbers():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[100:] *= 20
    splits = list(KFold(3, shuffle=True, random_state=1).split(X)) + list(ShuffleSplit(2, test_size=0.3, random_state=1).split(X))
    report = maxmargin.cross_validate(X, y, splits, kernel="rbf", C=3, tol=1e-9)
    assert report["rounds"] == 3
    for (train, test), fold in zip(splits, report["folds"], strict=True):
        right = sklearn.svm.SVC(C=3, tol=1e-9, decision_function_shape="ovo").fit(X[train], y[train])
        places = fold["round"] * len(y) + test
        assert_array_equal(report["predicted"][places], right.predict(X[test]))
        assert_allclose(report["decisions"][places], -right.decision_function(X[test]), atol=1e-6)


@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_rows_that_are_none_are_said_before_a_width_is_computed_from_them():
    X, y = load_iris(return_X_y=True)
    gap = X.copy()
    gap[3, 2] = np.nan
    for rows, labels, message in [(gap, y, "row 3, feature 2"), (X[:0], y[:0], "0 rows"), (X[:, 0], y, "2 dimensions")]:
        with pytest.raises(ValueError, match=message):
            maxmargin.train(rows, labels, kernel="rbf")


def test_targets_in_a_column_and_masks_are_those_of_rows():
    X, y = load_iris(return_X_y=True)
    given = {"kernel": "rbf", "gamma": 0.25}
    assert maxmargin.train(X, y[:, None], **given).to_bytes() == maxmargin.train(X, y, **given).to_bytes()
    found, right = (maxmargin.cross_validate(X, of, 5, **given)["predicted"] for of in [y[:, None], y])
    assert_array_equal(found, right)
    mask = np.arange(150) % 3 == 0
    masked = maxmargin.cross_validate(X, y, [(~mask, mask)], **given)["predicted"]
    named = maxmargin.cross_validate(X, y, [(np.flatnonzero(~mask), np.flatnonzero(mask))], **given)["predicted"]
    assert_array_equal(masked, named)


def test_scikit_learns_names_are_taken_and_given_back():
    theirs = sklearn.svm.SVC
    try:
        maxmargin.patch_sklearn()
        assert sklearn.svm.SVC is maxmargin.SVC
        assert sklearn.svm.LinearSVR is maxmargin.LinearSVR
        assert maxmargin.is_patched()
        maxmargin.patch_sklearn()
        maxmargin.unpatch_sklearn("SVC")
        assert sklearn.svm.SVC is theirs
        assert sklearn.svm.NuSVC is maxmargin.NuSVC
        with pytest.raises(ValueError, match="SVX"):
            maxmargin.patch_sklearn("SVX")
    finally:
        maxmargin.unpatch_sklearn()
    assert sklearn.svm.NuSVC.__module__.startswith("sklearn")
    assert not maxmargin.is_patched("NuSVC")


def test_scripts_are_run_with_our_names(tmp_path):
    script = """
        import sys
        from sklearn.svm import SVC
        from beside import NAME
        print(__name__, SVC.__module__, sys.argv[1:], NAME)
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    (tmp_path / "beside.py").write_text("NAME = 3\n")
    ran = subprocess.run(
        [sys.executable, "-m", "maxmargin.patch", str(tmp_path / "script.py"), "-x", "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "__main__ maxmargin._classes ['-x', '1'] 3\n"
    assert ran.stderr == ""


def test_arrays_the_native_half_does_not_take():
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match="C-contiguous"):
        maxmargin._native.Data.dense(X)
    with pytest.raises(TypeError, match="float32 or float64"):
        maxmargin._native.Data.dense(np.ones((2, 2), dtype=int))
    with pytest.raises(ValueError, match="not finite"):
        maxmargin._native.Data.dense(np.array([[np.nan]]))
    bad = sp.csr_matrix(np.eye(3))
    with pytest.raises(ValueError, match="compressed rows"):
        maxmargin._native.Data.csr(bad.data, bad.indices + 1, bad.indptr, 3)
