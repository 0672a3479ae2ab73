"""Cross-validation on the shared engine, for any splitter of scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from . import _native
from ._certificate import Certificate
from ._data import Floats


@dataclass(frozen=True)
class CrossValidation:
    """What the machines of all splits say of the samples that they did not see."""

    #: The score of each split.
    test_score: Floats
    #: For each split: how many rows it was trained on.
    train_size: tuple[int, ...]
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

    def interval(self, least: float = -math.inf, greatest: float = math.inf) -> tuple[float, float]:
        """Where the mean score of estimators like these lies, in 95 of 100 cases, were the splits independent but for the rows that their training sets share:
        Nadeau and Bengio's corrected t interval, cut to ``least`` and ``greatest``, what the score can be."""
        sizes = zip(self.test_score.tolist(), self.train_size, map(len, self.test), strict=True)
        _, _, low, high = _native.spread(list(sizes), least, greatest)
        return low, high

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


#: For each fold the rows that it tests, and those that it neither tests nor trains on.
Folds = list[tuple[list[int], list[int]]]


def plan(splits: list[Split], rows: int) -> Folds | None:
    """The splits as folds, unless one names a row twice, tests a row that it trains on, or lacks either set."""
    folds: Folds = []
    for train, test in splits:
        if len(train) == 0 or len(test) == 0:
            return None
        times = np.bincount(train, minlength=rows) + np.bincount(test, minlength=rows)
        if len(times) > rows or times.max() > 1:
            return None
        folds.append((test.tolist(), np.flatnonzero(times == 0).tolist()))
    return folds or None


def partition(fold_of: NDArray[Any], rows: int) -> Folds:
    """The folds of which each tests the rows that have its number, and trains on all others."""
    if fold_of.shape != (rows,) or fold_of.dtype.kind not in "iu" or fold_of.min(initial=0) < 0:
        raise ValueError(f"folds are a whole number from 0 for each of {rows} rows, not {fold_of.shape} of {fold_of.dtype}")
    return [(np.flatnonzero(fold_of == fold).tolist(), []) for fold in range(int(fold_of.max(initial=0)) + 1)]


def complete(classifier: Any, codes: Floats, weights: Floats | None, trains: Iterable[NDArray[np.intp]]) -> bool:
    """Whether every training set has samples of all classes, by the codes of the targets."""
    if not is_classifier(classifier):
        return True
    places = np.searchsorted(classifier._labels, codes)
    taken = np.ones(len(codes), dtype=bool) if weights is None else weights > 0
    count = len(classifier.classes_)
    return all((np.bincount(places[train][taken[train]], minlength=count) > 0).all() for train in trains)


def cross_validation(
    estimator: Any, X: Any, y: Any, *, cv: Any, scoring: Any, groups: Any, sample_weight: Any
) -> CrossValidation:
    """See ``cross_validate`` of the estimators."""
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits: list[Split] = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y, groups)]
    folds = plan(splits, len(y))
    if folds is not None:
        trains = [train for train, _ in splits]
        found = _shared(estimator, folds, trains, X, y, scoring, sample_weight)
        if found is not None:
            return found
    return _one_by_one(estimator, splits, X, y, scoring, sample_weight)


def leave_one_out_of(estimator: Any, X: Any, y: Any, *, sample_weight: Any) -> CrossValidation:
    """See ``leave_one_out`` of the estimators."""
    X, y = indexable(X, y)
    folds: Folds = [([row], []) for row in range(len(y))]
    scoring = None if is_classifier(estimator) else "neg_mean_absolute_error"
    found = _shared(estimator, folds, [], X, y, scoring, sample_weight)
    assert found is not None
    return found


def for_folds(estimator: Any) -> Any:
    """A copy that is trained for what it says of other samples."""
    own = clone(estimator)
    if hasattr(own, "keep_data"):
        own.keep_data = False
    if hasattr(own, "probability"):
        # Folds are judged by what machines decide.
        own.set_params(probability=False, calibration=None)
    return own


def _shared(
    estimator: Any,
    folds: Folds,
    trains: Iterable[NDArray[np.intp]],
    X: Any,
    y: Any,
    scoring: Any,
    sample_weight: Any,
) -> CrossValidation | None:
    """All folds on the engine; none where a training set lacks a class: its machines are others then."""
    own = for_folds(estimator)
    rows, codes, data, weights = own._prepared(X, y, sample_weight, reset=True)
    if not complete(own, codes, weights, trains):
        return None
    report = own._svm(rows).cross_validate(data, folds, weights, own._report())
    return judged(own, estimator, folds, [report], X, y, scoring)


def judged(
    own: Any, estimator: Any, folds: Folds, reports: list[_native.ValidationFields], X: Any, y: Any, scoring: Any
) -> CrossValidation:
    """What reports say of all folds, in their order."""
    scorer = check_scoring(estimator, scoring)
    scores, predictions, decisions, certificates = [], [], [], []
    tests = tuple(np.asarray(test) for test, _ in folds)
    left = iter(tests)
    for report in reports:
        said, decided = own._said(report)
        for fold in report["folds"]:
            test = next(left)
            at = fold["round"] * len(y) + test
            told = Told(own, said[at], decided[at])
            scores.append(float(scorer(told, _safe_indexing(X, test), _safe_indexing(y, test))))
            predictions.append(said[at])
            decisions.append(decided[at])
            certificates.append(Certificate(**fold["certificate"]))
    sizes = tuple(len(y) - len(test) - len(aside) for test, aside in folds)
    return CrossValidation(
        np.array(scores),
        sizes,
        tests,
        tuple(predictions),
        tuple(decisions),
        tuple(certificates),
        True,
        sum(report["iterations"] for report in reports),
    )


def _one_by_one(estimator: Any, splits: list[Split], X: Any, y: Any, scoring: Any, sample_weight: Any) -> CrossValidation:
    scorer = check_scoring(estimator, scoring)
    scores, predictions, decisions, certificates = [], [], [], []
    iterations = 0
    pairwise = getattr(estimator, "kernel", None) == "precomputed"
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
    sizes, tests = tuple(len(train) for train, _ in splits), tuple(test for _, test in splits)
    return CrossValidation(
        np.array(scores), sizes, tests, tuple(predictions), tuple(decisions), tuple(certificates), False, iterations
    )
