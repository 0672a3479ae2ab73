"""A grid with different rows in every split."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ._certificate import Certificate
from ._data import is_sparse
from ._folds import KnownPredictions, Split
from ._gate import Apart
from ._grid import Grid


def behind(
    steps: Pipeline | None, train: NDArray[np.intp], test: NDArray[np.intp], X: Any, y: Any, weights: Any
) -> tuple[Any, Any, Any]:
    """Rows of a training set and of its test set behind them, as the machine sees them after these steps, with targets and weights. Fits the steps."""
    parts = [_safe_indexing(X, train), _safe_indexing(X, test)]
    if steps is not None:
        parts = transformed(steps, parts, _safe_indexing(y, train))
    kinds = [(is_sparse(part), getattr(part, "dtype", None), np.shape(part)[1:]) for part in parts]
    if steps is not None and kinds[0] != kinds[1]:
        # A common array would change the values of both.
        raise Apart("steps make rows of another kind of a test set than of its training set")
    rows = np.concatenate([train, test])
    weights = None if weights is None else np.asarray(weights)[rows]
    if any(is_sparse(part) for part in parts):
        return sp.vstack(parts, format="csr"), _safe_indexing(y, rows), weights
    return np.concatenate([np.asarray(part) for part in parts]), _safe_indexing(y, rows), weights


def transformed(steps: Pipeline, parts: list[Any], y: Any) -> list[Any]:
    """Rows of a training set and of its test set behind steps that are fitted to the first; :class:`Apart` where a step fails."""
    try:
        train, test = steps.fit_transform(parts[0], y), parts[1]
        # A pipeline of steps without parameters would report that it is not fitted.
        for _, step in steps.steps:
            if step not in (None, "passthrough"):
                test = step.transform(test)
    except Exception as error:
        raise Apart(f"the steps before the machine fail with {type(error).__name__}: {error}") from error
    return [train, test]


@dataclass
class Job:
    """One split of the combinations that have the same steps before the machine."""

    #: The index of the split.
    split: int
    steps: Pipeline | None
    #: The machine parameters of each combination, and its index.
    own: list[dict[str, Any]]
    members: list[int]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    #: The time of the preparation of its rows.
    prepared: float = 0.0

    def places(self) -> Split:
        """Return the split as indices of its own rows."""
        places = np.arange(len(self.train) + len(self.test))
        return places[: len(self.train)], places[len(self.train) :]


class PerSplit:
    """All combinations of a search, each split by itself, since what stands before the machine in a pipeline is fitted to its training set, or since it
    has few of all rows."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, decisions: bool) -> None:
        steps: list[tuple[str, Any]] = estimator.steps if isinstance(estimator, Pipeline) else [("", estimator)]
        self.name, self.machine = steps[-1]
        self.before = Pipeline(steps[:-1], memory=estimator.memory) if len(steps) > 1 else None
        self.X, self.y, self.weights, self.decisions = X, y, sample_weight, decisions
        self.report: Any = None
        #: For each combination and split: predictions, seconds and certificate.
        self.found: list[list[tuple[KnownPredictions, float, Certificate]]] = []

    def run(self, candidates: list[dict[str, Any]], splits: list[Split]) -> bool:
        """Cross-validate all combinations. Return true if every combination has a solution."""
        self.found = [[] for _ in candidates]
        for job in self._jobs(candidates, splits):
            grid = self._grid(job)
            if not grid.run(job.own, [job.places()]):
                return False
            self._take(job, grid)
        return True

    def _jobs(self, candidates: list[dict[str, Any]], splits: list[Split]) -> Iterator[Job]:
        """Group the combinations of each split by equal steps before the machine."""
        parted = [self._parted(candidate) for candidate in candidates]
        groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for at, (before, _) in enumerate(parted):
            groups.setdefault(tuple(sorted((name, id(value)) for name, value in before.items())), []).append(at)
        for split, (train, test) in enumerate(splits):
            for members in groups.values():
                yield Job(split, self._steps(parted[members[0]][0]), [parted[at][1] for at in members], members, train, test)

    def _parted(self, candidate: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters of a combination for the steps before the machine, and for the machine."""
        prefix = f"{self.name}__" if self.name else ""
        own = {name.removeprefix(prefix): value for name, value in candidate.items() if name.startswith(prefix)}
        return {name: value for name, value in candidate.items() if not name.startswith(prefix)}, own

    def _steps(self, before: dict[str, Any]) -> Pipeline | None:
        """Return the steps before the machine of a combination, not fitted."""
        return None if self.before is None else clone(self.before).set_params(**clone(before, safe=False))

    def _grid(self, job: Job) -> Grid:
        """The grid of one split."""
        begun = time.perf_counter()
        X, y, weights = behind(job.steps, job.train, job.test, self.X, self.y, self.weights)
        grid = self._made(job, X, y, weights)
        # Separate fits would each fit their steps.
        job.prepared = time.perf_counter() - begun
        grid.report = self.report
        return grid

    def _made(self, job: Job, X: Any, y: Any, weights: Any) -> Grid:
        return Grid(self.machine, X, y, weights, decisions=self.decisions, trained=len(job.train))

    def _take(self, job: Job, grid: Grid) -> None:
        """Store the results of a grid for one split."""
        certificates = grid.certificates()
        for place, at in enumerate(job.members):
            predictions, seconds = grid.fold_predictions(place, 0, job.places()[1])
            self.found[at].append((predictions, job.prepared + seconds, certificates[place][0]))

    def fold_predictions(self, at: int, split: int, _: NDArray[np.intp]) -> tuple[KnownPredictions, float]:
        """Return the predictions for the test rows of this split, and the time of the training."""
        predictions, seconds, _certificate = self.found[at][split]
        return predictions, seconds

    def certificates(self) -> tuple[tuple[Certificate, ...], ...]:
        """For each combination the worst certificate of each split."""
        return tuple(tuple(certificate for _, _, certificate in splits) for splits in self.found)
