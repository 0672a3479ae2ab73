"""One search on several machines. Here they are two processes; on a cluster only the executor is another one."""

import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sklearn.datasets import dump_svmlight_file, make_classification

from maxmargin import SVC, GridSearchCV, distributed


def workers() -> ProcessPoolExecutor:
    """Two processes; called again where one of them is killed. With dask: ``Client("scheduler:8786")``; with Ray: ``distributed.RayExecutor()``."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def main() -> None:
    """The search."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.txt")  # on a cluster: a path that every machine sees
        X, y = make_classification(400, 10, flip_y=0.1, random_state=2)
        dump_svmlight_file(X, y, str(data), zero_based=False)

        plan = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.001, 0.01, 0.1, 1.0]}, cv=5, refit=False)
        found = distributed.grid(data, plan, workers, log=Path(folder, "log"))
        print(f"best: {found.best_params_} with {found.best_score_:.4f}")
        print(f"{len(found.units_)} units, each one gamma, for whichever of two workers is free")

        # The same call goes on from the folder; and one machine alone finds the same bits.
        again = distributed.grid(data, plan, workers, log=Path(folder, "log"))
        print(f"done before: {sum(unit.known for unit in again.units_)} cells of 12")
        alone = distributed.grid(data, plan, None)
        print(f"the same bits on one machine: {alone.certificates_ == found.certificates_}")


if __name__ == "__main__":
    main()
