"""What tests of searches on several machines hand to workers, and the script that MPI and Ray run."""

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from maxmargin import SVC, GridSearchCV, distributed

GAMMAS = [10.0**k for k in np.linspace(-3, 0.5, 10)]


def data(folder, rows=300):
    """A file of the folder."""
    X, y = make_classification(rows, 8, flip_y=0.1, random_state=1)
    np.savez(folder / "data.npz", X=X, y=y)
    return folder / "data.npz"


def plan(**more):
    return GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": GAMMAS}, **({"cv": 5, "refit": False} | more))


def bits(search):
    """Everything that must be the same wherever it was computed."""
    told = {name: np.asarray(value).tolist() for name, value in search.cv_results_.items() if "time" not in name}
    return pickle.dumps((told, search.certificates_))


def hanging_once(flag, fn, *args):
    """Does as it is told; but whoever comes first says who it is and never ends."""
    with contextlib.suppress(FileExistsError):
        handle = os.open(flag, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
        time.sleep(600)
    return fn(*args)


class Hanging:
    """An executor of which one worker hangs in its first unit, until somebody kills it."""

    def __init__(self, executor, flag):
        self.executor, self.flag = executor, str(flag)

    def submit(self, fn, *args):
        return self.executor.submit(hanging_once, self.flag, fn, *args)

    def close(self):
        self.executor.shutdown(wait=False, cancel_futures=True)


def killer(flag):
    """Kills who hangs; a thread that was started, whose ``killed`` has the process."""

    def kill():
        while not (flag.exists() and flag.read_text()):
            time.sleep(0.02)
        thread.killed = int(flag.read_text())
        os.kill(thread.killed, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.killed = None
    thread.start()
    return thread


def main(engine, path, result):
    """The search on an engine that wants a program of its own."""
    if engine == "mpi":
        from mpi4py.futures import MPIPoolExecutor  # noqa: PLC0415

        with MPIPoolExecutor() as executor:
            found = distributed.grid(path, plan(), executor)
    else:
        import ray  # noqa: PLC0415

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            found = distributed.grid(path, plan(), distributed.RayExecutor(num_cpus=1))
        finally:
            ray.shutdown()
    Path(result).write_bytes(pickle.dumps((bits(found), sorted({unit.host for unit in found.units_}))))


if __name__ == "__main__":
    main(*sys.argv[1:])
