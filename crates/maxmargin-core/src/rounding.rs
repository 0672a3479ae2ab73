//! What double precision cannot tell.

use crate::dual::Dual;
use maxmargin_kernel::Exact;

/// What rounding alone may make of the judgement of a point. An estimate, as all of rounding that is cheap: the worst case is more, the usual one less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// By how much a gap may be off.
    pub gap: f64,
}

/// What sums of terms `α_j K_ij` in double precision may be off by: a few units in the last place of all of them. `mass` is `Σ |α_j|`, `largest` the largest `|K_ij|`.
pub fn rounding_of_sums(mass: f64, largest: f64) -> f64 {
    8.0 * f64::EPSILON * mass * largest
}

impl Rounding {
    /// Of a point of a problem over these samples. Decision values are sums of terms `α_j K_ij`, no larger than `κ_i α_j κ_j` with `κ_i² = |K_ii|`, and a gap is the sum of the slacks of support
    /// vectors times their bounds: `Σ_{α_i > 0} C_i κ_i · Σ_j α_j κ_j`, of which rounding takes its part. What has no bound counts with its α.
    ///
    /// # Panics
    ///
    /// When the problem names samples that `source` does not have, or has another number of variables.
    pub fn at<'e>(dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64]) -> Self {
        assert_eq!(alpha.len(), dual.len(), "one entry per variable");
        let source = source.into();
        let diagonal = source.diagonal();
        let (mut mass, mut price) = (0.0, 0.0);
        for (k, a) in alpha.iter().map(|a| a.abs()).enumerate().filter(|(_, a)| *a > 0.0) {
            let norm = diagonal[dual.ids()[k]].abs().sqrt();
            let upper = dual.upper()[k];
            mass += a * norm;
            price += if upper.is_finite() { upper } else { a } * norm;
        }
        Self { gap: rounding_of_sums(mass, price) }
    }

    /// The gap relative to an objective: smaller ones tell little, and from 1 on little is known of the objective.
    pub fn relative(&self, objective: f64) -> f64 {
        if self.gap == 0.0 { 0.0 } else { self.gap / objective.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_kernel::FnGram;

    #[test]
    fn what_is_told_follows_the_size_of_kernel_values() {
        let dual = Dual::c_svc(vec![0, 1, 2], vec![1.0, -1.0, 1.0], vec![2.0; 3]).expect("two classes");
        // The third sample is no support vector.
        let at = |scale: f64| {
            let gram = FnGram::new(3, move |i, j| if i == j { scale * [1.0, 4.0, 1e9][i] } else { 0.0 });
            Rounding::at(&dual, &gram as &dyn maxmargin_kernel::Gram, &[0.5, 0.5, 0.0])
        };
        // κ is 1 and 2: 0.5 · 1 + 0.5 · 2, and 2 · 1 + 2 · 2.
        assert_eq!(at(1.0).gap, 8.0 * f64::EPSILON * 1.5 * 6.0);
        assert!(at(1.0).relative(1.0) < 1e-12 && at(1e16).relative(1.0) > 1.0);
        assert_eq!(at(0.0).relative(0.0), 0.0);
        assert_eq!(at(1.0).relative(0.0), f64::INFINITY);
    }
}
