"""Fitted estimators of scikit-learn's own classes with the numbers of ours: for programs that know those classes only."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.svm._classes
from sklearn.utils.validation import check_is_fitted

from ._base import KernelMachine
from ._levels import OfLevels
from ._linear import LinearMachine

#: Attributes that both have under the same name.
SHARED = [
    "classes_",
    "class_weight_",
    "coef_",
    "dual_coef_",
    "feature_names_in_",
    "fit_status_",
    "intercept_",
    "n_features_in_",
    "n_iter_",
    "offset_",
    "shape_fit_",
    "support_",
    "support_vectors_",
]


def to_sklearn(estimator: Any) -> Any:
    """Return the fitted estimator as one of scikit-learn's class of the same name (``SVR`` for quantiles and expectiles).

    Predictions and decision values are equal to rounding; there is no certificate. For what dispatches on scikit-learn's classes and has no way to be told of
    others, or for machines without this package.

    Parameters
    ----------
    estimator : fitted estimator
        One of this package.

    Returns
    -------
    estimator of scikit-learn

    Raises
    ------
    TypeError
        For what is none of this package's estimators.
    ValueError
        For isotonic probabilities and for several levels, which scikit-learn's classes do not have.

    Examples
    --------
    >>> import maxmargin
    >>> fitted = maxmargin.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> theirs = maxmargin.to_sklearn(fitted)
    >>> type(theirs).__module__.startswith("sklearn."), theirs.predict([[3.0]]).tolist()
    (True, [1])
    """
    if not isinstance(estimator, KernelMachine | LinearMachine):
        raise TypeError(f"{type(estimator).__name__} is no estimator of maxmargin")
    check_is_fitted(estimator)
    if isinstance(estimator, OfLevels) and len(estimator.certificates_) > 1:
        count = len(estimator.certificates_)
        raise ValueError(
            f"scikit-learn's SVR is one machine, and this {type(estimator).__name__} has {count} levels: fit one level at a time"
        )
    own = estimator.get_params(deep=False)
    if own.get("gamma") == "mean":
        # Scikit-learn has no such rule.
        own["gamma"] = estimator._gamma
    if isinstance(estimator, KernelMachine):
        # The kernel of the training, whatever `set_params` did afterwards.
        own |= estimator._trained_kernel
    kind: Any = getattr(sklearn.svm._classes, _name_of(estimator))
    known = kind().get_params(deep=False)
    twin = kind(**{name: value for name, value in own.items() if name in known})
    for name in SHARED:
        # A kernel machine's coef_ is computed, here and there.
        if hasattr(estimator, name) and not isinstance(getattr(kind, name, None), property):
            setattr(twin, name, getattr(estimator, name))
    if isinstance(estimator, KernelMachine):
        _fill(twin, estimator)
    return twin


def _with_zeros(coef: Any) -> Any:
    """The sparse matrix with all its zeros: its values are read there as if they were all."""
    rows, columns = coef.shape
    values = np.asarray(coef.toarray()).ravel()
    return sp.csr_matrix((values, np.tile(np.arange(columns), rows), np.arange(rows + 1) * columns), shape=coef.shape)


def _name_of(estimator: Any) -> str:
    """The name of scikit-learn's class, also for classes that inherit from ours."""
    own = [of for of in type(estimator).__mro__ if of.__module__.startswith("maxmargin.")]
    names: list[str] = [vars(of).get("_counterpart", of.__name__) for of in own]
    return next(name for name in names if hasattr(sklearn.svm._classes, name))


def _fill(twin: Any, estimator: Any) -> None:
    """Sets the private attributes of scikit-learn's kernel machines."""
    calibrations = estimator._model.calibrations()
    if any(numbers is None for _, numbers in calibrations):
        raise ValueError("isotonic probabilities have no place in scikit-learn's classes: fit with calibration=None or 'platt'")
    if hasattr(twin, "probability"):
        twin.probability = twin._effective_probability = bool(calibrations)
    # Of two classes scikit-learn turns LIBSVM's signs around in what it shows.
    sign = -1.0 if len(getattr(estimator, "classes_", [])) == 2 else 1.0
    twin._sparse = estimator._sparse
    gamma = estimator._model.gamma
    twin._gamma = estimator._gamma if gamma is None else gamma
    # Of values and of one class it is as long as of two classes.
    twin._n_support = np.resize(estimator.n_support_, max(2, len(estimator.n_support_))).astype(np.int32)
    if estimator._sparse:
        twin.dual_coef_ = _with_zeros(estimator.dual_coef_)
    twin._dual_coef_, twin._intercept_ = sign * twin.dual_coef_, sign * estimator.intercept_
    twin._probA = np.array([numbers[0] for _, numbers in calibrations if numbers is not None])
    twin._probB = np.array([-numbers[1] for _, numbers in calibrations if numbers is not None])
    twin._num_iter = estimator.n_iter_
    if callable(estimator.kernel):
        twin._BaseLibSVM__Xfit = estimator._rows
