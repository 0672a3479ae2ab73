"""Classes of targets: what labels stand for which numbers, and what classes weigh."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from ._data import Floats

#: Whether this version of scikit-learn counts classes by weight for ``class_weight="balanced"`` where it passes weights of samples.
COUNTS_BY_WEIGHT = "sample_weight" in inspect.signature(compute_class_weight).parameters


class UnknownLabelError(ValueError):
    """A label that an estimator was not trained with."""


def weights_of_classes(class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any = None) -> Floats:
    """A factor of C for each class. ``codes`` are the places in ``classes`` of the samples' labels; with ``sample_weight``, ``"balanced"`` goes by the sum of
    the weights of each class and not by its number of samples."""
    by_weight = {} if sample_weight is None or not COUNTS_BY_WEIGHT else {"sample_weight": sample_weight}
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[codes], **by_weight), dtype=np.float64)


def codes_of(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label in ``classes``, which ascend.

    Raises
    ------
    UnknownLabelError
        For a label that is none of them.
    """
    try:
        codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        unknown = np.asarray(classes[codes] != y, dtype=bool)
    except TypeError:
        # Words among numbers, or the other way round.
        unknown = np.ones(len(y), dtype=bool)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        label = np.asarray(y)[row : row + 1].tolist()[0]
        raise UnknownLabelError(f"row {row} (from 0) has the label {label!r}, and the model's classes are {classes.tolist()}")
    return codes
