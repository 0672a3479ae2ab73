"""Searches on several machines, by an engine that exists: dask, Ray, MPI, or processes of this machine.

What is handed out is a *unit*: a kernel with one gamma, all its values of C and all folds, for which one kernel matrix serves. The plan alone says what units
there are, and so the results have the same bits wherever they are computed, on one machine as on many. Of a pipeline it is that for one split, whose training
set the steps are fitted to. A worker reads the data by its path, once, and refuses a file that is another one. Cells are kept in a folder, a file each, from
which the same call goes on.

Examples
--------
>>> import os, tempfile
>>> import numpy as np
>>> from maxmargin import SVC, GridSearchCV, distributed
>>> path = os.path.join(tempfile.mkdtemp(), "data.npz")
>>> np.savez(path, X=np.arange(20.0).reshape(-1, 1), y=[0] * 10 + [1] * 10)
>>> plan = GridSearchCV(SVC(), {"C": [1, 10], "gamma": [0.01, 0.1]}, cv=2)
>>> found = distributed.grid(path, plan, None)
>>> len(found.cv_results_["params"])
4
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV as TheirGridSearchCV
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline

from . import _native
from ._base import WIDE, whole
from ._data import Floats, width
from ._dispatch import Executor, UnitDispatcher, UnitFailedError, UnitReport
from ._folds import CrossValidation, Split, complete, for_folds, judged, least_of, plan, splits_of
from ._gate import KNOWN, Apart, check_gate, fits_rows, machine_of
from ._grid import COLD
from ._progress import Progress
from ._remote import Desk, RemoteGrid, RemotePerSplit, arrived, unset
from ._search import GridSearchCV, RandomizedSearchCV
from ._source import Source
from ._store import Store
from ._units import PackedFolds, Part, Unit, shrunk

__all__ = ["RayExecutor", "UnitFailedError", "UnitReport", "cross_validate", "grid"]

Plan = TypeVar("Plan", GridSearchCV, RandomizedSearchCV)


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
    sample_weight: Any = None,
    log: str | os.PathLike[str] | None = None,
    by: str = "gamma",
    tries: int = 3,
    threads: int | None = None,
    progress: bool = False,
) -> Plan:
    """Run a search on several machines.

    Parameters
    ----------
    data_path : path
        A LIBSVM text (packed by gzip, bzip2 or xz, if its name says so) or a ``.npz`` with ``X`` and ``y``, under this path on every machine.
    plan : GridSearchCV or RandomizedSearchCV
        Of this package, over :class:`SVC`, :class:`SVR`, :class:`LinearSVC` or :class:`LinearSVR`, weights of classes included: combinations, ``cv``,
        ``scoring``, ``refit``. Or over a :class:`sklearn.pipeline.Pipeline` with one of them at its end: the steps before it (a scaler, say) are
        fitted to each training set, by whoever does the unit. It is not fitted itself.
    executor
        Whatever has ``submit(function, *arguments)`` and returns futures: ``concurrent.futures``, ``dask.distributed.Client``,
        ``mpi4py.futures.MPIPoolExecutor``, :class:`RayExecutor`. Or a function that makes one, which is called again where an executor breaks, as that of
        processes does when one is killed. ``None`` does all of it here.
    sample_weight : array of shape (n_samples,), optional
        A factor of C for each row of the file, as ``fit`` of the plan takes it (of a pipeline that of its last step).
    log : path, optional
        A folder for finished cells. The same call goes on from what is there. Cells of workers that do not see the folder are written here.
    by : str
        What a unit is: ``"gamma"``, a kernel matrix with all its values of C and all folds; ``"fold"``, one fold of that, from scratch, for more workers than
        there are values of gamma. The solutions are the same to the tolerance, and the bits of each the same everywhere. Where each split has rows of
        its own (behind a pipeline, or few of all), units are one gamma of one split, whatever this says.
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
    if by not in ("gamma", "fold"):
        raise ValueError(f"by={by!r}: gamma or fold")
    source = Source.at(data_path)
    X, y = source.load()
    weights = checked_weights(sample_weight, len(y))
    search = clone(plan)
    fit: dict[str, Any] = {}
    if weights is not None:
        last = plan.estimator.steps[-1][0] + "__" if isinstance(plan.estimator, Pipeline) else ""
        fit[f"{last}sample_weight"] = weights
    common = describe(source, plan.estimator, plan.cv, weights)
    with working(executor, log, common, tries, threads, progress) as dispatcher:
        desk = Desk(dispatcher, source, None if weights is None else shrunk(weights), by)
        search._together, search._apart = partial(RemoteGrid, desk=desk), partial(RemotePerSplit, desk=desk)
        try:
            with whole(search):
                search._validate_params()
                search._fit_shared(X, y, fit)
        except Apart as apart:
            raise ValueError(
                f"this plan is none for the shared engine ({apart}): "
                "SVC, SVR, LinearSVC or LinearSVR that nothing ends early, alone or at the end of a Pipeline, "
                "combinations of what GridSearchCV shares, scores by name of predictions or decision values, and every class in every training set"
            ) from None
        finally:
            vars(search).pop("_together", None)
            vars(search).pop("_apart", None)
    search.units_ = desk.reports
    found: Plan = search
    return found


def cross_validate(
    data_path: str | os.PathLike[str],
    estimator: Any,
    executor: Executor | Callable[[], Executor] | None,
    *,
    cv: Any = 5,
    scoring: Any = None,
    sample_weight: Any = None,
    log: str | os.PathLike[str] | None = None,
    tries: int = 3,
    threads: int | None = None,
    progress: bool = False,
) -> CrossValidation:
    """Cross-validates an estimator, or a Pipeline with one at its end, on several machines; each split is a unit, trained from scratch.

    The bits are the same for every executor, and the solutions what fitting the estimator to every training set gives, to the tolerance.
    Parameters are those of :func:`grid`.
    """
    machine = machine_of(estimator)
    if type(machine) not in KNOWN:
        raise ValueError(f"{type(machine).__name__} is no estimator of maxmargin")
    if not machine._shares_engine():
        raise ValueError("max_iter and max_time end trainings by halves, which are not kept: leave them out")
    if not machine._sees_rows():
        raise ValueError("kernels of workers are those with a name: linear, poly, rbf, sigmoid")
    scorers = check_scoring(estimator, scoring=scoring, raise_exc=False)
    try:
        check_gate(estimator, scoring, scorers)
    except Apart as apart:
        raise ValueError(f"this cross-validation is none for the shared engine: {apart}") from None
    steps = Pipeline(estimator.steps[:-1]) if isinstance(estimator, Pipeline) and len(estimator.steps) > 1 else None
    source = Source.at(data_path)
    X, y = source.load()
    weights = checked_weights(sample_weight, len(y))
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits = splits_of(splitter.split(X, y), len(y))
    folds = plan(splits, len(y))
    own = for_folds(machine)
    codes = own._encoded(y)
    if folds is None or not complete(own, codes, weights, folds, least_of(machine)):
        raise ValueError("a split names a row twice, trains on what it tests, or lacks a class")
    base, travelling = clone(unset(own, "gamma")), None if weights is None else shrunk(weights)
    mine = clone(base)
    shares_rows = steps is None and not fits_rows(machine, {})
    prepared = mine._prepared(X, y, weights, reset=True) if shares_rows else None
    units = []
    for at, (fold, (train, test)) in enumerate(zip(folds, splits, strict=True)):
        if prepared is not None:
            (rows, _, data, used), tested, seen, part = prepared, fold, slice(None), None
        else:
            part, tested, seen = Part.of(steps, train, test), (tests_behind(train, test), []), slice(len(train))
            try:
                behind = part.behind(X, y, weights)
            except Apart as apart:
                raise ValueError(f"split {at + 1} of {len(folds)} cannot be trained: {apart}") from apart
            rows, _, data, used = mine._prepared(*behind, reset=True, trained=len(train))
        gamma = width(own.gamma, rows[seen]) if getattr(own, "kernel", None) in WIDE else None
        svm = mine._svm(rows, seeding=COLD)
        (keys,) = svm.keys(data, [tested], [], [] if gamma is None else [gamma], used)
        packed, name = PackedFolds.of([tested], rows.shape[0]), f"fold {at + 1} of {len(folds)}"
        units.append(Unit(name, source, base, packed, (), gamma, tuple(keys), COLD, travelling, part))
    with working(executor, log, describe(source, estimator, cv, weights), tries, threads, progress) as dispatcher:
        dispatcher.run(units)
        reports = [arrived(dispatcher.store, unit.keys[0]) for unit in units]
    if prepared is None:
        reports = [placed(report, split, len(y)) for report, split in zip(reports, splits, strict=True)]
    return judged(own, folds, reports, X, y, scorers)


def tests_behind(train: Any, test: Any) -> list[int]:
    """Where the rows of a test set are that stand behind those of its training set."""
    return list(range(len(train), len(train) + len(test)))


def placed(report: _native.ValidationFields, split: Split, rows: int) -> _native.ValidationFields:
    """What is said of the rows of a split, training set first, as what is said of those of the file."""
    train, test = split

    def of_file(values: Any) -> Any:
        result = np.full((rows, *values.shape[1:]), np.nan)
        result[test] = values[len(train) :]
        return result

    return {**report, "decisions": of_file(report["decisions"]), "predicted": of_file(report["predicted"])}


def checked_weights(sample_weight: Any, rows: int) -> Floats | None:
    """Return the weights of the rows of a file, None without weights."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weights.shape != (rows,):
        raise ValueError(f"sample_weight has the shape {weights.shape}, and the data have {rows} rows: give one weight for each")
    return weights


def describe(source: Source, estimator: Any, cv: Any, weights: Floats | None) -> dict[str, Any]:
    """Return the common description of all cells of a folder."""
    varied = {"C", "gamma", "kernel", "degree", "coef0", "epsilon", "tol", "cache_size", "verbose"}
    steps: list[tuple[str, Any]] = estimator.steps if isinstance(estimator, Pipeline) else []
    machine = steps[-1][1] if steps else estimator
    parameters = {name: repr(value) for name, value in sorted(machine.get_params().items()) if name not in varied}
    common = {
        "format": 1,
        "maxmargin": _native.__version__,
        "by": "maxmargin.distributed",
        "data": source.sha256,
        "estimator": type(machine).__name__,
        "parameters": parameters,
        "cv": repr(cv) if len(repr(cv)) < 200 else hashlib.sha256(repr(cv).encode()).hexdigest(),
    }
    if steps:
        common["steps"] = [name for name, _ in steps[:-1]]
    if weights is not None:
        common["sample_weight"] = hashlib.sha256(weights.tobytes()).hexdigest()
    return common


@contextmanager
def working(
    executor: Any, log: Any, common: dict[str, Any], tries: int, threads: int | None, progress: bool
) -> Iterator[UnitDispatcher]:
    """A dispatcher, and its folder while it works."""
    if tries < 1:
        raise ValueError(f"tries={tries}: 1 or more")
    teller = Progress("maxmargin.distributed")

    def on_unit_done(report: UnitReport, done: int, total: int) -> None:
        if progress:
            how = "was kept" if report.tries == 0 else f"{report.seconds:.3g} s on {report.host}"
            teller.tell(done, total, f"{report.name}: {how}")

    with tempfile.TemporaryDirectory(prefix="maxmargin-") as passing:
        store = Store(passing if log is None else log, common, passing=log is None)
        try:
            yield UnitDispatcher(executor, store, tries=tries, threads=threads, on_unit_done=on_unit_done)
        finally:
            store.close()
            teller.close()
