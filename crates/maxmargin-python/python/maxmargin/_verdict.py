"""The verification of a model against its training data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from . import _native
from ._certificate import Check, Verdict
from ._data import Floats
from ._labels import UnknownLabelError


def verdict_of(estimator: Any, given: Callable[[], tuple[_native.Data, Floats | None]]) -> Verdict:
    """The verdict on an estimator's model by rows and weights that ``given`` makes of the arguments."""
    model: _native.Model = estimator._model
    try:
        data, weights = given()
    except UnknownLabelError as error:
        return Verdict(False, False, (Check("classes", False, str(error)),), ())
    found = Verdict.of(model.verify(data))
    if found.certificates:
        order = estimator._machine_order(len(found.certificates))
        found = replace(found, certificates=tuple(found.certificates[at] for at in order))
    check = check_of_weights(model.sample_weights, weights)
    if check is None:
        return found
    return replace(found, matches=found.matches and check.passed is not False, checks=(*found.checks, check))


def check_of_weights(trained: Floats | None, given: Floats | None) -> Check | None:
    """Compare given sample weights with those of the training; None if neither has any."""
    what = "sample weights"
    if given is None:
        if trained is None:
            return None
        return Check(what, None, "the model was trained with weights, which were not given: its own count")
    trained = np.ones(len(given)) if trained is None else trained
    if trained.shape != given.shape:
        return Check(what, False, f"the model was trained with {len(trained)} weights, and {len(given)} are given")
    other = np.flatnonzero(trained != given)
    if len(other) == 0:
        return Check(what, True, "those of the training")
    row = int(other[0])
    return Check(
        what, False, f"the weight of row {row} (from 0) is {given[row]:g}, and the model was trained with {trained[row]:g}"
    )
