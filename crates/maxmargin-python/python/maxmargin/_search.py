"""Scikit-learn's searches for C, gamma and the kernel: all combinations and all folds on the shared engine."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import _search_successive_halving as halving
from sklearn.utils.validation import _num_samples

from ._base import whole
from ._shared import SharedSearch


class GridSearchCV(SharedSearch, model_selection.GridSearchCV):  # type: ignore[misc, unused-ignore]
    """:class:`sklearn.model_selection.GridSearchCV`, whose combinations and folds share the engine where they can.

    They do (``shared_``) where the estimator is this package's :class:`SVC` or :class:`SVR` without ``max_iter`` and ``max_time``, or :class:`LinearSVC` or
    :class:`LinearSVR` without ``max_time`` whose trainings all converge, alone or at the end of a ``Pipeline``; the grid varies its ``C``, ``gamma``,
    ``kernel``, ``degree``, ``coef0``, ``epsilon`` and ``tol`` (of linear ones ``C``, ``loss``, ``epsilon``, ``tol``, ``fit_intercept`` and
    ``intercept_scaling``), and whatever the steps before it have; no split names a row twice or trains on what it tests; and the scores, given by name, are
    of predictions or decision values. A kernel matrix then serves all values of C and all folds, which start from each other's solutions; each is solved to
    its full tolerance and certified: ``certificates_`` has a tuple for each combination with the worst certificate of each split. All threads of the
    process are used, whatever ``n_jobs`` says.

    Steps of a pipeline are fitted to each training set, as scikit-learn does: their rows differ from split to split, and so only values of C share a matrix.
    So it is without a pipeline for combinations of ``gamma="scale"``, ``"mean"`` or ``class_weight="balanced"``, which belong to each training set.

    Everything else is scikit-learn's own search, and so is whatever fails: a step or a training that raises has ``error_score`` and a ``FitFailedWarning``.

    Parameters and attributes are scikit-learn's, and these attributes:

    Attributes
    ----------
    shared_ : bool
        The shared engine evaluated all combinations.
    certificates_ : tuple of tuples of :class:`Certificate`
        For each combination the worst certificate of each split; only where ``shared_``.

    Examples
    --------
    >>> from maxmargin import SVC, GridSearchCV
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [1, 10], "gamma": [0.1, 0.5]}, cv=3).fit(X, y)
    >>> search.shared_, len(search.certificates_), all(one.holds for of in search.certificates_ for one in of)
    (True, 4, True)
    """


class RandomizedSearchCV(SharedSearch, model_selection.RandomizedSearchCV):  # type: ignore[misc, unused-ignore]
    """:class:`sklearn.model_selection.RandomizedSearchCV` on the shared engine, where :class:`GridSearchCV` is. The same combinations are drawn; those of one
    gamma share a matrix, and so it pays to draw ``gamma`` from a list.

    Examples
    --------
    >>> from maxmargin import SVC, RandomizedSearchCV
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> draws = {"C": loguniform(0.1, 100), "gamma": [0.05, 0.5]}
    >>> search = RandomizedSearchCV(SVC(), draws, n_iter=5, random_state=0, cv=3).fit(X, y)
    >>> search.shared_, len(search.cv_results_["params"])
    (True, 5)
    """


class _Halving(SharedSearch):
    """Successive halving: the remaining combinations continue with more rows."""

    _n_samples_orig: int
    best_index_: Any
    best_score_: Any
    cv_results_: dict[str, Any]

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        with whole(self):
            self._n_samples_orig = _num_samples(X)
            super().fit(X, y, **params)
            # A callable makes the choice; scikit-learn's searches then store no best score.
            self.best_score_ = self.cv_results_["mean_test_score"][self.best_index_]
        return self


class HalvingGridSearchCV(_Halving, halving.HalvingGridSearchCV):  # type: ignore[misc, unused-ignore]
    """Scikit-learn's ``HalvingGridSearchCV`` on the shared engine, where :class:`GridSearchCV` is and the resource is rows. Scores of training sets are not
    computed unless ``return_train_score=True`` asks for them, and then scikit-learn does it all.

    Parameters
    ----------
    estimator, param_grid, factor, resource, max_resources, min_resources, aggressive_elimination, cv, scoring, refit, error_score, return_train_score, \
    random_state, n_jobs, verbose
        As in scikit-learn.

    Examples
    --------
    >>> from maxmargin import SVC, HalvingGridSearchCV
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> search = HalvingGridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [1e-4, 1e-3]}, cv=3, random_state=0).fit(X, y)
    >>> search.n_resources_[0] < search.n_resources_[-1]
    True
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        factor: float = 3,
        resource: str = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
        aggressive_elimination: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            factor=factor,
            resource=resource,
            max_resources=max_resources,
            min_resources=min_resources,
            aggressive_elimination=aggressive_elimination,
            cv=cv,
            scoring=scoring,
            refit=refit,
            error_score=error_score,
            return_train_score=return_train_score,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
