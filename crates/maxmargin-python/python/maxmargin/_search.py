"""Searches for C, gamma and the kernel: all combinations and all folds on the shared engine, where that gives what fitting one by one does."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import config_context, model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_method_params, check_is_fitted

from ._base import WIDE, teller, whole
from ._certificate import Certificate
from ._classes import SVC, SVR, asked_for_probabilities
from ._data import Floats
from ._folds import Split, plan
from ._grid import SHARED, Grid


class GridSearchCV(model_selection.GridSearchCV):  # type: ignore[misc, unused-ignore]
    """:class:`sklearn.model_selection.GridSearchCV`, whose combinations and folds share the engine where they can.

    They do (``shared_``) where the estimator is this package's :class:`SVC` or :class:`SVR` without ``max_iter`` and ``max_time``, the grid varies ``C``,
    ``gamma`` and ``kernel``, no split names a row twice or trains on what it tests, and the scores, given by name, are of predictions or decision values.
    A kernel matrix then serves all values of C and all folds, which start from each other's solutions; each is solved to its full tolerance and certified:
    ``certificates_`` has a tuple for each combination with the worst certificate of each split. All threads of the process are used, whatever ``n_jobs`` says.
    A rule for gamma (``"scale"``) is applied to all of X once.

    Everything else is scikit-learn's own search.
    """

    shared_: bool
    certificates_: tuple[tuple[Certificate, ...], ...]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Cross-validates every combination, and trains the best on all of X if ``refit`` says so. Parameters are those of scikit-learn's ``fit``.

        Raises
        ------
        KeyboardInterrupt
            At once; the search is then as it was before.
        """
        with whole(self):
            self._validate_params()
            if not self._fit_shared(X, y, params):
                super().fit(X, y, **params)
                self.shared_, self.certificates_ = False, ()
        return self

    def _fit_shared(self, X: Any, y: Any, params: dict[str, Any]) -> bool:
        """Whether the shared engine did it all; otherwise nothing is done."""
        candidates = list(ParameterGrid(self.param_grid))
        if y is None or not self._may_share(candidates):
            return False
        scorers, metric = self._get_scorers()
        asked = responses(scorers)
        if not asked <= ({"predict", "decision_function"} if is_classifier(self.estimator) else {"predict"}):
            return False
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        if not set(routed.estimator.fit) <= {"sample_weight"}:
            return False
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits: list[Split] = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, **routed.splitter.split)]
        folds = plan(splits, len(y))
        if folds is None:
            return False
        grid = Grid(self.estimator, X, y, routed.estimator.fit.get("sample_weight"), decisions="decision_function" in asked)
        if self.verbose > 0:
            grid.report = teller(type(self).__name__)
        if not grid.alike(splits) or not grid.run(candidates, folds):
            return False
        self.certificates_ = grid.certificates(candidates)
        self.shared_ = True

        out = []
        for candidate in candidates:
            for split, (_, test) in enumerate(splits):
                told, seconds = grid.told(candidate, split, test)
                begun = time.perf_counter()
                weights = _check_method_params(X, params=routed.scorer.score, indices=test)
                # What is told does not depend on the rows.
                scores = _score(told, test, _safe_indexing(y, test), scorers, weights, self.error_score)
                took = time.perf_counter() - begun
                out.append({"fit_time": seconds, "score_time": took, "test_scores": scores, "n_test_samples": len(test)})
        self._adopt(candidates, out, len(splits), scorers, metric)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)
        return True

    def _may_share(self, candidates: list[dict[str, Any]]) -> bool:
        """Whether the estimator and what is varied of it are such as the engine takes."""
        estimator = self.estimator
        if type(estimator) not in {SVC, SVR} or self.return_train_score or hasattr(self.cv, "__next__"):
            return False
        if getattr(self, "_skl_callbacks", None) or getattr(estimator, "_skl_callbacks", None):
            return False
        if estimator.max_iter != -1 or estimator.max_time is not None:
            return False
        if not by_name(self.scoring) or not candidates or any(not set(candidate) <= SHARED for candidate in candidates):
            return False
        # Kernels of the rows themselves; one that is not may only stay what it is.
        if any("kernel" in candidate for candidate in candidates):
            kernels = [candidate.get("kernel", estimator.kernel) for candidate in candidates]
            if any(not isinstance(kernel, str) or kernel not in WIDE | {"linear"} for kernel in kernels):
                return False
        try:
            for candidate in candidates:
                clone(estimator).set_params(**candidate)._validate_params()
        except ValueError:
            # scikit-learn goes on with the others.
            return False
        return True

    def _adopt(self, candidates: list[dict[str, Any]], out: list[dict[str, Any]], splits: int, scorers: Any, metric: Any) -> None:
        """Scikit-learn's attributes."""
        results = self._format_results(candidates, splits, out)
        self.n_splits_ = splits
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        self.scorer_ = getattr(scorers, "_scorers", scorers) if self.multimetric_ else scorers
        self.cv_results_ = results

    def _refit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        begun = time.perf_counter()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        self.best_estimator_ = best.fit(X, y, **params)
        self.refit_time_ = time.perf_counter() - begun
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def by_name(scoring: Any) -> bool:
    """Whether these are names of scores, one or several, or none: the estimator's own."""
    if scoring is None or isinstance(scoring, str):
        return True
    if callable(scoring) or not isinstance(scoring, Iterable):
        return False
    names = scoring.values() if isinstance(scoring, dict) else scoring
    return all(isinstance(name, str) for name in names)


def responses(scorers: Any) -> set[str]:
    """What these scorers ask estimators for."""
    several = getattr(scorers, "_scorers", None)
    asked = set()
    for scorer in [scorers] if several is None else several.values():
        # The estimator's own score asks for predictions.
        of = getattr(scorer, "_response_method", "predict")
        asked.add(of if isinstance(of, str) else of[0])
    return {"predict" if of == "default" else of for of in asked}


class Searching:
    """What estimators that find their own C and gamma have in common. Stands before scikit-learn's mixins, whose scores know no ``scoring``."""

    #: The estimator that is searched for.
    _of: ClassVar[type[Any]]

    Cs: Any
    gammas: Any
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
            grid["gamma"] = [self.gammas] if isinstance(self.gammas, str | float | int) else list(self.gammas)
        for candidate in ParameterGrid(grid):
            clone(base).set_params(**candidate)._validate_params()
        given = {"sample_weight": sample_weight, "groups": groups}
        search = GridSearchCV(base, grid, cv=self.cv, scoring=self.scoring, refit=self.refit)
        # Whoever asks this estimator has routed already.
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

    def _best(self) -> Any:
        if hasattr(self, "cv_results_") and not self.refit:
            raise NotFittedError(f"{type(self).__name__} was searched with refit=False: there is no best_estimator_ to ask")
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def predict(self, X: Any) -> Any:
        """What the best estimator predicts for every row."""
        return self._best().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the best estimator, by ``scoring``."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._best(), X, y, **weights))


class SVCCV(Searching, ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """:class:`SVC` that finds its C and gamma by cross-validation: every combination in one run, as :class:`GridSearchCV` does it.

    Parameters
    ----------
    Cs : array of floats
        Values of C.
    gammas : array of floats and rules
        Values of gamma, ``"scale"`` and ``"auto"`` among them, for kernels that have one.
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
    """

    _of = SVC

    def __init__(
        self,
        *,
        Cs: Any = (0.1, 1.0, 10.0, 100.0),
        gammas: Any = ("scale",),
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

    def decision_function(self, X: Any) -> Floats:
        """Decision values of the best estimator."""
        return np.asarray(self._best().decision_function(X))

    @available_if(asked_for_probabilities)  # type: ignore[misc, unused-ignore]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the best estimator."""
        return np.asarray(self._best().predict_proba(X))


class SVRCV(Searching, RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """:class:`SVR` that finds its C and gamma by cross-validation; see :class:`SVCCV`. ``scoring=None`` is R²."""

    _of = SVR

    def __init__(
        self,
        *,
        Cs: Any = (0.1, 1.0, 10.0, 100.0),
        gammas: Any = ("scale",),
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
