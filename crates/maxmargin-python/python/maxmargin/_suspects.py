"""Labels that are probably wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone

from . import _native
from ._data import Floats
from ._folds import cross_validation

#: Rows that a representation names.
NAMED = 5


@dataclass(frozen=True, repr=False, eq=False)
class Suspects:
    """Rows by the margin of their label, those whose label is probably wrong first.

    Attributes
    ----------
    rows : array of shape (n_rows,)
        The rows by ascending margin, from 0.
    margins : array of shape (n_rows,)
        The margin of the label of each of them: the least decision value in its favour, by machines that were not trained on the row. Below 0 they
        prefer another label.
    contradicting : tuple of tuples of int
        For each of ``rows`` the rows with equal features and another label.
    leverage : array of shape (n_rows,) or None
        For each of ``rows``, if they were left out one by one on the shared engine: the root mean square change of decision values when this one is
        removed, as :class:`CrossValidation` has it. Of more than two classes each machine counts with the rows that it is trained on.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y[7] = 1 - y[7]
    >>> found = SVC(gamma=1e-4).suspects(X, y)
    >>> 7 in found.rows[:20]
    True
    """

    rows: NDArray[np.int64]
    margins: Floats
    contradicting: tuple[tuple[int, ...], ...]
    leverage: Floats | None

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        below = int((self.margins < 0).sum())
        pairs = sum(map(bool, self.contradicting))
        first = ", ".join(f"{row} ({margin:.3g})" for row, margin in zip(self.rows[:NAMED], self.margins, strict=False))
        return f"<Suspects: {below} of {len(self)} rows with a margin below 0, {pairs} equal to a row with another label; first {first}>"


class Suspecting:
    """The part of a classifier that ranks labels."""

    @_fit_context(prefer_skip_nested_validation=True)
    def suspects(self, X: Any, y: Any, *, cv: Any = 5, groups: Any = None, sample_weight: Any = None) -> Suspects:
        """Ranks rows by the margin of their label, those whose label is probably wrong first. The estimator itself is not fitted.

        The decision values are those of :meth:`cross_validate`, which has the same parameters; ``cv=sklearn.model_selection.LeaveOneOut()`` is exact
        leave-one-out. Choose C and gamma before: a machine that follows every label finds none of them wrong.

        Raises
        ------
        ValueError
            When the data are no problem, or a training set lacks a class.
        """
        own = clone(self)
        if hasattr(own, "decision_function_shape"):
            own.set_params(decision_function_shape="ovo", break_ties=False)
        found = cross_validation(own, X, y, cv=cv, scoring=None, groups=groups, sample_weight=sample_weight)
        _, _, data, _ = own._prepared(X, y, sample_weight, reset=True)
        count = len(own.classes_)
        one_vs_rest = not hasattr(own, "decision_function_shape")
        machines = 1 if count == 2 else count if one_vs_rest else count * (count - 1) // 2
        rows = data.shape[0]
        times = np.zeros(rows, dtype=np.intp)
        for test in found.test:
            times[test] += 1
        table = np.full((int(times.max(initial=1)), rows, machines), np.nan)
        times[:] = 0
        for test, decisions in zip(found.test, found.decisions, strict=True):
            if decisions.size != len(test) * machines:
                raise ValueError("a training set lacks a class: use fewer folds, or stratified ones")
            table[times[test], test] = decisions.reshape(len(test), machines)
            times[test] += 1
        # The library's machine of a pair is for the later class; that of scikit-learn only for two classes.
        table = table if count == 2 or one_vs_rest else -table
        ranked, margins, contradicting = _native.suspects(data, table.ravel(), one_vs_rest)
        alone = [test[0] for test in found.test if len(test) == 1]
        leverage = np.full(rows, np.nan)
        if len(alone) == len(found.test):
            leverage[alone] = found.leverage
        known = not np.isnan(leverage[ranked]).all()
        return Suspects(ranked, margins, tuple(map(tuple, contradicting)), leverage[ranked] if known else None)
