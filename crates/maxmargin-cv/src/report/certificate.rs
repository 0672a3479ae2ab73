//! Certificates as reports show them.

use maxmargin_core::{Certain, Certificate, Rounding};
use serde::{Deserialize, Serialize};

/// A certificate as reports show it.
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
    /// Largest violation of the box or of the balance.
    pub infeasible: f64,
    /// Whether it shows what was asked for.
    pub holds: bool,
    /// Training samples whose label the gap proves: every optimum gives the same. None where nobody
    /// counted.
    pub certain: Option<usize>,
    /// The relative gap that rounding in double precision may make by itself ([`Rounding`]), an
    /// estimate: smaller ones tell little. None where nobody looked, or the objective is 0.
    #[serde(default)]
    pub rounding: Option<f64>,
}

impl CertificateReport {
    /// That of no machine at all: nothing fails to hold.
    pub const NOTHING: Self =
        Self { primal: 0.0, dual: 0.0, relative_gap: 0.0, kkt: 0.0, infeasible: 0.0, holds: true, certain: None, rounding: None };

    /// A certificate, and whether it holds.
    pub fn new(c: &Certificate, holds: bool) -> Self {
        let (relative_gap, certain, rounding) = (c.relative_gap(), None, None);
        Self { primal: c.primal, dual: c.dual, relative_gap, kkt: c.kkt, infeasible: c.infeasible, holds, certain, rounding }
    }

    /// The same with the labels that its gap proves.
    #[must_use]
    pub fn with_certain(self, certain: Option<&Certain>) -> Self {
        Self { certain: certain.map(Certain::labels), ..self }
    }

    /// The same with what rounding may make of its gap.
    #[must_use]
    pub fn with_rounding(self, rounding: &Rounding) -> Self {
        Self { rounding: Some(rounding.relative(self.dual)).filter(|rounding| rounding.is_finite()), ..self }
    }

    /// Whether rounding alone may make gaps that are larger than this.
    pub fn hides(&self, gap: f64) -> bool {
        self.rounding.is_some_and(|rounding| rounding > gap)
    }

    /// Whether the gap is small enough to speak of an optimum ([`Certificate::OPTIMAL`]).
    pub fn is_optimal(&self) -> bool {
        self.relative_gap <= Certificate::OPTIMAL
    }

    /// Both together: every figure is the worse of the two (the larger violation, the gap further
    /// from 0, fewer labels that are proved), and it holds where both do. The objectives are those
    /// of the gap.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        let further = self.relative_gap.abs().total_cmp(&other.relative_gap.abs()).is_lt();
        let Self { primal, dual, relative_gap, .. } = if further { other } else { self };
        let larger = |a: f64, b: f64| if a.total_cmp(&b).is_lt() { b } else { a };
        Self {
            primal,
            dual,
            relative_gap,
            kkt: larger(self.kkt, other.kkt),
            infeasible: larger(self.infeasible, other.infeasible),
            holds: self.holds && other.holds,
            certain: self.certain.min(other.certain),
            rounding: self.rounding.into_iter().chain(other.rounding).reduce(larger),
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
            certain: Some(7),
            rounding: None,
        };
        let two = CertificateReport {
            primal: 2.0,
            dual: 1.99,
            relative_gap: 0.005,
            kkt: 2e-3,
            infeasible: 1e-12,
            holds: false,
            certain: Some(3),
            rounding: Some(1e-9),
        };
        let both =
            CertificateReport { kkt: 2e-3, infeasible: 1e-12, holds: false, certain: Some(3), rounding: Some(1e-9), ..one };
        assert_eq!((one.worse(two), two.worse(one)), (both, both));
        // A gap below 0 is further from 0 than a small one above it.
        let below = CertificateReport { relative_gap: -0.2, primal: 1.0, dual: 1.25, ..one };
        assert_eq!((one.worse(below).relative_gap, below.worse(one).dual), (-0.2, 1.25));
        assert_eq!(one.worse(CertificateReport { certain: None, ..one }).certain, None);
    }
}
