"""Certificates of solutions, and the verification of a model against its data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning

from . import _native


@dataclass(frozen=True)
class Certificate:
    """The quality of a solution, recomputed in double precision from the data and the coefficients."""

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
    """One claim of a model, compared with the recomputed value."""

    what: str
    #: None if the claim cannot be checked.
    passed: bool | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """The verification of a model against its training data. Every claim of the model is recomputed."""

    #: True if all claims that can be compared agree.
    matches: bool
    #: True if every machine is certified and meets ``tol``.
    met: bool
    checks: tuple[Check, ...]
    #: The recomputed certificate of each machine; empty if support vectors are not rows of the data.
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
    """The calibration of probabilities, and their quality on samples that were used neither for the machines nor for the calibration."""

    #: ``platt`` or ``isotonic``.
    method: str
    #: The reason if there are no probabilities.
    missing: str | None
    #: The number of folds whose decision values were used.
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
