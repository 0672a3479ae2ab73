"""Names of LIBSVM's ``libsvm.svmutil``, for scripts that use it: ``from maxmargin.svmutil import *``.

Functions take what LIBSVM's take and give what they give: labels in order of appearance, columns and signs of decision values, the folds of ``-v``, the lines
that are printed (``-q`` prints none).

Examples
--------
>>> from maxmargin.svmutil import svm_predict, svm_train
>>> y, x = [0, 0, 1, 1], [{1: 0.0}, {1: 1.0}, {1: 2.0}, {1: 3.0}]
>>> model = svm_train(y, x, "-t 0 -q")
>>> labels, scores, values = svm_predict(y, x, model, "-q")
>>> labels
[0.0, 0.0, 1.0, 1.0]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import _files, _native
from ._data import is_sparse
from ._libsvm import kernel_names, svm_forms, svm_model, svm_parameter, svm_problem
from ._write import write_whole

__all__ = [
    "evaluations",
    "kernel_names",
    "svm_forms",
    "svm_load_model",
    "svm_model",
    "svm_parameter",
    "svm_predict",
    "svm_problem",
    "svm_read_problem",
    "svm_save_model",
    "svm_train",
]

VALUES = {svm_forms.EPSILON_SVR, svm_forms.NU_SVR}


def svm_read_problem(data_source: Any, return_scipy: bool = False) -> tuple[Any, Any]:
    """Labels and rows of a LIBSVM text, a path or an open file: lists and dictionaries, or with ``return_scipy`` an array and a CSR matrix.

    Comments, ``qid:`` and packed files (gzip, bzip2, xz, Zstandard) are read. Zeros that the text stores are left out, but for the greatest index, which the
    last row then has: LIBSVM's default gamma depends on it.
    """
    if hasattr(data_source, "read"):
        content = data_source.read()
        content = content.encode() if isinstance(content, str) else content
    else:
        content = Path(data_source).read_bytes()
    X, y, base = _files.parsed_libsvm(content)
    if return_scipy:
        return y, X
    indices, values = (X.indices + base).tolist(), X.data.tolist()
    rows = [dict(zip(indices[a:b], values[a:b], strict=True)) for a, b in pairwise(X.indptr.tolist())]
    greatest = X.shape[1] - 1 + base
    if greatest >= base and greatest > max(indices, default=-1):
        rows[-1][greatest] = 0.0
    return y.tolist(), rows


def svm_train(arg1: Any, arg2: Any = None, arg3: Any = None) -> svm_model | float:
    """A model, or with ``-v`` the accuracy in percent (of regression the mean squared error).

    ``svm_train(y, x [, options])``, ``svm_train(problem [, options])`` or ``svm_train(problem, parameter)``; options are LIBSVM's:
    ``-s -t -d -g -r -c -n -p -m -e -h -b -wLABEL -v -q``, a text or a list of words.

    Raises
    ------
    ValueError
        For options that there are not, and for what LIBSVM refuses, in its words.
    """
    if isinstance(arg1, svm_problem):
        parameter = arg2 if isinstance(arg2, svm_parameter) else svm_parameter(arg2)
        problem = arg1
    else:
        parameter = svm_parameter(arg3)
        problem = svm_problem(arg1, arg2, isKernel=parameter.kernel_type == kernel_names.PRECOMPUTED)
    if parameter.kernel_type == kernel_names.PRECOMPUTED:
        _check_serials(problem)
    data = problem.packed(classes=parameter.svm_type in (svm_forms.C_SVC, svm_forms.NU_SVC))
    if parameter.cross_validation:
        return _cross_validated(problem, data, parameter)
    native, unknown = _native.libsvm_train(data, problem.index_base, parameter.given(problem))
    for label in unknown:
        print(f"WARNING: class label {label} specified in weight is not found", file=sys.stderr)
    if native.warning is not None:
        print(native.warning, file=sys.stderr)
    if not parameter.quiet:
        print(native.story, end="")
    return svm_model(native, parameter.resolved(problem))


def _cross_validated(problem: svm_problem, data: _native.Data, parameter: svm_parameter) -> float:
    given = parameter.given(problem)
    predicted = _native.libsvm_cross_validate(data, problem.index_base, given, parameter.nr_fold)
    truth = problem.y if parameter.svm_type not in (svm_forms.C_SVC, svm_forms.NU_SVC) else np.trunc(problem.y)
    accuracy, error, correlation = evaluations(truth, predicted)
    if parameter.svm_type in VALUES:
        print(f"Cross Validation Mean squared error = {error:g}")
        print(f"Cross Validation Squared correlation coefficient = {correlation:g}")
        return error
    print(f"Cross Validation Accuracy = {accuracy:g}%")
    return accuracy


def _check_serials(problem: svm_problem) -> None:
    serials = problem._rows[:, :1].toarray().ravel()
    wrong = np.flatnonzero((serials < 1) | (serials > problem.n))
    if len(wrong):
        what = "first column must be 0:sample_serial_number" if serials[wrong[0]] == 0 else "sample_serial_number out of range"
        raise ValueError(f"Wrong input format: {what} (row {wrong[0]}, from 0)")


def svm_predict(
    y: Any, x: Any, m: svm_model, options: str | Sequence[str] = ""
) -> tuple[list[float], tuple[float, float, float], list[list[float]]]:
    """Labels; accuracy in percent, mean squared error and squared correlation; decision values of each row, one for each pair of classes.

    With ``-b 1`` labels are those of the greatest probability, and the probabilities of each row come last. Both have the order of ``m.get_labels()``.
    ``y`` may be ``[]`` where labels are not known.
    """
    words = options.split() if isinstance(options, str) else list(options)
    probability, quiet = _asked(words)
    if not isinstance(m, svm_model):
        raise TypeError(f"a model of svm_train or svm_load_model is needed, not {type(m).__name__}")
    count = x.shape[0] if is_sparse(x) else len(x)
    if len(y) not in (0, count):
        raise ValueError(f"{len(y)} labels and {count} rows: give one label for each row, or [] without labels")
    if probability and not m.is_probability_model():
        raise ValueError("Model does not support probabiliy estimates: train with -b 1")
    data = m.data(x)
    labels = m._native.predict(data, probability)
    of_values = m.get_svm_type() in VALUES
    if probability and of_values:
        values: list[list[float]] = [[] for _ in range(count)]
    elif probability:
        values = [[1.0]] * count if m.model is None else m.columns(m.model.probabilities(data)).tolist()
    else:
        decisions = m._native.decisions(data)
        values = [[1.0]] * count if decisions is None else decisions.tolist()
    metrics = evaluations(np.zeros(count) if len(y) == 0 else y, labels)
    if not quiet:
        _print_metrics(m, metrics, count, of_values=of_values, probability=probability)
    return labels.tolist(), metrics, values


def _asked(words: list[str]) -> tuple[bool, bool]:
    probability, quiet = False, False
    left = iter(words)
    for word in left:
        if word == "-q":
            quiet = True
        elif word == "-b":
            value = next(left, None)
            if value not in ("0", "1"):
                raise ValueError("option -b has no value" if value is None else f"option -b: {value!r} is neither 0 nor 1")
            probability = value == "1"
        else:
            raise ValueError(f"Wrong options: {word}; svm_predict has -b 0, -b 1 and -q")
    return probability, quiet


def _print_metrics(m: svm_model, metrics: tuple[float, float, float], count: int, *, of_values: bool, probability: bool) -> None:
    if m.is_probability_model() and not probability:
        print("Model supports probability estimates, but disabled in predicton.")
    accuracy, error, correlation = metrics
    if of_values:
        print(f"Mean squared error = {error:g} (regression)")
        print(f"Squared correlation coefficient = {correlation:g} (regression)")
    else:
        print(f"Accuracy = {accuracy:g}% ({round(count * accuracy / 100)}/{count}) (classification)")


def evaluations(ty: Any, pv: Any, useScipy: bool = True) -> tuple[float, float, float]:
    """Accuracy in percent, mean squared error, squared correlation (no number where either is constant)."""
    truth, predicted = np.asarray(ty, dtype=np.float64), np.asarray(pv, dtype=np.float64)
    if len(truth) != len(predicted):
        raise ValueError("len(ty) must be equal to len(pv)")
    if len(truth) == 0:
        return 0.0, math.nan, math.nan
    flat = np.ptp(truth) == 0 or np.ptp(predicted) == 0
    correlation = math.nan if flat else float(np.corrcoef(truth, predicted)[0, 1]) ** 2
    return 100.0 * float(np.mean(truth == predicted)), float(np.mean((truth - predicted) ** 2)), correlation


def svm_save_model(model_file_name: str, model: svm_model) -> None:
    """Writes LIBSVM's model file."""
    write_whole(Path(model_file_name), model._native.to_bytes())


def svm_load_model(model_file_name: str) -> svm_model:
    """Reads LIBSVM's model file, or this program's."""
    return svm_model(_native.LibsvmModel.from_bytes(Path(model_file_name).read_bytes()))
