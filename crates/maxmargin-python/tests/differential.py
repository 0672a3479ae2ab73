"""Random estimators, parameters and data by every entry point of this package, beside scikit-learn's own searches and cross-validations of the same estimator.

``python tests/differential.py --seed 1 --cases 10000`` tries cases 0 to 9,999 and says what was tried and what differs; ``--case 17`` tries one of them.
"""

import argparse
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from differential_cases import Case, drawn
from sklearn import model_selection as theirs
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import LeaveOneOut
from sklearn.utils import _safe_indexing

import maxmargin as ours
from maxmargin import distributed
from maxmargin._gate import machine_of

#: Scores of the same solution, to rounding and the tolerance of 1e-10 that all trainings have.
APART = 1e-9

#: What is 0 to the tolerance of all trainings.
ZERO = 1e-8

#: Kernel values are in single precision while a machine is trained.
SINGLE = 2.0**-24


@dataclass
class Outcome:
    """The result of an entry point, or its exception."""

    scores: dict = field(default_factory=dict)
    best: object = None
    raised: str | None = None
    failed: bool = False
    ended: bool = False
    shared: bool = False
    trace: str = ""


def outcome(call):
    """The outcome of a call, with what it warned of."""
    found = Outcome()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found.scores, found.best, found.shared = call()
        except Exception as error:
            found.raised, found.trace = type(error).__name__, traceback.format_exc()
    found.failed = any(issubclass(one.category, FitFailedWarning) for one in told)
    found.ended = any(issubclass(one.category, ConvergenceWarning) for one in told)
    return found


def of_search(search):
    """Scores of a fitted search, what it found best, and whether it shared the engine."""
    results = search.cv_results_
    # Successive halving goes on with combinations in the order of their scores, which rounding
    # decides where two are equal.
    order = sorted(
        range(len(results["params"])), key=lambda at: (results.get("iter", [0] * (at + 1))[at], repr(results["params"][at]))
    )
    names = [name for name in results if "test" in name and not name.startswith("rank")]
    scores = {name: np.asarray(results[name], float)[order] for name in names}
    best = getattr(search, "best_params_", None)
    return scores, None if best is None else repr(best), getattr(search, "shared_", False)


def of_validation(found):
    """The same of a cross-validation."""
    scores = found.test_score if isinstance(found.test_score, dict) else {"score": found.test_score}
    return {f"test_{name}": np.asarray(of, float) for name, of in scores.items()}, None, found.shared


def of_their_validation(found):
    return {name: np.asarray(of, float) for name, of in found.items() if name.startswith("test_")}, None, False


def searched(case: Case, package):
    """A search of the case by one of the packages."""
    cv = case.splitter()
    how = {"cv": cv, "scoring": case.scoring, "refit": case.refit}
    if case.entry == "RandomizedSearchCV":
        how |= {"n_iter": min(3, len(theirs.ParameterGrid(case.grid))), "random_state": case.state()}
    if case.entry == "HalvingGridSearchCV":
        how |= {"random_state": 1, "factor": 2, "min_resources": len(case.targets) // 2, "return_train_score": False}
    search = getattr(package, case.entry)(clone(case.estimator), case.grid, **how)
    return of_search(search.fit(case.X, case.y, **case.fit_params()))


def found_by_cv_estimator(case: Case):
    """SVCCV or SVRCV; scikit-learn's search over the estimator that it has inside."""
    base = case.estimator
    given = {name: of for name, of in base.get_params().items() if name not in {"C", "gamma"}}
    own = {"SVC": ours.SVCCV, "SVR": ours.SVRCV}[type(base).__name__]
    known = own().get_params()
    given = {name: of for name, of in given.items() if name in known}
    machine = own(Cs=case.costs, gammas=case.gammas, cv=case.splitter(), scoring=case.scoring, refit=case.refit, **given)
    machine.fit(case.X, case.y, sample_weight=case.weights, groups=case.groups)
    return of_search(machine)


def reference_of_cv_estimator(case: Case):
    grid = {"C": case.costs}
    if case.estimator.kernel in {"rbf", "poly", "sigmoid"}:
        grid["gamma"] = case.gammas
    base = clone(case.estimator)
    search = theirs.GridSearchCV(base, grid, cv=case.splitter(), scoring=case.scoring, refit=case.refit)
    return of_search(search.fit(case.X, case.y, **case.fit_params()))


def validated(case: Case, scoring, cv):
    """Scikit-learn's ``cross_validate``."""
    weights = None if case.weights is None else {case.weights_name: case.weights}
    return theirs.cross_validate(
        clone(case.estimator), case.X, case.y, groups=case.groups, cv=cv, scoring=scoring, params=weights
    )


def pair(case: Case, folder: Path):
    """One call of this package, and the same call of scikit-learn."""
    if case.entry in {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV"}:
        return (lambda: searched(case, ours)), (lambda: searched(case, theirs))
    if case.entry == "SVCCV":
        return (lambda: found_by_cv_estimator(case)), (lambda: reference_of_cv_estimator(case))
    if case.entry == "leave_one_out":
        scoring = None if is_classifier(case.estimator) else "neg_mean_absolute_error"
        return (
            lambda: of_validation(clone(case.estimator).leave_one_out(case.X, case.y, sample_weight=case.weights)),
            lambda: of_their_validation(validated(case, scoring, LeaveOneOut())),
        )
    if case.entry == "cross_validate":
        return (
            lambda: of_validation(
                clone(case.estimator).cross_validate(
                    case.X,
                    case.y,
                    cv=case.splitter(),
                    scoring=case.scoring,
                    groups=case.groups,
                    sample_weight=case.weights,
                )
            ),
            lambda: of_their_validation(validated(case, case.scoring, case.splitter())),
        )
    return of_cluster(case, folder)


def of_cluster(case: Case, folder: Path):
    """Entries of maxmargin.distributed, whose data are a file."""
    np.savez(folder / "data.npz", X=case.X, y=case.y)
    path = folder / "data.npz"
    if case.entry == "distributed.cross_validate":
        return (
            lambda: of_validation(
                distributed.cross_validate(
                    path, case.estimator, None, cv=case.splitter(), scoring=case.scoring, sample_weight=case.weights
                )
            ),
            lambda: of_their_validation(validated(case, case.scoring, case.splitter())),
        )

    def remote():
        plan = ours.GridSearchCV(clone(case.estimator), case.grid, cv=case.splitter(), scoring=case.scoring, refit=case.refit)
        return of_search(distributed.grid(path, plan, None, sample_weight=case.weights))

    def local():
        search = theirs.GridSearchCV(clone(case.estimator), case.grid, cv=case.splitter(), scoring=case.scoring, refit=case.refit)
        return of_search(search.fit(case.X, case.y, **case.fit_params()))

    return remote, local


def differences(case: Case, mine: Outcome, right: Outcome):
    """The differences of two outcomes, in words; None where they cannot be compared."""
    if case.entry.startswith("distributed") and mine.raised in {"ValueError", "UnitFailedError"} and not case.grouped:
        return None
    if mine.raised != right.raised:
        return f"raised {mine.raised}, scikit-learn {right.raised}"
    if right.raised:
        return ""
    if right.ended:
        # A training that was cut short has no solution to compare.
        return None
    if set(mine.scores) != set(right.scores):
        return f"scores {sorted(mine.scores)}, scikit-learn {sorted(right.scores)}"
    for name, of in right.scores.items():
        most = APART + rounding_of(case)
        if not np.allclose(mine.scores[name], of, rtol=most, atol=most, equal_nan=True):
            if undecided(case):
                return None
            return f"{name} {mine.scores[name].tolist()}, scikit-learn {of.tolist()}"
    if mine.failed != right.failed:
        return f"FitFailedWarning {mine.failed}, scikit-learn {right.failed}"
    if mine.best != right.best and not tied(right, mine.best):
        return f"best {mine.best}, scikit-learn {right.best}"
    return ""


def undecided(case: Case):
    """Whether a training of scikit-learn's way leaves it to rounding which class is predicted, or how samples are ranked: of several linear machines two
    have the same decision value for a sample (without weights, all are -1 or 1), all weights of a linear machine are 0, so that all samples have the same
    decision value, or the margin of nu-SVC is 0, so that every decision value is 0 divided by 0."""
    machine = machine_of(case.estimator)
    if type(machine) not in {ours.LinearSVC, ours.NuSVC}:
        return False
    alone = case.entry in {"cross_validate", "leave_one_out", "distributed.cross_validate"}
    cv = LeaveOneOut() if case.entry == "leave_one_out" else case.splitter()
    cv = theirs.check_cv(cv, case.targets, classifier=True)
    for train, test in cv.split(case.X, case.targets, case.groups):
        for params in [{}] if alone else theirs.ParameterGrid(case.grid):
            own = clone(case.estimator).set_params(**clone(params, safe=False))
            weights = {} if case.weights is None else {case.weights_name: case.weights[train]}
            try:
                own.fit(_safe_indexing(case.X, train), _safe_indexing(case.y, train), **weights)
            except Exception:
                continue
            found = machine_of(own)
            if type(found) is ours.NuSVC and min(one.primal for one in found.certificates_) < ZERO:
                return True
            decided = np.sort(own.decision_function(_safe_indexing(case.X, test)))
            if type(found) is ours.LinearSVC and decided.ndim == 2 and np.diff(decided[:, -2:]).min() < ZERO:
                return True
            if type(found) is ours.LinearSVC and decided.ndim == 1 and 0 < np.ptp(decided) < ZERO:
                return True
            if type(found) is ours.LinearSVC and decided.ndim == 1 and 0 < np.abs(decided).min() < ZERO:
                return True
    return False


def rounding_of(case: Case):
    """The distance that single precision may move a score of NuSVR.

    Coefficients sum to no more than nu C rows, and kernel values are off by 2⁻²⁴ of themselves. The bias, which no
    tolerance corrects, is off by the product; a score has a slope of some units where targets and kernels have scale 1.
    """
    machine = machine_of(case.estimator)
    if type(machine) is not ours.NuSVR:
        return 0.0
    costs = [machine.C, *case.costs]
    weight = 1.0 if case.weights is None else float(np.max(case.weights))
    return 2 * SINGLE * max(costs) * weight * len(case.targets)


def tied(right: Outcome, best):
    """Whether scores of the best differ by rounding only, so that either may be it."""
    for name, of in right.scores.items():
        if name.startswith("mean_test") and best is not None:
            top = np.sort(of[~np.isnan(of)])[::-1]
            if len(top) > 1 and 0 < abs(top[0] - top[1]) <= APART * max(1.0, abs(top[0])):
                return True
    return False


@dataclass
class Report:
    """The cases that were tried, and the differences."""

    tried: Counter = field(default_factory=Counter)
    shared: Counter = field(default_factory=Counter)
    apart: Counter = field(default_factory=Counter)
    found: list = field(default_factory=list)


def run(seed, numbers, say=None):
    """Tries these cases."""
    report = Report()
    with tempfile.TemporaryDirectory() as name:
        for number in numbers:
            case = drawn(seed, number)
            state = np.random.get_state()
            call, reference = pair(case, Path(name))
            np.random.seed(number)
            mine = outcome(call)
            np.random.seed(number)
            right = outcome(reference)
            np.random.set_state(state)
            report.tried.update([("entry", case.entry), ("estimator", case.name)])
            report.shared.update([case.entry] if mine.shared else [])
            differs = differences(case, mine, right)
            if differs is None:
                report.apart.update([case.entry])
            elif differs:
                line = f"python tests/differential.py --seed {seed} --case {number}: {case}: {differs}"
                report.found.append(line)
                if say:
                    say(line)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--case", type=int)
    asked = parser.parse_args()
    numbers = range(asked.first, asked.first + asked.cases) if asked.case is None else [asked.case]
    if asked.case is not None:
        case = drawn(asked.seed, asked.case)
        with tempfile.TemporaryDirectory() as name:
            for call in pair(case, Path(name)):
                np.random.seed(asked.case)
                print(outcome(call))
    report = run(asked.seed, numbers, lambda line: print(line, flush=True))
    for (kind, name), count in sorted(report.tried.items()):
        print(f"{kind} {name}: {count} cases" + (f", {report.shared[name]} on the shared engine" if kind == "entry" else ""))
    print(f"{sum(report.apart.values())} not comparable: {dict(report.apart)}")
    print(f"{len(numbers)} cases, {len(report.found)} differences")
    sys.exit(bool(report.found))


if __name__ == "__main__":
    main()
