//! What a certificate must show to hold.

use crate::certificate::Certificate;
use crate::solution::Status;
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

impl Goal {
    /// The same quantities with other bounds: what a goal is about, in a judge's terms.
    #[must_use]
    pub fn at_most(self, bound: f64) -> Self {
        match self {
            Goal::Kkt(_) => Goal::Kkt(bound),
            Goal::Gap(_) => Goal::Gap(bound),
            Goal::Both { .. } => Goal::Both { kkt: bound, gap: bound },
        }
    }

    /// Whether `certificate` shows it, at a point that is feasible to rounding.
    pub fn met(self, certificate: &Certificate) -> bool {
        let (kkt, gap) = (self.kkt().unwrap_or(f64::INFINITY), self.gap().unwrap_or(f64::INFINITY));
        certificate.holds(kkt) && certificate.relative_gap() <= gap
    }

    /// How a run ended, with its certificate in hand: who saw no further progress has converged where the certificate shows the goal.
    pub fn reached(self, ended: Status, certificate: &Certificate) -> Status {
        if ended == Status::Stalled && self.met(certificate) { Status::Converged } else { ended }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_asks_for_what_it_names() {
        let certificate = Certificate { primal: 1.0, dual: 0.9, kkt: 1e-4, infeasible: 0.0 };
        assert!(Goal::Kkt(1e-3).met(&certificate) && !Goal::Kkt(1e-5).met(&certificate));
        assert!(Goal::Gap(0.11).met(&certificate) && !Goal::Gap(0.09).met(&certificate));
        assert!(Goal::Both { kkt: 1e-3, gap: 0.11 }.met(&certificate));
        assert!(!Goal::Both { kkt: 1e-3, gap: 0.09 }.met(&certificate) && !Goal::Both { kkt: 1e-5, gap: 0.11 }.met(&certificate));
        assert_eq!(Goal::Kkt(1e-3).reached(Status::Stalled, &certificate), Status::Converged);
        assert_eq!(Goal::Kkt(1e-5).reached(Status::Stalled, &certificate), Status::Stalled);
        assert_eq!(Goal::Kkt(1e-3).reached(Status::TimeLimit, &certificate), Status::TimeLimit);
        let outside = Certificate { infeasible: 1e-6, ..certificate };
        assert!(!Goal::Kkt(1.0).met(&outside) && !Goal::Gap(1.0).met(&outside));
        let nothing = Certificate { primal: f64::INFINITY, kkt: 0.0, ..certificate };
        assert!(Goal::Kkt(0.0).met(&nothing) && !Goal::Gap(10.0).met(&nothing));
        let no_number = Certificate { kkt: f64::NAN, ..certificate };
        assert!(!Goal::Kkt(1.0).met(&no_number) && !Goal::Gap(1.0).met(&no_number));
    }
}
