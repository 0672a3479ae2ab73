"""Grids whose units run on workers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from sklearn.base import clone

from . import _native
from ._data import width
from ._dispatch import UnitDispatcher, UnitFailedError, UnitReport
from ._folds import Folds
from ._grid import COLD, Grid, Key
from ._per_split import Job, PerSplit
from ._source import Source
from ._store import Store
from ._units import PackedFolds, Part, Unit

#: The gamma at which a Gaussian kernel takes most iterations, as a factor of ``gamma="scale"``.
HARDEST = 0.1


@dataclass
class Desk:
    """The workers, and the common data of all units."""

    dispatcher: UnitDispatcher
    source: Source
    #: The sample weights of the rows of the file.
    weights: bytes | None
    #: The kind of a unit if splits share their rows: ``"gamma"`` or ``"fold"``.
    by: str = "gamma"
    reports: list[UnitReport] = field(default_factory=list)

    def run(self, units: list[tuple[float, Unit]]) -> None:
        """Run units, the longest first by the given estimates, so that no long unit begins last."""
        self.reports.extend(self.dispatcher.run([unit for _, unit in sorted(units, key=itemgetter(0))]))


@dataclass
class Column:
    """A kernel with one gamma in a table of settings and values of C."""

    settings: tuple[Any, ...]
    gamma: float | None
    ease: float
    #: The units of the column: one for all folds, or one for each.
    units: list[Unit]


def unset(prepared: Any, *names: str) -> Any:
    """A copy without values of C and gamma of its own: those count that a unit says."""
    own = copy(prepared)
    return own.set_params(**{name: 1.0 for name in names or ("C", "gamma") if hasattr(own, name)})


def arrived(store: Store, key: str) -> _native.ValidationFields:
    """Return a cell that must exist."""
    fields = store.fields(key)
    if fields is None:
        raise UnitFailedError(f"{store.path}: a cell that was there is gone or damaged; the same call computes it anew")
    return fields


def together(reports: list[_native.ValidationFields]) -> _native.ValidationFields:
    """Merge the reports of splits that were separate units, with a round for each."""
    if len(reports) == 1:
        return reports[0]
    folds: list[_native.FoldFields] = [{**fold, "round": at} for at, report in enumerate(reports) for fold in report["folds"]]
    return {
        "C": reports[0]["C"],
        "rounds": len(reports),
        "folds": folds,
        "iterations": sum(report["iterations"] for report in reports),
        "seconds": sum(report["seconds"] for report in reports),
        "decisions": np.concatenate([report["decisions"] for report in reports]),
        "predicted": np.concatenate([report["predicted"] for report in reports]),
        "leverage": np.empty(0),
    }


class RemoteGrid(Grid):
    """A grid whose units run on workers."""

    def __init__(self, *of: Any, desk: Desk, part: Part | None = None, name: str = "", **how: Any) -> None:
        super().__init__(*of, **how)
        self.desk, self.part, self.name = desk, part, name

    def _solved(self, folds: Folds) -> Iterator[tuple[Key, _native.ValidationFields]]:
        columns = self.columns(folds)
        self.desk.run([(column.ease, unit) for column in columns for unit in column.units])
        yield from self.arrived(columns)

    def arrived(self, columns: list[Column]) -> Iterator[tuple[Key, _native.ValidationFields]]:
        """Return every cell of finished columns."""
        for column in columns:
            for row, cost in enumerate(column.units[0].costs):
                reports = [arrived(self.desk.dispatcher.store, unit.keys[row]) for unit in column.units]
                yield (column.settings, column.gamma, cost), together(reports)

    def columns(self, folds: Folds) -> list[Column]:
        """Return the open units."""
        usual = width("scale", self.rows, checked=False)
        # A split with its own rows is a separate unit.
        whole = self.desk.by == "gamma" or self.part is not None
        parts, seeding = ([folds], self.seeding) if whole else ([[fold] for fold in folds], COLD)
        packed = [PackedFolds.of(part, len(self.encoded)) for part in parts]
        columns = []
        for (settings, costs), gammas in self.tables().items():
            # Of C and gamma those count that the unit says.
            own = unset(self._set(settings))
            estimator, svm = clone(own), own._svm(self.rows, seeding=seeding)
            widths: list[float | None] = [*gammas] if gammas else [None]
            names = [self._name(settings, costs, gamma) for gamma in widths]
            try:
                keys = [svm.keys(self.data, part, list(costs), gammas, self.weights) for part in parts]
            except ValueError as error:
                raise UnitFailedError(f"{names[0]}: {error}") from error
            for at, gamma in enumerate(widths):
                of_parts = [f", fold {k + 1} of {len(parts)}" if len(parts) > 1 else "" for k in range(len(parts))]
                units = [
                    Unit(
                        names[at] + of_parts[k],
                        self.desk.source,
                        estimator,
                        packed[k],
                        costs,
                        gamma,
                        tuple(keys[k][at]),
                        seeding,
                        self.desk.weights,
                        self.part,
                    )
                    for k in range(len(parts))
                ]
                columns.append(
                    Column(
                        settings,
                        gamma,
                        abs(math.log(gamma / (HARDEST * usual))) if gamma and 0 < usual < math.inf else 0.0,
                        units,
                    )
                )
        return columns

    def _name(self, settings: tuple[Any, ...], costs: tuple[float, ...], gamma: float | None) -> str:
        """Return the name of a unit in errors."""
        of = dict(zip(self.settings, settings, strict=True))
        machine = f"kernel={of['kernel']}" if "kernel" in of else type(self.own).__name__
        of_gamma = "" if gamma is None else f", gamma={gamma:g}"
        of_costs = f"C={costs[0]:g}" if len(costs) == 1 else f"C={costs[0]:g}…{costs[-1]:g}"
        return f"unit {machine}{of_gamma}, {of_costs} ({len(costs)} cells){self.name}"


class RemotePerSplit(PerSplit):
    """A grid whose rows are others in every split, and whose units others do: each is a column of one split."""

    def __init__(self, *of: Any, desk: Desk, **how: Any) -> None:
        super().__init__(*of, **how)
        self.desk = desk

    def run(self, candidates: list[dict[str, Any]], splits: list[Any]) -> bool:
        """Cross-validate all combinations. Return true if every combination has a solution."""
        self.found = [[] for _ in candidates]
        begun: list[tuple[Job, RemoteGrid, Folds, list[Column]]] = []
        for job in self._jobs(candidates, splits):
            grid = self._grid(job)
            folds = grid.asked(job.own, [job.places()])
            if not isinstance(grid, RemoteGrid) or folds is None:
                return False
            begun.append((job, grid, folds, grid.columns(folds)))
            # The rows of all splits at once would need a multiple of the file's memory.
            del grid.rows, grid.data, grid.seen
        self.desk.run([(column.ease, unit) for *_, columns in begun for column in columns for unit in column.units])
        for job, grid, folds, columns in begun:
            if not grid.taken(folds, grid.arrived(columns)):
                return False
            self._take(job, grid)
        return True

    def _made(self, job: Job, X: Any, y: Any, weights: Any) -> Grid:
        part, name = Part.of(job.steps, job.train, job.test), f", split {job.split + 1}"
        how: dict[str, Any] = {"decisions": self.decisions, "trained": len(job.train)}
        return RemoteGrid(self.machine, X, y, weights, desk=self.desk, part=part, name=name, **how)
