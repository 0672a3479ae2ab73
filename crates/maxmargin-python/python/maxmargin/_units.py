"""Units of a search: what one worker does at a time."""

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

from . import _native
from ._folds import Folds
from ._source import Source
from ._store import write_cell


@dataclass(frozen=True)
class PackedFolds:
    """Folds as bits, which take little room on their way to a worker."""

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


@dataclass(frozen=True)
class Unit:
    """A kernel with one gamma, all its values of C and some folds: a kernel matrix serves them all."""

    #: What it is called in errors and reports.
    name: str
    source: Source
    #: Has all its parameters but C and gamma.
    estimator: Any
    folds: PackedFolds
    #: Values of C, ascending; none where the estimator's own counts.
    costs: tuple[float, ...]
    gamma: float | None
    #: Of its cells, one for each value of C.
    keys: tuple[str, ...]
    #: How folds start.
    seeding: str


@dataclass
class Answer:
    """What a worker says of a unit."""

    host: str
    seconds: float
    #: Cells that it could not write itself, by key.
    cells: dict[str, bytes] = field(default_factory=dict)
    error: str | None = None


def work(unit: Unit, known: list[bytes], place: str, token: str, threads: int | None, version: str, attempt: int) -> Answer:
    """Does a unit, in whichever process this is called. ``known`` are its first cells. ``attempt`` tells those apart who remember what they were asked."""
    host, begun = f"{socket.gethostname()} (process {os.getpid()})", time.perf_counter()
    answer = Answer(host, 0.0)
    # A folder of this name may be another one here.
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
        rows, _, data, _ = unit.estimator._prepared(X, y, None, reset=True)
        svm = unit.estimator._svm(rows, seeding=unit.seeding)
        svm.column(data, unit.folds.unpacked(), list(unit.costs), unit.gamma, known, keep)
    except Exception as error:
        answer.error = one_line(error)
    answer.seconds = time.perf_counter() - begun
    return answer


def one_line(error: BaseException) -> str:
    """What went wrong, shortly."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__
