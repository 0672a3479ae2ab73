//! The goal of a run: bounds on the figures of its certificate.

use crate::certificate::certify::figures;
use crate::certificate::figures::Certificate;
use crate::problem::dual::Dual;
use crate::problem::solution::{Status, bias_of};
use serde::{Deserialize, Serialize};

/// The goal of a solution: bounds on the figures of its certificate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// A KKT violation of at most this (LIBSVM's ε).
    Kkt(f64),
    /// A relative duality gap of at most this.
    Gap(f64),
    /// Both.
    Both {
        /// The KKT violation.
        kkt: f64,
        /// The relative duality gap.
        gap: f64,
    },
}

/// The first KKT violation to reach if the goal is a gap only: about that of a relative gap of
/// 10⁻³.
const FIRST: f64 = 0.1;

impl Goal {
    /// Returns the goal with the given bounds; `None` without any.
    pub fn of(kkt: Option<f64>, gap: Option<f64>) -> Option<Self> {
        match (kkt, gap) {
            (None, None) => None,
            (Some(kkt), None) => Some(Goal::Kkt(kkt)),
            (None, Some(gap)) => Some(Goal::Gap(gap)),
            (Some(kkt), Some(gap)) => Some(Goal::Both { kkt, gap }),
        }
    }

    /// Returns the same figures with `factor` times the bounds.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        match self {
            Goal::Kkt(kkt) => Goal::Kkt(factor * kkt),
            Goal::Gap(gap) => Goal::Gap(factor * gap),
            Goal::Both { kkt, gap } => Goal::Both { kkt: factor * kkt, gap: factor * gap },
        }
    }

    /// Returns the bound of the KKT violation, or of the gap if there is no other.
    pub fn tol(self) -> f64 {
        match self {
            Goal::Kkt(tol) | Goal::Gap(tol) | Goal::Both { kkt: tol, .. } => tol,
        }
    }

    /// Returns the first KKT violation to reach: the goal's, or a loose one if the goal is a gap
    /// only. The gap may tighten it.
    pub fn first_kkt(self) -> f64 {
        self.kkt().unwrap_or(FIRST)
    }

    /// Returns true if a point with this KKT violation shows the goal. `gradient` returns `Qα +
    /// lin` and is called only if the goal has a gap.
    pub fn shown<G: AsRef<[f64]>>(self, dual: &Dual, violation: f64, alpha: &[f64], gradient: impl FnOnce() -> G) -> bool {
        self.kkt().is_none_or(|kkt| violation <= kkt)
            && self.gap().is_none_or(|gap| gap_at(dual, alpha, gradient().as_ref()) <= gap)
    }

    /// Returns the same figures with other bounds.
    #[must_use]
    pub fn at_most(self, bound: f64) -> Self {
        match self {
            Goal::Kkt(_) => Goal::Kkt(bound),
            Goal::Gap(_) => Goal::Gap(bound),
            Goal::Both { .. } => Goal::Both { kkt: bound, gap: bound },
        }
    }

    /// Returns true if `certificate` shows the goal: the point is feasible, rounding leaves the
    /// figures known, and the kernel matrix has a known gap.
    pub fn met(self, certificate: &Certificate) -> bool {
        let (kkt, gap) = (self.kkt().unwrap_or(f64::INFINITY), self.gap().unwrap_or(f64::INFINITY));
        certificate.holds(kkt) && certificate.has_gap(gap)
    }

    /// Returns true if a certificate without its rounding error, as model files store it
    /// ([`Certificate::as_kept`]), shows the goal. A run that `ended` with figures hidden by
    /// rounding has stalled ([`Goal::reached`]).
    pub fn met_as_kept(self, ended: Status, certificate: &Certificate) -> bool {
        !matches!(ended, Status::Stalled | Status::Slow) && self.met(certificate)
    }

    /// Returns true if only rounding, or a kernel matrix that is not known to be positive
    /// semidefinite, keeps `certificate` from showing the goal: no solver can do more.
    fn is_out_of_reach(self, certificate: &Certificate) -> bool {
        let (kkt, gap) = (self.kkt().unwrap_or(f64::INFINITY), self.gap().unwrap_or(f64::INFINITY));
        certificate.kkt <= kkt
            && certificate.infeasible <= Certificate::FEASIBLE
            && (certificate.relative_gap() <= gap || certificate.is_stationary_only())
            && !self.met(certificate)
    }

    /// Returns the status of a run given its certificate. A run that stalled or became slow has
    /// converged if the certificate shows the goal. A run that converged by figures that cannot be
    /// trusted has stalled.
    pub fn reached(self, ended: Status, certificate: &Certificate) -> Status {
        match ended {
            Status::Stalled | Status::Slow if self.met(certificate) => Status::Converged,
            Status::Converged if self.is_out_of_reach(certificate) => Status::Stalled,
            ended => ended,
        }
    }

    /// Returns the bound of the KKT violation, if there is one. A bound below 0, which nothing
    /// meets, is 0.
    pub fn kkt(self) -> Option<f64> {
        match self {
            Goal::Kkt(kkt) | Goal::Both { kkt, .. } => Some(kkt.max(0.0)),
            Goal::Gap(_) => None,
        }
    }

    /// Returns the bound of the relative gap, if there is one. A bound below 0 is 0.
    pub fn gap(self) -> Option<f64> {
        match self {
            Goal::Gap(gap) | Goal::Both { gap, .. } => Some(gap.max(0.0)),
            Goal::Kkt(_) => None,
        }
    }

    /// Checks that a training may be asked for this goal: both bounds are finite and above 0.
    ///
    /// # Errors
    ///
    /// When one is not.
    pub fn check(self) -> Result<(), GoalError> {
        let (kkt, gap) = match self {
            Goal::Kkt(kkt) => (Some(kkt), None),
            Goal::Gap(gap) => (None, Some(gap)),
            Goal::Both { kkt, gap } => (Some(kkt), Some(gap)),
        };
        let wrong = |bound: Option<f64>| bound.filter(|bound| !(*bound > 0.0 && bound.is_finite()));
        match (wrong(kkt), wrong(gap)) {
            (Some(value), _) => Err(GoalError { bound: "eps, the largest KKT violation,", value }),
            (None, Some(value)) => Err(GoalError { bound: "the largest relative duality gap", value }),
            (None, None) => Ok(()),
        }
    }
}

/// A bound of a goal that no training can meet, or that every point meets.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{bound} is {value}: it must be a finite number above 0")]
pub struct GoalError {
    bound: &'static str,
    value: f64,
}

/// Returns the relative gap of a point, from its gradient `Qα + lin` and the bias that this
/// implies.
pub(crate) fn gap_at(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    figures(dual, alpha, bias_of(dual, alpha, gradient), gradient).relative_gap()
}

/// The least number of iterations between two computations of the gap: one costs some passes over
/// the variables, an iteration of SMO two.
const LOOK: u64 = 128;

/// Checks whether an iterative solver has reached its goal: the violation in every iteration, the
/// gap now and then.
#[derive(Clone, Copy, Debug)]
pub struct ConvergenceCheck {
    aim: Goal,
    /// The iteration of the next computation of the gap.
    next: u64,
    /// The last gap; before the first, that of α = 0.
    seen: f64,
}

impl ConvergenceCheck {
    /// Starts with the goal `aim`.
    pub fn new(aim: Goal) -> Self {
        Self { aim, next: 0, seen: 1.0 }
    }

    /// Returns the goal.
    pub fn aimed_at(&self) -> Goal {
        self.aim
    }

    /// Continues with another goal.
    pub fn aim(&mut self, aim: Goal) {
        (self.aim, self.next) = (aim, 0);
    }

    /// Returns the violation at which the goal is probably reached, for a solver that cannot
    /// compute the gap until its next look at all variables. The gap falls at least in proportion
    /// to the violation, so this is a little below what is needed. `violation` is the one of the
    /// last look.
    pub fn violation_to_reach(&self, violation: f64) -> f64 {
        let kkt = self.aim.kkt().unwrap_or(f64::INFINITY);
        match self.aim.gap() {
            Some(gap) if violation <= kkt => violation * (gap / self.seen).min(1.0),
            _ => kkt,
        }
    }

    /// Returns the measure for progress reports: the violation, or the gap if the goal is a gap
    /// only.
    pub fn measure(&self, violation: f64) -> f64 {
        if self.aim.kkt().is_some() { violation } else { self.seen }
    }

    /// Returns true if the goal is reached after so many iterations. `point` returns α and the
    /// gradient, one entry per variable. At violation 0 no solver can do more.
    #[inline]
    pub fn reached(
        &mut self,
        dual: &Dual,
        violation: f64,
        iterations: u64,
        point: impl FnOnce() -> (Vec<f64>, Vec<f64>),
    ) -> bool {
        if self.aim.kkt().is_some_and(|kkt| violation > kkt || violation.is_nan()) {
            return false;
        }
        let Some(gap) = self.aim.gap() else { return true };
        if violation <= 0.0 {
            return true;
        }
        if iterations < self.next {
            return false;
        }
        self.next = iterations + LOOK.max(iterations / 16);
        let (alpha, gradient) = point();
        self.seen = gap_at(dual, &alpha, &gradient);
        self.seen <= gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::rounding::Rounding;

    #[test]
    fn a_goal_asks_for_what_it_names() {
        let certificate = Certificate { primal: 1.0, dual: 0.9, kkt: 1e-4, infeasible: 0.0, rounding: Rounding::NONE };
        assert!(Goal::Kkt(1e-3).met(&certificate) && !Goal::Kkt(1e-5).met(&certificate));
        assert!(Goal::Gap(0.11).met(&certificate) && !Goal::Gap(0.09).met(&certificate));
        assert!(Goal::Both { kkt: 1e-3, gap: 0.11 }.met(&certificate));
        assert!(!Goal::Both { kkt: 1e-3, gap: 0.09 }.met(&certificate) && !Goal::Both { kkt: 1e-5, gap: 0.11 }.met(&certificate));
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Stalled, &certificate), Status::Converged);
        assert_eq!(Goal::Kkt(1e-5).reached(Status::Stalled, &certificate), Status::Stalled);
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Slow, &certificate), Status::Converged);
        assert_eq!(Goal::Kkt(1e-5).reached(Status::Slow, &certificate), Status::Slow);
        assert_eq!(Goal::Kkt(1e-3).reached(Status::TimeLimit, &certificate), Status::TimeLimit);
        let outside = Certificate { infeasible: 1e-6, ..certificate };
        assert!(!Goal::Kkt(1.0).met(&outside) && !Goal::Gap(1.0).met(&outside));
        let nothing = Certificate { primal: f64::INFINITY, kkt: 0.0, ..certificate };
        assert!(Goal::Kkt(0.0).met(&nothing) && !Goal::Gap(10.0).met(&nothing));
        // A kernel matrix that is not known to be semidefinite has no gap.
        assert!(nothing.is_stationary_only() && !certificate.is_stationary_only() && !Certificate::NOTHING.is_stationary_only());
        assert_eq!(Goal::Gap(0.1).reached(Status::Converged, &nothing), Status::Stalled);
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Converged, &nothing), Status::Converged);
        // A goal below the rounding error cannot be met, and the run has stalled: another run would
        // do no better.
        let hidden = Certificate { rounding: Rounding { gap: 0.5, kkt: 1e-2 }, ..certificate };
        assert!(
            !Goal::Kkt(1e-3).met(&hidden)
                && Goal::Kkt(0.1).met(&hidden)
                && !Goal::Gap(0.4).met(&hidden)
                && Goal::Gap(0.6).met(&hidden)
        );
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Converged, &hidden), Status::Stalled);
        // A file without the rounding error still tells by the status.
        let kept = hidden.as_kept();
        let shown = [Status::Stalled, Status::Slow, Status::Converged, Status::IterationLimit]
            .map(|status| Goal::Kkt(1e-3).met_as_kept(status, &kept));
        assert_eq!(shown, [false, false, true, true]);
        assert_eq!(Goal::Kkt(1e-5).reached(Status::Converged, &hidden), Status::Converged, "there is something left to do");
        // A gap below 0 by more than rounding is a contradiction, for every goal.
        let beyond = Certificate { primal: 0.8, ..certificate };
        assert!(!Goal::Kkt(1e-3).met(&beyond) && !Goal::Gap(0.5).met(&beyond) && !beyond.is_optimal());
        let rounded = Certificate { rounding: Rounding { gap: 0.2, kkt: 0.0 }, ..beyond };
        assert!(Goal::Kkt(1e-3).met(&rounded) && Goal::Gap(0.5).met(&rounded) && !rounded.is_optimal());
        let no_number = Certificate { kkt: f64::NAN, ..certificate };
        assert!(!Goal::Kkt(1.0).met(&no_number) && !Goal::Gap(1.0).met(&no_number));
    }

    #[test]
    fn a_goal_is_made_of_what_is_asked_and_scaled_as_one() {
        assert_eq!(Goal::of(None, None), None);
        assert_eq!(Goal::of(Some(0.5), None), Some(Goal::Kkt(0.5)));
        assert_eq!(Goal::of(None, Some(0.5)), Some(Goal::Gap(0.5)));
        let both = Goal::Both { kkt: 0.5, gap: 0.25 };
        assert_eq!(Goal::of(Some(0.5), Some(0.25)), Some(both));
        assert_eq!(both.times(2.0), Goal::Both { kkt: 1.0, gap: 0.5 });
        assert_eq!((Goal::Kkt(0.5).times(2.0), Goal::Gap(0.5).times(2.0)), (Goal::Kkt(1.0), Goal::Gap(1.0)));
        assert_eq!((both.tol(), Goal::Kkt(0.5).tol(), Goal::Gap(0.25).tol()), (0.5, 0.5, 0.25));
        assert_eq!((both.first_kkt(), Goal::Gap(0.25).first_kkt()), (0.5, FIRST));
        assert_eq!((both.kkt(), both.gap(), Goal::Kkt(1.0).gap(), Goal::Gap(1.0).kkt()), (Some(0.5), Some(0.25), None, None));
    }

    /// Two samples with the kernel 1 and C = 1. At α = (½, ½) and K the identity the gradient is
    /// −½, the dual ¾, the primal ¼ + 2 · ½.
    fn two() -> (Dual, Vec<f64>, Vec<f64>) {
        let dual = Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![1.0, 1.0]).expect("two classes");
        (dual, vec![0.5, 0.5], vec![-0.5, -0.5])
    }

    #[test]
    fn a_point_shows_a_gap_by_its_gradient() {
        let (dual, alpha, gradient) = two();
        let gap = gap_at(&dual, &alpha, &gradient);
        assert!((gap - 0.5 / 1.25).abs() < 1e-15, "{gap}");
        let shown = |goal: Goal, violation: f64| goal.shown(&dual, violation, &alpha, || &gradient);
        assert!(shown(Goal::Gap(0.41), 1.0) && !shown(Goal::Gap(0.39), 0.0));
        assert!(shown(Goal::Both { kkt: 1.0, gap: 0.41 }, 1.0) && !shown(Goal::Both { kkt: 1.0, gap: 0.41 }, 1.1));
        // A goal without a gap needs no gradient.
        let never = || -> Vec<f64> { unreachable!("a violation is asked for") };
        assert!(Goal::Kkt(1.0).shown(&dual, 1.0, &alpha, never) && !Goal::Kkt(1.0).shown(&dual, 1.1, &alpha, never));
    }

    #[test]
    fn a_gap_is_sought_at_the_violation_that_probably_has_it() {
        let (dual, alpha, gradient) = two();
        let at = |goal: Goal| {
            let mut check = ConvergenceCheck::new(goal);
            check.reached(&dual, 0.5, 0, || (alpha.clone(), gradient.clone()));
            check.violation_to_reach(0.5)
        };
        // The gap here is 0.4.
        assert!((at(Goal::Gap(0.1)) - 0.125).abs() < 1e-15);
        assert_eq!(at(Goal::Kkt(1e-3)), 1e-3);
        // A gap is not sought before the violation is small, and then it is sought from there.
        assert_eq!(at(Goal::Both { kkt: 0.2, gap: 0.1 }), 0.2);
        assert!((at(Goal::Both { kkt: 0.6, gap: 0.1 }) - 0.125).abs() < 1e-15);
        assert_eq!(at(Goal::Gap(2.0)), 0.5, "reached already");
    }

    #[test]
    fn a_run_looks_at_its_gap_now_and_then_and_at_its_violation_always() {
        let (dual, alpha, gradient) = two();
        let mut check = ConvergenceCheck::new(Goal::Gap(0.3));
        assert_eq!(check.measure(7.0), 1.0, "nothing is known but that of nothing");
        let mut looks = Vec::new();
        for iterations in 0..6000 {
            assert!(!check.reached(&dual, 1.0, iterations, || {
                looks.push(iterations);
                (alpha.clone(), gradient.clone())
            }));
        }
        assert!((check.measure(7.0) - 0.4).abs() < 1e-15);
        assert_eq!(looks[..4], [0, 128, 256, 384]);
        let last: [u64; 2] = looks[looks.len() - 2..].try_into().expect("two");
        assert_eq!(last[1], last[0] + last[0] / 16, "rarer as the run gets long");
        // A new goal is checked at once; at violation 0 no solver can do more.
        check.aim(Goal::Gap(0.5));
        assert!(check.reached(&dual, 1.0, 6000, || (alpha.clone(), gradient.clone())));
        check.aim(Goal::Gap(1e-9));
        assert!(check.reached(&dual, 0.0, 6000, || unreachable!("it is not asked")));
        assert!(!check.reached(&dual, f64::NAN, 6000, || (alpha.clone(), gradient.clone())));
        let mut both = ConvergenceCheck::new(Goal::Both { kkt: 0.5, gap: 0.5 });
        assert_eq!(both.measure(7.0), 7.0);
        assert!(!both.reached(&dual, 0.6, 0, || unreachable!("the violation comes first")));
        assert!(!both.reached(&dual, f64::NAN, 0, || unreachable!("the violation comes first")));
        assert!(both.reached(&dual, 0.5, 0, || (alpha.clone(), gradient.clone())));
        let mut kkt = ConvergenceCheck::new(Goal::Kkt(0.5));
        assert!(kkt.reached(&dual, 0.5, 0, || unreachable!("no gap")) && !kkt.reached(&dual, 0.6, 0, || unreachable!("no gap")));
    }
}
