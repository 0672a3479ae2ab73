"""Files and functions beneath the estimators: LIBSVM's text and model files, and this program's own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _native
from ._base import WIDE, KernelMachine, has_width_of_rows
from ._certificate import Certificate
from ._data import Floats, is_sparse, packed, weights_of, width
from ._folds import Folds, Split, partition, plan, splits_of
from ._gate import Apart
from ._libsvm import svm_model
from ._linear import LinearMachine
from ._svccv import Searching
from ._write import write_whole

Model = _native.Model


def read_libsvm(path: str | os.PathLike[str]) -> tuple[Any, Floats]:
    """Read a LIBSVM text.

    Parameters
    ----------
    path : path
        The file, plain or packed by gzip, bzip2, xz or Zstandard.

    Returns
    -------
    X : CSR matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        The labels.

    Raises
    ------
    ValueError
        When it is no such text, with line and column.

    Examples
    --------
    >>> import os, tempfile, maxmargin
    >>> path = os.path.join(tempfile.mkdtemp(), "data.txt")
    >>> with open(path, "w") as file:
    ...     _ = file.write("+1 1:0.5 3:2\\n-1 2:1\\n")
    >>> X, y = maxmargin.read_libsvm(path)
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    X, y, _ = parsed_libsvm(Path(path).read_bytes())
    return X, y


def parsed_libsvm(content: bytes) -> tuple[Any, Floats, int]:
    """The rows and labels of a LIBSVM text, packed or not, and the index of the first column: 0 or 1."""
    (values, indices, indptr, features), labels, base = _native.read_libsvm(content)
    return sp.csr_matrix((values, indices, indptr), shape=(len(labels), features)), labels, base


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model of this program or of LIBSVM.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    :class:`Model`

    Raises
    ------
    ValueError
        When it is no model, or a damaged one.

    Examples
    --------
    >>> import os, tempfile, maxmargin
    >>> fitted = maxmargin.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "svc.model")
    >>> maxmargin.save(fitted, path)
    >>> maxmargin.load(path).classes.tolist()
    [0.0, 1.0]
    """
    return Model.from_bytes(Path(path).read_bytes())


def save(model: Any, path: str | os.PathLike[str], *, format: str = "maxmargin") -> None:
    """Write a model, or that of a fitted estimator, for the command line and for :func:`load`.

    Parameters
    ----------
    model : :class:`Model` or fitted estimator
        The model.
    path : path
        The file.
    format : {"maxmargin", "libsvm"}, default="maxmargin"
        The format: this program's, or that of LIBSVM's programs.

    Notes
    -----
    Of a search, or a pipeline of one step, it is the model of the estimator inside. The file is written beside its place and moved there: whole or not at
    all. Class names that are no numbers are their places, from 0.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        When the estimator is not fitted.
    TypeError
        For what has no model of its own, such as a pipeline whose other steps a model file could not hold.

    Examples
    --------
    >>> import os, tempfile, maxmargin
    >>> fitted = maxmargin.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "svc.model")
    >>> maxmargin.save(fitted, path, format="libsvm")
    >>> open(path).readline().strip()
    'svm_type c_svc'
    """
    model = model_of(model)
    if format not in ("maxmargin", "libsvm"):
        raise ValueError(f"format {format!r}: maxmargin or libsvm")
    content = model.to_bytes() if format == "maxmargin" else model.to_libsvm()
    write_whole(Path(path), content)


def model_of(owner: Any) -> Model:
    """The model of a fitted estimator, search or pipeline of one step."""
    name = type(owner).__name__
    if isinstance(owner, Model):
        return owner
    if isinstance(owner, svm_model):
        if owner.model is None:
            raise TypeError("a model of data in one class has no machines: svm_save_model writes it")
        return owner.model
    if isinstance(owner, Pipeline):
        steps = [step for _, step in owner.steps if step is not None and step != "passthrough"]
        if len(steps) != 1:
            raise TypeError(
                "a model file holds no other steps of a pipeline: save pipeline[-1] and transform rows with pipeline[:-1] before they "
                "are asked about, or keep the whole pipeline with joblib or skops"
            )
        return model_of(steps[0])
    if isinstance(owner, BaseSearchCV | Searching):
        if hasattr(owner, "cv_results_") and not hasattr(owner, "best_estimator_"):
            raise NotFittedError(
                f"{name} was searched with refit=False: there is no best_estimator_ whose model could be written"
            )
        check_is_fitted(owner, "best_estimator_")
        return model_of(owner.best_estimator_)
    if not isinstance(owner, KernelMachine | LinearMachine):
        raise TypeError(f"{type(owner).__module__}.{name} is no model or estimator of maxmargin: there is nothing to write")
    check_is_fitted(owner)
    if not hasattr(owner, "_model"):
        raise TypeError(
            f"this {name} was trained by scikit-learn, as earlier versions did for penalty='l1' and crammer_singer: it has no model of "
            "maxmargin; fit it again"
        )
    model: Model = owner._model
    return model


def _svm(X: Any, formulation: str, gamma: str | float, settings: dict[str, Any]) -> _native.Svm:
    known = {"C": "c"}
    number = width(gamma, X, checked=settings.get("kernel") in WIDE)
    return _native.Svm(formulation, gamma=number, **{known.get(name, name): value for name, value in settings.items()})


def _rows(X: Any) -> Any:
    if is_sparse(X):
        return sp.csr_matrix(X)
    X = np.asarray(X)
    return X if X.dtype == np.float32 else X.astype(np.float64)


def _targets(y: Any) -> Floats:
    """Labels or values, one for each row."""
    return np.asarray(column_or_1d(y, warn=True), dtype=np.float64)


def train(
    X: Any,
    y: Any,
    *,
    formulation: str = "c-svc",
    gamma: str | float = "scale",
    sample_weight: Any = None,
    report: _native.Report | None = None,
    **settings: Any,
) -> Model:
    """Train a model of numbers, without an estimator.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels that are numbers, or values.
    formulation : {"c-svc", "nu-svc", "epsilon-svr", "nu-svr", "quantile", "expectile", "one-class"}, default="c-svc"
        The kind of machine.
    gamma : float or {"scale", "auto", "mean"}, default="scale"
        The width of the kernel.
    sample_weight : array of shape (n_samples,), optional
        A factor of C for each row.
    report : function, optional
        Receives the progress: the phase, three counts, seconds and the violation.
    **settings
        ``kernel`` (``linear`` by default), ``coef0``, ``degree``, ``C``, ``nu``, ``epsilon``, ``tau``, ``squared`` (the loss), ``bias`` (None: free; 0: none;
        otherwise the value of one more feature), ``class_weight`` (pairs of a label and a factor of C), ``tol``, ``max_iter``, ``max_time`` in seconds,
        ``memory`` in bytes, ``shrinking``, ``keep_data``, ``keep_vectors``, ``solver``, ``seed``, ``probability`` (``platt`` or ``isotonic``).

    Returns
    -------
    :class:`Model`

    Examples
    --------
    >>> import maxmargin
    >>> model = maxmargin.train([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], kernel="rbf", gamma=0.5, C=10)
    >>> model.classes.tolist()
    [0.0, 1.0]
    """
    X = _rows(X)
    # ``packed`` names the row that has NaN; a width computed from it would only be NaN as well.
    data = packed(X, _targets(y))
    return _svm(X, formulation, gamma, settings).fit(data, weights_of(sample_weight, X), report)


def certificates(model: Model) -> tuple[Certificate, ...]:
    """Return the certificate of each machine; empty for models of other programs.

    Parameters
    ----------
    model : :class:`Model`
        The model.

    Returns
    -------
    tuple of :class:`Certificate`

    Examples
    --------
    >>> import maxmargin
    >>> model = maxmargin.train([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> [certificate.holds for certificate in maxmargin.certificates(model)]
    [True]
    """
    return tuple(Certificate(**machine["certificate"]) for machine in model.machines() if "certificate" in machine)


def cross_validate(
    X: Any,
    y: Any,
    folds: int | Sequence[int] | Sequence[Split] | NDArray[Any] = 5,
    *,
    formulation: str = "c-svc",
    gamma: str | float = "scale",
    sample_weight: Any = None,
    **settings: Any,
) -> _native.ValidationFields:
    """Cross-validate on the shared engine: every fold certified, one kernel for all where gamma is one.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Labels that are numbers, or values.
    folds : int, array of shape (n_samples,) or list of training and test sets, default=5
        A number of folds: stratified by class where there are classes, contiguous otherwise. Or the fold, from 0, in which each sample is tested. Or sets as
        splitters of scikit-learn make them, of which ``predicted`` and ``decisions`` have one block of rows for each time (``round``) that samples are tested.
    formulation : str, default="c-svc"
        As for :func:`train`.
    gamma : float or {"scale", "auto", "mean"}, default="scale"
        The width of the kernel. ``"scale"`` and ``"mean"`` are those of each training set: folds then share no kernel, and take longer.
    sample_weight : array of shape (n_samples,), optional
        A factor of C for each row.
    **settings
        As for :func:`train`. ``seeding`` (``full`` by default; ``cold`` for trainings from scratch) changes the work, not the result.

    Returns
    -------
    dict
        ``predicted`` (one for each sample; of several levels ``tau`` that of the central one), ``decisions`` (samples × machines, levels ascending),
        ``folds`` (a certificate each) and the costs.

    Examples
    --------
    >>> import maxmargin
    >>> X, y = [[float(i)] for i in range(20)], [0] * 10 + [1] * 10
    >>> found = maxmargin.cross_validate(X, y, 5, kernel="rbf", gamma=0.1)
    >>> found["predicted"].shape, all(fold["certificate"]["holds"] for fold in found["folds"])
    ((20,), True)
    """
    if hasattr(X, "fit"):
        raise TypeError(
            "cross_validate takes rows, labels and folds; for an estimator use sklearn.model_selection.cross_validate"
        )
    X, y = _rows(X), _targets(y)
    if isinstance(folds, int | np.integer):
        if not 2 <= folds <= len(y):
            raise ValueError(f"{folds} folds for {len(y)} samples: use 2 to {len(y)}")
        fold_of = np.arange(len(y)) * int(folds) // max(len(y), 1)
        if formulation in ("c-svc", "nu-svc"):
            fold_of[np.argsort(y, kind="stable")] = np.arange(len(y)) % int(folds)
        known = partition(fold_of, len(y))
    elif len(folds) > 0 and isinstance(folds[0], tuple | list):
        given: Any = folds
        try:
            found = plan(splits_of(given, len(y)), len(y))
        except Apart as apart:
            raise ValueError(str(apart)) from None
        if found is None:
            raise ValueError("a split names a row twice, trains on what it tests, or has nothing to train on or to test")
        known = found
    else:
        known = partition(np.asarray(folds), len(y))
    data, weights = packed(X, y), weights_of(sample_weight, X)
    if isinstance(gamma, str) and has_width_of_rows(settings.get("kernel"), gamma):
        return _each_with_its_width(X, formulation, gamma, settings, data, known, weights)
    return _svm(X, formulation, gamma, settings).cross_validate(data, known, weights)


def _each_with_its_width(
    X: Any, formulation: str, gamma: str, settings: dict[str, Any], data: _native.Data, folds: Folds, weights: Floats | None
) -> _native.ValidationFields:
    """Every fold with the gamma of its own training set, in one report."""
    rows, reports, rounds = X.shape[0], [], [0]
    tested = np.zeros(rows, dtype=bool)
    for test, aside in folds:
        trained = np.ones(rows, dtype=bool)
        trained[[*test, *aside]] = False
        svm = _svm(X[trained], formulation, gamma, {"seeding": "cold"} | settings)
        reports.append(svm.cross_validate(data, [(test, aside)], weights))
        # A row that is tested again begins the next round.
        if tested[test].any():
            rounds.append(rounds[-1] + 1)
            tested[:] = False
        elif len(reports) > 1:
            rounds.append(rounds[-1])
        tested[test] = True
    first, count = reports[0], rounds[-1] + 1
    predicted = np.full(rows * count, np.nan)
    decisions = np.full((rows * count, *first["decisions"].shape[1:]), np.nan)
    for (test, _), at, report in zip(folds, rounds, reports, strict=True):
        places = at * rows + np.asarray(test)
        predicted[places], decisions[places] = report["predicted"][test], report["decisions"][test]
    fields: list[_native.FoldFields] = [{**report["folds"][0], "round": at} for at, report in zip(rounds, reports, strict=True)]
    return {
        "C": first["C"],
        "rounds": count,
        "folds": fields,
        "iterations": sum(report["iterations"] for report in reports),
        "seconds": sum(report["seconds"] for report in reports),
        "decisions": decisions,
        "predicted": predicted,
        "leverage": np.empty(0),
    }
