"""Exported estimators: what onnxruntime, skl2onnx and a C compiler make of them."""

import ctypes
import json
import shutil
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import maxmargin

X, CODES = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
WORDS = load_iris().target_names[CODES]
PLANTS, WIDTHS = X[:, :3], X[:, 3]
DIGITS, FIGURES = (of[:300] for of in load_digits(return_X_y=True))
KERNELS = ["linear", "poly", "rbf", "sigmoid"]


def ran(content, rows):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows}), strict=True))


@pytest.mark.parametrize("calibration", [None, "platt", "isotonic"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [maxmargin.SVC, maxmargin.NuSVC])
def test_onnxruntime_predicts_classes_as_we_do(kind, kernel, calibration):
    for rows, labels in [(X, WORDS == "setosa"), (X, WORDS), (DIGITS / 16, FIGURES)]:
        given = {"nu": 0.05} if kind is maxmargin.NuSVC else {"C": 10.0}
        # A narrow sigmoid is indefinite, and some nu then have no solution.
        gamma = 0.01 if kernel == "sigmoid" else "scale"
        fitted = kind(kernel=kernel, gamma=gamma, calibration=calibration, **given).fit(rows, labels)
        found = ran(fitted.to_onnx(), rows)
        assert_array_equal(found["label"], fitted.predict(rows))
        model = fitted._model_of()
        assert_allclose(found["decision"], model.decisions(maxmargin._data.packed(rows)), rtol=1e-12, atol=1e-12)
        assert ("probabilities" in found) == (calibration is not None)
        if calibration:
            assert_allclose(found["probabilities"], fitted.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [maxmargin.SVR, maxmargin.NuSVR, maxmargin.QuantileSVR, maxmargin.ExpectileSVR])
def test_onnxruntime_predicts_values_as_we_do(kind, kernel):
    fitted = kind(kernel=kernel, gamma=0.01 if kernel == "sigmoid" else "scale").fit(PLANTS, WIDTHS)
    assert_allclose(ran(fitted.to_onnx(), PLANTS)["value"].ravel(), fitted.predict(PLANTS), rtol=1e-12, atol=1e-12)


def test_several_quantiles_do_not_cross():
    fitted = maxmargin.QuantileSVR(quantile=[0.1, 0.45, 0.5, 0.9], C=100.0).fit(PLANTS, WIDTHS)
    assert_allclose(ran(fitted.to_onnx(), PLANTS)["value"], fitted.predict(PLANTS), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [maxmargin.SVR, maxmargin.QuantileSVR])
def test_onnxruntime_has_our_intervals(kind):
    fitted = kind(conformal=0.2).fit(PLANTS, WIDTHS)
    for alpha in (None, 0.1):
        found = ran(fitted.to_onnx(alpha=alpha), PLANTS)
        bounds = fitted.predict_interval(PLANTS, alpha=alpha)
        assert_allclose(np.hstack([found["lower"], found["upper"]]), bounds, rtol=1e-12, atol=1e-12)


def test_an_export_says_what_it_leaves_out():
    scaled = maxmargin.SVR(conformal=0.2, conformal_score="scaled").fit(PLANTS, WIDTHS)
    grouped = maxmargin.SVR(conformal=0.2).fit(PLANTS, WIDTHS, conformal_groups=WORDS)
    classes = maxmargin.SVC(conformal=0.2).fit(PLANTS, WORDS)
    for fitted in (scaled, grouped, classes):
        for export in (fitted.to_onnx, fitted.to_c, fitted.to_json):
            with pytest.warns(UserWarning, match="left out: sets and p-values") as told:
                export()
            assert told[0].filename == __file__
            with pytest.raises(ValueError, match="alpha: the model has no intervals to export"):
                export(alpha=0.1)


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (maxmargin.LinearSVC(), WORDS),
        (maxmargin.LinearSVC(), CODES == 1),
        (maxmargin.LinearSVR(), WIDTHS),
        (maxmargin.OneClassSVM(nu=0.2), None),
    ],
    ids=str,
)
def test_onnxruntime_runs_other_machines(estimator, target):
    fitted = estimator.fit(PLANTS, target)
    found = ran(fitted.to_onnx(), PLANTS)
    expected = fitted.predict(PLANTS)
    if "value" in found:
        assert_allclose(found["value"].ravel(), expected, rtol=1e-12, atol=1e-12)
    else:
        assert_array_equal(found["label"], expected)


@pytest.mark.parametrize("kernel", KERNELS)
def test_single_precision_is_within_its_bound(kernel):
    for labels in (WORDS == "setosa", WORDS):
        fitted = maxmargin.SVC(kernel=kernel, C=10.0).fit(X, labels)
        found = ran(fitted.to_onnx(float32=True), X.astype(np.float32))
        expected = fitted._model_of().decisions(maxmargin._data.packed(X.astype(np.float32)))
        turning, bound = maxmargin._native.export_bound(fitted._model_of(), maxmargin._data.packed(X))
        assert 0 < np.abs(found["decision"] - expected).max() < bound < 1e-2
        far = np.abs(expected).min(axis=1) > bound
        assert (~far).sum() >= turning
        assert_array_equal(found["label"][far], fitted.predict(X)[far])


def test_double_precision_is_written_where_a_label_could_turn():
    fitted = maxmargin.SVC(kernel="linear", C=10.0).fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1])
    with pytest.warns(UserWarning, match="f32 could turn 1 of 2 labels"):
        content = fitted.to_onnx(float32=True, check=[[0.0], [1.0]])
    assert b"LinearRegressor" not in content
    assert b"f32 could turn 1 of 2 labels" in content
    content = fitted.to_onnx(float32=True, check=[[1.0], [2.0]])
    assert b"LinearRegressor" in content
    assert b"2 rows: no label can turn" in content


def test_files_are_those_that_are_returned(tmp_path):
    fitted = maxmargin.SVC(calibration="platt").fit(X, WORDS)
    assert (tmp_path / "a.onnx").write_bytes(b"") == 0
    assert fitted.to_onnx(tmp_path / "a.onnx") == (tmp_path / "a.onnx").read_bytes()
    assert fitted.to_c(tmp_path / "a.c") == (tmp_path / "a.c").read_text()
    document = json.loads(fitted.to_json(tmp_path / "a.json"))
    assert document["labels"] == ["setosa", "versicolor", "virginica"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.c", "a.json", "a.onnx"]


def test_c_predicts_as_we_do(tmp_path):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    fitted = maxmargin.SVC(calibration="platt").fit(X, CODES)
    fitted.to_c(tmp_path / "iris.c", prefix="iris")
    subprocess.run(["gcc", "-std=c99", "-O2", "-shared", "-fPIC", "iris.c", "-o", "iris.so", "-lm"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(tmp_path / "iris.so"))
    doubles = ctypes.POINTER(ctypes.c_double)
    probabilities = np.zeros(3)
    for values, label, expected in zip(X, fitted.predict(X), fitted.predict_proba(X), strict=True):
        row = np.ascontiguousarray(values)
        assert library.iris_predict(row.ctypes.data_as(doubles)) == label
        library.iris_probabilities(row.ctypes.data_as(doubles), probabilities.ctypes.data_as(doubles))
        assert_allclose(probabilities, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_skl2onnx_converts_pipelines_by_our_operators(real):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    pipeline = make_pipeline(StandardScaler(), maxmargin.SVC(calibration="platt")).fit(X, WORDS)
    rows = X.astype(real)
    made = skl2onnx.to_onnx(pipeline, rows[:1], options={"zipmap": False})
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    label, probabilities = session.run(None, {"X": rows})
    assert_array_equal(label, pipeline.predict(rows))
    # Exact coupling, where skl2onnx's own operator iterates to 0.005 / classes. The scaler is in the precision of the input.
    assert_allclose(probabilities, pipeline.predict_proba(rows), rtol=0, atol=1e-12 if real is np.float64 else 1e-5)
    assert probabilities.dtype == real
    assert not {node.op_type for node in made.graph.node} & {"SVMClassifier", "SVMRegressor"}


@pytest.mark.parametrize("labels", [WORDS, WORDS == "setosa"], ids=["three", "two"])
@pytest.mark.parametrize(
    "estimator",
    [maxmargin.SVC(), maxmargin.SVC(decision_function_shape="ovo"), maxmargin.NuSVC(nu=0.2), maxmargin.LinearSVC()],
    ids=str,
)
def test_skl2onnx_has_the_decision_function(estimator, labels):
    """Wrappers such as CalibratedClassifierCV read the decision values."""
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")

    def converted(fitted, **options):
        made = skl2onnx.to_onnx(fitted, X[:1], options={id(fitted): {"zipmap": False, **options}})
        return runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, {"X": X})

    numbers = np.unique(labels, return_inverse=True)[1]
    fitted = clone(estimator).fit(X, numbers)
    expected = fitted.decision_function(X)
    label, scores = converted(fitted)
    assert_array_equal(label, fitted.predict(X))
    assert_allclose(scores, np.column_stack([-expected, expected]) if expected.ndim == 1 else expected, rtol=1e-12, atol=1e-12)
    calibrated = CalibratedClassifierCV(estimator, cv=3).fit(X, numbers)
    label, probabilities = converted(calibrated)
    assert_array_equal(label, calibrated.predict(X))
    assert_allclose(probabilities, calibrated.predict_proba(X), rtol=0, atol=1e-9)
    if isinstance(estimator, maxmargin.SVC) and estimator.decision_function_shape == "ovr":
        fitted = maxmargin.SVC(probability=True).fit(X, WORDS)
        assert_allclose(converted(fitted, raw_scores=True)[1], fitted.decision_function(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("labels", [WORDS, WORDS == "setosa"], ids=["three", "two"])
def test_a_row_that_is_not_a_number_has_no_probability(labels):
    fitted = maxmargin.SVC(calibration="isotonic").fit(X, labels)
    assert "(f != f) return f" in fitted.to_c()
    row = X[:1].copy()
    row[0, 0] = np.nan
    assert np.all(np.isnan(ran(fitted.to_onnx(), row)["probabilities"]))
    assert not np.any(np.isnan(ran(fitted.to_onnx(), X)["probabilities"]))


@pytest.mark.parametrize("order", [["neg", "pos"], ["pos", "neg"]])
def test_the_first_of_two_classes_has_the_value_0(order, tmp_path):
    """Every row of zeros without an intercept, which texts often have."""
    two = X[:100]
    fitted = maxmargin.LinearSVC(fit_intercept=False).fit(two, np.array(order)[CODES[:100]])
    nothing = np.zeros((1, two.shape[1]))
    assert fitted.predict(nothing) == ["neg"]
    maxmargin.save(fitted, tmp_path / "model")
    assert maxmargin.load(tmp_path / "model").predict(nothing) == [0]
    assert '"zero_is_second":[false]' in "".join(fitted.to_json().split())
    assert ran(fitted.to_onnx(), nothing)["label"] == ["neg"]


def test_what_has_no_formula_is_refused():
    with pytest.raises(ValueError, match="precomputed kernel, whose values are not computed from features"):
        maxmargin.SVC(kernel="precomputed").fit(X @ X.T, WORDS).to_onnx()
    with pytest.raises(ValueError, match="callable kernel"):
        maxmargin.SVC(kernel=lambda a, b: a @ b.T).fit(X, WORDS).to_c()
    with pytest.raises(ValueError, match="break_ties"):
        maxmargin.SVC(break_ties=True).fit(X, WORDS).to_json()
    with pytest.raises(ValueError, match="cannot begin names in C"):
        maxmargin.SVC().fit(X, WORDS).to_c(prefix="1")
