"""Conversion of arrays for the native half."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_array, column_or_1d, validate_data

from . import _native
from ._quick import are_plain_targets, takes_plain

Floats = NDArray[np.float64]

#: Rules for gamma.
GAMMA_RULES = ("scale", "auto", "mean")


def is_sparse(X: Any) -> bool:
    """Return true for a sparse matrix of scipy."""
    return bool(sp.issparse(X))


def validated(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    """Return samples and targets as arrays of numbers, by the rules of scikit-learn."""
    if are_plain_targets(y) and takes_plain(estimator, X, reset=reset) and len(y) == len(X):
        return X, y
    numbers = [np.float64, np.float32]
    try:
        found = validate_data(
            estimator, X, y, dtype=numbers, order="C", accept_sparse="csr", accept_large_sparse=True, reset=reset
        )
    except ValueError as error:
        if str(error).startswith("could not convert string to float"):
            error.add_note(
                "Words become numbers by an encoder: make_column_transformer((OneHotEncoder(), columns), remainder='passthrough')"
            )
        raise
    return found[0], found[1]


def canonical(X: Any) -> Any:
    """Return a sparse matrix as a CSR matrix that stores no entry twice."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def packed(X: Any, y: Floats | None = None, *, precomputed: bool = False) -> _native.Data:
    """Copy a validated array or CSR matrix, so that later writes to it do not change a training."""
    y = None if y is None else np.ascontiguousarray(y, dtype=np.float64)
    if is_sparse(X):
        X = canonical(X)
        return _native.Data.csr(X.data, X.indices, X.indptr, X.shape[1], y)
    X = np.ascontiguousarray(X)
    return _native.Data.precomputed(X, y) if precomputed else _native.Data.dense(X, y)


def packed_for(X: Any, features: int, *, precomputed: bool, exact: bool, y: Any = None) -> _native.Data:
    """Pack the rows of a caller for a model of so many features; unless ``exact``, of at least so many.

    Raises
    ------
    ValueError
        For rows of one axis, of another width, or with values that are not finite.
    """
    if precomputed and is_sparse(X):
        raise TypeError("Sparse precomputed kernels are not supported.")
    X = check_array(X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr", accept_large_sparse=True, input_name="X")
    found = X.shape[1]
    if found < features or (exact and found > features):
        raise ValueError(
            f"X has {found} columns, but the model has {features}{' features' if not precomputed else ' training samples'}"
        )
    if y is not None:
        y = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, but y has {len(y)} values: give one for each row")
    return packed(X, y, precomputed=precomputed)


def mean_squared_distance(X: Any) -> float:
    """Return the mean squared distance over all ordered pairs of rows, a row with itself among them: twice the sum of the variances of the features."""
    rows = int(X.shape[0])
    if rows == 0:
        return 0.0
    # Differences to a row keep the digits of features far from 0, and are exactly 0 where all rows are equal.
    if not is_sparse(X):
        rest = np.subtract(X, X[0], dtype=np.float64)
        rest -= rest.mean(axis=0)
        return 2.0 * float(np.einsum("ij,ij->", rest, rest)) / rows
    X = canonical(X)
    first = X[[0]].toarray().astype(np.float64).ravel()
    rest = X.data - first[X.indices]
    zeros = rows - np.bincount(X.indices, minlength=X.shape[1])
    centre = (np.bincount(X.indices, weights=rest, minlength=X.shape[1]) - zeros * first) / rows
    rest -= centre[X.indices]
    return 2.0 * float(rest @ rest + zeros @ (first + centre) ** 2) / rows


def width(gamma: str | float, X: Any, *, checked: bool = True) -> float:
    """The kernel's gamma: a number, ``1 / n_features``, ``1 / (n_features * X.var())``, or half the inverse of the mean squared distance of two rows.

    ``ValueError`` for other words and, if ``checked``, for data whose squares overflow or vanish.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma not in GAMMA_RULES:
        raise ValueError(f"gamma={gamma!r}: there are {', '.join(map(repr, GAMMA_RULES))}, and numbers from 0 on")
    if X.shape[0] == 0:
        raise ValueError("X has 0 rows: give at least one")
    with np.errstate(over="ignore", invalid="ignore"):
        found = _width_by(gamma, X)
    if checked and not (0 < found < math.inf):
        raise ValueError(
            f"gamma={gamma!r} is {found:g} for these data, because values are too large or too small; scale the data"
        )
    return found


def _width_by(rule: str, X: Any) -> float:
    if rule == "auto":
        return 1.0 / float(X.shape[1])
    if rule == "mean":
        distance = mean_squared_distance(X)
        return 1.0 if distance <= 0 else 0.5 / distance
    if not is_sparse(X):
        variance = float(X.var(dtype=np.float64))
    else:
        # Squares of float32 overflow where those of float64 do not.
        X = X.astype(np.float64, copy=False)
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    # A variance below 0 is the rounding of one that is 0.
    return 1.0 if variance <= 0 else 1.0 / (X.shape[1] * variance)


def weights_of(sample_weight: Any, X: Any) -> Floats | None:
    """A factor of C for each sample; samples whose weight is 0 or less take no part."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(X.shape[0], float(weights))
    if weights.shape != (X.shape[0],):
        raise ValueError(
            f"sample_weight and X have incompatible shapes: {weights.shape} vs {X.shape}; give one weight for each sample"
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity: weights are finite numbers")
    if not (weights > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    return np.maximum(weights, 0.0)


def group_words(conformal_groups: Any, X: Any) -> list[str] | None:
    """The group of each sample as a word: 1 and 1.0 are the same group."""
    if conformal_groups is None:
        return None
    groups = np.asarray(conformal_groups)
    rows = _num_samples(X)
    if groups.shape != (rows,):
        raise ValueError(f"conformal_groups has the shape {groups.shape} for {rows} samples: give one group for each sample")
    return [_group_word(group, row) for row, group in enumerate(groups.tolist())]


def _group_word(group: Any, row: int) -> str:
    if group is None or group != group or str(group).strip() == "":  # noqa: PLR0124
        raise ValueError(f"sample {row} (from 0) has no group: give every sample one")
    return str(int(group)) if isinstance(group, float | np.floating) and group.is_integer() else str(group).strip()


def with_all_classes(codes: NDArray[Any], classes: NDArray[Any], weights: Floats | None) -> None:
    """Refuses weights that leave a class without samples; ``codes`` are places in ``classes``."""
    if weights is None:
        return
    left = np.bincount(codes[weights > 0], minlength=len(classes)) > 0
    gone = ", ".join(repr(label) for label in classes[~left].tolist())
    if left.sum() < 2:
        raise ValueError(
            "Invalid input - all samples with positive weights belong to the same class. "
            f"All samples of {gone} have weight 0: give at least one of them a weight above 0"
        )
    if not left.all():
        raise ValueError(
            f"Invalid input - all samples of {gone} have weight 0, so that nothing can be learnt about that class: "
            "give at least one of them a weight above 0, or leave these rows out"
        )


def taking_part(X: Any, y: Floats, weights: Floats | None) -> tuple[Any, Floats, Floats | None, NDArray[np.bool_] | None]:
    """The rows whose weight is not 0, and which they are where some are left out."""
    if weights is None or (weights > 0).all():
        return X, y, weights, None
    rows = weights > 0
    return X[rows], y[rows], weights[rows], rows
