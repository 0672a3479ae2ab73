"""Searches on several machines, by an engine that exists: dask, Ray, MPI, or processes of this machine.

What is handed out is a *unit*: a kernel with one gamma, all its values of C and all folds, for which one kernel matrix serves. The plan alone says what units
there are, and so the results have the same bits wherever they are computed, on one machine as on many. A worker reads the data by its path, once, and refuses
a file that is another one. Cells are kept in a folder, a file each, from which the same call goes on.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV as TheirGridSearchCV
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline

from . import _native
from ._base import WIDE, whole
from ._crew import Crew, Executor, UnitFailedError, UnitReport
from ._data import width
from ._folds import CrossValidation, Folds, complete, for_folds, judged, plan
from ._grid import Grid, Key
from ._progress import Progress
from ._search import GridSearchCV, RandomizedSearchCV
from ._shared import Apart
from ._source import Source
from ._store import Store
from ._units import PackedFolds, Unit

__all__ = ["RayExecutor", "UnitFailedError", "UnitReport", "cross_validate", "grid"]

Plan = TypeVar("Plan", GridSearchCV, RandomizedSearchCV)

#: Where a Gaussian kernel takes most iterations, as a factor of ``gamma="scale"``.
HARDEST = 0.1

#: How splits start that are units by themselves: a model of all rows would cost more than it saves.
COLD = "cold"

#: How they start where one unit does all of them.
FULL = "full"


class RayExecutor:
    """Ray as an executor: ``RayExecutor(num_cpus=4)``. Options are those of ``ray.remote``."""

    def __init__(self, **options: Any) -> None:
        import ray  # noqa: PLC0415 it need not be installed

        self._ray, self._options = ray, options

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """A future of ``fn(*args)``."""
        remote = self._ray.remote(fn)
        remote = remote.options(**self._options) if self._options else remote
        return remote.remote(*args).future()


def grid(
    data_path: str | os.PathLike[str],
    plan: Plan,
    executor: Executor | Callable[[], Executor] | None,
    *,
    log: str | os.PathLike[str] | None = None,
    by: str = "gamma",
    tries: int = 3,
    threads: int | None = None,
    progress: bool = False,
) -> Plan:
    """Does a search on several machines.

    Parameters
    ----------
    data_path : path
        A LIBSVM text (packed by gzip, bzip2 or xz, if its name says so) or a ``.npz`` with ``X`` and ``y``, under this path on every machine.
    plan : GridSearchCV or RandomizedSearchCV
        Of this package, over :class:`SVC`, :class:`SVR`, :class:`LinearSVC` or :class:`LinearSVR`: combinations, ``cv``, ``scoring``, ``refit``. It is not
        fitted itself.
    executor
        Whatever has ``submit(function, *arguments)`` and returns futures: ``concurrent.futures``, ``dask.distributed.Client``,
        ``mpi4py.futures.MPIPoolExecutor``, :class:`RayExecutor`. Or a function that makes one, which is called again where an executor breaks, as that of
        processes does when one is killed. ``None`` does all of it here.
    log : path, optional
        A folder for finished cells. The same call goes on from what is there. Cells of workers that do not see the folder are written here.
    by : str
        What a unit is: ``"gamma"``, a kernel matrix with all its values of C and all folds; ``"fold"``, one fold of that, from scratch, for more workers than
        there are values of gamma. The solutions are the same to the tolerance, and the bits of each the same everywhere.
    tries : int
        So often a unit may fail, and executors break with nothing done in between.
    threads : int, optional
        Threads of each worker. Engines often tell their workers to use one (dask does), whatever the node has.
    progress : bool
        A bar where tqdm is installed, otherwise a line for each unit.

    Returns
    -------
    A fitted copy of ``plan``: the bits are those of ``plan.fit(X, y)`` on one machine (``by="gamma"``). ``units_`` has a :class:`UnitReport` for each unit.
    With ``refit`` the best is trained here.

    Raises
    ------
    UnitFailedError
        When a unit could not be done after all tries; it says which, where and why. What is done is kept.
    ValueError
        When the plan is none for the shared engine, or the folder holds another search.
    """
    if not isinstance(plan, GridSearchCV | RandomizedSearchCV):
        theirs = "sklearn.model_selection's" if isinstance(plan, TheirGridSearchCV) else type(plan).__name__
        raise ValueError(f"a plan is GridSearchCV or RandomizedSearchCV of maxmargin, not {theirs}")
    if isinstance(plan.estimator, Pipeline):
        raise ValueError(
            "a plan has an estimator without a Pipeline, which is fitted to each training set: scale the file before"
        )
    if by not in ("gamma", "fold"):
        raise ValueError(f"by={by!r}: gamma or fold")
    source = Source.at(data_path)
    X, y = source.load()
    search = clone(plan)
    with working(executor, log, describe(source, plan.estimator, plan.cv), tries, threads, progress) as crew:
        reports: list[UnitReport] = []
        search._together = partial(RemoteGrid, crew=crew, source=source, reports=reports, by=by)
        search._apart = refused
        try:
            with whole(search):
                search._validate_params()
                search._fit_shared(X, y, {})
        except Apart:
            raise ValueError(
                "this plan is none for the shared engine: SVC, SVR, LinearSVC or LinearSVR that nothing ends early, combinations of what GridSearchCV shares, "
                "scores by name of predictions or decision values, and every class in every training set"
            ) from None
        finally:
            vars(search).pop("_together", None)
            vars(search).pop("_apart", None)
    search.units_ = reports
    found: Plan = search
    return found


def cross_validate(
    data_path: str | os.PathLike[str],
    estimator: Any,
    executor: Executor | Callable[[], Executor] | None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    log: str | os.PathLike[str] | None = None,
    tries: int = 3,
    threads: int | None = None,
    progress: bool = False,
) -> CrossValidation:
    """Cross-validates an estimator on several machines; each split is a unit, trained from scratch.

    The bits are the same for every executor, and the solutions those of ``estimator.cross_validate``, to the tolerance. Parameters are those of :func:`grid`.
    """
    if not estimator._shares_engine():
        raise ValueError("max_iter and max_time end trainings by halves, which are not kept: leave them out")
    if not estimator._sees_rows():
        raise ValueError("kernels of workers are those with a name: linear, poly, rbf, sigmoid")
    source = Source.at(data_path)
    X, y = source.load()
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(X, y)]
    folds = plan(splits, len(y))
    own = for_folds(estimator)
    rows, codes, data, _ = own._prepared(X, y, None, reset=True)
    if folds is None or not complete(own, codes, None, [train for train, _ in splits]):
        raise ValueError("a split names a row twice, trains on what it tests, or lacks a class")
    gamma = width(own.gamma, rows) if getattr(own, "kernel", None) in WIDE else None
    svm, base = unset(own, "gamma")._svm(rows, seeding=COLD), clone(unset(own, "gamma"))
    units = []
    for at, fold in enumerate(folds):
        (keys,) = svm.keys(data, [fold], [], [] if gamma is None else [gamma])
        packed = PackedFolds.of([fold], len(y))
        units.append(Unit(f"fold {at + 1} of {len(folds)}", source, base, packed, (), gamma, tuple(keys), COLD))
    with working(executor, log, describe(source, own, cv), tries, threads, progress) as crew:
        crew.run(units)
        reports = [arrived(crew.store, unit.keys[0]) for unit in units]
    return judged(own, estimator, folds, reports, X, y, scoring)


def unset(prepared: Any, *names: str) -> Any:
    """A copy without values of C and gamma of its own: those count that a unit says."""
    own = copy(prepared)
    return own.set_params(**{name: 1.0 for name in names or ("C", "gamma") if hasattr(own, name)})


def arrived(store: Store, key: str) -> _native.ValidationFields:
    """A cell that must be there."""
    fields = store.fields(key)
    if fields is None:
        raise UnitFailedError(f"{store.path}: a cell that was there is gone or damaged; the same call computes it anew")
    return fields


def describe(source: Source, estimator: Any, cv: Any) -> dict[str, Any]:
    """What all cells of a folder have in common, by name."""
    varied = {"C", "gamma", "kernel", "degree", "coef0", "epsilon", "tol", "cache_size", "verbose"}
    parameters = {name: repr(value) for name, value in sorted(estimator.get_params().items()) if name not in varied}
    return {
        "format": 1,
        "maxmargin": _native.__version__,
        "by": "maxmargin.distributed",
        "data": source.sha256,
        "estimator": type(estimator).__name__,
        "parameters": parameters,
        "cv": repr(cv) if len(repr(cv)) < 200 else hashlib.sha256(repr(cv).encode()).hexdigest(),
    }


@contextmanager
def working(executor: Any, log: Any, common: dict[str, Any], tries: int, threads: int | None, progress: bool) -> Iterator[Crew]:
    """A crew, and its folder while it works."""
    if tries < 1:
        raise ValueError(f"tries={tries}: 1 or more")
    teller = Progress("maxmargin.distributed")

    def told(report: UnitReport, done: int, total: int) -> None:
        if progress:
            how = "was kept" if report.tries == 0 else f"{report.seconds:.3g} s on {report.host}"
            teller.tell(done, total, f"{report.name}: {how}")

    with tempfile.TemporaryDirectory(prefix="maxmargin-") as passing:
        store = Store(passing if log is None else log, common, passing=log is None)
        try:
            yield Crew(executor, store, tries=tries, threads=threads, told=told)
        finally:
            store.close()
            teller.close()


def refused(*_: Any, **__: Any) -> Any:
    """Instead of splits that have rows of their own."""
    raise ValueError("a split leaves out more than 30 % of the rows: write them to a file of their own, whose matrix is smaller")


def together(reports: list[_native.ValidationFields]) -> _native.ValidationFields:
    """One report of splits that were units by themselves: a round for each."""
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
    }


class RemoteGrid(Grid):
    """A grid whose units others do."""

    def __init__(self, *of: Any, crew: Crew, source: Source, reports: list[UnitReport], by: str, **how: Any) -> None:
        super().__init__(*of, **how)
        self.crew, self.source, self.reports, self.by = crew, source, reports, by

    def _solved(self, folds: Folds) -> Iterator[tuple[Key, _native.ValidationFields]]:
        usual = width("scale", self.rows)
        columns = self._columns(folds)

        def ease(unit: Unit) -> float:
            return abs(math.log(unit.gamma / (HARDEST * usual))) if unit.gamma else 0.0

        # The longest first, as far as that can be known: nobody waits for one that was begun late.
        units = sorted((unit for _, _, column in columns for unit in column), key=ease)
        self.reports.extend(self.crew.run(units))
        for settings, gamma, column in columns:
            for row, cost in enumerate(column[0].costs):
                yield (settings, gamma, cost), together([arrived(self.crew.store, unit.keys[row]) for unit in column])

    def _columns(self, folds: Folds) -> list[tuple[tuple[Any, ...], float | None, list[Unit]]]:
        """Settings and gamma of every column, and the units that do it."""
        parts, seeding = ([folds], FULL) if self.by == "gamma" else ([[fold] for fold in folds], COLD)
        packed = [PackedFolds.of(part, len(self.encoded)) for part in parts]
        columns = []
        for (settings, costs), gammas in self.tables().items():
            # Of C and gamma those count that the unit says.
            own = unset(self._set(settings))
            estimator, svm = clone(own), own._svm(self.rows, seeding=seeding)
            widths: list[float | None] = [*gammas] if gammas else [None]
            names = [self._name(settings, costs, gamma) for gamma in widths]
            try:
                keys = [svm.keys(self.data, part, list(costs), gammas) for part in parts]
            except ValueError as error:
                raise UnitFailedError(f"{names[0]}: {error}") from error
            for at, gamma in enumerate(widths):
                of_parts = [f", fold {k + 1} of {len(parts)}" if len(parts) > 1 else "" for k in range(len(parts))]
                column = [
                    Unit(names[at] + of_parts[k], self.source, estimator, packed[k], costs, gamma, tuple(keys[k][at]), seeding)
                    for k in range(len(parts))
                ]
                columns.append((settings, gamma, column))
        return columns

    def _name(self, settings: tuple[Any, ...], costs: tuple[float, ...], gamma: float | None) -> str:
        """What errors call a unit."""
        of = dict(zip(self.settings, settings, strict=True))
        machine = f"kernel={of['kernel']}" if "kernel" in of else type(self.own).__name__
        of_gamma = "" if gamma is None else f", gamma={gamma:g}"
        of_costs = f"C={costs[0]:g}" if len(costs) == 1 else f"C={costs[0]:g}…{costs[-1]:g}"
        return f"unit {machine}{of_gamma}, {of_costs} ({len(costs)} cells)"
