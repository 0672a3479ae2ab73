"""Estimators that find their own C and gamma."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._base import WIDE, asked_for_conformal, whole
from ._certificate import Certificate
from ._classes import SVC, SVR, asked_for_probabilities
from ._data import Floats, is_sparse, width
from ._search import GridSearchCV
from ._state import Plain

Rule = Literal["scale", "auto", "mean"]
#: Values of gamma and rules for it; ``None`` is :data:`FACTORS` times the value of ``"scale"``.
Gammas = Sequence[float | Rule] | float | Rule | None

#: The default values of gamma, as factors of ``"scale"``.
FACTORS = (1 / 64, 1 / 16, 1 / 4, 1, 4)


def around_scale(X: Any) -> list[Any]:
    """Return the default values of gamma for these rows. Rows that are no numbers have the rule alone, whose fit reports what is wrong."""
    try:
        rows = X if is_sparse(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return ["scale"]
    scale = width("scale", rows, checked=False) if rows.ndim == 2 and 0 not in rows.shape else np.nan
    return [factor * scale for factor in FACTORS] if 0 < scale < np.inf else ["scale"]


class Searching(Plain):
    """What estimators that find their own C and gamma have in common. Stands before scikit-learn's mixins, whose scores know no ``scoring``."""

    #: The estimator that is searched for.
    _of: ClassVar[type[Any]]

    Cs: ArrayLike
    gammas: Gammas
    cv: Any
    scoring: Any
    refit: bool
    kernel: Any

    C_: float
    gamma_: Any
    best_score_: float
    best_params_: dict[str, Any]
    cv_results_: dict[str, Any]
    certificates_: tuple[tuple[Certificate, ...], ...]
    shared_: bool
    scorer_: Any
    best_estimator_: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc, unused-ignore]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Cross-validates every combination of ``Cs`` and ``gammas``, and trains the best on all rows of X, unless ``refit`` is False.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator that is searched for.
        groups : array of shape (n_samples,), optional
            For splitters that go by groups.

        Raises
        ------
        ValueError
            When the data or a parameter is no problem; what is wrong and what to do is said. Not converging is a warning.
        KeyboardInterrupt
            At once; the estimator is then as it was before.
        """
        own = {name: getattr(self, name) for name in self._of._get_param_names() if name not in {"C", "gamma"}}
        base = self._of(**own)
        grid: dict[str, list[Any]] = {"C": np.atleast_1d(self.Cs).tolist()}
        if isinstance(self.kernel, str) and self.kernel in WIDE:
            if self.gammas is None:
                grid["gamma"] = around_scale(X)
            else:
                gammas: Any = self.gammas
                # Scalars of numpy, and its arrays without axes, are not all numbers of Python.
                if isinstance(gammas, np.generic | np.ndarray) and gammas.ndim == 0:
                    gammas = gammas.item()
                grid["gamma"] = [gammas] if isinstance(gammas, str | float | int) else list(gammas)
        for candidate in ParameterGrid(grid):
            clone(base).set_params(**candidate)._validate_params()
        given = {"sample_weight": sample_weight, "groups": groups}
        search = GridSearchCV(base, grid, cv=self.cv, scoring=self.scoring, refit=self.refit)
        # A caller of this estimator has routed the parameters already.
        with whole(self), config_context(enable_metadata_routing=False):
            search.fit(X, y, **{name: value for name, value in given.items() if value is not None})
            self._adopt(search)
        return self

    def _adopt(self, search: GridSearchCV) -> None:
        for name in [
            "best_index_",
            "best_score_",
            "best_params_",
            "cv_results_",
            "certificates_",
            "shared_",
            "n_splits_",
            "scorer_",
        ]:
            setattr(self, name, getattr(search, name))
        self.C_ = self.best_params_["C"]
        self.gamma_ = self.best_params_.get("gamma")
        for name in ["best_estimator_", "classes_", "n_features_in_", "feature_names_in_"]:
            if name in vars(self):
                delattr(self, name)
        if self.refit:
            self.best_estimator_ = search.best_estimator_
            for name in ["classes_", "n_features_in_", "feature_names_in_"]:
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))

    def plot(self, ax: Any = None, *, score: str = "mean_test_score") -> Any:
        """Draws the scores over C and gamma (over C alone where the kernel has no gamma), the best framed, with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; otherwise a figure of its own.
        score : str
            A key of ``cv_results_``.

        Returns
        -------
        The axes.
        """
        check_is_fitted(self, "cv_results_")
        try:
            import matplotlib.pyplot as plt  # noqa: PLC0415 it need not be installed
        except ImportError as error:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from error
        axes = plt.subplots(layout="constrained")[1] if ax is None else ax
        params, scores = self.cv_results_["params"], np.asarray(self.cv_results_[score])
        costs = sorted({of["C"] for of in params})
        gammas = list(dict.fromkeys(of.get("gamma") for of in params))
        table = np.full((len(gammas), len(costs)), np.nan)
        for of, value in zip(params, scores, strict=True):
            table[gammas.index(of.get("gamma")), costs.index(of["C"])] = value
        axes.set(xlabel="C", xticks=range(len(costs)), xticklabels=[f"{c:g}" for c in costs])
        best = costs.index(self.C_), gammas.index(self.gamma_)
        if gammas == [None]:
            axes.plot(table[0], marker="o")
            axes.plot(best[0], table[0, best[0]], marker="s", markersize=12, fillstyle="none")
            axes.set(ylabel=score)
            return axes
        drawn = axes.imshow(table, origin="lower", aspect="auto")
        axes.set(
            ylabel="gamma", yticks=range(len(gammas)), yticklabels=[of if isinstance(of, str) else f"{of:g}" for of in gammas]
        )
        axes.add_patch(plt.Rectangle((best[0] - 0.5, best[1] - 0.5), 1, 1, fill=False, linewidth=3, edgecolor="red"))
        axes.set_title(
            f"best: C = {self.C_:g}, gamma = {self.gamma_ if isinstance(self.gamma_, str) else format(self.gamma_, 'g')}"
        )
        axes.figure.colorbar(drawn, ax=axes, label=score)
        return axes

    def _best(self) -> Any:
        if hasattr(self, "cv_results_") and not self.refit:
            raise NotFittedError(f"{type(self).__name__} was searched with refit=False: there is no best_estimator_ to ask")
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> Any:
        """Predict every row with the best estimator."""
        return self._best().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the best estimator, by ``scoring``."""
        best = self._best()
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(best, X, y, **weights))


class SVCCV(Searching, ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """:class:`SVC` that finds its C and gamma by cross-validation: every combination in one run, as :class:`GridSearchCV` does it.

    Parameters
    ----------
    Cs : array-like of shape (n_Cs,), default=(0.1, 1.0, 10.0, 100.0)
        Values of C.
    gammas : array-like of floats, "scale", "auto" and "mean", default=None
        Values of gamma, for kernels that have one. ``None`` is 1/64, 1/16, 1/4, 1 and 4 times the value that ``"scale"`` has for all rows of X:
        one value for all splits, so that they share a kernel.
    cv : int, splitter or list of splits
        What scikit-learn takes for ``cv``; ``None`` is five folds.
    scoring : str, callable or None
        What is best; ``None`` is the accuracy.
    refit : bool
        Whether the best is trained on all samples.

    The others are those of :class:`SVC`.

    Attributes
    ----------
    C_, gamma_
        The best of ``Cs`` and ``gammas``; ``None`` for kernels without gamma.
    best_score_, best_params_, best_index_, cv_results_, best_estimator_
        As scikit-learn's ``GridSearchCV`` has them.
    certificates_
        For each combination the worst certificate of each split; none where splits did not share the engine (``shared_``).

    Notes
    -----
    Scikit-learn has no such estimator: the same is a ``GridSearchCV`` over an ``SVC``.

    Examples
    --------
    >>> from maxmargin import SVCCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = SVCCV(cv=3).fit(X, y)
    >>> len(found.cv_results_["params"])
    20
    >>> bool(found.best_score_ > 0.95)
    True
    >>> all(one.holds for splits in found.certificates_ for one in splits)
    True
    """

    _of = SVC

    def __init__(
        self,
        *,
        Cs: ArrayLike = (0.1, 1.0, 10.0, 100.0),
        gammas: Gammas = None,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = False,
        calibration: str | None = None,
        tol: float = 1e-3,
        cache_size: float = 2048,
        class_weight: Any = None,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        keep_data: bool = False,
        random_state: Any = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.kernel = kernel
        self.degree = degree
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

    def decision_function(self, X: Any) -> Floats:
        """Decision values of the best estimator."""
        return np.asarray(self._best().decision_function(X))

    @available_if(asked_for_probabilities)  # type: ignore[misc, unused-ignore]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the best estimator."""
        return np.asarray(self._best().predict_proba(X))

    @available_if(asked_for_probabilities)  # type: ignore[misc, unused-ignore]
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities of the best estimator."""
        return np.asarray(self._best().predict_log_proba(X))

    @available_if(asked_for_conformal)  # type: ignore[misc, unused-ignore]
    def predict_set(self, X: Any, *, alpha: float | None = None, per_class: bool = False) -> NDArray[np.bool_]:
        """Sets of the best estimator."""
        return np.asarray(self._best().predict_set(X, alpha=alpha, per_class=per_class))


class SVRCV(Searching, RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """:class:`SVR` that finds its C and gamma by cross-validation.

    Parameters
    ----------
    Cs, gammas, cv, refit
        As in :class:`SVCCV`.
    scoring : str, callable or None, default=None
        The score to maximise; ``None`` is R².

    The others are those of :class:`SVR`.

    Attributes
    ----------
    C_, gamma_, best_score_, best_params_, best_index_, cv_results_, best_estimator_, certificates_
        As in :class:`SVCCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVRCV
    >>> X = np.linspace(0, 6, 60).reshape(-1, 1)
    >>> found = SVRCV(cv=3, epsilon=0.01).fit(X[::-1], np.sin(X[::-1, 0]))
    >>> found.C_ in found.Cs
    True
    """

    _of = SVR

    def __init__(
        self,
        *,
        Cs: ArrayLike = (0.1, 1.0, 10.0, 100.0),
        gammas: Gammas = None,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 2048,
        verbose: Any = False,
        max_iter: int = -1,
        max_time: float | None = None,
        conformal: float | None = None,
        conformal_score: str = "plain",
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.max_time = max_time
        self.conformal = conformal
        self.conformal_score = conformal_score

    @available_if(asked_for_conformal)  # type: ignore[misc, unused-ignore]
    def predict_interval(self, X: Any, *, alpha: float | None = None) -> Floats:
        """Intervals of the best estimator."""
        return np.asarray(self._best().predict_interval(X, alpha=alpha))
