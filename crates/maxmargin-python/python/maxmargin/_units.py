"""Units of a search. A worker runs one unit at a time."""

from __future__ import annotations

import os
import socket
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from . import _native
from ._folds import Folds
from ._per_split import behind
from ._source import Source
from ._store import write_cell


@dataclass(frozen=True)
class PackedFolds:
    """Folds as bit masks, which are small messages for workers."""

    rows: int
    #: For each fold the rows that it tests, and those that it sets aside.
    masks: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def of(cls, folds: Folds, rows: int) -> PackedFolds:
        def packed(members: Sequence[int]) -> bytes:
            mask = np.zeros(rows, dtype=bool)
            mask[members] = True
            return zlib.compress(np.packbits(mask).tobytes(), 1)

        return cls(rows, tuple((packed(test), packed(aside)) for test, aside in folds))

    def unpacked(self) -> Folds:
        def members(mask: bytes) -> list[int]:
            bits = np.frombuffer(zlib.decompress(mask), dtype=np.uint8)
            return np.flatnonzero(np.unpackbits(bits, count=self.rows)).tolist()

        return [(members(test), members(aside)) for test, aside in self.masks]


def shrunk(numbers: NDArray[Any]) -> bytes:
    """Pack numbers for a message."""
    return zlib.compress(numbers.tobytes(), 1)


def grown(content: bytes, dtype: type) -> NDArray[Any]:
    """Unpack numbers of a message."""
    return np.frombuffer(zlib.decompress(content), dtype=dtype)


@dataclass(frozen=True)
class Part:
    """A split whose rows are its own: behind steps that are fitted to its training set, or few of all."""

    #: The pipeline before the machine, not fitted; None without one.
    steps: Any
    train: bytes
    test: bytes

    @classmethod
    def of(cls, steps: Any, train: NDArray[np.intp], test: NDArray[np.intp]) -> Part:
        """``steps`` may be fitted: what they found stays here."""
        own = None if steps is None else clone(steps)
        return cls(own, shrunk(np.asarray(train, dtype=np.int64)), shrunk(np.asarray(test, dtype=np.int64)))

    def trained(self) -> int:
        """The number of rows of the training set, which come first."""
        return len(grown(self.train, np.int64))

    def behind(self, X: Any, y: Any, weights: Any) -> tuple[Any, Any, Any]:
        """Rows, targets and weights of the split, made of those of the file."""
        steps = None if self.steps is None else clone(self.steps)
        return behind(steps, grown(self.train, np.int64), grown(self.test, np.int64), X, y, weights)


@dataclass(frozen=True)
class Unit:
    """A kernel with one gamma, all its values of C and some folds: a kernel matrix serves them all."""

    #: The name in errors and reports.
    name: str
    source: Source
    #: The estimator with all parameters except C and gamma.
    estimator: Any
    folds: PackedFolds
    #: Values of C, ascending; none where the estimator's own counts.
    costs: tuple[float, ...]
    gamma: float | None
    #: The keys of its cells, one for each value of C.
    keys: tuple[str, ...]
    #: The start of folds.
    seeding: str
    #: A factor of C for each row of the file, if they have any.
    weights: bytes | None = None
    #: The split, if its rows are not those of the file.
    part: Part | None = None


@dataclass
class Answer:
    """The answer of a worker for a unit."""

    host: str
    seconds: float
    #: The cells that the worker could not write, by key.
    cells: dict[str, bytes] = field(default_factory=dict)
    error: str | None = None


def work(unit: Unit, known: list[bytes], place: str, token: str, threads: int | None, version: str, attempt: int) -> Answer:
    """Does a unit, in whichever process this is called. ``known`` are its first cells. ``attempt`` tells those apart who remember what they were asked."""
    host, begun = f"{socket.gethostname()} (process {os.getpid()})", time.perf_counter()
    answer = Answer(host, 0.0)
    # On another machine, this path can be a different folder.
    shared = Path(place, token).exists()

    def keep(key: str, content: bytes) -> None:
        if shared:
            write_cell(Path(place), key, content)
        else:
            answer.cells[key] = content

    try:
        if version != _native.__version__:
            raise ValueError(f"maxmargin {_native.__version__} is installed here, and the search is of {version}: install that")
        if threads is not None and threads != _native.threads():
            _native.set_threads(threads)
        X, y = unit.source.load()
        weights = None if unit.weights is None else grown(unit.weights, np.float64)
        if unit.part is not None:
            X, y, weights = unit.part.behind(X, y, weights)
        trained = None if unit.part is None else unit.part.trained()
        rows, _, data, weights = unit.estimator._prepared(X, y, weights, reset=True, trained=trained)
        svm = unit.estimator._svm(rows, seeding=unit.seeding)
        folds, costs = unit.folds.unpacked(), list(unit.costs)
        if unit.part is not None and svm.keys(data, folds, costs, [] if unit.gamma is None else [unit.gamma], weights) != [
            [*unit.keys]
        ]:
            raise ValueError(
                "the steps before the machine make other rows here than where the search began: give them a random_state, and every "
                "machine the same versions of their packages"
            )
        svm.column(data, folds, costs, unit.gamma, known, keep, weights)
    except Exception as error:
        answer.error = one_line(error)
    answer.seconds = time.perf_counter() - begun
    return answer


def one_line(error: BaseException) -> str:
    """Return a short text of the error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
