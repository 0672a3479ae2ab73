//! The rounding error of a certificate's figures.

use crate::certificate::gradient::coefficients;
use crate::linalg::dense::exact_sum;
use crate::problem::dual::{Dual, EqualityConstraint};
use maxmargin_kernel::Exact;

/// The rounding error of a certificate's figures. These are estimates: the worst case is larger,
/// the usual one smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rounding {
    /// The error of the gap.
    pub gap: f64,
    /// The error of the KKT violation.
    pub kkt: f64,
}

/// The error of a sum in units in the last place, relative to the sum of its absolute terms.
const UNITS: f64 = 8.0 * f64::EPSILON;

/// Returns the error of a sum in double precision whose absolute terms have the sum `size`.
pub(crate) fn rounding_of_terms(size: f64) -> f64 {
    UNITS * size
}

/// Returns the error of a sum of terms `α_j K_ij` in double precision. `mass` is `Σ |α_j|`,
/// `largest` the largest `|K_ij|`.
pub fn rounding_of_sums(mass: f64, largest: f64) -> f64 {
    UNITS * mass * largest
}

/// The ratio of coefficients before and after cancellation from which they count as cancelled.
const CANCELLED: f64 = 4.0;

impl Rounding {
    /// No rounding error, or an unknown one.
    pub const NONE: Self = Self { gap: 0.0, kkt: 0.0 };

    /// Estimates the rounding at a point of a problem over these samples; `gradient` is its `Qα +
    /// lin`.
    ///
    /// A decision value is a sum of terms `β_j K_ij`, with `β_j` the coefficient of a sample. Each
    /// is at most `κ_i |β_j| κ_j` with `κ_i² = |K_ii|`, or the largest entry if the matrix need not
    /// be positive semidefinite. The sum has the error `u κ_i Σ |β_j| κ_j`, with u a few units in
    /// the last place.
    ///
    /// Kernel values have independent errors of their own, of relative size at most `ε_i + ε_j`
    /// (several standard deviations). Together their error is about `κ_i √(Σ (ε_i + ε_j)² β_j²
    /// κ_j²)` at most. The violation is the difference of two decision values, each with such an
    /// error `δ_i`.
    ///
    /// Sums in twice the precision ([`Exact::twofold`]) have no error of their terms: a decision
    /// value is the product of a row with w, and has the error `u κ_i ‖w‖`.
    ///
    /// The gap is `αᵀQα + linᵀα + Σ C_i ξ_i`. Its error is `Σ (α_i + C_i [ξ_i > 0]) δ_i`, plus the
    /// bias times the violation of the equality constraint, plus the rounding of its own terms.
    ///
    /// # Panics
    ///
    /// When the problem names samples that `source` does not have, or has another number of
    /// variables.
    pub fn at<'e>(dual: &Dual, source: impl Into<Exact<'e>>, alpha: &[f64], bias: f64, gradient: &[f64]) -> Self {
        assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
        let source = source.into();
        let error = if source.is_twofold() {
            DecisionError::of_weights(dual, source, alpha, gradient)
        } else {
            DecisionError::of_terms(dual, source, alpha)
        };
        let of_sample = |id: usize| source.size(id) * (error.common + error.each * source.relative_error(id)) + error.left_out;
        Self::of_decisions(dual, alpha, bias, gradient, of_sample)
    }

    /// Estimates the rounding at a point as [`Rounding::at`], with the error of the decision value
    /// of each sample.
    pub(crate) fn of_decisions(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64], error: impl Fn(usize) -> f64) -> Self {
        let (mut gap, mut kkt, mut terms) = (0.0, 0.0_f64, 0.0);
        let bias = if matches!(dual.balance(), EqualityConstraint::Sum(_)) { bias } else { 0.0 };
        for k in 0..dual.len() {
            let (a, upper, ridge) = (alpha[k], dual.upper()[k], dual.ridge_of(k));
            if upper <= 0.0 {
                continue;
            }
            let own = UNITS * (dual.linear_term()[k].abs() + (ridge * a).abs());
            let off = error(dual.ids()[k]) + own;
            kkt = kkt.max(2.0 * off);
            // Slacks are differences with the bias, which may cancel.
            let off = off + UNITS * bias.abs();
            gap += (a.abs() + price(dual, k, a, gradient[k] + dual.sign()[k] * bias, off)) * off;
            terms += a.abs() * (gradient[k].abs() + dual.linear_term()[k].abs());
        }
        let signed = dual.sign().iter().zip(alpha).map(|(s, a)| s * a);
        let imbalance = match dual.balance() {
            EqualityConstraint::Sum(wanted) => (exact_sum(signed) - wanted).abs() * bias.abs(),
            _ => 0.0,
        };
        Self { gap: gap + UNITS * terms + imbalance, kkt }
    }
}

/// The error of a decision value; of its rounding relative to `κ_i`.
struct DecisionError {
    /// The part that every sample has.
    common: f64,
    /// A factor of the sample's own [`Exact::relative_error`].
    each: f64,
    /// The most that negligible kernel values add, for every sample.
    left_out: f64,
}

impl DecisionError {
    /// Returns the error of the decision values of a point. Variables of one sample, or of equal
    /// samples if those are joined, count together.
    fn of_terms(dual: &Dual, source: Exact, alpha: &[f64]) -> Self {
        let own = source.different().map_or(source, |(different, _)| different);
        let (mut mass, mut squares, mut of_parts, mut weight) = (0.0, 0.0_f64, 0.0_f64, 0.0);
        for (id, beta) in coefficients(dual, source, alpha) {
            weight += beta.abs();
            let term = beta.abs() * own.size(id);
            mass += term;
            squares += term * term;
            of_parts += (term * own.relative_error(id)).powi(2);
        }
        // If squares overflow, the error is infinite.
        Self { common: UNITS * mass + of_parts.sqrt(), each: squares.sqrt(), left_out: weight * own.left_out() }
    }

    /// Returns the error of products with weights that have twice the precision.
    fn of_weights(dual: &Dual, source: Exact, alpha: &[f64], gradient: &[f64]) -> Self {
        let terms = coefficients(dual, source, alpha);
        let mass: f64 = terms.iter().map(|(id, beta)| beta.abs() * source.size(*id)).sum();
        // wᵀw = Σ α_k (g_k − lin_k − D_k α_k).
        let of_variable = |k: usize| alpha[k] * (gradient[k] - dual.linear_term()[k] - dual.ridge_of(k) * alpha[k]);
        let norm = (0..dual.len()).filter(|&k| alpha[k] != 0.0).map(of_variable).sum::<f64>().max(0.0).sqrt();
        Self { common: UNITS * (norm + UNITS * mass), each: 0.0, left_out: 0.0 }
    }
}

/// Returns true if coefficients of equal samples cancel: a gradient that was summed over all
/// samples then has rounding that a sum over the different samples avoids.
pub(crate) fn cancels(dual: &Dual, source: Exact, alpha: &[f64]) -> bool {
    let Some((different, of)) = source.different() else { return false };
    let size = |id: usize| different.size(id);
    let alone: f64 = alpha.iter().zip(dual.ids()).map(|(a, &id)| a.abs() * size(of[id] as usize)).sum();
    let together: f64 = coefficients(dual, source, alpha).into_iter().map(|(id, beta)| beta.abs() * size(id)).sum();
    alone > CANCELLED * together
}

/// Returns the largest slope of the loss of variable `k` at a slack with the error `off`. `value`
/// is its gradient with the bias.
fn price(dual: &Dual, k: usize, alpha: f64, value: f64, off: f64) -> f64 {
    let (upper, ridge) = (dual.upper()[k], dual.ridge_of(k));
    let slack = ridge * alpha - value + off;
    // With a sum for all, or one per sign, a margin replaces the bias, and any variable may have a
    // slack.
    let any = matches!(dual.balance(), EqualityConstraint::Simplex | EqualityConstraint::PerSign(..));
    if slack <= 0.0 && !any {
        0.0
    } else if ridge > 0.0 && !any {
        upper.min(slack / ridge)
    } else if upper.is_finite() {
        upper
    } else {
        alpha.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_kernel::{FnGram, Gram};

    #[test]
    fn rounding_follows_the_size_of_kernel_values() {
        let dual = Dual::c_svc(vec![0, 1, 2], vec![1.0, -1.0, 1.0], vec![2.0; 3]).expect("two classes");
        // The third sample is no support vector, and far beyond its margin.
        let at = |scale: f64| {
            let gram = FnGram::new(3, move |i, j| if i == j { scale * [1.0, 4.0, 1e4][i] } else { 0.0 });
            Rounding::at(&dual, &gram as &dyn Gram, &[0.5, 0.5, 0.0], 0.0, &[-1.0, -1.0, 9.0])
        };
        // κ is 1 and 2. The terms are ½ and 1: their sum counts for additions, their squares for
        // kernel values. The prices are ½ + 2 each; linear_term is 1.
        let own = UNITS * 1.0;
        let error = UNITS * (1.5 + 1.25_f64.sqrt()); // each sample's part is half of a unit's
        let expected = 2.5 * (error + own) + 2.5 * (2.0 * error + own) + UNITS * 2.0;
        assert!((at(1.0).gap - expected).abs() < 1e-6 * expected, "{:?} {expected}", at(1.0));
        assert_eq!(at(1.0).kkt, 2.0 * (100.0 * error + own));
        assert!(at(1e16).gap > 1.0 && at(1e16).kkt > 1.0);
        // Coefficients of one sample that cancel have no rounding.
        let twins = Dual::c_svc(vec![0, 0], vec![1.0, -1.0], vec![2.0; 2]).expect("two classes");
        let gram = FnGram::new(1, |_, _| 1e30);
        let none = Rounding::at(&twins, &gram as &dyn Gram, &[0.5, 0.5], 0.0, &[-1.0, -1.0]);
        assert!(none.gap < 1e-13 && none.kkt < 1e-13, "{none:?}");
    }
}
