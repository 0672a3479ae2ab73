"""Permutation importance of features, by machines of folds that were not trained on the rows."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, check_random_state, indexable
from sklearn.utils.validation import column_or_1d

from ._folds import complete, for_folds, plan, splits_of
from ._levels import OfLevels

#: Scores by scikit-learn's names, with the name in the library.
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "f1_macro": "f1_macro",
    "matthews_corrcoef": "matthews",
    "roc_auc": "roc_auc",
    "average_precision": "average_precision",
    "r2": "r2",
    "neg_mean_squared_error": "mean_squared_error",
    "neg_root_mean_squared_error": "root_mean_squared_error",
    "neg_mean_absolute_error": "mean_absolute_error",
    "explained_variance": "explained_variance",
    "pinball_loss": "pinball_loss",
    "expectile_loss": "expectile_loss",
}


def importance_of(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    scoring: str | None,
    n_repeats: int,
    groups: Any,
    sample_weight: Any,
    random_state: Any,
) -> Bunch:
    """See ``importance`` of the estimators."""
    if scoring is None:
        scoring = "accuracy" if is_classifier(estimator) else "r2"
    if scoring not in SCORES:
        raise ValueError(f"scoring={scoring!r}: there are {', '.join(SCORES)}")
    if n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats}: it must be at least 1")
    if not estimator._sees_rows():
        raise ValueError("features of a precomputed or callable kernel are not known: use scikit-learn's permutation_importance")
    levels = estimator._levels() if isinstance(estimator, OfLevels) else None
    if levels is not None and len(levels) > 1:
        raise ValueError(f"importance is that of one level, and there are {len(levels)}: ask for it one level at a time")
    own = for_folds(estimator)
    names = getattr(X, "columns", None)
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    rows = len(column_or_1d(y))
    folds = plan(splits_of(splitter.split(X, y, groups), rows), rows)
    if folds is None:
        raise ValueError("a split names a row twice, trains on what it tests, or is empty")
    seed = 1 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))
    prepared, codes, data, weights = own._prepared(X, y, sample_weight, reset=True)
    if not complete(own, codes, weights, folds):
        raise ValueError("a training set lacks a class, or has no sample with a weight above 0: use stratified folds, or fewer")
    found = own._svm(prepared).importance(data, folds, SCORES[scoring], n_repeats, seed, weights)
    if found is None:
        raise ValueError("a fold has no solution: raise max_iter or max_time")
    score, mean, deviation = found
    bunch = Bunch(importances_mean=mean, importances_std=deviation, score=-score if scoring.startswith("neg_") else score)
    if names is not None:
        bunch["feature_names"] = list(names)
    return bunch
