"""What is known of a solution: certificates, and the judgement of a model against its data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

from . import _native


@dataclass(frozen=True)
class Certificate:
    """How good a solution is, whoever found it: computed afresh in double precision from the data and the coefficients."""

    #: Primal objective: an upper bound on the optimum. Infinite, as the gap, where the kernel matrix is not known to be positive
    #: semidefinite (a sigmoid kernel, a kernel matrix or function of yours): the solution is a stationary point then, and may be no optimum.
    primal: float
    #: Dual objective: a lower bound on the optimum.
    dual: float
    #: Their difference relative to the larger of the two.
    relative_gap: float
    #: Largest violation of the optimality conditions: what ``tol`` is about.
    kkt: float
    #: Largest violation of the constraints.
    infeasible: float
    #: Whether it shows what was asked for.
    holds: bool

    @property
    def gap(self) -> float:
        """``primal - dual``: the optimum is no further away."""
        return self.primal - self.dual

    @classmethod
    def none(cls) -> Certificate:
        """Of a training that failed, or that was another program's: nothing is known."""
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
    """One thing that a model says, compared with what is."""

    what: str
    #: None where it cannot be known.
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """The judgement of a model against its training data, which believes nothing that the model says."""

    #: Whether nothing that could be compared differs.
    matches: bool
    #: Whether every machine was certified and meets ``tol``.
    met: bool
    checks: tuple[Check, ...]
    #: Recomputed, one for each machine; none where support vectors are not rows of the data.
    certificates: tuple[Certificate, ...]

    def __bool__(self) -> bool:
        return self.matches and self.met

    @classmethod
    def of(cls, fields: _native.VerdictFields) -> Verdict:
        checks = tuple(Check(*check) for check in fields["checks"])
        certificates = tuple(Certificate(**one) for one in fields["certificates"])
        return cls(fields["matches"], fields["met"], checks, certificates)


@dataclass(frozen=True)
class Calibration:
    """What probabilities were fitted to, and how good they are of samples that took no part: neither in the machines nor in their calibration."""

    #: ``platt`` or ``isotonic``.
    method: str
    #: Why there are none after all.
    missing: str | None
    #: Folds whose decision values they were fitted to.
    folds: int
    log_loss: float | None
    brier: float | None
    expected_calibration_error: float | None


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


def warn_of(statuses: Iterable[str], worst: Certificate, tol: float, *, linear: bool = False, **limits: object) -> bool:
    """Warns where a training did not converge, with how far it came and what to do. Whether it did warn.

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
    message = f"{begin} It {how} ({known}). To mend it: {WHAT_TO_DO[ended[0]]}."
    warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return True
