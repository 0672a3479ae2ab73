"""Classes of targets: the numbers of labels, and class weights."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from ._data import Floats

#: Whether this version of scikit-learn counts classes by weight for ``class_weight="balanced"``
#: where it passes weights of samples.
COUNTS_BY_WEIGHT = "sample_weight" in inspect.signature(compute_class_weight).parameters


class UnknownLabelError(ValueError):
    """A label that an estimator was not trained with."""


#: The least weight of a class of kernel machines.
ABOVE_0 = float(np.nextafter(0.0, 1.0))


def weights_of_classes(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Any = None, *, least: float = 0.0
) -> Floats:
    """A factor of C for each class. ``codes`` are the places in ``classes`` of the samples' labels; with ``sample_weight``, ``"balanced"`` goes by the sum of
    the weights of each class and not by its number of samples.

    Raises
    ------
    ValueError
        For a weight below ``least``, or that is no number; it names the class.
    """
    if class_weight is None:
        return np.ones(len(classes))
    by_weight = {} if sample_weight is None or not COUNTS_BY_WEIGHT else {"sample_weight": sample_weight}
    weights = np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[codes], **by_weight), dtype=np.float64)
    for label, weight in zip(classes.tolist(), weights.tolist(), strict=True):
        if not least <= weight < np.inf:
            what = "0 or more" if least == 0 else "above 0 (without weight nothing is learnt about a class: leave its rows out)"
            raise ValueError(f"the weight of class {label!r} is {weight:g}: it must be a finite number, {what}")
    return weights


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
