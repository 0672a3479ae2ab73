"""What searches of scikit-learn have in common that run on the shared engine where that gives what fitting one by one does."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score
from sklearn.metrics._scorer import _PassthroughScorer
from sklearn.model_selection import check_cv
from sklearn.model_selection._validation import _score
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_method_params, column_or_1d

from ._base import teller, whole
from ._certificate import Certificate
from ._folds import KnownPredictions, Split, splits_of
from ._gate import Apart, Rewind, check_drawn, check_gate, fits_rows, machine_of, responses, tried, weights_name
from ._grid import Grid, shared_by
from ._per_split import PerSplit
from ._state import Plain

#: Splits that leave out more than this share of the rows have rows of their own: a model of all rows would cost more than it saves.
FEW = 0.3

#: Differences of mean scores up to this share of the largest score of a split are rounding.
SCORE_ROUNDING = 1e-12


class Mute:
    """A stand-in for scikit-learn's callback context, without callbacks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self


class Parts:
    """The combinations of a search over several grids."""

    def __init__(self, parts: list[tuple[Grid | PerSplit, list[int]]]) -> None:
        self.parts = parts
        self.of = {at: (grid, place) for grid, members in parts for place, at in enumerate(members)}

    def fold_predictions(self, at: int, split: int, test: NDArray[np.intp]) -> tuple[KnownPredictions, float]:
        """As :meth:`Grid.fold_predictions`."""
        grid, place = self.of[at]
        return grid.fold_predictions(place, split, test)

    def certificates(self) -> tuple[tuple[Certificate, ...], ...]:
        """For each combination the worst certificate of each split."""
        found = {at: of for grid, members in self.parts for at, of in zip(members, grid.certificates(), strict=True)}
        return tuple(found[at] for at in range(len(found)))


def rank_equals(results: dict[str, Any], splits: int) -> None:
    """Give mean scores that differ by rounding alone the same rank, so that the first of them is the best.

    Solutions that are the same to their tolerance, such as those of all C above the largest dual variable, start from each other here, and their scores
    differ in the last digits.
    """
    for name in [name for name in results if name.startswith("rank_test_")]:
        score = name.removeprefix("rank_")
        means = np.asarray(results[f"mean_{score}"], float)
        largest = np.max([np.abs(results[f"split{split}_{score}"]) for split in range(splits)], axis=0)
        order = np.argsort(-means, kind="stable")
        ranks, first = np.array(results[name]), None
        for place, at in enumerate(order):
            if not np.isfinite(means[at]):
                continue
            if first is None or means[first] - means[at] > SCORE_ROUNDING * largest[first]:
                first, rank = at, place + 1
            ranks[at] = rank
        results[name] = ranks


class SharedSearch(Plain):
    """Stands before one of scikit-learn's searches. Combinations come from that search; what they score comes from the engine."""

    shared_: bool
    certificates_: tuple[tuple[Certificate, ...], ...]

    #: Who solves all combinations: of splits that have the same rows, and of those that have rows of their own.
    _together: Callable[..., Grid] = Grid
    _apart: Callable[..., PerSplit] = PerSplit

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Cross-validates the combinations, and trains the best on all of X if ``refit`` says so. Parameters are those of scikit-learn's ``fit``.

        Raises
        ------
        KeyboardInterrupt
            At once; the search is then as it was before.
        """
        with whole(self):
            self._validate_params()  # type: ignore[attr-defined, unused-ignore]
            before = Rewind(self, self.cv)  # type: ignore[attr-defined, unused-ignore]
            if not tried(before, lambda: self._fit_shared(X, y, params)):
                super().fit(X, y, **params)  # type: ignore[misc, unused-ignore]
                self.shared_, self.certificates_ = False, ()
        return self

    def _fit_shared(self: Any, X: Any, y: Any, params: dict[str, Any]) -> None:
        """Run everything on the engine, or raise :class:`Apart`."""
        if y is None:
            raise Apart("there are no targets")
        if self.return_train_score:
            raise Apart("return_train_score asks every training about its own rows")
        if hasattr(self.cv, "__next__"):
            raise Apart("cv is an iterator, which is read once")
        if getattr(self, "_skl_callbacks", None):
            raise Apart("the search has callbacks")
        scorers, metric = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        check_gate(self.estimator, self.scoring, scorers, routed.estimator.fit, searched=True)
        asked = responses(scorers)
        self._begin(X, y, routed.splitter.split)
        weights = routed.estimator.fit.get(weights_name(self.estimator))
        targets = column_or_1d(y)
        plain = is_classifier(self.estimator) and is_accuracy(scorers) and not routed.scorer.score
        candidates: list[dict[str, Any]] = []
        out: list[dict[str, Any]] = []
        more: dict[str, list[Any]] = defaultdict(list)
        certificates: list[tuple[Certificate, ...]] = []
        found: dict[str, Any] = {}

        def evaluate(
            asked_for: Iterable[dict[str, Any]], cv: Any = None, more_results: Any = None, **callbacks: Any
        ) -> dict[str, Any]:
            batch = list(asked_for)
            splits = splits_of((cv or self._checked_cv_orig).split(X, y, **routed.splitter.split), len(targets))
            grid = self._evaluated(batch, splits, X, y, weights, decisions="decision_function" in asked)
            certificates.extend(grid.certificates())
            labels = [_safe_indexing(y, test) for _, test in splits]
            score_weights: list[Any] = [_check_method_params(X, params=routed.scorer.score, indices=test) for _, test in splits]
            for at in range(len(batch)):
                for split, (_, test) in enumerate(splits):
                    predictions, seconds = grid.fold_predictions(at, split, test)
                    begun = time.perf_counter()
                    # Scorers ask this estimator for predictions, whichever rows they pass.
                    if plain:
                        scores = float(np.mean(predictions.predict(test) == targets[test]))
                    else:
                        scores = _score(predictions, test, labels[split], scorers, score_weights[split], self.error_score)
                    took = time.perf_counter() - begun
                    out.append({"fit_time": seconds, "score_time": took, "test_scores": scores, "n_test_samples": len(test)})
            candidates.extend(batch)
            for name, values in (more_results or {}).items():
                more[name].extend(values)
            found.update(self._format_results(candidates, self.n_splits_, out, more))
            rank_equals(found, self.n_splits_)
            return found

        self._run_search(evaluate, **({"callback_ctx": Mute()} if hears_callbacks(self._run_search) else {}))
        self.certificates_, self.shared_ = tuple(certificates), True
        self._adopt(found, isinstance(out[0]["test_scores"], dict), scorers, metric)
        if self.refit:
            self._refit(X, y, routed.estimator.fit)

    def _begin(self: Any, X: Any, y: Any, split: dict[str, Any]) -> None:
        """What scikit-learn's searches know before they draw their combinations."""
        self._checked_cv_orig = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        self._check_input_parameters(X=X, y=y, split_params=split)
        self.n_splits_ = self._checked_cv_orig.get_n_splits(X, y, **split)

    def _evaluated(
        self: Any, candidates: list[dict[str, Any]], splits: list[Split], X: Any, y: Any, weights: Any, *, decisions: bool
    ) -> Grid | PerSplit | Parts:
        """All combinations in all splits: those for which nothing is fitted to a training set on kernel values of all rows, the others split by split."""
        if not candidates or not all(self._takes(candidate) for candidate in candidates):
            raise Apart("a combination sets what the engine does not vary")
        if len(splits) != self.n_splits_:
            raise Apart("the splitter has another number of splits than it says")
        left_out = 1 - np.mean([len(train) + len(test) for train, test in splits]) / len(y)
        # A precomputed kernel matrix is indexed by rows and columns.
        machine = machine_of(self.estimator)
        apart = isinstance(self.estimator, Pipeline) or (left_out > FEW and machine._sees_rows())
        own = [at for at, candidate in enumerate(candidates) if apart or fits_rows(machine, candidate)]
        parts: list[tuple[Grid | PerSplit, list[int]]] = []
        for solve, members in [(self._together, sorted({*range(len(candidates))} - {*own})), (self._apart, own)]:
            if not members:
                continue
            grid = solve(self.estimator, X, y, weights, decisions=decisions)
            if self.verbose > 0:
                grid.report = teller(type(self).__name__)
            drawn = np.random.get_state()
            if not grid.run([candidates[at] for at in members], splits):
                raise Apart("a training set lacks a class or names rows twice, or a combination is no problem for the engine")
            check_drawn(drawn)
            parts.append((grid, members))
        return parts[0][0] if len(parts) == 1 else Parts(parts)

    def _takes(self: Any, candidate: dict[str, Any]) -> bool:
        """Return true if the engine supports the parameters of this combination."""
        machine = machine_of(self.estimator)
        if isinstance(self.estimator, Pipeline):
            last = self.estimator.steps[-1][0]
            before = {name for name, _ in self.estimator.steps[:-1]}
            if any(name.split("__")[0] not in before | {last} or name == last for name in candidate):
                return False
            own = {name.removeprefix(f"{last}__"): value for name, value in candidate.items() if name.startswith(f"{last}__")}
        else:
            own = candidate
        if not set(own) <= set(shared_by(machine)):
            return False
        try:
            clone(self.estimator).set_params(**clone(candidate, safe=False))
            set_so = clone(machine).set_params(**own)
            set_so._validate_params()
            # A kernel that is not a named kernel of the rows cannot be varied.
            if "kernel" in own and not set_so._sees_rows():
                return False
        except ValueError:
            # scikit-learn continues with the others.
            return False
        return True

    def _adopt(self: Any, results: dict[str, Any], several: bool, scorers: Any, metric: Any) -> None:
        """Set scikit-learn's attributes."""
        self.multimetric_ = several
        if self.refit or not several:
            self.best_index_ = self._select_best_index(self.refit, metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        self.scorer_ = getattr(scorers, "_scorers", scorers) if several else scorers
        self.cv_results_ = results

    def _refit(self: Any, X: Any, y: Any, params: dict[str, Any]) -> None:
        begun = time.perf_counter()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        self.best_estimator_ = best.fit(X, y, **params)
        self.refit_time_ = time.perf_counter() - begun
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_


def hears_callbacks(run_search: Any) -> bool:
    """Whether this version of scikit-learn hands its callbacks to searches."""
    return "callback_ctx" in run_search.__code__.co_varnames


def is_accuracy(scorer: Any) -> bool:
    """Whether this is the share of right predictions, as classifiers score themselves: scikit-learn takes longer to look at labels than to compare them, and
    longer for some hundred splits of small data than their trainings."""
    if isinstance(scorer, _PassthroughScorer):
        return True
    return getattr(scorer, "_score_func", None) is accuracy_score and not scorer._kwargs and scorer._sign == 1
