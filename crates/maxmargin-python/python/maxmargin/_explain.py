"""Exact Shapley values of decision values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._data import Floats, is_sparse, packed

#: Kernels whose Shapley values are computed exactly.
EXPLAINED = ("linear", "poly", "rbf")

#: Features that a representation names.
NAMED = 3


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """Exact Shapley values: what each feature adds to the decision values of rows.

    ``values.sum(axis=1) + base_values`` is ``decision_values``, which are those of ``decision_function`` (of ``predict`` for a regression). Of more
    than two classes an estimator of pairs has a last axis for its machines, in the order and with the signs of ``decision_function_shape="ovo"``. So has a
    regression of several levels, in the order of its list; ``decision_values`` are those of each machine, which ``predict`` sorts where they cross.

    Attributes
    ----------
    values : array of shape (n_rows, n_features) or (n_rows, n_features, n_machines)
        The Shapley values.
    base_values, decision_values : array of shape (n_rows,) or (n_rows, n_machines)
        The value before any feature is known, and the value of all.
    data : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    interactions : array of shape (n_rows, n_features, n_features) or (n_rows, n_features, n_features, n_machines), or None
        The Shapley interaction index of every pair of features, symmetric and 0 on the diagonal, if asked for.
    feature_names : tuple of str or None
        The columns of the data frame that the estimator was fitted to.
    output_names : tuple of str
        The name of each machine. Of two classes it is the second, whose decision values are above 0; of more ``"a or b"``, and those of ``a`` are above 0.
        Of several levels it is the level, such as ``"quantile 0.9"``.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> fitted = SVC().fit(X, y)
    >>> why = fitted.explain(X[:5], background=X[::10])
    >>> why.values.shape, why.efficiency_error < 1e-9
    ((5, 30), True)
    """

    values: Floats
    base_values: Floats
    decision_values: Floats
    data: Any
    interactions: Floats | None
    feature_names: tuple[str, ...] | None
    output_names: tuple[str, ...]

    @property
    def efficiency_error(self) -> float:
        """The largest error of ``values.sum(axis=1) + base_values == decision_values``, which rounding leaves."""
        return float(np.abs(self.values.sum(axis=1) + self.base_values - self.decision_values).max(initial=0.0))

    def mean_magnitudes(self) -> Floats:
        """The mean of ``abs(values)`` over all rows and machines: a ranking of features."""
        axes = (0, 2) if self.values.ndim == 3 else (0,)
        return np.asarray(np.abs(self.values).mean(axis=axes) if self.values.shape[0] else np.zeros(self.values.shape[1]))

    def to_shap(self) -> Any:
        """A ``shap.Explanation`` of the same values, for the plots of shap.

        Raises
        ------
        ImportError
            When shap is not installed.
        """
        try:
            import shap  # noqa: PLC0415 it need not be installed
        except ImportError as error:
            raise ImportError("to_shap needs shap: pip install shap") from error
        data = self.data.toarray() if is_sparse(self.data) else self.data
        names = None if self.feature_names is None else list(self.feature_names)
        outputs = list(self.output_names) if self.values.ndim == 3 else None
        return shap.Explanation(self.values, self.base_values, data, feature_names=names, output_names=outputs)

    def __repr__(self) -> str:
        rows, features = self.values.shape[:2]
        means = self.mean_magnitudes()
        names = self.feature_names or [f"feature {j}" for j in range(features)]
        largest = ", ".join(f"{names[j]} {means[j]:.3g}" for j in np.argsort(-means, kind="stable")[:NAMED])
        machines = f", {self.values.shape[2]} machines" if self.values.ndim == 3 else ""
        pairs = "" if self.interactions is None else ", with interactions"
        return (
            f"<Explanation of {rows} rows, {features} features{machines}{pairs}: largest mean |value| {largest}; "
            f"efficiency error {self.efficiency_error:.1g}>"
        )


class Explaining:
    """The part of an estimator that explains its decision values."""

    def _asked(self, X: Any) -> Any:
        """Validate rows for prediction."""
        raise NotImplementedError

    def _model_of(self) -> _native.Model:
        raise NotImplementedError

    def _turned(self, values: Floats) -> Floats:
        """Numbers of machines with scikit-learn's signs."""
        return values

    def _machine_order(self, count: int) -> NDArray[np.intp]:
        """Return which of the model's machines is at each place of the estimator's attributes."""
        return np.arange(count)

    def _output_names(self) -> tuple[str, ...]:
        """Return the name of each machine."""
        return ("decision value",)

    def explain(self, X: Any, background: Any = None, interactions: bool = False) -> Explanation:
        """Divide the decision value of every row among the features: exact Shapley values, for linear, polynomial and RBF kernels.

        Without a background an absent feature takes no part in the kernel: its factor of an RBF kernel is 1, its term of a product 0. With one it has
        the value of a row of the background, on average over all of them; a hundred rows of the training data are a good background.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_rows, n_features)
            The rows to explain.
        background : array or CSR matrix of shape (n_others, n_features), optional
            The rows that absent features have their values from.
        interactions : bool
            Whether the interaction of every pair of features is computed as well.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            For other kernels, polynomials of a very high degree, an empty background, and rows that ``decision_function`` would not take.
        """
        check_is_fitted(self)
        kernel = getattr(self, "kernel", "linear")
        if callable(kernel) or kernel not in EXPLAINED:
            name = "callable" if callable(kernel) else kernel
            raise ValueError(
                f"exact Shapley values exist for the kernels linear, poly and rbf; this {type(self).__name__} has a {name} kernel"
            )
        model = self._model_of()
        X = self._asked(X)
        others = None if background is None else packed(self._asked(background))
        values, base, decisions, pairs = model.explain(packed(X), others, bool(interactions))
        names = getattr(self, "feature_names_in_", None)
        base = np.broadcast_to(self._turned(base), decisions.shape)
        found = [self._turned(values).transpose(0, 2, 1), base, self._turned(decisions)]
        found += [] if pairs is None else [self._turned(pairs).transpose(0, 2, 3, 1)]
        order = self._machine_order(decisions.shape[1])
        found = [of[..., order] for of in found]
        if decisions.shape[1] == 1:
            found = [of[..., 0] for of in found]
        found = [np.ascontiguousarray(of) for of in found]
        return Explanation(
            found[0],
            found[1],
            found[2],
            X,
            None if pairs is None else found[3],
            None if names is None else tuple(map(str, names)),
            self._output_names(),
        )


def names_of_pairs(classes: NDArray[Any]) -> tuple[str, ...]:
    """The two classes of each machine, or the second of two classes."""
    if len(classes) == 2:
        return (str(classes[1]),)
    return tuple(f"{a} or {b}" for i, a in enumerate(classes) for b in classes[i + 1 :])
