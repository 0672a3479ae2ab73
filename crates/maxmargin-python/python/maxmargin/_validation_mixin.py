"""Cross-validation of estimators whose predictions can be compared with targets."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils import Bunch

from . import _native
from ._data import Floats
from ._folds import CrossValidation, cross_validation, leave_one_out_of
from ._importance import importance_of


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
    def importance(
        self,
        X: Any,
        y: Any,
        *,
        cv: Any = 5,
        scoring: str | None = None,
        n_repeats: int = 5,
        groups: Any = None,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> Bunch:
        """How much worse a cross-validation scores when a feature of the held-out rows is shuffled. The estimator itself is not fitted.

        Rows are predicted by the machine of the fold that did not see them, so that nothing learnt by heart counts, and no machine is trained again. The
        result is that of :func:`sklearn.inspection.permutation_importance` over all splits: ``importances_mean``, ``importances_std``, and ``score``, that of
        the rows as they are. With ``gamma="scale"`` or ``"mean"`` all splits have the width of all rows.

        Parameters
        ----------
        X, y
            The data.
        cv
            The splits, as scikit-learn takes them.
        scoring : str, optional
            A score of scikit-learn by name, ``"pinball_loss"`` or ``"expectile_loss"``; by default accuracy or R².
        n_repeats : int, default=5
            The permutations of each feature.
        groups, sample_weight
            As for :meth:`cross_validate`.
        random_state
            The seed of the permutations; without one it is always the same.

        Raises
        ------
        ValueError
            When the data are no problem, a training set lacks a class, the kernel is a matrix or a function, or there are several levels.
        """
        return importance_of(
            self,
            X,
            y,
            cv=cv,
            scoring=scoring,
            n_repeats=n_repeats,
            groups=groups,
            sample_weight=sample_weight,
            random_state=random_state,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def leave_one_out(self, X: Any, y: Any, *, sample_weight: Any = None) -> CrossValidation:
        """Exact leave-one-out: every sample judged by the machine that did not see it; only support vectors cost work. With ``gamma="scale"``, ``"mean"`` or
        balanced classes, which each training set has its own of, every sample costs a training."""
        return leave_one_out_of(self, X, y, sample_weight=sample_weight)
