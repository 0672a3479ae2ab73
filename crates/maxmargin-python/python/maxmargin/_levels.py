"""Several quantiles or expectiles in one estimator."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.metrics import d2_pinball_score
from sklearn.utils.validation import check_is_fitted

from ._gate import Apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from . import _native
    from ._base import KernelMachine
    from ._data import Floats

    Base = KernelMachine
else:
    Base = object


class OfLevels(Base):
    """Regressors of a level, or of several levels at once: one machine for each, over the same kernel values."""

    #: The parameter that has the level, or a list of levels.
    _level: ClassVar[str]
    #: The levels of the model.
    _trained_levels: Floats | None

    def _levels(self) -> Floats | None:
        """Return the levels in the order of the parameter if it is a list, else None."""
        value = getattr(self, self._level)
        if isinstance(value, Real):
            return None
        levels = np.asarray(value, dtype=np.float64)
        if (
            levels.ndim != 1
            or levels.size == 0
            or not ((levels > 0) & (levels < 1)).all()
            or len(np.unique(levels)) < levels.size
        ):
            message = f"The {self._level!r} parameter of {type(self).__name__} must be a float in the range (0.0, 1.0), or a list of different ones. Got "
            raise ValueError(f"{message}{value!r} instead.")
        return levels

    def _price(self, name: str) -> Any:
        levels = self._levels() if name == self._level else None
        return super()._price(name) if levels is None else sorted(map(float, levels))

    def _adopt(self, model: _native.Model, X: Any, y: Floats) -> None:
        self._trained_levels = self._levels()
        super()._adopt(model, X, y)

    def _shares_engine(self) -> bool:
        return super()._shares_engine() and self._levels() is None

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        if self._levels() is not None:
            raise Apart("predictions of several levels have a column for each")
        found: tuple[NDArray[Any], Floats] = super()._predicted(report)
        return found

    def _machine_order(self, count: int) -> NDArray[np.intp]:
        levels = self._levels()
        # Estimators that earlier versions wrote do not say which levels were trained.
        trained = getattr(self, "_trained_levels", levels)
        if levels is None and trained is None:
            return np.arange(count)
        if levels is None or trained is None or len(levels) != count or set(levels.tolist()) != set(trained.tolist()):
            raise ValueError(f"{self._level} was changed after fit: {count} levels were trained; fit again")
        # The model's machines have ascending levels; attributes have the order of the parameter.
        return np.argsort(np.argsort(levels))

    def _output_names(self) -> tuple[str, ...]:
        levels = self._levels()
        if levels is None:
            return super()._output_names()
        return tuple(f"{self._level} {level}" for level in levels.tolist())

    def _describe(self, machines: list[_native.MachineFields], X: Any, y: Floats) -> None:
        if len(machines) == 1:
            super()._describe(machines, X, y)
            return
        rows = np.unique(np.concatenate([machine["rows"] for machine in machines]))
        coef = np.zeros((len(machines), len(rows)))
        for place, machine in zip(coef, machines, strict=True):
            place[np.searchsorted(rows, machine["rows"])] = machine["coef"]
        self._set_support(rows, X, coef)
        self.intercept_ = np.array([machine["bias"] for machine in machines])
        self._n_support = np.array([len(rows)], dtype=np.int32)
        self.n_iter_ = np.array([machine["iterations"] for machine in machines], dtype=np.int32)

    def predict(self, X: Any) -> Floats:
        """Predict the value of every row; of several levels an array of shape (n_samples, n_levels), with columns as in the parameter.

        Values of several levels do not cross: those of a row are sorted (Chernozhukov, Fernández-Val, Galichon 2010). :meth:`crossings` counts the rows for
        which that changes something.
        """
        check_is_fitted(self)
        order = self._machine_order(len(self.certificates_))
        if self._levels() is None:
            single: Floats = super().predict(X)
            return single
        values: Floats = np.sort(self._decisions(X), axis=1)[:, order]
        return values

    def crossings(self, X: Any) -> int:
        """Return the number of rows whose values cross before they are sorted; 0 for one level."""
        check_is_fitted(self)
        values = self._decisions(X)
        return int((np.diff(values, axis=1) < 0).any(axis=1).sum())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of one level, as scikit-learn's regressors do. Of several levels the mean of :func:`sklearn.metrics.d2_pinball_score`."""
        levels = self._levels()
        if levels is None:
            return float(super().score(X, y, sample_weight))
        predicted = self.predict(X)
        columns = zip(levels, predicted.T, strict=True)
        return float(
            np.mean([d2_pinball_score(y, column, sample_weight=sample_weight, alpha=level) for level, column in columns])
        )
