"""Searches on several machines: the same bits wherever units are done, and nothing is lost with a worker."""

import importlib.util
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from pathlib import Path

import engines
import numpy as np
import pytest
import sklearn.model_selection
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from maxmargin import SVC, SVR, GridSearchCV, LinearSVC, NuSVC, distributed, read_libsvm
from maxmargin._dispatch import LazyFuture

SPAWN = multiprocessing.get_context("spawn")


def processes(count=2):
    return ProcessPoolExecutor(count, mp_context=SPAWN)


@pytest.fixture(scope="module")
def executor():
    """Two workers for all tests that leave them alive: each takes seconds to start."""
    with processes() as executor:
        yield executor


@pytest.fixture
def path(tmp_path):
    return engines.data(tmp_path)


@pytest.fixture
def alone(path):
    """The search on one machine."""
    arrays = np.load(path)
    return engines.bits(engines.plan().fit(arrays["X"], arrays["y"].astype(float)))


def test_processes_find_the_bits_of_one_machine(path, alone, tmp_path, executor):
    here = distributed.grid(path, engines.plan(), None)
    assert engines.bits(here) == alone
    there = distributed.grid(path, engines.plan(refit=True), executor, log=tmp_path / "log", threads=1)
    assert engines.bits(there) == alone
    assert there.best_estimator_.certificate_.holds
    assert len(there.units_) == len(engines.GAMMAS)
    assert all(unit.tries == 1 and unit.known == 0 and unit.seconds > 0 for unit in there.units_)
    assert len(list((tmp_path / "log").glob("*.cell"))) == 30
    assert not list((tmp_path / "log").glob(".maxmargin-*"))
    assert not hasattr(engines.plan(), "units_")
    # What is kept is not done again; and no executor is asked for anything.
    again = distributed.grid(path, engines.plan(), Refusing(), log=tmp_path / "log")
    assert engines.bits(again) == alone
    assert all(unit.known == 3 and unit.tries == 0 for unit in again.units_)


def test_folds_are_units_where_there_are_more_workers_than_gammas(path, tmp_path, executor):
    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    plan = GridSearchCV(
        SVC(tol=1e-9),
        grid,
        scoring=["accuracy", "roc_auc"],
        refit=False,
        cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
    )
    whole = distributed.grid(path, plan, None)
    found = distributed.grid(path, plan, None, by="fold", log=tmp_path / "log")
    assert len(found.units_) == 12
    assert found.units_[0].name.endswith(", fold 1 of 6")
    for name, values in whole.cv_results_.items():
        if "test_" in name and not name.startswith("rank"):
            assert_allclose(found.cv_results_[name], values, atol=1e-7, err_msg=name)
    assert [len(splits) for splits in found.certificates_] == [6] * 6
    assert all(one.holds for splits in found.certificates_ for one in splits)
    there = distributed.grid(path, plan, executor, by="fold")
    assert engines.bits(there) == engines.bits(found)
    assert engines.bits(distributed.grid(path, plan, Refusing(), by="fold", log=tmp_path / "log")) == engines.bits(found)
    with pytest.raises(ValueError, match="by='C': gamma or fold"):
        distributed.grid(path, plan, None, by="C")


class Refusing:
    def submit(self, *_):
        raise AssertionError("nothing is to be done")


def test_a_killed_process_costs_its_unit_and_nothing_else(path, alone, tmp_path):
    made = []

    def workers():
        made.append(engines.Hanging(processes(), tmp_path / "flag"))
        return made[-1]

    killer = engines.killer(tmp_path / "flag")
    found = distributed.grid(path, engines.plan(), workers, log=tmp_path / "log")
    assert killer.killed is not None
    assert len(made) == 2
    assert engines.bits(found) == alone


def test_an_executor_that_broke_is_said_and_the_same_call_goes_on(path, alone, tmp_path):
    killer = engines.killer(tmp_path / "flag")
    with (
        processes() as executor,
        pytest.raises(distributed.UnitFailedError, match=r"executor broke with \d+ units left .*kept in .*another executor"),
    ):
        distributed.grid(path, engines.plan(), engines.Hanging(executor, tmp_path / "flag"), log=tmp_path / "log")
    assert killer.killed is not None
    kept = len(list((tmp_path / "log").glob("*.cell")))
    found = distributed.grid(path, engines.plan(), None, log=tmp_path / "log")
    assert engines.bits(found) == alone
    assert sum(unit.known for unit in found.units_) == kept


def test_executors_that_break_for_ever_are_given_up(path):
    class BrokenPipe(BrokenExecutor):
        pass

    class Breaking:
        def submit(self, *_):
            broken = Future()
            broken.set_exception(BrokenPipe("no more"))
            return broken

    with pytest.raises(
        distributed.UnitFailedError, match="3 executors broke one after the other with 10 units left, at last BrokenPipe: no more"
    ):
        distributed.grid(path, engines.plan(), Breaking)


class Elsewhere:
    """An executor whose workers do not see the folder."""

    def submit(self, fn, unit, known, place, *others):
        return LazyFuture(fn, (unit, known, place + "-elsewhere", *others))


def test_cells_of_workers_that_do_not_see_the_folder_are_written_here(path, alone, tmp_path):
    found = distributed.grid(path, engines.plan(), Elsewhere(), log=tmp_path / "log")
    assert engines.bits(found) == alone
    assert len(list((tmp_path / "log").glob("*.cell"))) == 30


def test_half_a_unit_goes_on_and_a_damaged_cell_is_computed_anew(path, alone, tmp_path):
    log = tmp_path / "log"
    distributed.grid(path, engines.plan(), None, log=log)
    cells = sorted(log.glob("*.cell"))
    whole = {cell: cell.read_bytes() for cell in cells}
    for cell in cells[::3]:
        cell.unlink()
    # The names of cells are hashes. Of ten damaged cells, some come before a missing cell of their
    # column.
    for cell in cells[1::3]:
        damaged = bytearray(whole[cell])
        damaged[len(damaged) // 2] ^= 1
        cell.write_bytes(damaged)
    with pytest.warns(RuntimeWarning, match="computed anew"):
        found = distributed.grid(path, engines.plan(), None, log=log)
    assert engines.bits(found) == alone
    assert sorted(log.glob("*.cell")) == cells
    assert 0 < sum(unit.known for unit in found.units_) < 20


class Meddling:
    """Somebody writes to the file before the first unit is done."""

    def __init__(self, executor, path):
        self.executor, self.path = executor, path

    def submit(self, fn, *args):
        np.savez(self.path, X=np.eye(4), y=np.arange(4.0))
        return self.executor.submit(fn, *args)


def test_a_worker_with_another_file_refuses(path):
    with (
        processes(1) as executor,
        pytest.raises(
            distributed.UnitFailedError,
            match=r"^unit kernel=rbf, gamma=\S+, C=0\.1…10 \(3 cells\): failed 3 times, at last on .*: "
            r"ValueError: .*data\.npz on .* is another file \(SHA-256 \w{12}…\) than the search is of",
        ),
    ):
        distributed.grid(path, engines.plan(), Meddling(executor, path))


def test_a_failing_unit_is_named_after_its_tries(path):
    asked = []

    class Failing:
        def submit(self, fn, unit, *others):
            asked.append(unit.gamma)
            future = Future()
            if unit.gamma == engines.GAMMAS[4]:
                future.set_exception(RuntimeError("lines of a trace\nout of memory"))
            else:
                future.set_result(fn(unit, *others))
            return future

    with pytest.raises(
        distributed.UnitFailedError, match=r"gamma=0\.035.*failed 2 times, at last RuntimeError: out of memory; nothing is kept"
    ):
        distributed.grid(path, engines.plan(), Failing(), tries=2)
    assert asked.count(engines.GAMMAS[4]) == 2


def test_a_folder_of_another_search_is_refused(path, tmp_path):
    log = tmp_path / "log"
    distributed.grid(path, engines.plan(), None, log=log)
    with pytest.raises(ValueError, match="holds a search with another cv: 5, and here it is 4"):
        distributed.grid(path, engines.plan(cv=4), None, log=log)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(ValueError, match=r"has other things in it \(thesis\.tex\)"):
        distributed.grid(path, engines.plan(), None, log=tmp_path / "other")
    # A wider grid is no other search.
    wider = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0, 100.0], "gamma": engines.GAMMAS[:2]}, cv=5, refit=False)
    assert [unit.known for unit in distributed.grid(path, wider, None, log=log).units_] == [3, 3]


def test_plans_that_are_none_are_refused(path):
    grid = {"C": [1.0]}
    for plan, why in [
        (sklearn.model_selection.GridSearchCV(SVC(), grid), "of maxmargin, not sklearn.model_selection's"),
        (GridSearchCV(make_pipeline(StandardScaler(), SVC(max_time=5)), {"svc__C": [1.0]}), "none for the shared engine"),
        (GridSearchCV(SVC(max_time=5), grid), "none for the shared engine"),
    ]:
        with pytest.raises(ValueError, match=why):
            distributed.grid(path, plan, None)
    with pytest.raises(FileNotFoundError):
        distributed.grid(path.with_name("nowhere"), engines.plan(), None)
    with pytest.raises(ValueError, match=r"sample_weight has the shape \(3,\), and the data have 300 rows"):
        distributed.grid(path, engines.plan(), None, sample_weight=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="StandardScaler is no estimator of maxmargin"):
        distributed.cross_validate(path, make_pipeline(StandardScaler()), None)


@pytest.mark.parametrize("packed", ["", ".gz", ".xz"])
def test_texts_and_values(packed, tmp_path):
    import gzip  # noqa: PLC0415
    import lzma  # noqa: PLC0415

    X, y = np.load(engines.data(tmp_path)).values()
    place = tmp_path / f"data.txt{packed}"
    dump_svmlight_file(X, X[:, 0] * 2 + y, str(tmp_path / "data.txt"), zero_based=False)
    text = (tmp_path / "data.txt").read_bytes()
    place.write_bytes({"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[packed](text))
    plan = GridSearchCV(SVR(), {"C": [1.0, 5.0], "kernel": ["linear", "rbf"], "epsilon": [0.1, 0.2]}, cv=KFold(4), refit=False)
    found = distributed.grid(place, plan, None)
    assert engines.bits(found) == engines.bits(plan.fit(*read_libsvm(tmp_path / "data.txt")))
    # A linear kernel for each epsilon; the scale of gamma is that of each of 4 splits.
    assert len(found.units_) == 2 + 2 * 4


@pytest.mark.parametrize(
    "of",
    [lambda y: y > 0, lambda y: y + 2**60, lambda y: np.array(["no", "yes"])[y], lambda y: y],
    ids=["bool", "large", "words", "int"],
)
def test_labels_of_arrays_are_those_of_the_file(of, tmp_path):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
    np.savez(tmp_path / "data.npz", X=X, y=of(y))
    plan = GridSearchCV(SVC(), {"C": [1, 10]}, cv=3)
    found, alone = distributed.grid(tmp_path / "data.npz", plan, None), plan.fit(X, of(y))
    assert_array_equal(found.classes_, alone.classes_)
    assert found.classes_.dtype == alone.classes_.dtype
    assert_array_equal(found.predict(X), alone.predict(X))
    np.savez(tmp_path / "objects.npz", X=X, y=of(y).astype(object))
    with pytest.raises(ValueError, match="holds objects of Python"):
        distributed.grid(tmp_path / "objects.npz", plan, None)


def test_linear_machines_have_a_unit_for_each_setting(path):
    X, y = np.load(path).values()
    plan = GridSearchCV(LinearSVC(max_iter=100_000), {"C": [0.1, 1.0], "loss": ["hinge", "squared_hinge"]}, refit=False)
    found = distributed.grid(path, plan, None)
    assert engines.bits(found) == engines.bits(plan.fit(X, y.astype(float)))
    assert {unit.name for unit in found.units_} == {"unit LinearSVC, C=0.1…1 (2 cells)"}


@pytest.mark.parametrize("estimator", [SVC(C=3.0), SVC(kernel="linear"), NuSVC(nu=0.3), SVR(C=2.0), LinearSVC(max_iter=100_000)])
def test_splits_are_units_of_a_cross_validation(estimator, path, tmp_path, executor):
    X, y = np.load(path).values()
    cv = KFold(4, shuffle=True, random_state=1)
    found = distributed.cross_validate(path, estimator, None, cv=cv, log=tmp_path / "log")
    there = distributed.cross_validate(path, estimator, executor, cv=cv)
    for one, other in zip(found.decisions, there.decisions, strict=True):
        assert_array_equal(one, other)
    tight = type(estimator)(**estimator.get_params() | {"tol": 1e-8})
    shared = tight.cross_validate(X, y.astype(float), cv=cv)
    exact = distributed.cross_validate(path, tight, None, cv=cv)
    assert_allclose(np.concatenate(exact.decisions), np.concatenate(shared.decisions), atol=1e-5)
    assert found.certificate.holds
    assert found.train_size == shared.train_size
    again = distributed.cross_validate(path, estimator, Refusing(), cv=cv, log=tmp_path / "log")
    assert_array_equal(again.test_score, found.test_score)


SCALED = {"svc__C": [0.5, 5.0], "svc__gamma": [0.01, 0.1, "scale"]}


@pytest.mark.parametrize(
    ("steps", "grid", "weighted"),
    [
        ([StandardScaler(), SVC()], SCALED | {"standardscaler__with_mean": [True, False]}, False),
        ([MinMaxScaler(), SVC(class_weight={0.0: 1.0, 1.0: 3.0})], SCALED, True),
        ([SimpleImputer(), StandardScaler(), LinearSVC(max_iter=100_000)], {"linearsvc__C": [0.1, 1.0]}, True),
        ([StandardScaler(), SVR()], {"svr__C": [0.1, 1.0], "svr__epsilon": [0.1, 0.2]}, False),
    ],
    ids=lambda of: "-".join(type(one).__name__ for one in of) if isinstance(of, list) else None,
)
def test_steps_of_a_pipeline_are_fitted_to_each_training_set_wherever_it_is(steps, grid, weighted, tmp_path, executor):
    arrays = np.load(engines.data(tmp_path))
    X, y = arrays["X"] * 10.0 ** np.arange(-3, 5) + 100, arrays["y"].astype(float)
    if isinstance(steps[0], SimpleImputer):
        X[::7, 2] = np.nan
    path = tmp_path / "wide.npz"
    np.savez(path, X=X, y=y)
    weights = np.random.default_rng(3).uniform(0.1, 3, len(y)) if weighted else None
    plan = GridSearchCV(make_pipeline(*steps), grid, cv=KFold(4, shuffle=True, random_state=2))
    last = plan.estimator.steps[-1][0]
    here = plan.fit(X, y, **({f"{last}__sample_weight": weights} if weighted else {}))
    assert here.shared_
    there = distributed.grid(path, plan, executor, sample_weight=weights, log=tmp_path / "log")
    assert engines.bits(there) == engines.bits(here)
    assert_array_equal(there.predict(X), here.predict(X))
    assert {unit.name.rpartition(", ")[2] for unit in there.units_} == {f"split {k}" for k in range(1, 5)}
    again = distributed.grid(path, plan, Refusing(), sample_weight=weights, log=tmp_path / "log", by="fold")
    assert engines.bits(again) == engines.bits(here)


@pytest.mark.parametrize("estimator", [SVC(), SVC(class_weight="balanced"), LinearSVC(max_iter=100_000)], ids=str)
def test_weights_travel_with_units(estimator, path, tmp_path, executor):
    X, y = np.load(path).values()
    weights = np.random.default_rng(3).uniform(-0.2, 3, len(y))
    grid = {"C": [0.1, 1.0, 10.0]} | ({"gamma": [0.01, 0.1]} if hasattr(estimator, "gamma") else {})
    plan = GridSearchCV(estimator, grid)
    here = plan.fit(X, y.astype(float), sample_weight=weights)
    assert here.shared_
    there = distributed.grid(path, plan, executor, sample_weight=weights, log=tmp_path / "log")
    assert engines.bits(there) == engines.bits(here)
    assert_array_equal(there.predict(X), here.predict(X))
    assert engines.bits(distributed.grid(path, plan, None)) != engines.bits(here)
    with pytest.raises(ValueError, match="holds a search with another sample_weight"):
        distributed.grid(path, plan, None, sample_weight=weights + 1, log=tmp_path / "log")
    with pytest.raises(ValueError, match="holds a search with another sample_weight"):
        distributed.grid(path, plan, None, log=tmp_path / "log")


def test_splits_of_few_rows_have_matrices_of_their_own(path):
    X, y = np.load(path).values()
    cv = ShuffleSplit(3, train_size=0.3, test_size=0.2, random_state=1)
    plan = GridSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.01, "scale"]}, cv=cv, refit=False)
    found = distributed.grid(path, plan, None)
    assert engines.bits(found) == engines.bits(plan.fit(X, y.astype(float)))
    assert len(found.units_) == 6


def test_steps_that_give_other_rows_each_time_are_refused(path):
    plan = GridSearchCV(make_pipeline(GaussianRandomProjection(4), SVC()), {"svc__C": [1.0]}, refit=False)
    with pytest.raises(
        distributed.UnitFailedError, match=r"split \d: failed 3 times, .* other rows here than where the search began"
    ):
        distributed.grid(path, plan, None)
    steady = plan.set_params(estimator__gaussianrandomprojection__random_state=1)
    assert distributed.grid(path, steady, None).certificates_ == steady.fit(*np.load(path).values()).certificates_


@pytest.mark.parametrize("machine", [SVC(C=3.0, tol=1e-8), SVR(C=2.0, tol=1e-8), LinearSVC(max_iter=100_000, tol=1e-8)], ids=str)
def test_splits_of_a_pipeline_are_units_of_a_cross_validation(machine, path, tmp_path, executor):
    X, y = np.load(path).values()
    weights = np.random.default_rng(3).uniform(0.1, 3, len(y))
    cv = ShuffleSplit(3, test_size=0.3, random_state=1)
    pipeline = make_pipeline(MinMaxScaler(), machine)
    found = distributed.cross_validate(path, pipeline, None, cv=cv, sample_weight=weights, log=tmp_path / "log")
    there = distributed.cross_validate(path, pipeline, executor, cv=cv, sample_weight=weights)
    for at, (train, test) in enumerate(cv.split(X)):
        fitted = clone(pipeline).fit(X[train], y[train], **{f"{pipeline.steps[-1][0]}__sample_weight": weights[train]})
        assert_array_equal(there.decisions[at], found.decisions[at])
        assert_array_equal(found.test[at], test)
        assert_allclose(found.predictions[at], fitted.predict(X[test]), atol=1e-5)
        assert found.test_score[at] == pytest.approx(fitted.score(X[test], y[test]), abs=1e-5)
    assert found.certificate.holds
    again = distributed.cross_validate(path, pipeline, Refusing(), cv=cv, sample_weight=weights, log=tmp_path / "log")
    assert_array_equal(again.test_score, found.test_score)


def test_weights_of_rows_that_splits_share(path):
    X, y = np.load(path).values()
    weights = np.random.default_rng(3).uniform(0.1, 3, len(y))
    found = distributed.cross_validate(path, SVC(tol=1e-8), None, sample_weight=weights)
    shared = SVC(tol=1e-8).cross_validate(X, y.astype(float), sample_weight=weights)
    assert_allclose(np.concatenate(found.decisions), np.concatenate(shared.decisions), atol=1e-5)


def test_a_bar_or_lines_tell_of_units(path, capsys, monkeypatch):
    import maxmargin._progress  # noqa: PLC0415

    monkeypatch.setattr(maxmargin._progress, "bars", lambda: None)
    distributed.grid(path, engines.plan(), None, progress=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("[maxmargin.distributed] unit kernel=rbf, gamma=")
    assert lines[-1].endswith(", 10 of 10")


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


@needs("distributed")
def test_dask_with_a_worker_killed_finds_the_bits_of_one_machine(path, alone, tmp_path):
    from dask.distributed import Client, LocalCluster  # noqa: PLC0415

    with (
        LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        killer = engines.killer(tmp_path / "flag")
        found = distributed.grid(path, engines.plan(), engines.Hanging(client, tmp_path / "flag"), log=tmp_path / "log")
        assert killer.killed in before
    assert engines.bits(found) == alone
    assert len({unit.host for unit in found.units_}) >= 2


def script(tmp_path, path, engine, *begin):
    """Runs a search in a program of its own: its bits, and who worked for it."""
    result = tmp_path / "result"
    command = [*begin, sys.executable, *(["-m", "mpi4py.futures"] if engine == "mpi" else []), engines.__file__, engine]
    ended = subprocess.run([*command, str(path), str(result)], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    return pickle.loads(result.read_bytes())


MPIEXEC = Path(sys.executable).with_name("mpiexec")


@needs("mpi4py")
@pytest.mark.skipif(not MPIEXEC.exists(), reason="mpich is not installed (pip install mpich)")
def test_mpi_with_three_ranks_finds_the_bits_of_one_machine(path, alone, tmp_path):
    found, hosts = script(tmp_path, path, "mpi", str(MPIEXEC), "-n", "3")
    assert found == alone
    assert len(hosts) == 2, hosts


@needs("ray")
def test_ray_finds_the_bits_of_one_machine(path, alone, tmp_path):
    found, hosts = script(tmp_path, path, "ray")
    assert found == alone
    assert hosts
