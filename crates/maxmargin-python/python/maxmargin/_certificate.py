"""Certificates of solutions, and the verification of a model against its data."""

from __future__ import annotations

import html
import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from sklearn.exceptions import ConvergenceWarning

from . import _native


def table(title: str, rows: dict[str, str]) -> str:
    """Return names and values as an HTML table."""
    head = '<th scope="row" style="text-align: left">'
    cells = "".join(f"<tr>{head}{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


@dataclass(frozen=True, repr=False)
class Certificate:
    """The quality of a solution, recomputed in double precision from the data and the coefficients.

    Attributes
    ----------
    primal, dual : float
        The objectives: bounds on the optimum from above and below.
    relative_gap : float
        Their difference, relative to the larger of the two.
    kkt : float
        The largest KKT violation, which ``tol`` bounds.
    infeasible : float
        The largest violation of the constraints.
    holds : bool
        Whether the solution meets the tolerance that was asked for.

    Notes
    -----
    Scikit-learn's estimators have nothing like it: they report whether the solver stopped by itself.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> found = SVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).certificate_
    >>> found.holds, found.dual <= found.primal
    (True, True)
    """

    #: Primal objective: an upper bound on the optimum. Infinite, as the gap, where the kernel matrix is not known to be positive
    #: semidefinite (a sigmoid kernel, a kernel matrix or function of yours): the solution is a stationary point then, and may be no optimum.
    primal: float
    #: Dual objective: a lower bound on the optimum.
    dual: float
    #: Relative duality gap: the difference of the objectives relative to the larger of the two.
    relative_gap: float
    #: Largest KKT violation, which ``tol`` bounds.
    kkt: float
    #: Largest violation of the constraints.
    infeasible: float
    #: True if the solution meets the requested tolerance.
    holds: bool

    @property
    def gap(self) -> float:
        """``primal - dual``: the optimum is no further away."""
        return self.primal - self.dual

    def __repr__(self) -> str:
        holds = "holds" if self.holds else "does not hold"
        return f"<Certificate {holds}: KKT {self.kkt:.2g}, relative gap {self.relative_gap:.2g}, objective {self.dual:.6g}>"

    def _repr_html_(self) -> str:
        rows = {
            "holds": "yes" if self.holds else "no",
            "KKT violation": f"{self.kkt:.2g}",
            "relative duality gap": f"{self.relative_gap:.2g}",
            "primal objective": f"{self.primal:.8g}",
            "dual objective": f"{self.dual:.8g}",
            "infeasibility": f"{self.infeasible:.2g}",
        }
        return table("Certificate", rows)

    @classmethod
    def none(cls) -> Certificate:
        """Return the certificate of a training that failed or was not certified: all values are unknown."""
        return cls(math.nan, math.nan, math.nan, math.inf, math.nan, False)

    @staticmethod
    def worst(of: Iterable[Certificate]) -> Certificate:
        """All together: every figure is the worst (the largest violations, the gap furthest from 0),
        and it holds where all do. The objectives are those of the gap."""
        together = tuple(of)
        furthest = max(together, key=lambda one: abs(one.relative_gap))
        return Certificate(
            primal=furthest.primal,
            dual=furthest.dual,
            relative_gap=furthest.relative_gap,
            kkt=max(one.kkt for one in together),
            infeasible=max(one.infeasible for one in together),
            holds=all(one.holds for one in together),
        )


@dataclass(frozen=True)
class Check:
    """One claim of a model, compared with the recomputed value.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> verdict = SVC(kernel="linear").fit(X, y).verify(X, y)
    >>> any(check.passed for check in verdict.checks)
    True
    """

    #: The claim.
    what: str
    #: None if the claim cannot be checked.
    passed: bool | None
    #: The two values, or the reason why there is nothing to compare.
    detail: str


@dataclass(frozen=True, repr=False)
class Verdict:
    """The verification of a model against its training data. Every claim of the model is recomputed.

    True as a truth value where all claims agree and every machine meets its tolerance.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> bool(SVC(kernel="linear").fit(X, y).verify(X, y))
    True
    """

    #: True if all claims that can be compared agree.
    matches: bool
    #: True if every machine is certified and meets ``tol``.
    met: bool
    #: The claims of the model.
    checks: tuple[Check, ...]
    #: The recomputed certificate of each machine; empty if support vectors are not rows of the data.
    certificates: tuple[Certificate, ...]

    def __bool__(self) -> bool:
        return self.matches and self.met

    def __repr__(self) -> str:
        failed = [check.what for check in self.checks if check.passed is False]
        what = f"does not match: {', '.join(failed)}" if failed else "matches"
        return f"<Verdict {what}; certificates {'meet' if self.met else 'miss'} the tolerance>"

    def _repr_html_(self) -> str:
        words = {True: "agrees", False: "differs", None: "cannot be checked"}
        rows = {check.what: f"{words[check.passed]}: {check.detail}" for check in self.checks}
        return table("Verdict: " + ("verified" if self else "not verified"), rows)

    @classmethod
    def of(cls, fields: _native.VerdictFields) -> Verdict:
        checks = tuple(Check(*check) for check in fields["checks"])
        certificates = tuple(Certificate(**one) for one in fields["certificates"])
        return cls(fields["matches"], fields["met"], checks, certificates)


@dataclass(frozen=True)
class Calibration:
    """The calibration of probabilities, and their quality on samples that were used neither for the machines nor for the calibration.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> X, y = [[float(i)] for i in range(20)], [0] * 10 + [1] * 10
    >>> found = SVC(calibration="platt").fit(X, y).calibration_
    >>> found.method, found.missing is None
    ('platt', True)
    """

    #: ``platt`` or ``isotonic``.
    method: str
    #: The reason if there are no probabilities.
    missing: str | None
    #: The number of folds whose decision values were used.
    folds: int
    #: The mean negative logarithm of the probability of the true class.
    log_loss: float | None
    #: The mean squared difference of probabilities and classes.
    brier: float | None
    #: The mean difference of predicted probabilities and observed shares, over bins.
    expected_calibration_error: float | None


@dataclass(frozen=True)
class Conformal:
    """The conformal predictions of an estimator, and what they cover of samples that their machines did not see.

    Examples
    --------
    >>> from maxmargin import SVR
    >>> X, y = [[float(i)] for i in range(40)], [float(i % 5) for i in range(40)]
    >>> found = SVR(conformal=0.2).fit(X, y).conformal_
    >>> found.method, found.level
    ('cv+', 0.2)
    """

    #: The reason if there are none.
    missing: str | None
    #: The number of folds whose machines are kept.
    folds: int
    #: ``cv+``, ``jackknife+``, ``conformalised quantiles`` or ``cross-conformal``.
    method: str | None
    #: The share of intervals or sets that may miss the truth.
    level: float | None
    #: The share of held-out samples whose interval or set has the truth.
    coverage: float | None
    #: The mean width of intervals, if all are finite.
    width: float | None
    #: The mean number of classes in a set.
    size: float | None
    #: The share of held-out samples of each group whose interval or set has the truth; empty without ``conformal_groups``.
    groups: dict[str, float] = field(default_factory=dict)
    #: The groups with too few samples for the level: intervals are infinite there, and sets have all classes.
    small_groups: list[str] = field(default_factory=list)


#: The largest violation of constraints that is rounding.
FEASIBLE = 1e-9

ENDED = {
    "iteration_limit": "ended after max_iter={max_iter} iterations",
    "time_limit": "ended after max_time={max_time} seconds",
    "stalled": "found no further progress at this precision",
    "slow": "was stopped, since its solver does not reach tol at its pace",
    "interrupted": "was interrupted",
}

WHAT_TO_DO = {
    "iteration_limit": "raise max_iter, scale the features (StandardScaler, MinMaxScaler), or lower C",
    "time_limit": "raise max_time, scale the features (StandardScaler, MinMaxScaler), or lower C",
    "stalled": "scale the features (StandardScaler, MinMaxScaler) or raise tol",
    "slow": "leave the solver to the program, scale the features (StandardScaler, MinMaxScaler) or raise tol",
    "interrupted": "fit again",
}


def early_ends(statuses: Iterable[str], certificates: Iterable[Certificate], tol: float) -> set[str]:
    """Return how those trainings ended whose solution misses the tolerance.

    A solver also stalls where rounding errors could hide a violation above the tolerance. The violation that was found then counts, as in the certificate
    of a model.
    """

    def reached(certificate: Certificate) -> bool:
        return certificate.holds or (certificate.kkt <= tol and certificate.infeasible <= FEASIBLE)

    ends = zip(statuses, certificates, strict=True)
    return {status for status, certificate in ends if status != "converged" and not reached(certificate)}


def warn_of(statuses: Iterable[str], worst: Certificate, tol: float, *, linear: bool = False, **limits: object) -> bool:
    """Warns of the early ends of trainings (see :func:`early_ends`), with how far it came and what to do. Whether it did warn.

    The warning begins as scikit-learn's, whose words people have in their filters: those of its LIBSVM, or with ``linear`` of its LIBLINEAR.
    """
    order = ["interrupted", "time_limit", "iteration_limit", "slow", "stalled"]
    ended = [status for status in order if status in set(statuses)]
    if not ended:
        return False
    how = ENDED[ended[0]].format(**limits)
    known = f"KKT violation {worst.kkt:.3g} where tol={tol:g} was asked for, relative gap {worst.relative_gap:.2g}"
    by_iterations = ended[0] == "iteration_limit"
    if linear:
        begin = "Liblinear failed to converge" + (", increase the number of iterations." if by_iterations else ".")
    else:
        words = "(max_iter={max_iter}).  Consider pre-processing your data with StandardScaler or MinMaxScaler."
        begin = f"Solver terminated early {words.format(**limits)}" if by_iterations else "Solver terminated early."
    advice = WHAT_TO_DO[ended[0]]
    if ended[0] == "stalled" and worst.primal == math.inf:
        advice = f"choose a kernel that is positive semidefinite, since there may be no optimum for others, or {advice}"
    message = f"{begin} It {how} ({known}). To mend it: {advice}."
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return True
