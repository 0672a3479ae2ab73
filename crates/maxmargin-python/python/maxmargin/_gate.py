"""The gate: whether a cross-validation runs on the shared engine, or as scikit-learn does it, one training for each split."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import getattr_static
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _Scorer
from sklearn.pipeline import Pipeline

from ._base import has_width_of_rows

#: Methods whose results the engine computes by itself.
REPLACED = ("fit", "predict", "decision_function", "score", "_svm", "_prepared")

#: The classes that the engine knows, and what these methods of theirs are unless somebody replaces
#: one.
KNOWN: dict[type[Any], tuple[Any, ...]] = {}


def on_engine(*classes: type[Any]) -> None:
    """Register estimators that the shared engine trains with the same result as their ``fit``."""
    KNOWN.update((of, methods_of(of)) for of in classes)


def methods_of(of: type[Any]) -> tuple[Any, ...]:
    """Return the methods whose results the engine computes."""
    return tuple(getattr_static(of, name, None) for name in REPLACED)


class Apart(Exception):  # noqa: N818 it is no error
    """Raised if a cross-validation must run in scikit-learn; the text is the reason."""


def machine_of(estimator: Any) -> Any:
    """Return the estimator, or the last step of a pipeline."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def check_gate(
    estimator: Any,
    scoring: Any,
    scorers: Any,
    fit_params: Iterable[str] = (),
    *,
    searched: bool = False,
) -> None:
    """Raises :class:`Apart` unless every option of a cross-validation is one that the shared engine answers as scikit-learn would.

    Every entry point asks here. ``scorers`` are those that scikit-learn made of ``scoring``; ``fit_params`` are the names of what goes to the
    estimator's ``fit``, as scikit-learn routes them; with ``searched`` combinations of values of C are asked for. Options of single combinations,
    splits and targets are checked where these are known.
    """
    _check_pipeline(estimator)
    _check_machine(machine_of(estimator), searched, alone=not isinstance(estimator, Pipeline))
    _check_scoring(estimator, scoring, scorers)
    unknown = set(fit_params) - {weights_name(estimator)}
    if unknown:
        raise Apart(f"fit takes {sorted(unknown)[0]} beside weights of the machine's samples")


def weights_name(estimator: Any) -> str:
    """Return the fit parameter for the sample weights of the machine."""
    return f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"


def _check_pipeline(estimator: Any) -> None:
    if not isinstance(estimator, Pipeline):
        return
    # Subclasses, such as imbalanced-learn's, have semantics of their own.
    if type(estimator) is not Pipeline:
        raise Apart(f"{type(estimator).__module__}.{type(estimator).__name__} is not sklearn.pipeline.Pipeline")
    if not estimator.steps or any(not isinstance(step, tuple) or len(step) != 2 for step in estimator.steps):
        raise Apart("the pipeline has no steps")
    if getattr(estimator, "transform_input", None):
        raise Apart("transform_input of a pipeline is scikit-learn's to route")
    if getattr(estimator, "_skl_callbacks", None):
        raise Apart("the pipeline has callbacks")


def _check_machine(machine: Any, searched: bool, *, alone: bool) -> None:
    of = type(machine)
    # Subclasses can change any behaviour.
    if of not in KNOWN or (searched and not hasattr(machine, "C")) or (searched and hasattr(machine, "nu")):
        raise Apart(f"{of.__module__}.{of.__name__} is no class of maxmargin that shares the engine")
    if methods_of(of) != KNOWN[of]:
        raise Apart(f"methods of {of.__name__} were replaced")
    if getattr(machine, "_skl_callbacks", None):
        raise Apart(f"{of.__name__} has callbacks")
    if not machine._shares_engine():
        raise Apart("max_iter, max_time, an l1 penalty or crammer_singer have results of single trainings only")
    if getattr(machine, "conformal", None) is not None:
        score = machine.conformal_score
        # Folds are trained without intervals and sets, and would not see that the score is none of theirs.
        if score != "plain" and (score == "scaled") == is_classifier(machine):
            raise Apart(f"{of.__name__} has no conformal_score={score!r}")
    kernel = getattr(machine, "kernel", "linear")
    if not machine._sees_rows() and not (alone and isinstance(kernel, str)):
        raise Apart(
            "values of a kernel that is a function, or of a matrix behind steps, may depend on the rows of the training set"
        )
    if not machine._sees_rows() and fits_rows(machine, {}):
        raise Apart("balanced weights of a precomputed kernel belong to each training set")


def _check_scoring(estimator: Any, scoring: Any, scorers: Any) -> None:
    if not of_predictions(scoring):
        raise Apart("a scorer that is neither a name nor of a metric of scikit-learn may look at the estimator or at the rows")
    if not responses(scorers) <= ({"predict", "decision_function"} if is_classifier(estimator) else {"predict"}):
        raise Apart("a score looks at more than predictions and decision values")


def fits_rows(machine: Any, candidate: dict[str, Any]) -> bool:
    """Whether something beside the solution is fitted to each training set, with these parameters: a rule for gamma, or balanced weights of classes."""
    asked = {"kernel": getattr(machine, "kernel", "linear"), "gamma": getattr(machine, "gamma", None)} | candidate
    weighted = candidate.get("class_weight", getattr(machine, "class_weight", None))
    return has_width_of_rows(asked["kernel"], asked["gamma"]) or isinstance(weighted, str)


def of_predictions(scoring: Any) -> bool:
    """Return true if these scores look at predictions and targets alone: names, None for the estimator's own score, or metrics of scikit-learn by
    :func:`sklearn.metrics.make_scorer`. Functions of users may look up rows by the index of the targets."""
    if scoring is None or isinstance(scoring, str):
        return True
    if callable(scoring):
        metric = getattr(scoring, "_score_func", None)
        return type(scoring) is _Scorer and getattr(metric, "__module__", "").startswith("sklearn.metrics.")
    if not isinstance(scoring, Iterable):
        return False
    several = scoring.values() if isinstance(scoring, dict) else scoring
    return all(score is not None and of_predictions(score) for score in several)


def responses(scorers: Any) -> set[str]:
    """Return the estimator methods that these scorers call."""
    several = getattr(scorers, "_scorers", None)
    asked = set()
    for scorer in [scorers] if several is None else several.values():
        # The estimator's own score asks for predictions.
        of = getattr(scorer, "_response_method", "predict")
        asked.add(of if isinstance(of, str) else of[0])
    return {"predict" if of == "default" else of for of in asked}


def places(indices: Any, rows: int) -> NDArray[np.intp]:
    """Rows of a split by their places from 0, as scikit-learn reads masks, lists and places from the end."""
    found = np.asarray(indices)
    if found.dtype.kind == "b" and found.shape == (rows,):
        return np.flatnonzero(found)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise Apart(f"a split is an array of {found.dtype} of shape {found.shape}")
    found = found.astype(np.intp)
    found = np.where(found < 0, found + rows, found)
    if found.size and (found.min() < 0 or found.max() >= rows):
        raise Apart("a split names a row that is not there")
    return found


class Rewind:
    """States of random numbers and of splitters, which scikit-learn must find as they were when the shared engine hands over."""

    def __init__(self, *owners: Any) -> None:
        self.of_numpy: Any = np.random.get_state()
        self.attributes = [(vars(owner), dict(vars(owner))) for owner in owners if hasattr(owner, "__dict__")]
        values = [value for _, before in self.attributes for value in before.values()]
        self.states = [(value, value.get_state()) for value in values if isinstance(value, np.random.RandomState)]
        self.generators = [
            (value.bit_generator, value.bit_generator.state) for value in values if isinstance(value, np.random.Generator)
        ]

    def back(self) -> None:
        """Restore all states."""
        np.random.set_state(self.of_numpy)
        for attributes, before in self.attributes:
            attributes.clear()
            attributes.update(before)
        for value, state in self.states:
            value.set_state(state)
        for generator, numbers in self.generators:
            generator.state = numbers


def check_drawn(before: Any) -> None:
    """Raises :class:`Apart` where steps drew from numpy's common generator since ``before``: scikit-learn's order of fits would draw other numbers."""
    now = np.random.get_state()
    if before[2] != now[2] or not np.array_equal(before[1], now[1]):  # type: ignore[index, unused-ignore]
        raise Apart("a step draws random numbers without a random_state")


def tried(before: Rewind, share: Callable[[], None]) -> bool:
    """Whether the shared engine did it all. Otherwise everything is as it was: whatever was raised, scikit-learn knows for which combination and split it
    is, and what to do then. What it raises itself has no trace of this attempt."""
    try:
        share()
    except Exception:
        before.back()
        return False
    return True
