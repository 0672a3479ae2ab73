"""Replacement of classes in ``sklearn.svm``, until they are restored."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from . import _classes, _linear

#: The estimators of this package, by name.
OURS: dict[str, type[Any]] = {
    "SVC": _classes.SVC,
    "NuSVC": _classes.NuSVC,
    "SVR": _classes.SVR,
    "NuSVR": _classes.NuSVR,
    "OneClassSVM": _classes.OneClassSVM,
    "LinearSVC": _linear.LinearSVC,
    "LinearSVR": _linear.LinearSVR,
}

#: Estimators of this package that have no namesake in scikit-learn.
OTHERS: list[type[Any]] = [_classes.QuantileSVR, _classes.ExpectileSVR]

_theirs: dict[str, type[Any]] = {}


def _names(names: str | Iterable[str] | None) -> list[str]:
    asked = list(OURS) if names is None else [names] if isinstance(names, str) else list(names)
    unknown = [name for name in asked if name not in OURS]
    if unknown:
        raise ValueError(f"no class of sklearn.svm is called {unknown[0]!r} here; there are {', '.join(OURS)}")
    return asked


def patch_sklearn(names: str | Iterable[str] | None = None, *, verbose: bool = False) -> None:
    """Replace ``sklearn.svm.SVC`` by :class:`maxmargin.SVC`, and so with the other names (or with those that are given).

    Names that were imported before (``from sklearn.svm import SVC``) stay what they are: patch first. Nothing that is installed is changed.

    Parameters
    ----------
    names : str or list of str, optional
        The classes to replace; all that this package has by default.
    verbose : bool, default=False
        Print on standard error which classes are replaced.

    Examples
    --------
    >>> import sklearn.svm, maxmargin
    >>> maxmargin.patch_sklearn("SVC")
    >>> sklearn.svm.SVC is maxmargin.SVC
    True
    >>> maxmargin.unpatch_sklearn("SVC")
    """
    import sklearn.svm  # noqa: PLC0415

    for name in _names(names):
        _theirs.setdefault(name, getattr(sklearn.svm, name))
        setattr(sklearn.svm, name, OURS[name])
    if verbose:
        print(f"maxmargin stands in for sklearn.svm.{', '.join(_names(names))}", file=sys.stderr)


def unpatch_sklearn(names: str | Iterable[str] | None = None) -> None:
    """Restore the names that :func:`patch_sklearn` replaced.

    Parameters
    ----------
    names : str or list of str, optional
        The classes to restore; all by default.

    Examples
    --------
    >>> import sklearn.svm, maxmargin
    >>> maxmargin.patch_sklearn("NuSVR")
    >>> maxmargin.unpatch_sklearn("NuSVR")
    >>> sklearn.svm.NuSVR is maxmargin.NuSVR
    False
    """
    import sklearn.svm  # noqa: PLC0415

    for name in _names(names):
        if name in _theirs:
            setattr(sklearn.svm, name, _theirs.pop(name))


def is_patched(name: str = "SVC") -> bool:
    """Return true if this name of ``sklearn.svm`` is replaced.

    Parameters
    ----------
    name : str, default="SVC"
        The class.

    Examples
    --------
    >>> import maxmargin
    >>> maxmargin.patch_sklearn("LinearSVR")
    >>> maxmargin.is_patched("LinearSVR")
    True
    >>> maxmargin.unpatch_sklearn("LinearSVR")
    >>> maxmargin.is_patched("LinearSVR")
    False
    """
    return _names(name)[0] in _theirs
