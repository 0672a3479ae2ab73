//! The part of certificates that reports show.

use maxmargin_core::{Certificate, GapScreening, Goal};
use serde::{Deserialize, Serialize};

/// The part of a certificate that reports show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CertificateReport {
    /// Primal objective.
    pub primal: f64,
    /// Dual objective.
    pub dual: f64,
    /// `(primal − dual) / max(|primal|, |dual|)`.
    pub relative_gap: f64,
    /// Largest KKT violation.
    pub kkt: f64,
    /// Largest violation of the box or of the equality constraint.
    pub infeasible: f64,
    /// True if the certificate meets the goal.
    pub holds: bool,
    /// True if the gap and its rounding error are small enough for an optimum
    /// ([`Certificate::OPTIMAL`]).
    #[serde(default)]
    pub optimal: bool,
    /// Number of training samples whose label is fixed at every optimum, by gap screening. `None`
    /// if it was not computed.
    pub fixed_labels: Option<usize>,
    /// An estimate of the relative gap that rounding in double precision causes. `None` if it is
    /// not finite, so that the objective is unknown.
    #[serde(default)]
    pub rounding: Option<f64>,
    /// An estimate of the KKT violation that rounding causes. `None` if it is not finite.
    #[serde(default)]
    pub kkt_rounding: Option<f64>,
}

impl CertificateReport {
    /// The certificate of a fold without machines. It holds.
    pub const NO_MACHINE: Self = Self {
        primal: 0.0,
        dual: 0.0,
        relative_gap: 0.0,
        kkt: 0.0,
        infeasible: 0.0,
        holds: true,
        optimal: true,
        fixed_labels: None,
        rounding: Some(0.0),
        kkt_rounding: Some(0.0),
    };

    /// The part of a certificate that reports show. `holds` is true if it meets the goal.
    pub fn new(c: &Certificate, holds: bool) -> Self {
        Self {
            primal: c.primal,
            dual: c.dual,
            relative_gap: c.relative_gap(),
            kkt: c.kkt,
            infeasible: c.infeasible,
            holds,
            optimal: c.is_optimal(),
            fixed_labels: None,
            rounding: Some(c.relative_rounding()).filter(|rounding| rounding.is_finite()),
            kkt_rounding: Some(c.rounding.kkt).filter(|rounding| rounding.is_finite()),
        }
    }

    /// Adds the number of labels that are fixed at every optimum.
    #[must_use]
    pub fn with_fixed_labels(self, screening: Option<&GapScreening>) -> Self {
        Self { fixed_labels: screening.map(GapScreening::labels), ..self }
    }

    /// Returns true if rounding is larger than a goal, so that it alone may decide whether the goal
    /// is met.
    pub fn hides(&self, goal: Goal) -> bool {
        let more = |figure: f64, rounding: Option<f64>, bound: Option<f64>| {
            let unclear = |bound| rounding.is_none_or(|rounding| rounding > bound && figure <= bound + rounding);
            bound.is_some_and(unclear)
        };
        more(self.kkt, self.kkt_rounding, goal.kkt()) || more(self.relative_gap, self.rounding, goal.gap())
    }

    /// Returns true if the point may be a stationary point without being an optimum, since the
    /// kernel matrix may be indefinite ([`Certificate::is_stationary_only`]).
    pub fn is_stationary_only(&self) -> bool {
        self.primal == f64::INFINITY && self.kkt.is_finite() && self.dual.is_finite()
    }

    /// The worse of two certificates in every figure: the larger violation, the gap further from 0,
    /// the fewer fixed labels. It holds if both hold. The objectives are those of the gap.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let further = self.relative_gap.abs().total_cmp(&other.relative_gap.abs()).is_lt();
        let Self { primal, dual, relative_gap, .. } = if further { other } else { self };
        let larger = |a: f64, b: f64| if a.total_cmp(&b).is_lt() { b } else { a };
        let most = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| larger(a, b));
        Self {
            primal,
            dual,
            relative_gap,
            kkt: larger(self.kkt, other.kkt),
            infeasible: larger(self.infeasible, other.infeasible),
            holds: self.holds && other.holds,
            optimal: self.optimal && other.optimal,
            fixed_labels: self.fixed_labels.min(other.fixed_labels),
            rounding: most(self.rounding, other.rounding),
            kkt_rounding: most(self.kkt_rounding, other.kkt_rounding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_the_worst_of_all() {
        let one = CertificateReport {
            primal: 10.0,
            dual: 9.0,
            relative_gap: 0.1,
            kkt: 1e-3,
            infeasible: 0.0,
            holds: true,
            optimal: false,
            fixed_labels: Some(7),
            rounding: Some(1e-11),
            kkt_rounding: None,
        };
        let two = CertificateReport {
            primal: 2.0,
            dual: 1.99,
            relative_gap: 0.005,
            kkt: 2e-3,
            infeasible: 1e-12,
            holds: false,
            optimal: true,
            fixed_labels: Some(3),
            rounding: Some(1e-9),
            kkt_rounding: Some(1e-12),
        };
        let both =
            CertificateReport { kkt: 2e-3, infeasible: 1e-12, holds: false, fixed_labels: Some(3), rounding: Some(1e-9), ..one };
        assert_eq!((one.worse(two), two.worse(one)), (both, both));
        // A gap below 0 is further from 0 than a small one above it.
        let below = CertificateReport { relative_gap: -0.2, primal: 1.0, dual: 1.25, ..one };
        assert_eq!((one.worse(below).relative_gap, below.worse(one).dual), (-0.2, 1.25));
        assert_eq!(one.worse(CertificateReport { fixed_labels: None, ..one }).fixed_labels, None);
    }
}
