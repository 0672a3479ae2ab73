"""Checks of plain arguments that take microseconds.

Other arguments go to scikit-learn's checks, which take as long as a training of a few hundred rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

#: The number of values up to which plain arrays are checked here. For larger arrays scikit-learn's checks take little beside the rest.
PLAIN = 1 << 16

#: The names of parameters, by class.
_NAMES: dict[type, list[str]] = {}

#: Sets of parameter values that are known to be valid, by class.
_VALID: dict[type, set[tuple[Any, ...]]] = {}

#: The most sets of each class.
_MOST_KNOWN = 1 << 10

#: Types whose values never change, and whose equality tells all of them.
_VALUES = (bool, int, float, str, type(None))


def is_plain(X: Any) -> bool:
    """Return true for a small array in which scikit-learn's validation would find nothing to convert, warn of or refuse."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.dtype.isnative
        and X.flags.c_contiguous
        and 0 < X.size <= PLAIN
        and bool(np.isfinite(X).all())
    )


def takes_plain(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Return true for a plain array that needs no other check, as wide as those of the training; with ``reset`` it sets the width."""
    if not is_plain(X):
        return False
    if reset:
        estimator.n_features_in_ = X.shape[1]
        vars(estimator).pop("feature_names_in_", None)
        return True
    return X.shape[1] == getattr(estimator, "n_features_in_", None) and not hasattr(estimator, "feature_names_in_")


def are_plain_targets(y: Any) -> bool:
    """Return true for finite numbers or words in an array of one axis."""
    return (
        type(y) is np.ndarray
        and y.ndim == 1
        and y.dtype.kind in "biufU"
        and y.dtype.isnative
        and (y.dtype.kind != "f" or bool(np.isfinite(y).all()))
    )


def unique_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, ascending, and the place of each label among them.

    Raises
    ------
    ValueError
        For targets that are no classes, such as numbers with fractions.
    """
    # If there are more than half as many classes as samples, scikit-learn warns.
    kind = y.dtype.kind
    whole = kind in "biuU" or (kind == "f" and bool((y == np.rint(y)).all()))
    if not whole:
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if whole and 2 * len(classes) >= len(y) - 1:
        check_classification_targets(y)
    return classes, codes


class QuickParameters:
    """An estimator whose parameters are checked once for each set of values."""

    def _validate_params(self) -> None:
        kind = type(self)
        if kind not in _NAMES:
            _NAMES[kind] = kind._get_param_names()  # type: ignore[attr-defined]
        key = tuple((value.__class__, value) for value in map(vars(self).get, _NAMES[kind]))
        if not all(of in _VALUES for of, _ in key):
            super()._validate_params()  # type: ignore[misc]
            return
        known = _VALID.setdefault(kind, set())
        if key not in known:
            super()._validate_params()  # type: ignore[misc]
            if len(known) < _MOST_KNOWN:
                known.add(key)
