//! What a certificate must show to hold.

use crate::certificate::{Certificate, figures};
use crate::dual::Dual;
use crate::solution::{Status, bias_of};
use serde::{Deserialize, Serialize};

/// The judgement that a solution was asked to meet.
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

/// The KKT violation that solvers work towards first where only a gap is asked for: about what a
/// relative gap of 10⁻³ takes.
const FIRST: f64 = 0.1;

impl Goal {
    /// What is asked for of the two; nothing where neither is.
    pub fn of(kkt: Option<f64>, gap: Option<f64>) -> Option<Self> {
        match (kkt, gap) {
            (None, None) => None,
            (Some(kkt), None) => Some(Goal::Kkt(kkt)),
            (None, Some(gap)) => Some(Goal::Gap(gap)),
            (Some(kkt), Some(gap)) => Some(Goal::Both { kkt, gap }),
        }
    }

    /// The same quantities with `factor` times the bounds.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        match self {
            Goal::Kkt(kkt) => Goal::Kkt(factor * kkt),
            Goal::Gap(gap) => Goal::Gap(factor * gap),
            Goal::Both { kkt, gap } => Goal::Both { kkt: factor * kkt, gap: factor * gap },
        }
    }

    /// The KKT violation that is asked for, or where none is the gap.
    pub fn tol(self) -> f64 {
        match self {
            Goal::Kkt(tol) | Goal::Gap(tol) | Goal::Both { kkt: tol, .. } => tol,
        }
    }

    /// The KKT violation to work towards first: the one that is asked for, or where none is a loose
    /// one, which the gap may tighten.
    pub fn first_kkt(self) -> f64 {
        self.kkt().unwrap_or(FIRST)
    }

    /// Whether a point shows it whose KKT violation is known, and its gradient `Qα + lin`, which is
    /// asked for only where a gap is.
    pub fn shown<G: AsRef<[f64]>>(self, dual: &Dual, violation: f64, alpha: &[f64], gradient: impl FnOnce() -> G) -> bool {
        self.kkt().is_none_or(|kkt| violation <= kkt)
            && self.gap().is_none_or(|gap| gap_at(dual, alpha, gradient().as_ref()) <= gap)
    }

    /// The same quantities with other bounds: what a goal is about, in a judge's terms.
    #[must_use]
    pub fn at_most(self, bound: f64) -> Self {
        match self {
            Goal::Kkt(_) => Goal::Kkt(bound),
            Goal::Gap(_) => Goal::Gap(bound),
            Goal::Both { .. } => Goal::Both { kkt: bound, gap: bound },
        }
    }

    /// Whether `certificate` shows it: at a feasible point, by figures that rounding leaves known,
    /// where the kernel matrix lets a gap be known.
    pub fn met(self, certificate: &Certificate) -> bool {
        let (kkt, gap) = (self.kkt().unwrap_or(f64::INFINITY), self.gap().unwrap_or(f64::INFINITY));
        certificate.holds(kkt) && certificate.has_gap(gap)
    }

    /// Whether nothing but rounding, or a kernel matrix that is not known to be positive
    /// semidefinite, keeps `certificate` from showing it: no solver
    /// can do more.
    fn is_out_of_reach(self, certificate: &Certificate) -> bool {
        let (kkt, gap) = (self.kkt().unwrap_or(f64::INFINITY), self.gap().unwrap_or(f64::INFINITY));
        certificate.kkt <= kkt
            && certificate.infeasible <= Certificate::FEASIBLE
            && (certificate.relative_gap() <= gap || certificate.is_stationary_only())
            && !self.met(certificate)
    }

    /// How a run ended, with its certificate in hand: a run that saw no further progress, or too
    /// little, has converged where the certificate shows the goal, and one that converged by
    /// figures which cannot be trusted has stalled.
    pub fn reached(self, ended: Status, certificate: &Certificate) -> Status {
        match ended {
            Status::Stalled | Status::Slow if self.met(certificate) => Status::Converged,
            Status::Converged if self.is_out_of_reach(certificate) => Status::Stalled,
            ended => ended,
        }
    }

    /// The KKT violation that is asked for, if one is.
    pub fn kkt(self) -> Option<f64> {
        match self {
            Goal::Kkt(kkt) | Goal::Both { kkt, .. } => Some(kkt),
            Goal::Gap(_) => None,
        }
    }

    /// The relative gap that is asked for, if one is.
    pub fn gap(self) -> Option<f64> {
        match self {
            Goal::Gap(gap) | Goal::Both { gap, .. } => Some(gap),
            Goal::Kkt(_) => None,
        }
    }
}

/// The relative gap of a point, by its gradient `Qα + lin` and the bias that this implies.
fn gap_at(dual: &Dual, alpha: &[f64], gradient: &[f64]) -> f64 {
    figures(dual, alpha, bias_of(dual, alpha, gradient), gradient).relative_gap()
}

/// Iterations between two looks at the gap, at least: a look costs some passes over the variables,
/// an iteration of SMO two.
const LOOK: u64 = 128;

/// Looks for a solver that iterates whether its goal is reached: at the violation always, at the
/// gap now and then.
#[derive(Clone, Copy, Debug)]
pub struct Looking {
    aim: Goal,
    /// When the gap is next looked at.
    next: u64,
    /// The gap when it was last looked at: that of α = 0 before.
    seen: f64,
}

impl Looking {
    /// Looks for `aim`.
    pub fn new(aim: Goal) -> Self {
        Self { aim, next: 0, seen: 1.0 }
    }

    /// What it looks for.
    pub fn aimed_at(&self) -> Goal {
        self.aim
    }

    /// Goes on looking, for another aim.
    pub fn aim(&mut self, aim: Goal) {
        (self.aim, self.next) = (aim, 0);
    }

    /// What progress is told of: the violation, or the gap where only that is asked for.
    pub fn measure(&self, violation: f64) -> f64 {
        if self.aim.kkt().is_some() { violation } else { self.seen }
    }

    /// Whether the aim is reached after so many iterations; `point` gives α and gradient, one entry
    /// per variable. A violation of nothing is as far as anybody comes.
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
    use crate::rounding::Rounding;

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
        // A kernel matrix that is not known to be semidefinite: no gap, whatever is done.
        assert!(nothing.is_stationary_only() && !certificate.is_stationary_only() && !Certificate::NOTHING.is_stationary_only());
        assert_eq!(Goal::Gap(0.1).reached(Status::Converged, &nothing), Status::Stalled);
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Converged, &nothing), Status::Converged);
        // A goal below the rounding is not met, and the run has stalled: another one would do no
        // better.
        let hidden = Certificate { rounding: Rounding { gap: 0.5, kkt: 1e-2 }, ..certificate };
        assert!(
            !Goal::Kkt(1e-3).met(&hidden)
                && Goal::Kkt(0.1).met(&hidden)
                && !Goal::Gap(0.4).met(&hidden)
                && Goal::Gap(0.6).met(&hidden)
        );
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Converged, &hidden), Status::Stalled);
        assert_eq!(Goal::Kkt(1e-5).reached(Status::Converged, &hidden), Status::Converged, "there is something left to do");
        // A gap below 0 by more than rounding is a contradiction, whatever was asked for.
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

    /// Two samples with the kernel 1 and C = 1: at α = (½, ½) and K the identity the gradient is
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
        // Nobody computes a gradient for a violation.
        let never = || -> Vec<f64> { unreachable!("a violation is asked for") };
        assert!(Goal::Kkt(1.0).shown(&dual, 1.0, &alpha, never) && !Goal::Kkt(1.0).shown(&dual, 1.1, &alpha, never));
    }

    #[test]
    fn a_run_looks_at_its_gap_now_and_then_and_at_its_violation_always() {
        let (dual, alpha, gradient) = two();
        let mut looking = Looking::new(Goal::Gap(0.3));
        assert_eq!(looking.measure(7.0), 1.0, "nothing is known but that of nothing");
        let mut looks = Vec::new();
        for iterations in 0..6000 {
            assert!(!looking.reached(&dual, 1.0, iterations, || {
                looks.push(iterations);
                (alpha.clone(), gradient.clone())
            }));
        }
        assert!((looking.measure(7.0) - 0.4).abs() < 1e-15);
        assert_eq!(looks[..4], [0, 128, 256, 384]);
        let last: [u64; 2] = looks[looks.len() - 2..].try_into().expect("two");
        assert_eq!(last[1], last[0] + last[0] / 16, "rarer as the run gets long");
        // Another aim is looked for at once; a violation of nothing is as far as anybody comes.
        looking.aim(Goal::Gap(0.5));
        assert!(looking.reached(&dual, 1.0, 6000, || (alpha.clone(), gradient.clone())));
        looking.aim(Goal::Gap(1e-9));
        assert!(looking.reached(&dual, 0.0, 6000, || unreachable!("it is not asked")));
        assert!(!looking.reached(&dual, f64::NAN, 6000, || (alpha.clone(), gradient.clone())));
        let mut both = Looking::new(Goal::Both { kkt: 0.5, gap: 0.5 });
        assert_eq!(both.measure(7.0), 7.0);
        assert!(!both.reached(&dual, 0.6, 0, || unreachable!("the violation comes first")));
        assert!(!both.reached(&dual, f64::NAN, 0, || unreachable!("the violation comes first")));
        assert!(both.reached(&dual, 0.5, 0, || (alpha.clone(), gradient.clone())));
        let mut kkt = Looking::new(Goal::Kkt(0.5));
        assert!(kkt.reached(&dual, 0.5, 0, || unreachable!("no gap")) && !kkt.reached(&dual, 0.6, 0, || unreachable!("no gap")));
    }
}
