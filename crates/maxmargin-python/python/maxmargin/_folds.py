"""Cross-validation on the shared engine, for any splitter of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from ._certificate import Certificate
from ._data import Floats


@dataclass(frozen=True)
class CrossValidation:
    """What the machines of all splits say of the samples that they did not see."""

    #: The score of each split.
    test_score: Floats
    #: For each split: the rows it was tested on.
    test: tuple[NDArray[np.intp], ...]
    #: For each split: predictions for these rows.
    predictions: tuple[NDArray[Any], ...]
    #: For each split: decision values for these rows, as ``decision_function`` has them; of regression the predictions.
    decisions: tuple[NDArray[Any], ...]
    #: For each split: the worst certificate of its machines.
    certificates: tuple[Certificate, ...]
    #: Whether the splits shared the engine, or were fitted one by one.
    shared: bool
    #: Solver iterations in all.
    iterations: int

    @property
    def certificate(self) -> Certificate:
        """The worst of all."""
        return Certificate.worst(self.certificates)

    def predicted(self) -> NDArray[Any]:
        """The prediction for every sample, in the order of the data, where each was tested once."""
        rows = np.concatenate(self.test)
        if not np.array_equal(np.sort(rows), np.arange(len(rows))):
            raise ValueError("the test sets are not a partition of the samples: see predictions, which has those of each split")
        values = np.concatenate(self.predictions)
        ordered = np.empty_like(values)
        ordered[rows] = values
        return ordered


class Told(BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Says to a scorer what is known already."""

    def __init__(self, of: Any, predictions: Any, decisions: Any) -> None:
        self.of = of
        self.predictions = predictions
        self.decisions = decisions
        if is_classifier(of):
            self.classes_ = of.classes_

    def __sklearn_tags__(self) -> Any:
        return self.of.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, _: Any) -> Any:
        return self.predictions

    def decision_function(self, _: Any) -> Any:
        return self.decisions

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return float(type(self.of).score(self, X, y, sample_weight))


Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def plans(splits: list[Split], rows: int) -> list[NDArray[np.uint32]] | None:
    """The splits as plans, one fold for each row, where they are a list of such; the splits of each plan follow each other."""
    found: list[NDArray[np.uint32]] = []
    current: NDArray[np.int64] | None = None
    folds = 0
    for train, test in splits:
        if current is None:
            current, folds = np.full(rows, -1, dtype=np.int64), 0
        alone = len(np.unique(test)) == len(test) and len(train) + len(test) == rows
        if not alone or len(np.union1d(train, test)) != rows or len(test) == 0 or (current[test] != -1).any():
            return None
        current[test] = folds
        folds += 1
        if (current != -1).all():
            if folds < 2:
                return None
            found.append(current.astype(np.uint32))
            current = None
    return found if current is None else None


def cross_validation(
    estimator: Any, X: Any, y: Any, *, cv: Any, scoring: Any, groups: Any, sample_weight: Any
) -> CrossValidation:
    """See ``cross_validate`` of the estimators."""
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits: list[Split] = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]
    found = plans(splits, len(y))
    if found is None:
        return _one_by_one(estimator, splits, X, y, scoring, sample_weight)
    return _shared(estimator, found, splits, X, y, scoring, sample_weight)


def leave_one_out_of(estimator: Any, X: Any, y: Any, *, sample_weight: Any) -> CrossValidation:
    """See ``leave_one_out`` of the estimators."""
    X, y = indexable(X, y)
    rows = np.arange(len(y))
    # Nobody looks at their training sets.
    splits: list[Split] = [(rows[:0], rows[row : row + 1]) for row in rows]
    scoring = None if is_classifier(estimator) else "neg_mean_absolute_error"
    return _shared(estimator, [rows.astype(np.uint32)], splits, X, y, scoring, sample_weight)


def for_folds(estimator: Any) -> Any:
    """A copy that is trained for what it says of other samples."""
    own = clone(estimator)
    own.keep_data = False
    if is_classifier(own):
        # Folds are judged by what machines decide.
        own.set_params(probability=False, calibration=None)
    return own


def _shared(
    estimator: Any,
    found: list[NDArray[np.uint32]],
    splits: list[Split],
    X: Any,
    y: Any,
    scoring: Any,
    sample_weight: Any,
) -> CrossValidation:
    own = for_folds(estimator)
    rows, _, data, weights = own._prepared(X, y, sample_weight, reset=True)
    svm = own._svm(rows)
    scorer = check_scoring(estimator, scoring)
    scores, predictions, decisions, certificates = [], [], [], []
    iterations = 0
    left = iter(splits)
    for plan in found:
        report = svm.cross_validate(data, plan.tolist(), weights, own._report())
        iterations += report["iterations"]
        said, decided = own._said(report)
        for fold in report["folds"]:
            _, test = next(left)
            told = Told(own, said[test], decided[test])
            scores.append(float(scorer(told, _safe_indexing(X, test), _safe_indexing(y, test))))
            predictions.append(said[test])
            decisions.append(decided[test])
            certificates.append(Certificate(**fold["certificate"]))
    tests = tuple(test for _, test in splits)
    return CrossValidation(np.array(scores), tests, tuple(predictions), tuple(decisions), tuple(certificates), True, iterations)


def _one_by_one(estimator: Any, splits: list[Split], X: Any, y: Any, scoring: Any, sample_weight: Any) -> CrossValidation:
    scorer = check_scoring(estimator, scoring)
    scores, predictions, decisions, certificates = [], [], [], []
    iterations = 0
    pairwise = estimator.kernel == "precomputed"
    for train, test in splits:
        own = clone(estimator)
        weights = None if sample_weight is None else np.asarray(sample_weight)[train]
        mine, theirs = (
            (X[np.ix_(train, train)], X[np.ix_(test, train)]) if pairwise else (_safe_indexing(X, train), _safe_indexing(X, test))
        )
        own.fit(mine, _safe_indexing(y, train), sample_weight=weights)
        scores.append(float(scorer(own, theirs, _safe_indexing(y, test))))
        predictions.append(own.predict(theirs))
        decisions.append(own.decision_function(theirs) if hasattr(own, "decision_function") else predictions[-1])
        certificates.append(own.certificate_)
        iterations += int(np.sum(own.n_iter_))
    tests = tuple(test for _, test in splits)
    return CrossValidation(np.array(scores), tests, tuple(predictions), tuple(decisions), tuple(certificates), False, iterations)
