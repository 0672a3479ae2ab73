"""The base of all kernel machines: checks, training, attributes, and the additions to scikit-learn's interface."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from numbers import Integral, Real
from operator import index
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from . import _native
from ._certificate import Certificate, Conformal, Verdict, early_ends, warn_of
from ._data import GAMMA_RULES, Floats, group_words, is_sparse, packed, validated, weights_of, width
from ._explain import Explaining
from ._onnx import Exporting
from ._progress import Progress
from ._quick import QuickParameters, are_plain_targets, takes_plain
from ._state import Plain
from ._verdict import verdict_of

#: The number of rows up to which a linear kernel is treated like other kernels.
FEW = 2000

#: The number of rows packed at a time for predictions.
BLOCK = 1 << 15

#: The number of groups that a warning names.
SHOWN = 5

#: The C that replaces an infinite C (a hard margin).
HARD = 1e10

#: A time limit in seconds that no training reaches (some 30,000 years).
FOREVER = 1e12

#: Parameters of formulations whose name in the engine is another.
NATIVE = {"C": "c", "quantile": "tau", "expectile": "tau"}

#: Kernels that have a gamma.
WIDE = {"poly", "rbf", "sigmoid"}

#: Rules for gamma whose value is that of the rows, so that every training set has its own.
OF_ROWS = ("scale", "mean")


def has_width_of_rows(kernel: Any, gamma: Any) -> bool:
    """Return whether the kernel has a gamma by a rule of :data:`OF_ROWS`."""
    return isinstance(kernel, str) and kernel in WIDE and isinstance(gamma, str) and gamma in OF_ROWS


KERNELS = WIDE | {"linear", "precomputed"}


@contextmanager
def whole(estimator: Any) -> Iterator[None]:
    """Restores the attributes of an estimator if the block raises an exception, Ctrl-C included."""
    state: dict[str, Any] = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


def seconds(max_time: float | None) -> float | None:
    """Return a time limit in the range of a clock."""
    return None if max_time is None else min(float(max_time), FOREVER)


def megabytes(size: float) -> int:
    """Return a size in megabytes as bytes, at most the greatest address."""
    return min(math.ceil(size * 2**20), 2**63 - 1)


def teller(name: str) -> _native.Report:
    """Return a callback that reports the progress of a training or a search about once a second."""
    progress = Progress(name)

    def tell(stage: str, done: int, total: int, iterations: int, violation: float, tol: float, gap: float | None = None) -> None:
        of_gap = "" if gap is None else f", duality gap {gap:.3g}"
        progress.tell(done, total, f"{stage}: {iterations} iterations, violation {violation:.3g} (tol {tol:g}){of_gap}")

    return tell


def seed_of(random_state: Any) -> int:
    """Return a seed of the random state; without a state it is always the same."""
    return 1 if random_state is None else int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def no_folds_message(what: str, missing: str) -> str:
    """Return why what is computed from folds is missing, and what to do."""
    return f"there are no {what}: {missing}; raise max_time or max_iter"


def asked_for_conformal(estimator: Any) -> bool:
    if estimator.conformal is None:
        raise AttributeError("intervals and sets are not available when conformal=None")
    return True


class KernelMachine(Explaining, Exporting, Plain, QuickParameters, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """The base of all estimators with kernels."""

    _formulation: ClassVar[str]
    #: The parameters of the formulation, such as C and nu.
    _prices: ClassVar[tuple[str, ...]]
    #: The class of scikit-learn whose fitted form has the same predictions, if its name is another.
    _counterpart: ClassVar[str]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [StrOptions(KERNELS), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions(set(GAMMA_RULES)), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "C": [Interval(Real, 0.0, None, closed="right")],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "keep_data": ["boolean"],
        "conformal": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    }

    #: The parameters that a search can vary in addition to C and gamma.
    _searched: ClassVar[tuple[str, ...]] = ("kernel", "degree", "coef0", "epsilon", "tol", "shrinking")
    #: True if only solutions within the tolerance equal those of separate trainings.
    _must_converge: ClassVar[bool] = False

    kernel: Any
    degree: int
    gamma: Any
    coef0: float
    tol: float
    shrinking: bool
    cache_size: float
    verbose: Any
    max_iter: int
    max_time: float | None
    keep_data: bool
    #: The share of intervals or sets that may miss the truth; None where the class has none.
    conformal: float | None = None
    #: The kind of score behind intervals and sets.
    conformal_score: str = "plain"

    support_: NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Floats
    n_iter_: Any
    _trained_kernel: dict[str, Any]
    fit_status_: int
    shape_fit_: tuple[int, ...]
    certificate_: Certificate
    certificates_: tuple[Certificate, ...]
    #: What intervals or sets cover, if they were requested.
    conformal_: Conformal | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def _shares_engine(self) -> bool:
        """Return true if searches give the same results as separate fits."""
        return self.max_iter == -1 and self.max_time is None

    def _sees_rows(self) -> bool:
        """Return true if the kernel is a named kernel of the rows."""
        return isinstance(self.kernel, str) and self.kernel in WIDE | {"linear"}

    # What differs between classes, values and one class.

    def _encoded(self, y: Any) -> Floats:
        """Targets as numbers."""
        return np.asarray(y if are_plain_targets(y) else column_or_1d(y, warn=True), dtype=np.float64)

    def _known(self, y: Any) -> Floats:
        """Targets as numbers, with the classes of the training: ``UnknownLabelError`` for other labels."""
        return self._encoded(y)

    def _class_weights(self) -> list[tuple[float, float]]:
        """(label, factor of C), labels as :meth:`_encoded` has them."""
        return []

    def _seed(self) -> int:
        return seed_of(getattr(self, "random_state", None))

    # Training.

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, conformal_groups: Any = None) -> Self:
        """Trains on all rows of X, and certifies the solution.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            float32 or float64; kernel values of shape (n_samples, n_samples) for ``kernel="precomputed"``.
        y : array of shape (n_samples,)
            Labels of any type, or values.
        sample_weight : array of shape (n_samples,), optional
            A factor of C for each sample.
        conformal_groups : array of shape (n_samples,), optional
            The group of each sample, a word or a number, if intervals and sets are to keep their promise in each group by itself; needs ``conformal``.
            Groups are no features. With scikit-learn's metadata routing they are passed through pipelines and searches after
            ``set_fit_request(conformal_groups=True)``.

        Raises
        ------
        ValueError
            When the data or a parameter is no problem; what is wrong and what to do is said. Not converging is a warning.
        KeyboardInterrupt
            At once; the estimator is then as it was before.
        """
        with whole(self):
            if conformal_groups is not None and self.conformal is None:
                raise ValueError("conformal_groups are for intervals and sets: set conformal=0.1, or another share that may miss")
            X, y, data, weights = self._prepared(X, y, sample_weight, reset=True)
            model = self._svm(X).fit(data, weights, self._report(), groups=group_words(conformal_groups, X))
            self._adopt(model, X, y)
        return self

    def _report(self) -> _native.Report | None:
        return teller(type(self).__name__) if self.verbose else None

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, trained: int | None = None
    ) -> tuple[Any, Floats, _native.Data, Floats | None]:
        """Validated rows, encoded targets, both packed, and weights of samples. The first ``trained`` rows, by default all, are the training set: classes
        are weighed by these."""
        if callable(self.kernel):
            check_consistent_length(X, y)
            rows, X = X, self._called(X, X)
            y = np.ones(X.shape[0]) if y is None else y
            if X.ndim != 2 or X.shape[0] != X.shape[1]:
                raise ValueError(f"X.shape[0] should be equal to X.shape[1]: the kernel made a matrix of shape {X.shape}")
            if reset:
                self._rows = rows
        else:
            X, y = self._validated(X, y, reset=reset)
            # Only now is a frame of sparse columns a sparse matrix.
            if is_sparse(X) and self.kernel == "precomputed":
                raise TypeError("Sparse precomputed kernels are not supported.")
        if reset:
            self._sparse = is_sparse(X)
        y = self._encoded(y) if reset else self._known(y)
        if X.shape[0] != y.shape[0]:
            raise ValueError(f"X and y have incompatible shapes: X has {X.shape[0]} samples, but y has {y.shape[0]}")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        weights = weights_of(sample_weight, X)
        if reset:
            self._weigh(y[:trained])
            self._check_weights(y, weights)
        return X, y, packed(X, y, precomputed=self._is_matrix()), weights

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        return validated(self, X, y, reset=reset)

    def _weigh(self, y: Floats) -> None:
        """Compute the class weights of a training set."""

    def _check_weights(self, y: Floats, weights: Floats | None) -> None:
        """Raise an error if the weights leave no valid problem."""

    def _is_matrix(self) -> bool:
        return callable(self.kernel) or bool(self.kernel == "precomputed")

    def _called(self, X: Any, Z: Any) -> Floats:
        matrix = self.kernel(X, Z)
        matrix = matrix.toarray() if is_sparse(matrix) else matrix
        return np.asarray(matrix, dtype=np.float64, order="C")

    def _prices_of(self) -> dict[str, Any]:
        """Return the parameters of the formulation by the names of the library."""
        return {NATIVE.get(name, name): self._price(name) for name in self._prices}

    def _price(self, name: str) -> Any:
        """Return the number of a parameter of the formulation."""
        value = getattr(self, name)
        # Where scikit-learn was told not to check parameters, words would count as no parameter at all.
        if not isinstance(value, Real):
            raise TypeError(f"{name}={value!r}: it must be a number")
        return float(value)

    def _svm(self, X: Any, **others: Any) -> _native.Svm:
        """Return the parameters, with gamma resolved for these rows."""
        matrix = self._is_matrix()
        gamma = 1.0 if matrix else width(self.gamma, X, checked=self.kernel in WIDE)
        self._gamma = 0.0 if matrix else gamma
        prices = self._prices_of()
        if math.isinf(prices.get("c", 0.0)):
            prices["c"] = HARD
        settings: dict[str, Any] = {
            "kernel": "precomputed" if matrix else self.kernel,
            "gamma": gamma,
            "coef0": float(self.coef0),
            "degree": index(self.degree),
            "class_weight": self._class_weights(),
            "tol": float(self.tol),
            "max_iter": None if self.max_iter == -1 else int(self.max_iter),
            "max_time": seconds(self.max_time),
            "memory": megabytes(self.cache_size),
            "shrinking": bool(self.shrinking),
            "keep_data": bool(self.keep_data),
            # Few rows go by LIBSVM's steps; beyond, the time of linear solvers hardly depends on C.
            "keep_vectors": self.kernel == "linear" and X.shape[0] <= FEW,
            "seed": self._seed(),
            "conformal": None if self.conformal is None else float(self.conformal),
            "conformal_score": self.conformal_score,
        }
        return _native.Svm(self._formulation, **(settings | prices | others))

    # What was found.

    def _adopt(self, model: _native.Model, X: Any, y: Floats) -> None:
        """Set the model of these rows, and warn if it did not converge."""
        machines = model.machines()
        machines = [machines[at] for at in self._machine_order(len(machines))]
        self._model = model
        self._trained_kernel = {"kernel": self.kernel, "degree": self.degree, "coef0": self.coef0}
        self.certificates_ = tuple(Certificate(**machine["certificate"]) for machine in machines)
        self.certificate_ = Certificate.worst(self.certificates_)
        # With a function as the kernel, X is the matrix that it made.
        self.shape_fit_ = np.shape(self._rows) if callable(self.kernel) else X.shape
        self._describe(machines, X, y)
        statuses = [machine["status"] for machine in machines]
        early = early_ends(statuses, self.certificates_, self.tol)
        ended = warn_of(early, self.certificate_, self.tol, max_iter=self.max_iter, max_time=self.max_time)
        self.fit_status_ = int(ended)
        if any(machine.get("lacks_margin") for machine in machines):
            message = "no margin is left, and decision values mean nothing: nu is too small for classes that overlap this much; raise nu"
            warnings.warn(message, UserWarning, stacklevel=4)
        found = model.conformal
        self.conformal_ = None if found is None else Conformal(**found)
        if found is not None and found["missing"] is not None:
            message = no_folds_message("intervals or sets", found["missing"])
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        if found is not None and found["small_groups"]:
            names = ", ".join(found["small_groups"][:SHOWN])
            message = f"groups with too few samples for conformal={self.conformal}, so that their intervals or sets say nothing: {names}; join groups"
            warnings.warn(message, UserWarning, stacklevel=4)

    def _describe(self, machines: list[_native.MachineFields], X: Any, y: Floats) -> None:
        """Set scikit-learn's attributes, here for a single machine."""
        (machine,) = machines
        self._set_support(machine["rows"], X, machine["coef"][np.newaxis, :])
        self.intercept_ = np.array([machine["bias"]])
        self._n_support = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_ = int(machine["iterations"])

    def _set_support(self, rows: NDArray[Any], X: Any, coef: Floats) -> None:
        self.support_ = rows.astype(np.int32)
        if self._is_matrix():
            self.support_vectors_ = np.empty((0, 0))
        elif self._sparse:
            self.support_vectors_ = sp.csr_matrix(X[rows], dtype=np.float64)
        else:
            self.support_vectors_ = np.asarray(X[rows], dtype=np.float64)
        self.dual_coef_ = sp.csr_matrix(coef) if self._sparse else coef

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors of each class, or of the single machine."""
        if "_n_support" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no n_support_ before it is fitted")
        return self._n_support

    @property
    def coef_(self) -> Any:
        """Weights of the features, for ``kernel="linear"``: one row for each machine."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        order = self._machine_order(len(self.certificates_)).tolist()
        try:
            weights = np.vstack([self._model.weights(machine) for machine in order])
        except ValueError as error:
            raise AttributeError("coef_ is only available when the model was trained with a linear kernel") from error
        coef: Any = self._turned(weights)
        if self._sparse:
            coef = sp.csr_matrix(coef)
        # The array is computed at each access, so that writing to it would have no effect.
        (coef.data if self._sparse else coef).flags.writeable = False
        return coef

    def _turned(self, values: Floats) -> Floats:
        """Numbers of machines with scikit-learn's signs."""
        return values

    # Prediction.

    def _check_fitted(self) -> None:
        """Raise what ``check_is_fitted`` raises, without its search for attributes if there is a model."""
        if not hasattr(self, "_model"):
            check_is_fitted(self)

    def _asked(self, X: Any) -> Any:
        """Validate rows for prediction."""
        self._check_fitted()
        if not self._is_matrix() and takes_plain(self, X, reset=False):
            return X
        if callable(self.kernel):
            X = self._called(X, self._rows)
        else:
            X = validate_data(
                self,
                X,
                dtype=[np.float64, np.float32],
                order="C",
                accept_sparse="csr",
                accept_large_sparse=True,
                reset=False,
            )
            if is_sparse(X) and not self._sparse:
                raise ValueError(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        if self._is_matrix() and X.shape[1] != self.shape_fit_[0]:
            raise ValueError(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at training time"
            )
        return X

    def _evaluate(self, X: Any, of: Callable[[_native.Data], NDArray[Any]]) -> NDArray[Any]:
        """Predict rows in blocks, because a packed copy of all rows would double the memory."""
        X = self._asked(X)
        if self._is_matrix() or X.shape[0] <= BLOCK:
            return of(packed(X, precomputed=self._is_matrix()))
        return np.concatenate([of(packed(X[begin : begin + BLOCK])) for begin in range(0, X.shape[0], BLOCK)])

    def _in_groups(
        self, X: Any, conformal_groups: Any, of: Callable[[_native.Data, list[str] | None], NDArray[Any]]
    ) -> NDArray[Any]:
        """Predict rows in blocks, each with its groups."""
        self._check_fitted()
        found = getattr(self, "conformal_", None)
        if found is not None and found.missing is not None:
            raise NotFittedError(no_folds_message("intervals or sets", found.missing))
        words = group_words(conformal_groups, X)
        self._model_of().check_groups(words, _num_samples(X))
        done = 0

        def of_block(rows: _native.Data) -> NDArray[Any]:
            nonlocal done
            begin, done = done, done + rows.shape[0]
            return of(rows, None if words is None else words[begin:done])

        return self._evaluate(X, of_block)

    def _decisions(self, X: Any) -> Floats:
        """Return the library's decision values, samples × machines: a value of 0 and above selects the later class of a pair."""
        return self._evaluate(X, self._model_of().decisions)

    def _model_of(self) -> _native.Model:
        self._check_fitted()
        return self._model

    # What scikit-learn does not have.

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Verdict:
        """Checks the model against its training data, as ``maxmargin verify`` does: nothing that the model says is believed.

        Everything is computed again in double precision from the arguments and the coefficients. True in a condition where all is as the model says.

        Parameters
        ----------
        X, y
            The training data. Labels that the model does not know are a verdict that says so.
        sample_weight : array of shape (n_samples,), optional
            The weights of the training, which are compared with the model's. Without them those of the model count, and the verdict says that they were not
            compared.

        Raises
        ------
        ValueError
            When the arguments are no data: rows, targets and weights of different lengths, or other features.
        """
        check_is_fitted(self)
        return verdict_of(self, lambda: copy(self)._prepared(X, y, sample_weight, reset=False)[2:])
