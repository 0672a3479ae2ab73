"""Cross-validation of estimators whose predictions can be compared with targets."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import _fit_context

from . import _native
from ._data import Floats
from ._folds import CrossValidation, cross_validation, leave_one_out_of


class ValidationMixin:
    """Their part of a base; the other has ``_prepared`` and ``_svm``."""

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        """Predictions and decision values of a cross-validation."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def cross_validate(
        self, X: Any, y: Any, *, cv: Any = 5, scoring: Any = None, groups: Any = None, sample_weight: Any = None
    ) -> CrossValidation:
        """What fitting and scoring for every split of ``cv`` gives, in one run: one kernel, folds that start from each other's solutions, each certified.

        ``cv`` and ``scoring`` are what scikit-learn takes; of several scores ``test_score`` has an array for each. Splits share the engine (``shared``),
        whatever their training sets, unless one names a row twice, trains on what it tests, or lacks a class; something is fitted to each training set, as
        ``gamma="scale"`` and ``class_weight="balanced"`` are (give numbers for these); or a score is no name, or one of probabilities. Then scikit-learn's
        own ``cross_validate`` is asked: a training that fails has NaN for a score, and ``FitFailedWarning`` says why. The estimator itself is not fitted.
        """
        return cross_validation(self, X, y, cv=cv, scoring=scoring, groups=groups, sample_weight=sample_weight)

    @_fit_context(prefer_skip_nested_validation=True)
    def leave_one_out(self, X: Any, y: Any, *, sample_weight: Any = None) -> CrossValidation:
        """Exact leave-one-out: every sample judged by the machine that did not see it; only support vectors cost work. With ``gamma="scale"`` or balanced
        classes, which each training set has its own of, every sample costs a training."""
        return leave_one_out_of(self, X, y, sample_weight=sample_weight)
