"""Addition and removal of samples after the training."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _native
from ._base import KernelMachine, has_width_of_rows, megabytes, whole
from ._data import Floats, packed
from ._labels import ABOVE_0, codes_of, weights_of_classes

#: Parameters that say how something is computed or reported, not what.
OF_THE_WORK = frozenset(
    {
        "cache_size",
        "shrinking",
        "verbose",
        "max_iter",
        "max_time",
        "keep_data",
        "decision_function_shape",
        "break_ties",
        "random_state",
    }
)


def differ(a: Any, b: Any) -> bool:
    """Return true if two values of a parameter are not the same."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return not np.array_equal(a, b)
    return bool(a != b)


class Updatable(KernelMachine):
    """The part of a classifier that adds and removes samples."""

    class_weight: Any
    classes_: NDArray[Any]
    class_weight_: Floats
    _labels: Floats
    #: The parameters of the problem that the model solves.
    _trained_with: dict[str, Any]

    def add(self, X: Any, y: Any) -> Self:
        """Takes samples in: the estimator is then what a training with them gives. Needs ``keep_data=True``.

        Their rows come after those there are. Labels are those of the training. The solution follows an exact path, without training again. Whatever the
        training derived from all of its rows is derived again, which takes a training anew: ``gamma="scale"`` and ``"mean"``,
        ``class_weight="balanced"`` and probabilities. So do parameters that were changed since the training, such as ``C``.

        Raises
        ------
        ValueError
            When the estimator does not keep its data, was trained with weights of samples, or does not know a label; nothing has changed then.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", accept_sparse="csr", reset=False)
        y = column_or_1d(y, warn=True)
        if X.shape[0] != len(y):
            raise ValueError(f"X has {X.shape[0]} samples, but y has {len(y)}: give one label for each")
        try:
            codes = codes_of(y, self.classes_)
        except ValueError as error:
            raise ValueError(f"{error}: samples of new classes need a training") from None
        return self._changed(X, self._labels[codes], np.empty(0, dtype=np.intp))

    def p_values(self, X: Any, *, per_class: bool = False) -> Floats:
        """Return the p-value of both classes for every row by full conformal prediction: an array of shape (n_samples, 2). Needs ``keep_data=True``.

        Every row is added to the training set with each label, along an exact path; the p-value is the share of rows whose label fits the machine of all
        rows at most as well. ``p_values(X) > alpha`` are sets that miss the truth in at most the share ``alpha`` of rows, if rows come in no particular
        order: no folds, no split, no factor of 2. The promise is exact if gamma is a number and nothing else was fitted to the training rows.

        Parameters
        ----------
        X
            The rows.
        per_class : bool, default=False
            Whether the promise holds for the rows of each class by themselves.

        Raises
        ------
        ValueError
            When the estimator does not keep its data or has more than two classes.
        """
        model = self._model_of()
        values: Floats = self._evaluate(X, lambda rows: model.full_p_values(rows, per_class, megabytes(self.cache_size)))
        return values

    def remove(self, indices: Any) -> Self:
        """Gives up rows of the training data: the estimator is then what a training without them gives. Needs ``keep_data=True``.

        Rows are counted from 0 among those that are there now, each named once; those behind move up, as with :func:`numpy.delete`. What is derived from all
        rows is derived again, as :meth:`add` says.

        Raises
        ------
        ValueError
            When there is no such row, one is named twice, or a class would have no sample left; nothing has changed then.
        """
        check_is_fitted(self)
        rows = np.atleast_1d(np.asarray(indices))
        if rows.size == 0:
            rows = rows.astype(np.intp)
        if rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError("rows to remove are whole numbers from 0 on: of a mask, numpy.flatnonzero(mask)")
        rows = rows.astype(np.intp)
        self._check_rows(rows)
        return self._changed(None, np.empty(0), rows)

    def _check_rows(self, rows: NDArray[np.intp]) -> None:
        count = self.shape_fit_[0]
        outside = rows[(rows < 0) | (rows >= count)]
        if len(outside):
            raise ValueError(f"row {outside[0]} is to be removed, but there are the rows 0 to {count - 1}")
        different, times = np.unique(rows, return_counts=True)
        if (times > 1).any():
            raise ValueError(f"row {different[times > 1][0]} is named twice: name each row that is to be removed once")

    def _adopt(self, model: _native.Model, X: Any, y: Floats) -> None:
        super()._adopt(model, X, y)
        # Only a model that keeps its data is updated.
        parameters = self.get_params(deep=False) if self.keep_data else {}
        self._trained_with = {name: value for name, value in parameters.items() if name not in OF_THE_WORK}

    def _is_changed(self) -> bool:
        """Return true if a parameter of the problem is no longer that of the training."""
        return any(differ(value, getattr(self, name)) for name, value in self._known_parameters().items())

    def _known_parameters(self) -> dict[str, Any]:
        # Estimators that earlier versions wrote do not say with what they were trained.
        known: dict[str, Any] = getattr(self, "_trained_with", {})
        return known

    def _derived(self) -> bool:
        """Return true if anything other than the solution depends on all rows."""
        scaled = has_width_of_rows(self.kernel, self.gamma)
        balanced = isinstance(self.class_weight, str)
        return scaled or balanced or bool(self._model.calibrations()) or self._model.is_conformal

    def _changed(self, X: Any, y: Floats, gone: NDArray[np.intp]) -> Self:
        """Return the model with these additional samples, whose labels are the model's numbers, and without these rows."""
        kernel = self._known_parameters().get("kernel", self.kernel)
        if self._is_matrix() or callable(kernel) or kernel == "precomputed":
            raise ValueError("add and remove are for kernels that are computed from features: fit on the changed kernel matrix")
        kept = self._model.kept()
        if kept is None:
            raise ValueError("the model does not keep its training data: fit with keep_data=True")
        if self._model.sample_weights is not None:
            raise ValueError(
                "the model was trained with sample_weight, and add and remove know no weights: fit on the changed data"
            )
        (values, indices, indptr, features), labels = kept
        if self._model.has_groups:
            raise ValueError(
                "the model was trained with conformal_groups, and add and remove know no groups: fit on the changed data"
            )
        stay = np.delete(np.arange(len(labels)), gone)
        after = np.concatenate([labels[stay], y])
        emptied = ~np.isin(self._labels, after)
        if emptied.any():
            label = self.classes_[emptied].tolist()[0]
            raise ValueError(f"no sample of class {label!r} would be left: keep one of them, or fit on the other classes")
        if len(gone) == 0 and len(y) == 0:
            return self
        with whole(self):
            if not self._derived() and not self._is_changed():
                added = None if X is None else packed(X, y)
                model = self._model.updated(added, gone.tolist(), megabytes(self.cache_size))
                self._adopt(model, self._vectors_of(model, len(after)), after)
                return self
            rows = sp.csr_matrix((values, indices, indptr), shape=(len(labels), features))[stay]
            rows = rows if X is None else sp.vstack([rows, sp.csr_matrix(X)], format="csr")
            self._train_again(rows if self._sparse else rows.toarray(), after)
        return self

    def _train_again(self, X: Any, y: Floats) -> None:
        self._validate_params()
        codes = np.searchsorted(self._labels, y)
        self.class_weight_ = weights_of_classes(self.class_weight, self.classes_, codes, least=ABOVE_0)
        self._adopt(self._svm(X).fit(packed(X, y), None, self._report()), X, y)

    def _vectors_of(self, model: _native.Model, count: int) -> Rows:
        values, indices, indptr, features = model.vectors()
        vectors = sp.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, features))
        rows = np.unique(np.concatenate([machine["rows"] for machine in model.machines()]))
        return Rows(vectors if self._sparse else vectors.toarray(), rows, count)


class Rows:
    """Select rows of a matrix by index."""

    def __init__(self, vectors: Any, rows: NDArray[Any], count: int) -> None:
        self.vectors = vectors
        self.rows = rows
        self.shape = (count, vectors.shape[1])

    def __getitem__(self, rows: NDArray[Any]) -> Any:
        return self.vectors[np.searchsorted(self.rows, rows)]
