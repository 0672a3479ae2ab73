"""A grid whose rows are others in every split."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ._certificate import Certificate
from ._data import is_sparse
from ._folds import Split, Told
from ._grid import Grid


class PerSplit:
    """All combinations of a search, each split by itself, since what stands before the machine in a pipeline is fitted to its training set, or since it
    has few of all rows."""

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, decisions: bool) -> None:
        steps: list[tuple[str, Any]] = estimator.steps if isinstance(estimator, Pipeline) else [("", estimator)]
        self.name, self.machine = steps[-1]
        self.before = Pipeline(steps[:-1], memory=estimator.memory) if len(steps) > 1 else None
        self.X, self.y, self.weights, self.decisions = X, y, sample_weight, decisions
        self.report: Any = None
        #: For each combination, of each split: what is told, its seconds, its certificate.
        self.found: list[list[tuple[Told, float, Certificate]]] = []

    def run(self, candidates: list[dict[str, Any]], splits: list[Split]) -> bool:
        """Cross-validates all combinations. Whether there is a solution for every one."""
        self.found = [[] for _ in candidates]
        parted = [self._parted(candidate) for candidate in candidates]
        groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
        for at, (before, _) in enumerate(parted):
            groups.setdefault(tuple(sorted((name, id(value)) for name, value in before.items())), []).append(at)
        for train, test in splits:
            for members in groups.values():
                if not self._solved(parted[members[0]][0], [parted[at][1] for at in members], members, train, test):
                    return False
        return True

    def _parted(self, candidate: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a combination sets before the machine, and of the machine."""
        prefix = f"{self.name}__" if self.name else ""
        own = {name.removeprefix(prefix): value for name, value in candidate.items() if name.startswith(prefix)}
        return {name: value for name, value in candidate.items() if not name.startswith(prefix)}, own

    def _solved(
        self,
        before: dict[str, Any],
        own: list[dict[str, Any]],
        members: list[int],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> bool:
        """One split of the combinations that have the same steps before the machine."""
        begun = time.perf_counter()
        rows = np.concatenate([train, test])
        try:
            X = self._rows(before, train, test)
            y = _safe_indexing(self.y, rows)
            weights = None if self.weights is None else np.asarray(self.weights)[rows]
            grid = Grid(self.machine, X, y, weights, decisions=self.decisions, trained=len(train))
        except ValueError:
            # scikit-learn says for which combination.
            return False
        # Each would have fitted its steps by itself.
        prepared = time.perf_counter() - begun
        grid.report = self.report
        places = np.arange(len(rows))
        if not grid.run(own, [(places[: len(train)], places[len(train) :])]):
            return False
        certificates = grid.certificates()
        for place, at in enumerate(members):
            told, seconds = grid.told(place, 0, places[len(train) :])
            self.found[at].append((told, prepared + seconds, certificates[place][0]))
        return True

    def _rows(self, before: dict[str, Any], train: NDArray[np.intp], test: NDArray[np.intp]) -> Any:
        """Rows of the training set and of the test set behind them, as the machine sees them."""
        parts = [_safe_indexing(self.X, train), _safe_indexing(self.X, test)]
        if self.before is not None:
            steps = clone(self.before).set_params(**clone(before, safe=False))
            parts = [steps.fit_transform(parts[0], _safe_indexing(self.y, train)), steps.transform(parts[1])]
        if any(is_sparse(part) for part in parts):
            return sp.vstack(parts, format="csr")
        return np.concatenate([np.asarray(part) for part in parts])

    def told(self, at: int, split: int, _: NDArray[np.intp]) -> tuple[Told, float]:
        """What a machine that did not see the rows of this split's test set says of them, and how long it took to train."""
        told, seconds, _certificate = self.found[at][split]
        return told, seconds

    def certificates(self) -> tuple[tuple[Certificate, ...], ...]:
        """For each combination the worst certificate of each split."""
        return tuple(tuple(certificate for _, _, certificate in splits) for splits in self.found)
