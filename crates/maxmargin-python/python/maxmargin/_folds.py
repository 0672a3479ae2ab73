"""Cross-validation on the shared engine, for any splitter of scikit-learn."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import LeaveOneOut, check_cv, cross_validate
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, column_or_1d

from . import _native
from ._certificate import Certificate, early_ends, table, warn_of
from ._data import Floats
from ._gate import Apart, Rewind, check_gate, fits_rows, places, tried
from ._levels import OfLevels


@dataclass(frozen=True)
class CrossValidation:
    """The predictions of a cross-validation, for samples that the machines were not trained on.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = SVC().cross_validate(X, y, cv=3)
    >>> len(found.test_score), found.certificate.holds
    (3, True)
    """

    #: The score of each split; of several scores an array for each, by its name.
    test_score: Floats | dict[str, Floats]
    #: For each split: the number of training rows.
    train_size: tuple[int, ...]
    #: For each split: the rows it was tested on.
    test: tuple[NDArray[np.intp], ...]
    #: For each split: predictions for these rows; not numbers where the training failed.
    predictions: tuple[NDArray[Any], ...]
    #: For each split: decision values for these rows, as ``decision_function`` has them; of regression the predictions.
    decisions: tuple[NDArray[Any], ...]
    #: For each split: the worst certificate of its machines.
    certificates: tuple[Certificate, ...]
    #: True if the splits ran on the shared engine, false for separate fits.
    shared: bool
    #: The total number of solver iterations.
    iterations: int
    #: For each split that leaves out one row, on the shared engine: the leverage of that row, which is the root mean square change of decision values when
    #: it is removed. Of each machine the mean is over the other rows that it is trained on, which are those of its two classes where machines are for pairs
    #: of classes; then over machines, of which those without the row do not change. Not a number for other splits.
    leverage: Floats

    def __repr__(self) -> str:
        scores = self.test_score if isinstance(self.test_score, dict) else {"test_score": self.test_score}
        said = [f"{name} {np.mean(of):.4g} ± {np.std(of):.2g}" for name, of in scores.items()]
        hold = sum(one.holds for one in self.certificates)
        return (
            f"<CrossValidation of {len(self.test)} splits, {sum(map(len, self.test))} rows tested: {', '.join(said)}; {hold} of "
            f"{len(self.certificates)} certificates hold, shared={self.shared}, {self.iterations} iterations>"
        )

    def _repr_html_(self) -> str:
        scores = self.test_score if isinstance(self.test_score, dict) else {"test_score": self.test_score}
        rows = {name: f"{np.mean(of):.4g} ± {np.std(of):.2g}" for name, of in scores.items()}
        rows["splits"] = str(len(self.test))
        rows["certificates that hold"] = f"{sum(one.holds for one in self.certificates)} of {len(self.certificates)}"
        return table("Cross-validation", rows) + "".join(dots(name, of) for name, of in scores.items())

    @property
    def certificate(self) -> Certificate:
        """The worst certificate of all splits."""
        return Certificate.worst(self.certificates)

    def interval(self, least: float = -math.inf, greatest: float = math.inf, *, score: str | None = None) -> tuple[float, float]:
        """Where the mean score of estimators like these lies, in 95 of 100 cases, were the splits independent but for the rows that their training sets share:
        Nadeau and Bengio's corrected t interval, cut to ``least`` and ``greatest``, what the score can be. ``score`` names one of several."""
        if isinstance(self.test_score, dict) and score not in self.test_score:
            raise ValueError(f"score={score!r}: there are {', '.join(self.test_score)}")
        values = self.test_score[str(score)] if isinstance(self.test_score, dict) else self.test_score
        sizes = zip(values.tolist(), self.train_size, map(len, self.test), strict=True)
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


def dots(name: str, scores: Floats) -> str:
    """Return a picture of the scores of the splits: a dot for each, and a line at their mean."""
    known = scores[np.isfinite(scores)]
    if len(known) == 0:
        return ""
    low, high = float(known.min()), float(known.max())
    width = high - low or 1.0
    places = [40 + 240 * (value - low) / width for value in known.tolist()]
    mean = sum(places) / len(places)
    circles = "".join(f'<circle cx="{x:.1f}" cy="20" r="4" fill="#3a8fd0" fill-opacity="0.8"/>' for x in places)
    ends = f'<text x="40" y="44" font-size="11">{low:.4g}</text><text x="280" y="44" font-size="11" text-anchor="end">{high:.4g}</text>'
    line = f'<line x1="{mean:.1f}" x2="{mean:.1f}" y1="8" y2="32" stroke="#c04800" stroke-width="2"/>'
    label = f"{html.escape(name)} of each split"
    return f'<svg width="320" height="50" fill="currentColor" role="img" aria-label="{label}"><title>{label}</title>{circles}{line}{ends}</svg>'


class KnownPredictions(BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Gives known predictions to a scorer."""

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
        # A score may ask its estimator for more than predictions, such as its parameters.
        own = copy(self.of)
        own.predict = self.predict
        return float(own.score(X, y, sample_weight))


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
    numbers = np.unique(fold_of)
    gaps = np.flatnonzero(numbers != np.arange(len(numbers)))
    if len(gaps):
        raise ValueError(f"fold {gaps[0]} tests no sample, and fold {numbers[-1]} does: number the folds 0, 1, 2, …")
    return [(np.flatnonzero(fold_of == fold).tolist(), []) for fold in range(len(numbers))]


def complete(estimator: Any, codes: Floats, weights: Floats | None, folds: Folds, least: int = 1) -> bool:
    """Whether every training set has at least so many samples of each class, by the codes of the targets. Values are one class."""
    has_classes = is_classifier(estimator)
    of = np.searchsorted(estimator._labels, codes) if has_classes else np.zeros(len(codes), dtype=np.intp)
    taken = np.ones(len(codes), dtype=np.intp) if weights is None else (weights > 0).astype(np.intp)
    count = len(estimator.classes_) if has_classes else 1
    all_rows = np.bincount(of, weights=taken, minlength=count)
    for test, aside in folds:
        rows = np.asarray([*test, *aside], dtype=np.intp)
        if (all_rows - np.bincount(of[rows], weights=taken[rows], minlength=count) < least).any():
            return False
    return True


def least_of(estimator: Any) -> int:
    """The number of samples of each class without which a training of the estimator fails, or warns that its folds lack a class."""
    has_folds = getattr(estimator, "_method", lambda: None)() is not None or getattr(estimator, "conformal", None) is not None
    return 2 if has_folds else 1


def splits_of(splits: Iterable[tuple[Any, Any]], rows: int) -> list[Split]:
    """Splits as a splitter of scikit-learn, a list or an iterable has them: their rows by places from 0."""
    return [(places(train, rows), places(test, rows)) for train, test in splits]


def cross_validation(
    estimator: Any, X: Any, y: Any, *, cv: Any, scoring: Any, groups: Any, sample_weight: Any
) -> CrossValidation:
    """See ``cross_validate`` of the estimators."""
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    found: list[CrossValidation] = []

    def share() -> None:
        scorers = check_scoring(estimator, scoring=scoring, raise_exc=False)
        check_gate(estimator, scoring, scorers)
        rows = len(column_or_1d(y))
        splits = splits_of(splitter.split(X, y, groups), rows)
        folds = plan(splits, rows)
        if folds is None:
            raise Apart("a split names a row twice, trains on what it tests, or is empty")
        found.append(_shared(estimator, folds, X, y, scorers, sample_weight))

    if tried(Rewind(splitter), share):
        return found[0]
    return _one_by_one(estimator, X, y, splitter, scoring, groups, sample_weight)


def minus_mean_absolute_error(estimator: Any, X: Any, y: Any) -> float:
    """Return minus the mean absolute error, over all levels of an estimator."""
    return -float(np.abs(estimator.predict(X) - np.reshape(y, (-1, 1))).mean())


def leave_one_out_of(estimator: Any, X: Any, y: Any, *, sample_weight: Any) -> CrossValidation:
    """See ``leave_one_out`` of the estimators."""
    scoring: Any = None if is_classifier(estimator) else "neg_mean_absolute_error"
    if isinstance(estimator, OfLevels) and estimator._levels() is not None:
        scoring = minus_mean_absolute_error
    return cross_validation(estimator, X, y, cv=LeaveOneOut(), scoring=scoring, groups=None, sample_weight=sample_weight)


def for_folds(estimator: Any) -> Any:
    """Return a copy of the estimator for the training of folds."""
    own = clone(estimator)
    if hasattr(own, "keep_data"):
        own.keep_data = False
    if hasattr(own, "probability"):
        # Folds are judged by what machines decide.
        own.set_params(probability=False, calibration=None)
    if hasattr(own, "conformal"):
        own.conformal = None
    return own


def _shared(estimator: Any, folds: Folds, X: Any, y: Any, scorers: Any, sample_weight: Any) -> CrossValidation:
    """Run all folds on the engine, or raise :class:`Apart`."""
    if fits_rows(estimator, {}):
        raise Apart("gamma's scale or balanced weights of classes belong to each training set")
    own = for_folds(estimator)
    rows, codes, data, weights = own._prepared(X, y, sample_weight, reset=True)
    if not complete(own, codes, weights, folds, least_of(estimator)):
        raise Apart("a training set has too few samples, or too few of a class")
    report = own._svm(rows).cross_validate(data, folds, weights, own._report())
    ends = early_ends_of(report, own.tol)
    if own._must_converge and ends:
        raise Apart("a training did not converge")
    found = judged(own, folds, [report], X, y, scorers)
    warn_of(ends, found.certificate, own.tol, max_iter=own.max_iter, max_time=own.max_time)
    return found


def early_ends_of(report: _native.ValidationFields, tol: float) -> set[str]:
    """Return how those trainings of a cross-validation ended whose solution misses the tolerance."""
    folds = report["folds"]
    return early_ends((fold["status"] for fold in folds), (Certificate(**fold["certificate"]) for fold in folds), tol)


def judged(own: Any, folds: Folds, reports: list[_native.ValidationFields], X: Any, y: Any, scorers: Any) -> CrossValidation:
    """Collect the reports of all folds, in their order."""
    scores, predictions, decisions, certificates, leverage = [], [], [], [], []
    tests = tuple(np.asarray(test) for test, _ in folds)
    left = iter(tests)
    rows = _num_samples(y)
    for report in reports:
        said, decided = own._predicted(report)
        for fold in report["folds"]:
            test = next(left)
            at = fold["round"] * rows + test
            if np.isnan(report["predicted"][at]).any():
                raise Apart("a fold has no solution")
            known = KnownPredictions(own, said[at], decided[at])
            # Scorers ask this estimator for predictions, whichever rows they pass.
            scores.append(_score(known, test, _safe_indexing(y, test), scorers, {}, np.nan))
            predictions.append(said[at])
            decisions.append(decided[at])
            certificates.append(Certificate(**fold["certificate"]))
            # A report from another process has none.
            is_known = len(at) == 1 and len(report["leverage"]) > 0
            leverage.append(float(report["leverage"][at[0]]) if is_known else math.nan)
    sizes = tuple(rows - len(test) - len(aside) for test, aside in folds)
    return CrossValidation(
        scores_of(scores),
        sizes,
        tests,
        tuple(predictions),
        tuple(decisions),
        tuple(certificates),
        True,
        sum(report["iterations"] for report in reports),
        np.array(leverage),
    )


def scores_of(scores: list[Any]) -> Floats | dict[str, Floats]:
    """The score of each split; of several an array for each, by its name."""
    if isinstance(scores[0], dict):
        return {name: np.array([of[name] for of in scores], dtype=np.float64) for name in scores[0]}
    return np.array(scores, dtype=np.float64)


def _one_by_one(estimator: Any, X: Any, y: Any, splitter: Any, scoring: Any, groups: Any, sample_weight: Any) -> CrossValidation:
    """Cross-validate with scikit-learn's own ``cross_validate``."""
    with config_context(enable_metadata_routing=False):
        found = cross_validate(
            estimator,
            X,
            y,
            groups=groups,
            cv=splitter,
            scoring=scoring,
            params=None if sample_weight is None else {"sample_weight": sample_weight},
            return_estimator=True,
            return_indices=True,
        )
    names = [name for name in found if name.startswith("test_")]
    scores: Any = {name.removeprefix("test_"): np.asarray(found[name], dtype=np.float64) for name in names}
    rows, predictions, decisions = _num_samples(X), [], []
    splits = list(zip(found["indices"]["train"], found["indices"]["test"], strict=True))
    for own, (train, test) in zip(found["estimator"], splits, strict=True):
        said, decided = _predicted_of(own, _safe_split(estimator, X, y, test, train)[0])
        predictions.append(said)
        decisions.append(decided)
    return CrossValidation(
        scores["score"] if names == ["test_score"] else scores,
        tuple(_rows_of(train, rows) for train, _ in splits),
        tuple(np.flatnonzero(test) if np.asarray(test).dtype == bool else np.asarray(test) for _, test in splits),
        tuple(predictions),
        tuple(decisions),
        tuple(getattr(own, "certificate_", Certificate.none()) for own in found["estimator"]),
        False,
        int(sum(np.sum(getattr(own, "n_iter_", 0)) for own in found["estimator"])),
        np.full(len(splits), math.nan),
    )


def _rows_of(members: Any, rows: int) -> int:
    """The number of rows that a mask or a list of places names."""
    members = np.asarray(members)
    return int(members.sum()) if members.dtype == bool and len(members) == rows else len(members)


def _predicted_of(own: Any, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predictions and decision values of an estimator for these rows; not numbers where its training failed, or rows are none."""
    try:
        said = np.asarray(own.predict(X))
        return said, np.asarray(own.decision_function(X)) if hasattr(own, "decision_function") else said
    except Exception:
        nothing = np.full(_num_samples(X), np.nan)
        return nothing, nothing
