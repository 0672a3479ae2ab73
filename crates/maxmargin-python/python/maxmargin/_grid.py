"""A grid of values of C, gammas and kernels on the shared engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._base import HARD, WIDE
from ._certificate import Certificate, warn_of
from ._data import Floats, width
from ._folds import Folds, KnownPredictions, Split, complete, early_ends_of, for_folds, least_of, plan

#: The start of splits that are solved together: the model of all rows.
FULL = "full"

#: The start of splits that are solved one by one.
COLD = "cold"

#: A cell of a grid: its settings, its gamma if its kernel has one, and C.
Key = tuple[tuple[Any, ...], float | None, float]


def shared_by(machine: Any) -> list[str]:
    """Return the parameters of a machine that a grid on the shared engine can vary."""
    return [name for name in ("C", "gamma", *machine._searched) if hasattr(machine, name)]


class Grid:
    """All combinations of a search on the shared engine."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, decisions: bool, trained: int | None = None
    ) -> None:
        self.own = for_folds(estimator)
        self.least = least_of(estimator)
        self.rows, self.encoded, self.data, self.weights = self.own._prepared(X, y, sample_weight, reset=True, trained=trained)
        #: The cell of each combination.
        self.keys: list[Key] = []
        #: The values of parameters that a combination does not set.
        self.usual = {name: getattr(self.own, name) for name in shared_by(self.own)}
        #: The settings that identify a table of C and gamma.
        self.settings = [name for name in self.usual if name not in {"C", "gamma"}]
        self.decisions = decisions
        self.report = self.own._report()
        #: The rows for rules of gamma.
        self.seen = self.rows[:trained]
        # With a single split, a model of all rows would cost more than it saves.
        self.seeding = FULL if trained is None else COLD
        self.widths: dict[Any, float] = {}
        #: For each cell: labels and decision values (or none) of all rounds, where the round of each split begins, its certificate, and seconds of a split.
        self.cells: dict[Key, tuple[NDArray[Any], Floats | None, list[int], list[Certificate], float]] = {}

    def key(self, candidate: dict[str, Any]) -> Key:
        asked = self.usual | candidate
        kernel, gamma, cost = asked.get("kernel"), None, float(asked["C"])
        settings = tuple(asked[name] for name in self.settings)
        if isinstance(kernel, str) and kernel in WIDE:
            rule = asked["gamma"]
            if rule not in self.widths:
                self.widths[rule] = width(rule, self.seen)
            gamma = self.widths[rule]
        return settings, gamma, HARD if math.isinf(cost) else cost

    def tables(self) -> dict[tuple[tuple[Any, ...], tuple[float, ...]], list[float]]:
        """For all settings and lists of values of C: the values of gamma with all of these, none where the kernel has no gamma."""
        columns: dict[tuple[tuple[Any, ...], float | None], set[float]] = {}
        for settings, gamma, cost in self.keys:
            columns.setdefault((settings, gamma), set()).add(cost)
        tables: dict[tuple[tuple[Any, ...], tuple[float, ...]], list[float]] = {}
        for (settings, gamma), costs in columns.items():
            gammas = tables.setdefault((settings, tuple(sorted(costs))), [])
            gammas.extend([] if gamma is None else [gamma])
        return tables

    def run(self, candidates: list[dict[str, Any]], splits: list[Split]) -> bool:
        """Cross-validate all cells. Return true if every cell has a solution."""
        folds = self.asked(candidates, splits)
        return folds is not None and self.taken(folds, self._solved(folds))

    def asked(self, candidates: list[dict[str, Any]], splits: list[Split]) -> Folds | None:
        """Record the cells to solve; none if the engine does not support them."""
        folds = plan(splits, len(self.encoded))
        if folds is None or not complete(self.own, self.encoded, self.weights, folds, self.least):
            return None
        self.keys = [self.key(candidate) for candidate in candidates]
        return folds

    def taken(self, folds: Folds, cells: Iterator[tuple[Key, _native.ValidationFields]]) -> bool:
        """Store the cross-validations of all cells. Return true if every cell has a solution."""
        ends: set[str] = set()
        tested = sum(len(test) for test, _ in folds)
        for key, cell in cells:
            if np.count_nonzero(~np.isnan(cell["predicted"])) != tested:
                return False
            self._keep(key, cell)
            ends |= early_ends_of(cell, key[0][self.settings.index("tol")])
        if self.own._must_converge and ends:
            return False
        certificates = [certificate for cell in self.cells.values() for certificate in cell[3]]
        tol = max(asked[self.settings.index("tol")] for asked, _, _ in self.keys)
        warn_of(ends, Certificate.worst(certificates), tol, max_iter=self.own.max_iter, max_time=self.own.max_time)
        return True

    def _solved(self, folds: Folds) -> Iterator[tuple[Key, _native.ValidationFields]]:
        """Return every cell and its cross-validation; ``ValueError`` if a cell is not a valid problem."""
        by_decisions = getattr(self.own, "break_ties", False) or getattr(self.own, "_predicts_by_decisions", False)
        wanted = self.decisions or bool(by_decisions)
        for (settings, costs), gammas in self.tables().items():
            native = self._set(settings)._svm(self.rows, seeding=self.seeding)
            cells, failed = native.grid(self.data, folds, list(costs), gammas, self.weights, self.report, decisions=wanted)
            if failed or len(cells) != len(costs) * max(1, len(gammas)):
                raise ValueError(*failed)
            for cell in cells:
                yield (settings, cell["gamma"], cell["C"] or 0.0), cell

    def _set(self, settings: tuple[Any, ...]) -> Any:
        """The estimator with these settings."""
        return self.own.set_params(**dict(zip(self.settings, settings, strict=True)))

    def _keep(self, key: Key, cell: _native.ValidationFields) -> None:
        said, decided = self.own._predicted(cell)
        starts = [fold["round"] * len(self.encoded) for fold in cell["folds"]]
        certificates = [Certificate(**fold["certificate"]) for fold in cell["folds"]]
        self.cells[key] = said, decided if self.decisions else None, starts, certificates, cell["seconds"] / len(starts)

    def fold_predictions(self, at: int, split: int, test: NDArray[np.intp]) -> tuple[KnownPredictions, float]:
        """Return the predictions of a machine that was not trained on these rows, and the time of its training."""
        said, decided, starts, _, seconds = self.cells[self.keys[at]]
        rows = starts[split] + test
        return KnownPredictions(self.own, said[rows], None if decided is None else decided[rows]), seconds

    def certificates(self) -> tuple[tuple[Certificate, ...], ...]:
        """For each combination the worst certificate of each split."""
        return tuple(tuple(self.cells[key][3]) for key in self.keys)
