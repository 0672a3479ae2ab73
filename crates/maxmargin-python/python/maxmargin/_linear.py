"""The linear estimators: no kernel value is computed, and the bias is one more feature, as in LIBLINEAR."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin, _fit_context
from sklearn.linear_model._base import LinearClassifierMixin, LinearModel, SparseCoefMixin
from sklearn.svm._base import _get_liblinear_solver_type
from sklearn.svm._classes import _validate_dual_parameter
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._base import seconds, seed_of, teller, whole
from ._certificate import Certificate, Verdict, early_ends, warn_of
from ._data import Floats, packed, taking_part, validated, weights_of, with_all_classes
from ._explain import Explaining
from ._gate import on_engine
from ._labels import codes_of, weights_of_classes
from ._onnx import Exporting
from ._quick import QuickParameters, takes_plain, unique_classes
from ._state import Plain
from ._suspects import Suspecting
from ._validation_mixin import ValidationMixin
from ._verdict import verdict_of

#: The losses, and which are squared.
LOSSES = {"hinge": False, "squared_hinge": True, "epsilon_insensitive": False, "squared_epsilon_insensitive": True}

CONSTRAINTS: dict[str, list[Any]] = {
    "dual": ["boolean", StrOptions({"auto"})],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "C": [Interval(Real, 0.0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "max_time": [Interval(Real, 0, None, closed="neither"), None],
}


def is_squared(loss: str) -> bool:
    """Return true for a loss that is squared."""
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r}: there are {', '.join(map(repr, LOSSES))}")
    return LOSSES[loss]


class LinearMachine(Explaining, Exporting, Plain, QuickParameters, ValidationMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """The base of both linear estimators."""

    _formulation: ClassVar[str]
    #: The parameters that a search can vary in addition to C.
    _searched: ClassVar[tuple[str, ...]] = ("epsilon", "tol", "loss", "fit_intercept", "intercept_scaling")
    #: True if predictions come from decision values, not from the engine.
    _predicts_by_decisions: ClassVar[bool] = False
    #: True: a solution that ``max_iter`` ended differs from that of a separate training.
    _must_converge: ClassVar[bool] = True

    loss: str
    C: float
    tol: float
    fit_intercept: bool
    intercept_scaling: float
    verbose: Any
    random_state: Any
    max_iter: int
    max_time: float | None

    coef_: Any
    intercept_: Any
    n_iter_: int
    certificate_: Certificate
    certificates_: tuple[Certificate, ...]
    #: The rows of the training, if not all rows took part.
    _rows: NDArray[np.bool_] | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        return validated(self, X, y, reset=reset)

    def _asked(self, X: Any) -> Any:
        """Validate rows for prediction."""
        if takes_plain(self, X, reset=False):
            return X
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            accept_large_sparse=True,
            reset=False,
        )

    def _model_of(self) -> _native.Model:
        check_is_fitted(self)
        if not hasattr(self, "_model"):
            raise ValueError(
                f"this {type(self).__name__} was trained by scikit-learn, as earlier versions did for penalty='l1' and crammer_singer: "
                "it has no model of maxmargin; fit it again"
            )
        return self._model

    def _report(self) -> _native.Report | None:
        return teller(type(self).__name__) if self.verbose else None

    def _shares_engine(self) -> bool:
        """Return true if searches give the same results as separate fits."""
        return self.max_time is None

    def _sees_rows(self) -> bool:
        return True

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, trained: int | None = None
    ) -> tuple[Any, Floats, Floats | None]:
        """Validated rows, targets as numbers, and weights of samples."""
        X, y = self._validated(X, y, reset=reset)
        return X, self._encoded(y) if reset else self._known(y), weights_of(sample_weight, X)

    def _encoded(self, y: Any) -> Floats:
        raise NotImplementedError

    def _known(self, y: Any) -> Floats:
        """Targets as numbers, with the classes of the training: ``UnknownLabelError`` for other labels."""
        return self._encoded(y)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verdict:
        """Checks every machine against the training data; see :meth:`SVC.verify`. Samples whose weight is 0 took no part and are not looked at."""
        check_is_fitted(self, "_model")

        def trained_on() -> tuple[_native.Data, Floats | None]:
            rows, targets, weights = self._checked(X, y, sample_weight, reset=False)
            part = self._rows if weights is None else weights > 0
            if part is not None and len(part) == len(targets):
                rows, targets = rows[part], targets[part]
                weights = None if weights is None else weights[part]
            return packed(rows, targets), weights

        return verdict_of(self, trained_on)

    def _prepared(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, trained: int | None = None
    ) -> tuple[Any, Floats, _native.Data, Floats | None]:
        """Validated rows, encoded targets, both packed, and weights of samples. The first ``trained`` rows, by default all, are the training set: classes
        are weighed by these."""
        X, y, weights = self._checked(X, y, sample_weight, reset=reset, trained=trained)
        return X, y, packed(X, y), weights

    def _fitted(self, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, Floats]:
        """Train on all rows, and return weights and biases."""
        X, y, weights = self._checked(X, y, sample_weight, reset=True)
        X, y, weights, self._rows = taking_part(X, y, weights)
        return self._adopt(self._trainer(X).fit(packed(X, y), weights, self._report()), self._steps(X))

    def _steps(self, X: Any) -> int:
        """The coordinate steps of a pass over the data."""
        return int(X.shape[0])

    def _trainer(self, X: Any) -> _native.Svm | _native.LinearClassifier:
        """The parameters of one training, for these rows."""
        return self._svm(X)

    def _svm(self, X: Any, **others: Any) -> _native.Svm:
        """The parameters, for these rows."""
        settings: dict[str, Any] = {
            "c": float(self.C),
            "squared": is_squared(self.loss),
            "bias": float(self.intercept_scaling) if self.fit_intercept else 0.0,
            "tol": float(self.tol),
            # A sweep over all rows is one iteration of LIBLINEAR's.
            "max_iter": int(self.max_iter) * self._steps(X),
            "max_time": seconds(self.max_time),
            "solver": "linear",
            "seed": seed_of(self.random_state),
        }
        return _native.Svm(self._formulation, **(settings | others))

    def _adopt(self, model: _native.Model, steps: int) -> tuple[Floats, Floats]:
        """Set the model with its weights and biases; a pass over the data has this many steps."""
        machines = model.machines()
        self._model = model
        self.certificates_ = tuple(Certificate(**machine["certificate"]) for machine in machines)
        self.certificate_ = Certificate.worst(self.certificates_)
        self.n_iter_ = max(math.ceil(machine["iterations"] / steps) for machine in machines)
        statuses = [machine["status"] for machine in machines]
        early = early_ends(statuses, self.certificates_, self.tol)
        warn_of(early, self.certificate_, self.tol, linear=True, max_iter=self.max_iter, max_time=self.max_time)
        weights = np.vstack([model.weights(p) for p in range(len(machines))])
        return weights, np.array([machine["bias"] for machine in machines])


class LinearSVC(LinearClassifierMixin, SparseCoefMixin, Suspecting, LinearMachine):  # type: ignore[misc, unused-ignore]
    """Linear support vector classification, one class against the others, with a certificate of optimality.

    Differs from :class:`sklearn.svm.LinearSVC`: the problem is solved to ``tol`` whatever ``dual`` says, and ``certificate_`` shows it, also for
    ``penalty="l1"`` and ``multi_class="crammer_singer"``. Searches over these two train each split by itself.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        The norm of the weights in the objective. With ``"l1"``, most weights of features that do not help are 0; the loss is ``"squared_hinge"`` then.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss of a sample.
    dual : "auto" or bool, default="auto"
        Accepted for scikit-learn's sake: the optimum is the same. ``True`` does not go with ``penalty="l1"``, as there. With ``penalty="l2"`` both values
        train, also for ``loss="hinge"``, where scikit-learn refuses ``False``.
    tol : float, default=1e-4
        The KKT violation at which a training ends.
    C : float, default=1.0
        The weight of the losses: the inverse of the regularisation.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Machines of each class against the others, or one problem of all classes, which ignores ``penalty``, ``loss`` and ``dual``.
    fit_intercept : bool, default=True
        Learn a bias, as the weight of one more feature.
    intercept_scaling : float, default=1
        The value of that feature: the larger, the less the bias is regularised.
    class_weight : dict, "balanced" or None, default=None
        Factors of C for classes.
    verbose : int, default=0
        Progress: 1 for a bar or lines.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the samples.
    max_iter : int, default=1000
        Most passes over the data, after which a ``ConvergenceWarning`` tells of what is left.
    max_time : float or None, default=None
        Most seconds of a training.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights.
    intercept_ : array of shape (1,) or (n_classes,), or 0.0
        The biases.
    classes_ : array of shape (n_classes,)
        The labels.
    class_weight_ : array of shape (n_classes,)
        The factors of C.
    n_iter_ : int
        Passes over the data of the slowest machine.
    certificate_, certificates_ : :class:`Certificate`, tuple of them
        The worst certificate, and one for each machine; that of all classes for each with ``multi_class="crammer_singer"``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(max_iter=10000).fit(X, y)
    >>> model.coef_.shape, model.certificate_.holds
    ((3, 4), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "class_weight": [None, dict, StrOptions({"balanced"})],
    }

    _formulation = "c-svc"
    _predicts_by_decisions = True

    classes_: NDArray[Any]

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        max_time: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_time = max_time

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains one machine for two classes, and one for each of more; see :meth:`SVC.fit`."""
        with whole(self):
            self.coef_, biases = self._fitted(X, y, sample_weight)
            self.intercept_ = biases if self.fit_intercept else 0.0
        return self

    def _encoded(self, y: Any) -> Floats:
        self.classes_, places = unique_classes(y)
        count = len(self.classes_)
        if count < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        self._labels = np.arange(count, dtype=np.float64)
        return np.asarray(places, dtype=np.float64)

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, trained: int | None = None
    ) -> tuple[Any, Floats, Floats | None]:
        X, y, weights = super()._checked(X, y, sample_weight, reset=reset)
        if reset:
            codes = y.astype(np.intp)
            with_all_classes(codes, self.classes_, weights)
            given = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(y))
            given = None if given is None else given[:trained]
            self._factors = weights_of_classes(self.class_weight, self.classes_, codes[:trained], given)
        return X, y, weights

    def _known(self, y: Any) -> Floats:
        return codes_of(y, self.classes_).astype(np.float64)

    def _is_dual(self) -> bool:
        """Return true if the problem is one of the duals of ``_native.Svm``."""
        return self.penalty == "l2" and self.multi_class == "ovr"

    def _steps(self, X: Any) -> int:
        # The L1 norm is minimised over weights, that of the intercept included.
        by_column = self.penalty == "l1" and self.multi_class == "ovr"
        return int(X.shape[1]) + int(self.fit_intercept) if by_column else super()._steps(X)

    def _trainer(self, X: Any) -> _native.Svm | _native.LinearClassifier:
        if self._is_dual():
            return self._svm(X)
        if self.multi_class == "ovr":
            # Raises the errors of combinations that LIBLINEAR does not have.
            dual = _validate_dual_parameter(self.dual, self.loss, self.penalty, self.multi_class, X)
            _get_liblinear_solver_type(self.multi_class, self.penalty, self.loss, dual)
        return _native.LinearClassifier(
            self.multi_class == "crammer_singer",
            c=float(self.C),
            bias=float(self.intercept_scaling) if self.fit_intercept else 0.0,
            class_weight=list(enumerate(self._factors.tolist())),
            tol=float(self.tol),
            max_iter=int(self.max_iter) * self._steps(X),
            max_time=seconds(self.max_time),
            seed=seed_of(self.random_state),
        )

    def _svm(self, X: Any, **others: Any) -> _native.Svm:
        if not self._is_dual():
            raise ValueError(
                "penalty='l1' and multi_class='crammer_singer' are trained one by one; for the importance of features use "
                "sklearn.inspection.permutation_importance"
            )
        # Of more than two a class's weight is that of its own samples in its own machine.
        return super()._svm(X, **({"class_weight": list(enumerate(self._factors.tolist())), "one_vs_rest": True} | others))

    def _output_names(self) -> tuple[str, ...]:
        return (str(self.classes_[1]),) if len(self.classes_) == 2 else tuple(map(str, self.classes_))

    def _shares_engine(self) -> bool:
        return super()._shares_engine() and self._is_dual()

    def _adopt(self, model: _native.Model, steps: int) -> tuple[Floats, Floats]:
        # Exports and saved files of the model then predict as this estimator does.
        return super()._adopt(_native.first_at_zero(model) if len(self.classes_) == 2 else model, steps)

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        # As predict does: the first of two classes at 0, where the engine has the second. Rows that
        # no fold tests are not numbers, and not looked at.
        decisions = np.nan_to_num(report["decisions"])
        if len(self.classes_) == 2:
            decisions = decisions.ravel()
            return self.classes_[(decisions > 0).astype(np.intp)], decisions
        return self.classes_[np.argmax(decisions, axis=1)], decisions


class LinearSVR(RegressorMixin, LinearModel, LinearMachine):  # type: ignore[misc, unused-ignore]
    """Linear support vector regression with a certificate of optimality.

    Differs from :class:`sklearn.svm.LinearSVR` as :class:`LinearSVC` does from its namesake: ``dual=False`` trains with both losses.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to this cost nothing.
    tol : float, default=1e-4
        The KKT violation at which a training ends.
    C : float, default=1.0
        The weight of the losses: the inverse of the regularisation.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss of a sample.
    fit_intercept, intercept_scaling, dual, verbose, random_state, max_iter, max_time
        As in :class:`LinearSVC`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The weights.
    intercept_ : array of shape (1,), or 0.0
        The bias.
    n_iter_ : int
        Passes over the data.
    certificate_, certificates_ : :class:`Certificate`, tuple of it
        The certificate.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import LinearSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100, max_iter=10000).fit(X, y)
    >>> model.coef_.shape, model.certificate_.holds
    ((10,), True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS | {
        "epsilon": [Real],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    _formulation = "epsilon-svr"

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: Any = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        max_time: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.max_time = max_time

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains on all rows; see :meth:`SVC.fit`."""
        with whole(self):
            weights_found, biases = self._fitted(X, y, sample_weight)
            self.coef_ = weights_found[0]
            self.intercept_ = biases if self.fit_intercept else 0.0
        return self

    def _encoded(self, y: Any) -> Floats:
        return np.asarray(y, dtype=np.float64)

    def _svm(self, X: Any, **others: Any) -> _native.Svm:
        return super()._svm(X, **({"epsilon": float(self.epsilon)} | others))

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        return report["predicted"], report["predicted"]


on_engine(LinearSVC, LinearSVR)
