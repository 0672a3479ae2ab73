"""The estimators with kernels: scikit-learn's names, parameters, attributes and signs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d, validate_data

from . import _native
from ._base import KernelMachine, asked_for_conformal, no_folds_message
from ._certificate import Calibration, Verdict
from ._data import Floats, with_all_classes
from ._explain import names_of_pairs
from ._gate import on_engine
from ._labels import ABOVE_0, codes_of, weights_of_classes
from ._levels import OfLevels
from ._quick import are_plain_targets, takes_plain, unique_classes
from ._suspects import Suspecting
from ._update import Updatable
from ._validation_mixin import ValidationMixin

Kernel = Literal["linear", "poly", "rbf", "sigmoid", "precomputed"] | Callable[[Any, Any], Any]
Gamma = Literal["scale", "auto", "mean"] | float


def constraints(*names: str, **more: list[Any]) -> dict[str, list[Any]]:
    """Return the parameter constraints of the base without some names."""
    known = KernelMachine._parameter_constraints
    return {name: of for name, of in known.items() if name not in names} | more


def pairs(count: int) -> list[tuple[int, int]]:
    """Return the two classes of each machine."""
    return [(a, b) for a in range(count) for b in range(a + 1, count)]


def by_class(decisions: Floats, count: int) -> Floats:
    """Return the votes for each class. The sums of decision values decide ties, by a term of less than a half."""
    votes = np.zeros((len(decisions), count))
    sums = np.zeros((len(decisions), count))
    for p, (a, b) in enumerate(pairs(count)):
        later = decisions[:, p] > 0
        votes[:, a] += ~later
        votes[:, b] += later
        sums[:, a] -= decisions[:, p]
        sums[:, b] += decisions[:, p]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def asked_for_probabilities(estimator: Any) -> bool:
    if not estimator.probability and estimator.calibration is None:
        raise AttributeError("predict_proba is not available when probability=False and calibration=None")
    return True


class KernelClassifier(ClassifierMixin, Suspecting, ValidationMixin, KernelMachine):  # type: ignore[misc, unused-ignore]
    """The base of classifiers."""

    class_weight: Any
    probability: bool
    calibration: str | None
    decision_function_shape: str
    break_ties: bool
    random_state: Any

    classes_: NDArray[Any]
    class_weight_: Floats
    #: The quality of the probabilities, if they were requested.
    calibration_: Calibration | None

    _of_classes: ClassVar[dict[str, list[Any]]] = {
        "probability": ["boolean", StrOptions({"deprecated"})],
        "calibration": [StrOptions({"platt", "isotonic"}), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "conformal_score": [str],
    }

    def _method(self) -> str | None:
        """The method of probabilities, if they are requested."""
        asked = self.probability is True or (isinstance(self.probability, np.bool_) and bool(self.probability))
        return self.calibration or ("platt" if asked else None)

    def _svm(self, X: Any, **others: Any) -> _native.Svm:
        return super()._svm(X, **({"probability": self._method()} | others))

    def _adopt(self, model: _native.Model, X: Any, y: Floats) -> None:
        super()._adopt(model, X, y)
        found = model.calibration
        self.calibration_ = None if found is None else Calibration(**found)
        if found is not None and found["missing"] is not None:
            message = no_folds_message("probabilities", found["missing"])
            warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _encoded(self, y: Any) -> Floats:
        y = y if are_plain_targets(y) else column_or_1d(y, warn=True)
        self.classes_, codes = unique_classes(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got {len(self.classes_)} class: "
                "training needs samples of at least two"
            )
        self._labels = numbers_of(self.classes_)
        return self._labels[codes]

    def _known(self, y: Any) -> Floats:
        return np.asarray(self._labels[codes_of(column_or_1d(y, warn=True), self.classes_)])

    def _weigh(self, y: Floats) -> None:
        # As in scikit-learn, kernel machines count samples, whatever these weigh; linear ones go by
        # weight.
        self.class_weight_ = weights_of_classes(self.class_weight, self.classes_, np.searchsorted(self._labels, y), least=ABOVE_0)

    def _class_weights(self) -> list[tuple[float, float]]:
        return list(zip(self._labels.tolist(), self.class_weight_.tolist(), strict=True))

    def _check_weights(self, y: Floats, weights: Floats | None) -> None:
        codes = np.searchsorted(self._labels, y)
        with_all_classes(codes, self.classes_, weights)
        if self._method() is not None:
            sizes = np.bincount(codes if weights is None else codes[weights > 0], minlength=len(self.classes_))
            # Where no class has two samples, the training is an error.
            if sizes.min() < 2 <= sizes.max():
                label = self.classes_[sizes.argmin()].tolist()
                warnings.warn(
                    f"class {label!r} has one sample: the trainings that its probability is fitted to did not see it; use two samples of each class at least",
                    UserWarning,
                    stacklevel=4,
                )

    def _describe(self, machines: list[_native.MachineFields], X: Any, y: Floats) -> None:
        count = len(self.classes_)
        of = np.searchsorted(self._labels, y)
        rows = np.unique(np.concatenate([machine["rows"] for machine in machines]))
        rows = rows[np.argsort(of[rows], kind="stable")]
        self._n_support = np.bincount(of[rows], minlength=count).astype(np.int32)
        place = np.full(len(y), -1)
        place[rows] = np.arange(len(rows))
        coef = np.zeros((count - 1, len(rows)))
        for (a, b), machine in zip(pairs(count), machines, strict=True):
            own = machine["rows"]
            line = np.where(of[own] == a, b - 1, a)
            coef[line, place[own]] = machine["coef"]
        self._set_support(rows, X, self._turned(coef))
        self.intercept_ = self._turned(np.array([machine["bias"] for machine in machines]))
        self.n_iter_ = np.array([machine["iterations"] for machine in machines], dtype=np.int32)

    def _turned(self, values: Floats) -> Floats:
        # LIBSVM's machine of a pair is for the earlier class; scikit-learn turns that of two classes around.
        return values if len(self.classes_) == 2 else -values

    def _output_names(self) -> tuple[str, ...]:
        return names_of_pairs(self.classes_)

    def _shaped(self, decisions: Floats) -> Floats:
        """Convert decision values of machines to those of the estimator."""
        count = len(self.classes_)
        if count == 2:
            return decisions.ravel()
        return by_class(decisions, count) if self.decision_function_shape == "ovr" else -decisions

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        if self._breaks_ties():
            return self.classes_[np.argmax(self._shaped(report["decisions"]), axis=1)], self._shaped(report["decisions"])
        # Rows that no fold tests have the prediction NaN, which is not used.
        codes = np.searchsorted(self._labels, np.nan_to_num(report["predicted"], nan=self._labels[0]))
        return self.classes_[codes], self._shaped(report["decisions"])

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values. Two classes have one value for each sample, above 0 for the second class.

        Of more ``decision_function_shape`` says which: ``"ovr"`` votes for each class, ties told apart by decision values; ``"ovo"`` one value for each
        pair of classes, the earlier above 0.
        """
        return self._shaped(self._decisions(X))

    def _breaks_ties(self) -> bool:
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        return self.break_ties and len(self.classes_) > 2

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of every row."""
        self._check_fitted()
        if self._breaks_ties():
            return np.asarray(self.classes_[np.argmax(self.decision_function(X), axis=1)])
        labels = self._evaluate(X, self._model_of().predict)
        return np.asarray(self.classes_[np.searchsorted(self._labels, labels)])

    @available_if(asked_for_probabilities)  # type: ignore[misc, unused-ignore]
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of every class for every row, with columns as in ``classes_``.

        Decision values of five folds, whose machines did not see the sample, become probabilities by Platt's sigmoid or by isotonic steps
        (``calibration``; ``probability=True`` is ``"platt"``); several classes are coupled. :meth:`predict` goes by decision values all the same.
        """
        model = self._model_of()
        if not model.calibrations():
            found = getattr(self, "calibration_", None)
            if found is not None and found.missing is not None:
                raise NotFittedError(no_folds_message("probabilities", found.missing))
            raise NotFittedError("predict_proba is not available when fitted with probability=False and calibration=None")
        return self._evaluate(X, model.probabilities)

    @available_if(asked_for_conformal)  # type: ignore[misc, unused-ignore]
    def predict_set(
        self, X: Any, *, alpha: float | None = None, per_class: bool = False, conformal_groups: Any = None
    ) -> NDArray[np.bool_]:
        """Predict a set of classes for every row: an array of shape (n_samples, n_classes), with columns as in ``classes_``.

        About the share ``conformal`` of the sets misses the class of the row, if rows come in no particular order; that it is at most twice this share is
        proved. Sets are cross-conformal, by the scores (``conformal_score``) of samples that the machines of ten folds did not see. An empty set is a row
        unlike all classes; a set of several classes is a row between them.

        Parameters
        ----------
        X
            The rows.
        alpha : float in (0, 1), optional
            Another share than that of the training.
        per_class : bool, default=False
            Whether the promise holds for the rows of each class by themselves. Sets are larger for classes that are difficult.
        conformal_groups : array of shape (n_samples,), optional
            The group of each row, for an estimator that was fitted with groups: the promise holds for the rows of each group by themselves.
        """
        model = self._model_of()
        return self._in_groups(X, conformal_groups, lambda rows, groups: model.sets(rows, alpha, per_class, groups))

    @property
    def probA_(self) -> Floats:
        """The factor of each machine's sigmoid, as in LIBSVM; empty without sigmoids."""
        return np.array([numbers[0] for _, numbers in self._model.calibrations() if numbers is not None])

    @property
    def probB_(self) -> Floats:
        """The summand of each machine's sigmoid, as in LIBSVM; empty without sigmoids."""
        return np.array([-numbers[1] for _, numbers in self._model.calibrations() if numbers is not None])

    @available_if(asked_for_probabilities)  # type: ignore[misc, unused-ignore]
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of :meth:`predict_proba`."""
        return np.asarray(np.log(self.predict_proba(X)))


def numbers_of(classes: NDArray[Any]) -> Floats:
    """Return the number of each class in the model: the class itself if it is a number, otherwise its index."""
    if classes.dtype.kind in "iuf":
        numbers = classes.astype(np.float64)
        if (np.diff(numbers) > 0).all():
            return numbers
    return np.arange(len(classes), dtype=np.float64)


class SVC(Updatable, KernelClassifier):
    """C-support vector classification. Parameters, attributes and signs are those of :class:`sklearn.svm.SVC`.

    What is different: ``max_time`` ends a training after so many seconds; ``keep_data`` lets samples come and go (:meth:`add`, :meth:`remove`);
    ``cache_size`` is 2048 MB unless said otherwise; ``certificate_`` tells how good the solution is.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a violation of the margin.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    probability : bool, default=False
        Whether probabilities are fitted; ``True`` is ``calibration="platt"``.
    calibration : {"platt", "isotonic"} or None, default=None
        How decision values become probabilities.
    tol : float, default=1e-3
        The largest KKT violation.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    class_weight : dict, "balanced" or None, default=None
        Factors of the cost for each class.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Decision values for each class, or for each pair.
    break_ties : bool, default=False
        Whether :meth:`predict` goes by ``decision_function`` for more than two classes.
    keep_data : bool, default=False
        Whether the training data are kept, so that :meth:`add` and :meth:`remove` work.
    random_state : int, RandomState or None, default=None
        The folds of the probabilities.
    conformal : float in (0, 1) or None, default=None
        The share of sets that may miss the truth: :meth:`predict_set` then has them, from the scores of ten folds whose machines the model keeps.
    conformal_score : {"plain", "aps", "raps"} or "raps:WEIGHT:FREE", default="plain"
        The score of classes behind sets: decision values, or sums of probabilities (adaptive prediction sets), whose sets grow with the difficulty of a
        row. RAPS adds WEIGHT for each class beyond the FREE most probable ones; ``"raps"`` is ``"raps:0.1:1"``. A part of the sum is drawn by a hash of
        the row and ``random_state``, so that a row has the same set at every call.

    Attributes
    ----------
    classes_, n_support_, support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As scikit-learn has them.
    calibration_ : Calibration or None
        The quality of the probabilities, if they were asked for.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = SVC(C=10).fit(X, y)
    >>> fitted.certificate_.holds
    True
    >>> fitted.predict(X[:2]).tolist()
    [0, 0]
    """

    _formulation = "c-svc"
    _prices = ("C",)
    _parameter_constraints = constraints("nu", "epsilon", **KernelClassifier._of_classes)

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        calibration: Literal["platt", "isotonic"] | None = None,
        tol: float = 1e-3,
        cache_size: float = 2048,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        keep_data: bool = False,
        random_state: Any = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.calibration = calibration
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.keep_data = keep_data
        self.random_state = random_state
        self.conformal = conformal
        self.conformal_score = conformal_score


class NuSVC(KernelClassifier):
    """Nu-support vector classification. Parameters, attributes and signs are those of :class:`sklearn.svm.NuSVC`; see :class:`SVC`.

    ``class_weight`` counts here; scikit-learn takes it and does not look at it. A ``nu`` that is not possible with the weights is an error.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        A bound on the share of errors from above, and on that of support vectors from below.
        A warning says so if it is too small for classes that overlap, which leaves no margin.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    probability : bool, default=False
        Whether probabilities are fitted; ``True`` is ``calibration="platt"``.
    calibration : {"platt", "isotonic"} or None, default=None
        How decision values become probabilities.
    tol : float, default=1e-3
        The largest KKT violation.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    class_weight : dict, "balanced" or None, default=None
        Factors of the cost for each class.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Decision values for each class, or for each pair.
    break_ties : bool, default=False
        Whether :meth:`predict` goes by ``decision_function`` for more than two classes.
    random_state : int, RandomState or None, default=None
        The folds of the probabilities.
    conformal : float in (0, 1) or None, default=None
        The share of sets that may miss the truth: :meth:`predict_set` then has them, from the scores of ten folds whose machines the model keeps.
    conformal_score : {"plain", "aps", "raps"} or "raps:WEIGHT:FREE", default="plain"
        The score of classes behind sets: decision values, or sums of probabilities (adaptive prediction sets), whose sets grow with the difficulty of a
        row. RAPS adds WEIGHT for each class beyond the FREE most probable ones; ``"raps"`` is ``"raps:0.1:1"``. A part of the sum is drawn by a hash of
        the row and ``random_state``, so that a row has the same set at every call.

    Attributes
    ----------
    classes_, n_support_, support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As scikit-learn has them.
    calibration_ : Calibration or None
        The quality of the probabilities, if they were asked for.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> from maxmargin import NuSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NuSVC(nu=0.1).fit(X, y).score(X, y) > 0.9
    True
    """

    _formulation = "nu-svc"
    _prices = ("nu",)
    _parameter_constraints = constraints("C", "epsilon", **KernelClassifier._of_classes)

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        calibration: Literal["platt", "isotonic"] | None = None,
        tol: float = 1e-3,
        cache_size: float = 2048,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.calibration = calibration
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.conformal = conformal
        self.conformal_score = conformal_score

    keep_data = False

    def _check_weights(self, y: Floats, weights: Floats | None) -> None:
        try:
            super()._check_weights(y, weights)
        except ValueError as error:
            raise ValueError(f"specified nu is infeasible: {error}") from None


class KernelRegressor(RegressorMixin, ValidationMixin, KernelMachine):  # type: ignore[misc, unused-ignore]
    """The base of regressors."""

    keep_data = False

    def predict(self, X: Any) -> Floats:
        """Predict the value of every row."""
        self._check_fitted()
        return self._evaluate(X, self._model_of().predict)

    @available_if(asked_for_conformal)  # type: ignore[misc, unused-ignore]
    def predict_interval(self, X: Any, *, alpha: float | None = None, conformal_groups: Any = None) -> Floats:
        """Predict an interval for every row: an array of shape (n_samples, 2), lower bound and upper bound.

        About the share ``conformal`` of the intervals misses the truth, if rows come in no particular order; that it is at most twice this share is proved.
        They are CV+ of ten folds, or conformalised quantiles of a :class:`QuantileSVR`. Bounds are infinite where there are too few samples. An interval
        of quantiles may be empty, with its lower bound above its upper one: where the quantiles cross, or are further apart than the promise needs.

        Parameters
        ----------
        X
            The rows.
        alpha : float in (0, 1), optional
            Another share than that of the training.
        conformal_groups : array of shape (n_samples,), optional
            The group of each row, for an estimator that was fitted with groups: the promise holds for the rows of each group by themselves.
        """
        model = self._model_of()
        return self._in_groups(X, conformal_groups, lambda rows, groups: model.intervals(rows, alpha, groups))

    def _predicted(self, report: _native.ValidationFields) -> tuple[NDArray[Any], Floats]:
        return report["predicted"], report["predicted"]


class SVR(KernelRegressor):
    """Epsilon-support vector regression. Parameters, attributes and signs are those of :class:`sklearn.svm.SVR`; see :class:`SVC`.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    tol : float, default=1e-3
        The largest KKT violation.
    C : float, default=1.0
        The cost of a violation of the margin.
    epsilon : float, default=0.1
        Errors up to it cost nothing.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.
    conformal : float in (0, 1) or None, default=None
        The share of intervals that may miss the truth: :meth:`predict_interval` then has them, from the scores of ten folds whose machines the model keeps.
    conformal_score : {"plain", "scaled"}, default="plain"
        The score behind intervals: absolute errors, or errors divided by those that a second machine predicts, whose intervals are wide where the noise is
        (locally weighted).

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As scikit-learn has them.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> from maxmargin import SVR
    >>> fitted = SVR(kernel="linear", C=100, epsilon=0.01).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(fitted.predict([[3.0]])[0]), 1)
    7.0
    """

    _formulation = "epsilon-svr"
    _prices = ("C", "epsilon")
    _parameter_constraints = constraints("nu", "keep_data", conformal_score=[str])

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.conformal = conformal
        self.conformal_score = conformal_score


class NuSVR(KernelRegressor):
    """Nu-support vector regression. Parameters, attributes and signs are those of :class:`sklearn.svm.NuSVR`; see :class:`SVC`.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        A bound on the share of errors from above, and on that of support vectors from below.
    C : float, default=1.0
        The cost of a violation of the margin.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    tol : float, default=1e-3
        The largest KKT violation.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.
    conformal : float in (0, 1) or None, default=None
        The share of intervals that may miss the truth: :meth:`predict_interval` then has them, from the scores of ten folds whose machines the model keeps.
    conformal_score : {"plain", "scaled"}, default="plain"
        The score behind intervals: absolute errors, or errors divided by those that a second machine predicts, whose intervals are wide where the noise is
        (locally weighted).

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As scikit-learn has them.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> from maxmargin import NuSVR
    >>> fitted = NuSVR(kernel="linear", C=100).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(fitted.predict([[3.0]])[0]), 1)
    7.0
    """

    _formulation = "nu-svr"
    _prices = ("C", "nu")
    _parameter_constraints = constraints("epsilon", "keep_data", conformal_score=[str])

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.conformal = conformal
        self.conformal_score = conformal_score


class QuantileSVR(OfLevels, KernelRegressor):
    """Support vector regression of a quantile: the value that a target does not exceed with this probability.

    The loss is :func:`sklearn.metrics.mean_pinball_loss`, as of :class:`sklearn.linear_model.QuantileRegressor`, with any kernel. ``score`` is R², as of that
    class, and is no measure of a quantile: search with ``scoring=make_scorer(mean_pinball_loss, alpha=quantile, greater_is_better=False)``.

    Parameters
    ----------
    quantile : float in (0, 1) or list of these, default=0.5
        The quantile. At 0.5 the machine is an :class:`SVR` with ``epsilon=0`` and half of ``C``. A list makes one machine for each quantile over the same
        kernel values: ``predict`` then has a column for each, which do not cross, and ``dual_coef_``, ``intercept_``, ``coef_`` and
        ``certificates_`` an entry, all in the order of the list.
    C : float, default=1.0
        A unit of error costs ``C * quantile`` where the target is above the prediction, and ``C * (1 - quantile)`` where it is below.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    tol : float, default=1e-3
        The largest KKT violation.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.
    conformal : float in (0, 1) or None, default=None
        The share of intervals that may miss the truth: :meth:`predict_interval` then has them, from the scores of ten folds whose machines the model keeps.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As :class:`sklearn.svm.SVR` has them.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import QuantileSVR
    >>> rng = np.random.default_rng(1)
    >>> X = rng.uniform(0, 6, (500, 1))
    >>> y = np.sin(X[:, 0]) + rng.exponential(0.5, 500)
    >>> high = QuantileSVR(quantile=0.9, C=10, gamma=1).fit(X, y)
    >>> round(float((y <= high.predict(X)).mean()), 1)
    0.9
    >>> band = QuantileSVR(quantile=[0.1, 0.9], C=10, gamma=1).fit(X, y).predict(X)
    >>> round(float(((band[:, 0] <= y) & (y <= band[:, 1])).mean()), 1)
    0.8
    """

    _formulation = "quantile"
    _level = "quantile"
    _prices = ("C", "quantile")
    _counterpart = "SVR"
    _searched = ("kernel", "degree", "coef0", "quantile", "tol", "shrinking")
    _parameter_constraints = constraints(
        "nu", "epsilon", "keep_data", quantile=[Interval(Real, 0.0, 1.0, closed="neither"), list, tuple, np.ndarray]
    )

    def __init__(
        self,
        *,
        quantile: float | Sequence[float] = 0.5,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        conformal: float | None = None,
    ) -> None:
        self.quantile = quantile
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.conformal = conformal


class ExpectileSVR(OfLevels, KernelRegressor):
    """Support vector regression of an expectile: a mean that weighs targets above it by this number and targets below it by the rest to 1.

    The loss is squared, with these two weights: the expectile 0.5 estimates the mean. ``score`` is R².

    Parameters
    ----------
    expectile : float in (0, 1) or list of these, default=0.5
        The expectile, or several as in :class:`QuantileSVR`.
    C : float, default=1.0
        A squared error costs ``C * expectile`` where the target is above the prediction, and ``C * (1 - expectile)`` where it is below.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    tol : float, default=1e-3
        The largest KKT violation.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_iter_
        As :class:`sklearn.svm.SVR` has them.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import ExpectileSVR
    >>> X = np.zeros((5, 1))
    >>> y = np.array([0.0, 1.0, 2.0, 3.0, 14.0])
    >>> [round(float(ExpectileSVR(expectile=of, tol=1e-6).fit(X, y).predict(X)[0]), 3) for of in (0.5, 0.9)]
    [4.0, 10.154]
    """

    _formulation = "expectile"
    _level = "expectile"
    _prices = ("C", "expectile")
    _counterpart = "SVR"
    _searched = ("kernel", "degree", "coef0", "expectile", "tol", "shrinking")
    _parameter_constraints = constraints(
        "conformal", "nu", "epsilon", "keep_data", expectile=[Interval(Real, 0.0, 1.0, closed="neither"), list, tuple, np.ndarray]
    )

    def __init__(
        self,
        *,
        expectile: float | Sequence[float] = 0.5,
        C: float = 1.0,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
    ) -> None:
        self.expectile = expectile
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time


class OneClassSVM(OutlierMixin, KernelMachine):  # type: ignore[misc, unused-ignore]
    """One-class support vector machine. Parameters, attributes and signs are those of :class:`sklearn.svm.OneClassSVM`; see :class:`SVC`.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; a callable takes two arrays of rows.
    degree : int, default=3
        The degree of ``"poly"``.
    gamma : {"scale", "auto", "mean"} or float, default="scale"
        The factor of distances or products: 1 / (n_features * X.var()), 1 / n_features, 1 / (2 * mean squared distance of two rows), or this value.
    coef0 : float, default=0.0
        The summand of ``"poly"`` and ``"sigmoid"``.
    tol : float, default=1e-3
        The largest KKT violation.
    nu : float in (0, 1], default=0.5
        A bound on the share of errors from above, and on that of support vectors from below.
    shrinking : bool, default=True
        Whether the solver leaves samples out that it takes for settled. The solution is the same.
    cache_size : float, default=2048
        Megabytes for kernel rows.
    verbose : bool or int, default=False
        Whether progress is shown, as a bar where tqdm is installed.
    max_iter : int, default=-1
        The most iterations; -1 is no limit.
    max_time : float or None, default=None
        The most seconds of a training. Scikit-learn has no such limit.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, offset_, n_iter_
        As scikit-learn has them.
    certificate_ : Certificate
        How good the solution is, recomputed from the data.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVM
    >>> X = np.random.default_rng(1).normal(size=(100, 2))
    >>> fitted = OneClassSVM(nu=0.1).fit(X)
    >>> fitted.predict([[0.0, 0.0], [9.0, 9.0]]).tolist()
    [1, -1]
    """

    _formulation = "one-class"
    _prices = ("nu",)
    _parameter_constraints = constraints("conformal", "C", "epsilon", "keep_data")

    keep_data = False
    offset_: Floats

    def __init__(
        self,
        *,
        kernel: Kernel = "rbf",
        degree: int = 3,
        gamma: Gamma = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on all rows of X; y is ignored. Otherwise as the other estimators."""
        super().fit(X, None, sample_weight)
        return self

    def _validated(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        if self.kernel != "precomputed" and takes_plain(self, X, reset=reset):
            return X, np.ones(X.shape[0])
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            order="C",
            accept_sparse="csr",
            accept_large_sparse=True,
            reset=reset,
        )
        return X, np.ones(X.shape[0])

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Verdict:
        """Check the model against its training data; y is ignored. Otherwise as :meth:`SVC.verify`."""
        return super().verify(X, None, sample_weight)

    def _encoded(self, y: Any) -> Floats:
        return np.asarray(y, dtype=np.float64)

    def _describe(self, machines: list[_native.MachineFields], X: Any, y: Floats) -> None:
        super()._describe(machines, X, y)
        self.offset_ = -self.intercept_

    def decision_function(self, X: Any) -> Floats:
        """Above 0 inside, below outside."""
        return self._decisions(X).ravel()

    def score_samples(self, X: Any) -> Floats:
        """:meth:`decision_function` without the offset."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> NDArray[np.intp]:
        """1 inside, -1 outside."""
        self._check_fitted()
        return self._evaluate(X, self._model_of().predict).astype(np.intp)


on_engine(SVC, NuSVC, SVR, NuSVR, QuantileSVR, ExpectileSVR)
