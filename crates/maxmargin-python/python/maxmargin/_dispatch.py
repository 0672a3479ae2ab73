"""The distribution of the units of a search to workers."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from concurrent.futures import Executor as Pool
from dataclasses import dataclass
from typing import Any, Protocol

from . import _native
from ._store import Store
from ._units import Answer, Unit, one_line, work


class Executor(Protocol):
    """An executor: takes a function with arguments and returns a future with ``result``, ``cancel`` and ``add_done_callback``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any: ...


class UnitFailedError(RuntimeError):
    """A unit of a search failed."""


@dataclass
class UnitReport:
    """The outcome of a unit."""

    name: str
    #: The last worker; None if all cells were stored already.
    host: str | None = None
    #: The time of the unit in seconds.
    seconds: float = 0.0
    #: The number of attempts.
    tries: int = 0
    #: The number of cells that were stored before.
    known: int = 0


class LocalExecutor:
    """An executor in this process: a unit runs when its result is requested."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        return LazyFuture(fn, args)


class LazyFuture:
    """A future of this process."""

    def __init__(self, fn: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.fn, self.args = fn, args

    def result(self) -> Any:
        return self.fn(*self.args)

    def cancel(self) -> bool:
        return True

    def add_done_callback(self, callback: Callable[[Any], object]) -> None:
        callback(self)


class BrokenFuture:
    """A future of an executor that accepts no more work."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def result(self) -> Any:
        raise self.error


def close(executor: Any, *, wait: bool) -> None:
    """Shut down an executor that this module created."""
    if isinstance(executor, Pool):
        executor.shutdown(wait=wait, cancel_futures=True)
    elif hasattr(executor, "close"):
        executor.close()


class UnitDispatcher:
    """Submit units to an executor until all are finished."""

    def __init__(
        self,
        executor: Executor | Callable[[], Executor] | None,
        store: Store,
        *,
        tries: int,
        threads: int | None,
        on_unit_done: Callable[[UnitReport, int, int], object],
    ) -> None:
        given: Any = LocalExecutor() if executor is None else executor
        # A class of executors makes one, too.
        self.renewed: Callable[[], Executor] | None = None if hasattr(given, "submit") and not isinstance(given, type) else given
        self.executor: Any = given if self.renewed is None else self.renewed()
        self.store, self.tries, self.threads, self.on_unit_done = store, tries, threads, on_unit_done
        self.ended: queue.SimpleQueue[tuple[Unit, int, Any]] = queue.SimpleQueue()
        self.waiting: dict[int, Any] = {}
        #: The number of consecutive broken executors without a finished unit in between.
        self.broken = 0
        self.generation = 0

    def run(self, units: Iterable[Unit]) -> list[UnitReport]:
        """Does all units, those first that come first.

        Raises
        ------
        UnitFailedError
            When one could not be done after all tries, or the executor is no more; what is done is kept.
        """
        units = list(units)
        reports = {id(unit): UnitReport(unit.name) for unit in units}
        left = {id(unit) for unit in units}

        def done(unit: Unit) -> None:
            left.discard(id(unit))
            self.on_unit_done(reports[id(unit)], len(units) - len(left), len(units))

        try:
            for unit in units:
                known = self.store.known(unit.keys)
                reports[id(unit)].known = len(known)
                if len(known) == len(unit.keys):
                    done(unit)
                else:
                    self._submit(unit, known, reports[id(unit)])
            while left:
                unit, generation, future = self._next()
                report = reports[id(unit)]
                failed = self._collect(unit, future, report)
                if failed is None:
                    self.broken = 0
                    done(unit)
                    continue
                if isinstance(failed, BrokenExecutor):
                    # The cause is unknown, so that the attempt does not count for any unit.
                    report.tries -= 1
                    self._renew(generation, failed, len(left))
                elif report.tries >= self.tries:
                    what = failed if isinstance(failed, str) else one_line(failed)
                    raise UnitFailedError(f"{unit.name}: failed {report.tries} times, at last {what}{self._kept()}")
                self._submit(unit, self.store.known(unit.keys), report)
        finally:
            for future in self.waiting.values():
                future.cancel()
            if self.renewed is not None:
                close(self.executor, wait=not left)
        return [reports[id(unit)] for unit in units]

    def _kept(self) -> str:
        if self.store.passing:
            return "; nothing is kept without a folder (log)"
        return f"; cells that are done are kept in {self.store.path}"

    def _submit(self, unit: Unit, known: list[bytes], report: UnitReport) -> None:
        report.tries += 1
        place = str(self.store.path)
        arguments = (unit, known, place, self.store.token, self.threads, _native.__version__, report.tries)
        generation = self.generation
        try:
            future = self.executor.submit(work, *arguments)
        except BrokenExecutor as error:
            self.ended.put((unit, generation, BrokenFuture(error)))
            return
        self.waiting[id(unit)] = future
        future.add_done_callback(lambda future: self.ended.put((unit, generation, future)))

    def _next(self) -> tuple[Unit, int, Any]:
        while True:
            try:
                # Ctrl-C is handled between two waits, on platforms where a wait blocks it.
                return self.ended.get(timeout=0.1)
            except queue.Empty:
                continue

    def _collect(self, unit: Unit, future: Any, report: UnitReport) -> BaseException | str | None:
        """Store the cells of a worker. Return the reason if some are missing."""
        self.waiting.pop(id(unit), None)
        try:
            answer: Answer = future.result()
        except Exception as error:
            return error
        report.host, report.seconds = answer.host, answer.seconds
        for key, content in answer.cells.items():
            self.store.keep(key, content)
        if answer.error is not None:
            return f"on {answer.host}: {answer.error}"
        missing = [key for key in unit.keys if self.store.cell(key) is None]
        return f"on {answer.host}: {len(missing)} of its {len(unit.keys)} cells did not arrive" if missing else None

    def _renew(self, generation: int, error: BaseException, left: int) -> None:
        """Replace a broken executor."""
        if generation != self.generation:
            return
        if self.renewed is None:
            raise UnitFailedError(
                f"the executor broke with {left} units left ({one_line(error)}){self._kept()}. The same call with another executor goes "
                "on with what is kept; a function that makes one (executor=lambda: ProcessPoolExecutor(4)) is called again by itself"
            ) from error
        self.broken += 1
        if self.broken >= self.tries:
            raise UnitFailedError(
                f"{self.broken} executors broke one after the other with {left} units left, at last {one_line(error)}{self._kept()}"
            ) from error
        close(self.executor, wait=False)
        self.executor, self.generation = self.renewed(), self.generation + 1
