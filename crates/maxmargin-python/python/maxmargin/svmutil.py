"""Names of LIBSVM's ``libsvm.svmutil``, for scripts that use it: ``from maxmargin.svmutil import svm_train, svm_predict``.

Options are LIBSVM's: ``-s -t -d -g -r -c -n -p -m -e -h -b -wLABEL -v -q``. Rows are arrays, scipy's matrices, or lists of dictionaries from 1.
"""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _files
from ._data import is_sparse, packed
from ._files import Model

FORMULATIONS = ["c-svc", "nu-svc", "one-class", "epsilon-svr", "nu-svr"]
KERNELS = ["linear", "poly", "rbf", "sigmoid", "precomputed"]


def svm_read_problem(path: str, return_scipy: bool = False) -> tuple[Any, Any]:
    """Labels and rows of a LIBSVM text: lists and dictionaries, or with ``return_scipy`` an array and a CSR matrix."""
    X, y = _files.read_libsvm(path)
    if return_scipy:
        return y, X
    rows = [
        {int(j) + 1: float(v) for j, v in zip(X.indices[a:b], X.data[a:b], strict=True)}
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    return y.tolist(), rows


def _matrix(x: Any, features: int | None = None) -> Any:
    if is_sparse(x) or isinstance(x, np.ndarray):
        return _files._rows(x)
    if len(x) > 0 and not isinstance(x[0], dict):
        return np.asarray(x, dtype=np.float64)
    entries = [sorted((int(j), float(v)) for j, v in row.items() if int(j) > 0) for row in x]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in entries])])
    indices = np.array([j - 1 for row in entries for j, _ in row], dtype=np.int64)
    values = np.array([v for row in entries for _, v in row])
    width = max(int(indices.max()) + 1 if len(indices) else 0, features or 0)
    return sp.csr_matrix((values, indices, indptr), shape=(len(entries), width))


def _parsed(options: str) -> tuple[dict[str, Any], int | None]:
    """Settings of :func:`maxmargin.train`, and the number of folds."""
    settings: dict[str, Any] = {"formulation": "c-svc", "kernel": "rbf", "gamma": "auto", "class_weight": []}
    folds = None
    words = iter(shlex.split(options))
    for word in words:
        if word == "-q":
            continue
        value = next(words, None)
        if value is None:
            raise ValueError(f"option {word} has no value")
        if word.startswith("-w"):
            settings["class_weight"].append((float(word[2:]), float(value)))
            continue
        match word:
            case "-s":
                settings["formulation"] = FORMULATIONS[int(value)]
            case "-t":
                settings["kernel"] = KERNELS[int(value)]
            case "-d":
                settings["degree"] = int(value)
            case "-g":
                settings["gamma"] = float(value)
            case "-r":
                settings["coef0"] = float(value)
            case "-c":
                settings["C"] = float(value)
            case "-n":
                settings["nu"] = float(value)
            case "-p":
                settings["epsilon"] = float(value)
            case "-m":
                settings["memory"] = int(float(value) * 2**20)
            case "-e":
                settings["tol"] = float(value)
            case "-h":
                settings["shrinking"] = value != "0"
            case "-v":
                folds = int(value)
            case "-b":
                settings["probability"] = None if value == "0" else "platt"
            case _:
                raise ValueError(f"unknown option {word}")
    return settings, folds


def svm_train(y: Any, x: Any, options: str = "") -> Model | float:
    """A model, or with ``-v`` the accuracy in percent (the mean squared error of regression)."""
    settings, folds = _parsed(options)
    y, x = np.asarray(y, dtype=np.float64), _matrix(x)
    if settings["kernel"] == "precomputed":
        raise ValueError("precomputed kernels: use maxmargin.SVC(kernel='precomputed')")
    if folds is None:
        return _files.train(x, y, **settings)
    settings.pop("probability", None)
    predicted = _files.cross_validate(x, y, folds, **settings)["predicted"]
    if settings["formulation"].endswith("svr"):
        return float(np.mean((predicted - y) ** 2))
    return 100.0 * float(np.mean(predicted == y))


def svm_predict(
    y: Any, x: Any, model: Model, options: str = ""
) -> tuple[list[float], tuple[float, float, float], list[list[float]]]:
    """Labels; accuracy in percent, mean squared error and squared correlation; decision values of each row.

    With ``-b 1`` labels are those of the greatest probability, and the probabilities of each row come last, in the order of ``model.classes``.
    """
    data = packed(_matrix(x, model.features))
    if options.split()[-2:] == ["-b", "1"] or "-b 1 " in options:
        probabilities = model.probabilities(data)
        labels = model.classes[probabilities.argmax(axis=1)]
        return labels.tolist(), evaluations(y, labels), probabilities.tolist()
    labels = model.predict(data)
    return labels.tolist(), evaluations(y, labels), model.decisions(data).tolist()


def evaluations(y: Any, predicted: Any) -> tuple[float, float, float]:
    """Accuracy in percent, mean squared error, squared correlation."""
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if len(y) != len(predicted) or len(y) == 0:
        return (0.0, float("nan"), float("nan"))
    flat = y.std() == 0 or predicted.std() == 0
    correlation = float("nan") if flat else float(np.corrcoef(y, predicted)[0, 1]) ** 2
    return 100.0 * float(np.mean(y == predicted)), float(np.mean((y - predicted) ** 2)), correlation


def svm_save_model(path: str, model: Model) -> None:
    """Writes LIBSVM's model file."""
    _files.save(model, path, format="libsvm")


def svm_load_model(path: str) -> Model:
    """Reads LIBSVM's model file, or this program's."""
    return _files.load(path)
