"""The written form of a fitted estimator: numbers, texts and the bytes of its model.

Readers need no trust in it, since a model file is checked when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Self

import scipy.sparse as sp

from . import _native
from ._certificate import Calibration, Certificate, Conformal

#: Values of this package by the names under which they are written.
VALUES: dict[str, type[Any]] = {"certificate": Certificate, "calibration": Calibration, "conformal": Conformal}


def plain(value: Any) -> Any:
    """The value in terms of Python's own types, where it is one of this package's or a list or tuple has such."""
    if isinstance(value, _native.Model):
        return {"maxmargin": "model", "bytes": value.to_bytes()}
    for name, kind in VALUES.items():
        if type(value) is kind:
            return {"maxmargin": name, "fields": asdict(value)}
    if type(value) is sp.csr_matrix:
        # skops trusts arrays, and no matrix of scipy's.
        arrays = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        return {"maxmargin": "rows", "shape": value.shape, **arrays}
    return _of_each(value, plain)


def restored(value: Any) -> Any:
    """The value that :func:`plain` was given."""
    if type(value) is dict and "maxmargin" in value:
        if value["maxmargin"] == "model":
            return _native.Model.from_bytes(value["bytes"])
        if value["maxmargin"] == "rows":
            return sp.csr_matrix((value["data"], value["indices"], value["indptr"]), shape=tuple(value["shape"]))
        return VALUES[value["maxmargin"]](**value["fields"])
    return _of_each(value, restored)


def _of_each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Lists and tuples with their elements changed; the same object where none is."""
    if type(value) not in (list, tuple):
        return value
    changed = [change(one) for one in value]
    return value if all(a is b for a, b in zip(changed, value, strict=True)) else type(value)(changed)


class Plain:
    """An estimator whose state is written in terms of Python's own types and arrays. Files of earlier versions, which have objects there, are read as well."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: plain(value) for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({name: restored(value) for name, value in state.items()})  # type: ignore[misc]

    def __copy__(self) -> Self:
        # The model is immutable, so that a copy of its bytes is not necessary.
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin
