"""Exported models run by onnxruntime beside our own predictions: every kernel × formulation × number of classes × probabilities.

    python benchmarks/export.py [--out docs/reproduction/export.md]

Needs onnxruntime. Differences are divided by 1 or the size of the number, whichever is greater. With gcc, the C file of every model is compiled and
compared as well.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM, QuantileSVR

KERNELS = ("linear", "poly", "rbf", "sigmoid")


def scaled(load: Any, rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(X))[:rows]
    return StandardScaler().fit_transform(X)[order], y[order]


def by_classes() -> dict[int, tuple[np.ndarray, np.ndarray]]:
    return {2: scaled(load_breast_cancer, 300), 3: scaled(load_iris, 150), 10: scaled(load_digits, 500)}


def width(kernel: str) -> Any:
    """A narrow sigmoid is indefinite, and some nu then have no solution."""
    return 0.01 if kernel == "sigmoid" else "scale"


class Case:
    """A fitted estimator, and rows to predict."""

    def __init__(self, formulation: str, kernel: str, what: str, estimator: Any, X: np.ndarray, y: Any) -> None:
        self.formulation, self.kernel, self.what = formulation, kernel, what
        self.X = X
        self.estimator = estimator.fit(X, y)


def cases() -> Iterator[Case]:
    for (classes, (X, y)), kernel, calibration in itertools.product(by_classes().items(), KERNELS, (None, "platt", "isotonic")):
        what, gamma = f"{classes} classes, {calibration or 'labels'}", width(kernel)
        yield Case("C-SVC", kernel, what, SVC(kernel=kernel, gamma=gamma, C=10.0, calibration=calibration), X, y)
        yield Case("nu-SVC", kernel, what, NuSVC(kernel=kernel, gamma=gamma, nu=0.05, calibration=calibration), X, y)
    for classes, (X, y) in by_classes().items():
        yield Case("linear", "linear", f"{classes} classes, labels", LinearSVC(), X, y)
        sparse, together = LinearSVC(penalty="l1"), LinearSVC(multi_class="crammer_singer")
        yield Case("linear, L1 norm", "linear", f"{classes} classes, labels", sparse.set_params(max_iter=100_000), X, y)
        yield Case("Crammer and Singer", "linear", f"{classes} classes, labels", together.set_params(max_iter=100_000), X, y)
    X, y = scaled(load_diabetes, 300)
    y = (y - y.mean()) / y.std()
    yield Case("linear", "linear", "regression", LinearSVR(max_iter=100_000), X, y)
    for kernel in KERNELS:
        own: dict[str, Any] = {"kernel": kernel, "gamma": width(kernel)}
        yield Case("epsilon-SVR", kernel, "regression", SVR(**own), X, y)
        yield Case("epsilon-SVR", kernel, "intervals", SVR(**own, conformal=0.1), X, y)
        yield Case("nu-SVR", kernel, "regression", NuSVR(**own), X, y)
        yield Case("quantile", kernel, "regression", QuantileSVR(**own, quantile=0.8), X, y)
        yield Case("quantile", kernel, "intervals", QuantileSVR(**own, conformal=0.1), X, y)
        yield Case("one-class", kernel, "one class", OneClassSVM(**own, nu=0.2), X, None)


def relative(found: Any, expected: Any) -> float:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    found = found.reshape(expected.shape)
    difference = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    return float(np.where(found == expected, 0.0, difference).max())


def expected(case: Case) -> dict[str, Any]:
    """Return our own predictions, by the name of an output."""
    estimator, X = case.estimator, case.X
    packed = maxmargin._data.packed(X)
    model = estimator._model_of()
    values: dict[str, Any] = {"decision": model.decisions(packed)}
    if hasattr(estimator, "classes_") or isinstance(estimator, OneClassSVM):
        values["label"] = estimator.predict(X)
    else:
        values["value"] = values.pop("decision")
    if getattr(estimator, "calibration", None):
        values["probabilities"] = estimator.predict_proba(X)
    if getattr(estimator, "conformal", None) is not None:
        bounds = estimator.predict_interval(X)
        values["lower"], values["upper"] = bounds[:, :1], bounds[:, 1:]
    return values


def by_onnxruntime(case: Case, *, float32: bool = False) -> tuple[dict[str, float], int, int]:
    """The largest difference of each output, the labels that differ, and the size of the file."""
    content = case.estimator.to_onnx(float32=float32)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    X = case.X.astype(np.float32 if float32 else np.float64)
    found = dict(zip(names, session.run(None, {"X": X}), strict=True))
    wanted = expected(case)
    assert set(found) == set(wanted), (set(found), set(wanted))
    other = int((found["label"] != wanted["label"]).sum()) if "label" in wanted else 0
    differences = {name: relative(found[name], wanted[name]) for name in wanted if name != "label"}
    if float32:
        values = expected_rounded(case, X)
        _, bound = maxmargin._native.export_bound(case.estimator._model_of(), maxmargin._data.packed(case.X))
        differences["share of bound"] = float(
            np.abs(found["decision" if "decision" in found else "value"] - values).max() / bound
        )
    return differences, other, len(content)


def expected_rounded(case: Case, X: np.ndarray) -> np.ndarray:
    """The decision values of rows in single precision."""
    return case.estimator._model_of().decisions(maxmargin._data.packed(X.astype(np.float64)))


MAIN = """
#include <stdio.h>
#include "model.c"
int main(void) {
    REAL x[svm_INPUTS];
    double value;
    for (;;) {
        for (int j = 0; j < svm_INPUTS; j++) { if (scanf("%lf", &value) != 1) return 0; x[j] = (REAL)value; }
        REAL d[svm_MACHINES];
        svm_decision(x, d);
        for (int m = 0; m < svm_MACHINES; m++) printf("%.17g ", (double)d[m]);
        MORE
        printf("%.17g\\n", (double)svm_predict(x));
    }
}
"""

PROBABILITIES = """REAL p[svm_OUTCOMES];
        svm_probabilities(x, p);
        for (int k = 0; k < svm_OUTCOMES; k++) printf("%.17g ", (double)p[k]);"""


INTERVAL = """REAL b[2];
        svm_interval(x, b);
        printf("%.17g %.17g ", (double)b[0], (double)b[1]);"""


def by_gcc(case: Case) -> tuple[dict[str, float], int, int]:
    """The largest differences of the C file, the labels that differ, and the size of the object file."""
    has_probabilities = bool(getattr(case.estimator, "calibration", None))
    has_intervals = getattr(case.estimator, "conformal", None) is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case.estimator.to_c(folder / "model.c")
        main = MAIN.replace("MORE", PROBABILITIES if has_probabilities else INTERVAL if has_intervals else "")
        (folder / "main.c").write_text(main)
        subprocess.run(["gcc", "-std=c99", "-O2", "-DREAL=double", "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
        subprocess.run(["gcc", "-std=c99", "-Os", "-c", "model.c", "-o", "model.o"], cwd=folder, check=True)
        rows = "\n".join(" ".join(repr(float(x)) for x in row) for row in case.X)
        ran = subprocess.run([str(folder / "main")], input=rows, capture_output=True, text=True, check=True)
        size = (folder / "model.o").stat().st_size
    numbers = np.array([[float(word) for word in line.split()] for line in ran.stdout.splitlines()])
    wanted = expected(case)
    decisions = wanted["decision" if "decision" in wanted else "value"]
    machines = decisions.shape[1]
    found = {"decision": relative(numbers[:, :machines], decisions)}
    if has_probabilities:
        found["probabilities"] = relative(numbers[:, machines:-1], wanted["probabilities"])
    if has_intervals:
        found["lower"] = relative(numbers[:, machines : machines + 1], wanted["lower"])
        found["upper"] = relative(numbers[:, machines + 1 : machines + 2], wanted["upper"])
    other = 0
    if "label" in wanted:
        classes = getattr(case.estimator, "classes_", None)
        labels = numbers[:, -1] if classes is None else classes[numbers[:, -1].astype(int)]
        other = int((labels != wanted["label"]).sum())
    return found, other, size


def table(results: dict[tuple[str, str], list[tuple[dict[str, float], int, int]]]) -> Iterator[str]:
    yield "| formulation | kernel | models | decision value | probability | bound of an interval | other labels |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    for (formulation, kernel), found in results.items():
        cells = [formulation, kernel, str(len(found))]
        for names in (("decision", "value"), ("probabilities",), ("lower", "upper")):
            values = [of[name] for of, _, _ in found for name in names if name in of]
            cells.append(f"{max(values):.1e}" if values else "–")
        cells.append(str(sum(other for _, other, _ in found)))
        yield f"| {' | '.join(cells)} |"


def page() -> Iterator[str]:
    every = list(cases())
    yield "# Exported models beside our own predictions\n"
    yield "In crates/maxmargin-python, with onnxruntime installed, this writes the page:\n"
    yield "    python benchmarks/export.py --out ../../docs/reproduction/export.md\n"
    yield (
        "Every kernel with every formulation, of 2, 3 and 10 classes (breast cancer, iris, digits; regressions on diabetes), with\n"
        "labels alone, sigmoids and isotonic steps. All rows that a model was trained on are predicted. A figure is the largest\n"
        "difference of any row and model, divided by 1 or by the size of the number, whichever is greater.\n"
    )
    yield f"maxmargin {maxmargin.__version__}, onnxruntime {onnxruntime.__version__}.\n"
    yield "## ONNX in double precision, by onnxruntime\n"
    double = grouped(every, by_onnxruntime)
    yield from table(double)
    yield ""
    yield "## ONNX in single precision, by onnxruntime\n"
    yield "Inputs are rounded to single precision as well. Labels that differ are those of rows near a border.\n"
    single = grouped(every, lambda case: by_onnxruntime(case, float32=True))
    yield from table(single)
    yield ""
    share = max(of["share of bound"] for found in single.values() for of, _, _ in found)
    yield f"The largest error of a decision value, of the same rounded rows, is {100 * share:.1f} % of the bound that is computed for it.\n"
    if shutil.which("gcc"):
        yield "## C in double precision, by gcc\n"
        yield from table(grouped(every, by_gcc))
        yield ""
    yield "## Sizes\n"
    yield "| model | support vectors × features | ONNX, f64 | ONNX, f32 | C, text | C, object file | JSON |\n|---|--:|--:|--:|--:|--:|--:|"
    for case in every:
        if case.formulation == "C-SVC" and case.kernel in ("linear", "rbf") and case.what.endswith(("labels", "platt")):
            yield f"| {sizes(case)} |"


def sizes(case: Case) -> str:
    estimator = case.estimator
    counts = [len(estimator.to_onnx()), len(estimator.to_onnx(float32=True)), len(estimator.to_c())]
    counts += [by_gcc(case)[2] if shutil.which("gcc") else 0, len(estimator.to_json())]
    vectors = f"{len(estimator.support_)} × {case.X.shape[1]}"
    return " | ".join([f"{case.kernel}, {case.what}", vectors, *(f"{count / 1024:,.1f} KiB" for count in counts)])


def grouped(every: list[Case], measure: Any) -> dict[tuple[str, str], list[Any]]:
    results: dict[tuple[str, str], list[Any]] = {}
    for case in every:
        results.setdefault((case.formulation, case.kernel), []).append(measure(case))
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = []
    for line in page():
        print(line, flush=True)
        lines.append(line)
    if args.out is not None:
        args.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
