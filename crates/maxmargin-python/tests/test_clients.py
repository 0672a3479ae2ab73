"""Programs that take scikit-learn's estimators, used as their users do; `cargo xtask python --clients` installs them. None is imported for nothing."""

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.model_selection
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin

X, FLOWERS = load_iris(return_X_y=True)
# Their results have 32 bits.
X = X.astype(np.float32)
WORDS = np.array(["setosa", "versicolor", "virginica"])[FLOWERS]
WIDTHS = X[:, 0] * 2
ESTIMATORS = [
    maxmargin.SVC(),
    maxmargin.SVC(probability=True),
    maxmargin.SVC(kernel="poly", coef0=1.0, degree=2),
    maxmargin.SVC(kernel="linear", decision_function_shape="ovo"),
    maxmargin.NuSVC(nu=0.2),
    maxmargin.LinearSVC(),
    maxmargin.SVR(),
    maxmargin.NuSVR(),
    maxmargin.QuantileSVR(quantile=0.9),
    maxmargin.LinearSVR(max_iter=10_000),
    maxmargin.OneClassSVM(nu=0.2),
]
TARGETS = {"words": WORDS, "numbers": FLOWERS, "two": WORDS == "setosa"}


def cases():
    """Every estimator with every kind of target that it takes."""
    found = []
    for estimator in ESTIMATORS:
        has_classes = hasattr(estimator, "class_weight")
        for name, target in TARGETS.items() if has_classes else {"values": WIDTHS}.items():
            found.append(pytest.param(sklearn.base.clone(estimator), target, id=f"{estimator} {name}"))
    return found


def equal(a, b, *, to):
    """Equal answers, predictions at more than rounding from a border compared."""
    said, expected = a.predict(X), b.predict(X)
    if not hasattr(b, "decision_function"):
        assert_allclose(said, expected, atol=to)
        return
    values = b.decision_function(X)
    assert_allclose(a.decision_function(X), values, atol=to)
    far = np.abs(values).reshape(len(X), -1).min(axis=1) > to
    assert far.mean() > 0.8
    assert_array_equal(said[far], expected[far])


WAYS = {
    "pickle": lambda fitted, _: pickle.loads(pickle.dumps(fitted)),
    "joblib": lambda fitted, path: (joblib.dump(fitted, path), joblib.load(path))[1],
    "copy": lambda fitted, _: copy.copy(fitted),
    "deepcopy": lambda fitted, _: copy.deepcopy(fitted),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("estimator", "target"), cases())
def test_written_and_read(estimator, target, way, tmp_path):
    fitted = estimator.fit(X, target)
    back = WAYS[way](fitted, tmp_path / "file")
    equal(back, fitted, to=1e-12)
    assert back.certificates_ == fitted.certificates_
    assert back.certificate_ == fitted.certificate_
    assert back.verify(X, target) if not isinstance(back, maxmargin.OneClassSVM) else back.verify(X)
    assert getattr(back, "calibration_", None) == getattr(fitted, "calibration_", None)


def test_the_state_is_of_pythons_own_types_and_arrays():
    fitted = maxmargin.SVC(probability=True, keep_data=True).fit(X, WORDS)
    own = {type(value).__module__ for value in fitted.__getstate__().values()}
    assert own <= {"builtins", "numpy"}
    unfitted = pickle.loads(pickle.dumps(maxmargin.SVC(C=3)))
    assert unfitted.C == 3


def test_files_of_earlier_versions_are_read():
    """They have the model and certificates as objects in the state."""
    fitted = maxmargin.SVC(probability=True).fit(X, WORDS)
    old = maxmargin.SVC.__new__(maxmargin.SVC)
    old.__setstate__(dict(vars(fitted)))
    equal(old, fitted, to=0)
    assert old.certificate_ == fitted.certificate_


@pytest.mark.parametrize(("estimator", "target"), cases())
def test_scikit_learns_class_with_our_numbers(estimator, target):
    fitted = estimator.fit(X, target)
    twin = maxmargin.to_sklearn(fitted)
    assert type(twin).__module__ == "sklearn.svm._classes"
    assert type(twin).__name__ == getattr(fitted, "_counterpart", type(fitted).__name__)
    equal(twin, fitted, to=1e-6)
    if hasattr(fitted, "predict_proba"):
        # scikit-learn's coupling of classes ends at a change of 0.005 / classes.
        assert_allclose(twin.predict_proba(X), fitted.predict_proba(X), atol=5e-3)


def test_the_twin_has_the_kernel_of_the_training():
    rows = X.astype(float)
    for given, later in [
        ({"kernel": "poly", "degree": 3, "gamma": 0.5}, {"degree": 2, "coef0": 3.0}),
        ({"gamma": 0.5}, {"kernel": "linear"}),
        ({"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1}, {"kernel": "rbf"}),
    ]:
        fitted = maxmargin.SVC(**given).fit(rows, WORDS)
        expected = fitted.decision_function(rows)
        assert_allclose(maxmargin.to_sklearn(fitted.set_params(**later)).decision_function(rows), expected, atol=1e-8)


def test_sparse_and_called_kernels_have_counterparts():
    import scipy.sparse as sp  # noqa: PLC0415

    fitted = maxmargin.SVC(gamma=0.3).fit(sp.csr_matrix(X), WORDS)
    assert_allclose(
        maxmargin.to_sklearn(fitted).decision_function(sp.csr_matrix(X)), fitted.decision_function(sp.csr_matrix(X)), atol=1e-6
    )
    called = maxmargin.SVC(kernel=lambda a, b: np.asarray(a @ b.T, dtype=float)).fit(X.astype(float), WORDS)
    assert_array_equal(maxmargin.to_sklearn(called).predict(X.astype(float)), called.predict(X.astype(float)))


@pytest.mark.parametrize("estimator", [maxmargin.SVC(gamma="mean"), maxmargin.SVC(kernel=lambda a, b: a @ b.T, gamma="mean")])
def test_counterparts_can_be_fitted_again(estimator):
    fitted = estimator.fit(X.astype(float), WORDS)
    twin = maxmargin.to_sklearn(fitted)
    assert twin.get_params()["gamma"] == fitted._gamma
    again = clone(twin).fit(X.astype(float), WORDS)
    assert_allclose(again.decision_function(X.astype(float)), fitted.decision_function(X.astype(float)), atol=1e-2)
    assert maxmargin.to_sklearn(maxmargin.SVC(gamma="auto").fit(X, WORDS)).gamma == "auto"


def test_what_has_no_counterpart_says_so():
    with pytest.raises(ValueError, match="isotonic"):
        maxmargin.to_sklearn(maxmargin.SVC(calibration="isotonic").fit(X, WORDS))
    for several in [maxmargin.QuantileSVR(quantile=[0.9, 0.1]), maxmargin.ExpectileSVR(expectile=(0.9, 0.5, 0.1))]:
        with pytest.raises(ValueError, match=r"SVR has [23] levels: fit one level"):
            maxmargin.to_sklearn(several.fit(X, X[:, 0]))
    with pytest.raises(TypeError, match="StandardScaler is no estimator of maxmargin"):
        maxmargin.to_sklearn(StandardScaler())
    with pytest.raises(sklearn.exceptions.NotFittedError):
        maxmargin.to_sklearn(maxmargin.SVC())


def test_nothing_is_imported_for_clients():
    script = "import maxmargin, sys; print([name for name in ('skops', 'mlflow', 'eli5', 'skl2onnx', 'hummingbird', 'torch', 'onnx') if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


@pytest.mark.parametrize("first", ["skops.io", "skl2onnx", "eli5", "hummingbird.ml"])
@pytest.mark.parametrize("order", ["client first", "maxmargin first"])
def test_the_order_of_imports_does_not_matter(first, order):
    pytest.importorskip(first.split(".")[0])
    imports = [f"import {first}", "import maxmargin"]
    ask = {
        "skops.io": "from skops.io._trusted_types import SKLEARN_ESTIMATOR_TYPE_NAMES as known\nprint('maxmargin._classes.SVC' in known)",
        "skl2onnx": "from skl2onnx._parse import sklearn_parsers_map as known\nprint(maxmargin.SVC in known)",
        "eli5": "import sklearn.svm\nprint(eli5.explain_weights.dispatch(maxmargin.SVC) is not eli5.explain_weights.dispatch(object))",
        "hummingbird.ml": "from hummingbird.ml.supported import sklearn_api_operator_name_map as known\nprint(maxmargin.SVC in known)",
    }
    script = "\n".join([*(imports if order == "client first" else imports[::-1]), ask[first]])
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False)
    assert ran.stdout == "True\n", ran.stderr


@pytest.mark.parametrize(("estimator", "target"), cases())
def test_skops_loads_without_trusting_anything(estimator, target):
    sio = pytest.importorskip("skops.io")
    fitted = estimator.fit(X, target)
    content = sio.dumps(fitted)
    assert sio.get_untrusted_types(data=content) == []
    back = sio.loads(content, trusted=None)
    equal(back, fitted, to=1e-12)
    assert back.certificates_ == fitted.certificates_
    assert back.verify(X, target) if not isinstance(back, maxmargin.OneClassSVM) else back.verify(X)


def test_skops_loads_pipelines_and_searches_as_scikit_learns():
    sio = pytest.importorskip("skops.io")
    pipeline = make_pipeline(StandardScaler(), maxmargin.SVC()).fit(X, WORDS)
    equal(sio.loads(sio.dumps(pipeline)), pipeline, to=1e-12)
    grid = {"C": [1, 10]}
    ours = maxmargin.GridSearchCV(maxmargin.SVC(), grid).fit(X, WORDS)
    theirs = sklearn.model_selection.GridSearchCV(sklearn.svm.SVC(), grid).fit(X, WORDS)
    untrusted = sio.get_untrusted_types(data=sio.dumps(ours))
    assert set(untrusted) <= set(sio.get_untrusted_types(data=sio.dumps(theirs)))
    back = sio.loads(sio.dumps(ours), trusted=untrusted)
    equal(back, ours, to=1e-12)
    assert back.certificates_ == ours.certificates_
    found = maxmargin.SVCCV().fit(X, WORDS)
    untrusted = sio.get_untrusted_types(data=sio.dumps(found))
    assert not [name for name in untrusted if name.startswith("maxmargin")]
    equal(sio.loads(sio.dumps(found), trusted=untrusted), found, to=1e-12)


def test_a_damaged_model_is_an_error_and_no_crash():
    fitted = maxmargin.SVC().fit(X, WORDS)
    state = fitted.__getstate__()
    content = bytearray(state["_model"]["bytes"])
    content[len(content) // 2] ^= 1
    with pytest.raises(ValueError, match=r"checksum|damaged|corrupt"):
        maxmargin.SVC().__setstate__(state | {"_model": {"maxmargin": "model", "bytes": bytes(content)}})


def test_mlflow_saves_and_loads_its_default_format(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    pytest.importorskip("skops")
    pipeline = make_pipeline(StandardScaler(), maxmargin.SVC(probability=True)).fit(X, WORDS)
    for name, fitted in [("svc", maxmargin.SVC().fit(X, WORDS)), ("pipeline", pipeline)]:
        # Whether it infers requirements is not ours to try: it asks the network.
        mlflow.save_model(fitted, tmp_path / name, pip_requirements=["maxmargin"])
        equal(mlflow.load_model(str(tmp_path / name)), fitted, to=1e-12)
        # Where nobody has imported this package: what may be read is kept with the model.
        script = f"""
            import sys
            import mlflow.pyfunc
            from sklearn.datasets import load_iris
            assert "maxmargin" not in sys.modules
            rows = load_iris().data.astype({X.dtype.name!r})
            print(*mlflow.pyfunc.load_model({str(tmp_path / name)!r}).predict(rows))
        """
        ran = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
        )
        assert ran.stdout.split() == fitted.predict(load_iris().data.astype(X.dtype)).tolist(), ran.stderr
    assert (tmp_path / "svc" / "model.skops").exists()


def test_skops_trusts_sparse_machines_as_well():
    sio = pytest.importorskip("skops.io")
    for estimator in [maxmargin.SVC(probability=True), maxmargin.SVR(), maxmargin.OneClassSVM(), maxmargin.LinearSVC()]:
        fitted = estimator.fit(sp.csr_matrix(X), WORDS if hasattr(estimator, "class_weight") else X[:, 0])
        content = sio.dumps(fitted)
        assert sio.get_untrusted_types(data=content) == []
        back = sio.loads(content)
        assert (back.predict(sp.csr_matrix(X)) == fitted.predict(sp.csr_matrix(X))).all()
        if hasattr(fitted, "support_vectors_"):
            assert type(back.support_vectors_) is sp.csr_matrix
            assert abs(back.support_vectors_ - fitted.support_vectors_).max() == 0


def test_skops_where_this_package_was_not_imported(tmp_path):
    sio = pytest.importorskip("skops.io")
    sio.dump(maxmargin.SVC().fit(X, WORDS), tmp_path / "model")
    script = f"""
        import sys
        import skops.io as sio
        unknown = sio.get_untrusted_types(file={str(tmp_path / "model")!r})
        assert "maxmargin" not in sys.modules
        print(unknown, sio.load({str(tmp_path / "model")!r}, trusted=unknown).certificate_.holds)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert ran.stdout == "['maxmargin._classes.SVC'] True\n"
    assert "maxmargin._classes.SVC" in maxmargin.skops_types()


@pytest.mark.parametrize("search", ["GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "SVCCV", "SVRCV"])
def test_skl2onnx_converts_searches(search):
    pytest.importorskip("skl2onnx")
    pytest.importorskip("onnxruntime")
    kind = getattr(maxmargin, search)
    estimator = kind() if search.endswith("RCV") or search == "SVCCV" else kind(maxmargin.SVC(), {"C": [1.0, 10.0]})
    if search == "RandomizedSearchCV":
        estimator.set_params(n_iter=2)
    fitted = estimator.fit(X, X[:, 0] if search == "SVRCV" else WORDS)
    found = ran_by_onnx(fitted)[0].ravel()
    if search == "SVRCV":
        # A dozen roundings to single precision, over so many coefficients.
        rounding = 12 * np.finfo(np.float32).eps * np.abs(fitted.best_estimator_.dual_coef_).sum()
        np.testing.assert_allclose(found, fitted.predict(X), atol=rounding)
    else:
        assert (found == fitted.predict(X)).all()


def ran_by_onnx(fitted, **options):
    skl2onnx, runtime = pytest.importorskip("skl2onnx"), pytest.importorskip("onnxruntime")
    content = skl2onnx.to_onnx(fitted, X[:1], target_opset=15, **options).SerializeToString()
    return runtime.InferenceSession(content, providers=["CPUExecutionProvider"]).run(None, {"X": X})


@pytest.mark.parametrize(("estimator", "target"), cases())
def test_skl2onnx_converts(estimator, target):
    fitted = estimator.fit(X, target)
    said = ran_by_onnx(fitted)[0].ravel()
    if not hasattr(fitted, "decision_function"):
        assert_allclose(said, fitted.predict(X), atol=1e-4)
        return
    far = np.abs(fitted.decision_function(X)).reshape(len(X), -1).min(axis=1) > 1e-3
    assert far.mean() > 0.8
    assert_array_equal(said[far], fitted.predict(X)[far])


def test_skl2onnx_has_our_probabilities_and_takes_options():
    fitted = maxmargin.SVC(probability=True).fit(X, WORDS == "setosa")
    for options in [{"zipmap": False}, {id(fitted): {"zipmap": False}}, {maxmargin.SVC: {"zipmap": False}}]:
        _, probabilities = ran_by_onnx(fitted, options=options)
        # Its coupling is that of scikit-learn, which ends at a change of 0.005 / classes.
        assert_allclose(probabilities, fitted.predict_proba(X), atol=5e-3)
    pipeline = make_pipeline(StandardScaler(), maxmargin.SVC()).fit(X, WORDS)
    assert_array_equal(ran_by_onnx(pipeline)[0], pipeline.predict(X))


@pytest.mark.parametrize(("estimator", "target"), cases())
def test_hummingbird_converts_what_it_converts_of_scikit_learns(estimator, target):
    hummingbird = pytest.importorskip("hummingbird.ml")
    if target.dtype.kind not in "iuf" or type(estimator).__name__ in ("SVR", "NuSVR", "QuantileSVR", "OneClassSVM"):
        pytest.skip("it has no converter for scikit-learn's own class or labels")
    fitted = estimator.fit(X, target)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = hummingbird.convert(fitted, "torch").predict(X).ravel()
    assert_allclose(said, fitted.predict(X), atol=1e-4)


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (maxmargin.LinearSVC(), WORDS),
        (maxmargin.LinearSVR(max_iter=10_000), WIDTHS),
        (maxmargin.SVC(kernel="linear"), WORDS == "setosa"),
        (maxmargin.SVR(kernel="linear"), WIDTHS),
    ],
    ids=str,
)
def test_eli5_explains(estimator, target):
    eli5 = pytest.importorskip("eli5")
    fitted = estimator.fit(X, target)
    explained = eli5.explain_weights(fitted, feature_names=list("abcd"))
    assert explained.error is None
    assert explained.estimator == repr(fitted)
    found = {
        one.feature: one.weight for one in [*explained.targets[0].feature_weights.pos, *explained.targets[0].feature_weights.neg]
    }
    assert_allclose([found[name] for name in "abcd"], np.atleast_2d(fitted.coef_)[0], atol=1e-9)
    assert eli5.explain_prediction(fitted, X[0]).error is None
