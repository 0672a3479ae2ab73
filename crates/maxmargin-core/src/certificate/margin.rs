//! The certificate of a linear machine with a differentiable loss, computed from its weights alone.
//!
//! ```text
//!   1  z_i ← y_i w·x_i;  primal ← penalty(w) + Σ C_i ℓ(z_i)
//!   2  α_i ← −C_i ℓ'(z_i): in the domain of the conjugate
//!   3  free bias: the α of the class with the larger sum are scaled down, so that Σ y_i α_i = 0
//!   4  u ← Σ α_i y_i x_i;  L1 norm: α ← α / max(1, max_j |u_j|)
//!   5  dual ← Σ C_i g(α_i / C_i), less ½‖u‖² for the L2 norm
//! ```
//!
//! Every w has a feasible α, so that any solver's weights have a gap. For the L2 norm without a
//! free bias the gap is exactly `½‖w − u‖²`, half the squared norm of the primal gradient.

use crate::certificate::figures::Certificate;
use crate::certificate::rounding::Rounding;
use crate::problem::margin::{MarginProblem, Penalty};
use maxmargin_data::Par;
use maxmargin_kernel::Matrix;
use maxmargin_kernel::features::{FeatureRows, Job, combine, products};

/// The error of a sum in units in the last place, relative to the sum of its absolute terms.
const UNITS: f64 = 8.0 * f64::EPSILON;

/// Certifies the weights `w`, one for each column of `matrix`, from its features: primal and dual
/// objective, and the largest violation of the optimality conditions of a weight. The bits do not
/// depend on `par`.
///
/// # Panics
///
/// When the numbers of rows or columns differ.
pub fn certify_margin(problem: &MarginProblem, matrix: &Matrix, w: &[f64], par: Par) -> Certificate {
    assert_eq!(problem.len(), matrix.len(), "one class for each row");
    matrix.visit(Certify { problem, w, par, squares: matrix.squares() })
}

/// Certifies weights from the rows of a matrix of any layout, as [`certify_margin`].
///
/// # Panics
///
/// When the numbers of rows or columns differ.
pub fn certify_margin_rows<R: FeatureRows>(
    problem: &MarginProblem,
    rows: &R,
    squares: &[f64],
    w: &[f64],
    par: Par,
) -> Certificate {
    assert!(problem.len() == rows.len() && w.len() == rows.width(), "one class a row, one weight a column");
    let mut margins = vec![0.0; rows.len()];
    products(rows, &all_rows(rows.len()), w, &mut margins, par);
    margins.iter_mut().zip(problem.sign()).for_each(|(z, y)| *z *= y);
    let mut point = Point::new(problem, &margins);
    if problem.free_column(w.len()).is_some() {
        point.balance();
    }
    let u = point.sum(rows, par);
    point.figures(w, &u, squares)
}

struct Certify<'a> {
    problem: &'a MarginProblem,
    w: &'a [f64],
    par: Par,
    squares: &'a [f64],
}

impl Job for Certify<'_> {
    type Out = Certificate;

    fn run<R: FeatureRows>(self, rows: &R) -> Certificate {
        certify_margin_rows(self.problem, rows, self.squares, self.w, self.par)
    }
}

fn all_rows(rows: usize) -> Vec<usize> {
    (0..rows).collect()
}

/// The margins of a point, and its dual variables as shares of the costs.
struct Point<'a> {
    problem: &'a MarginProblem,
    margins: &'a [f64],
    losses: f64,
    shares: Vec<f64>,
    /// The part by which [`Point::balance`] scaled a class.
    imbalance: f64,
}

impl<'a> Point<'a> {
    fn new(problem: &'a MarginProblem, margins: &'a [f64]) -> Self {
        let mut losses = 0.0;
        let of = |(z, c): (&f64, &f64)| {
            let at = problem.loss().at(*z);
            losses += if *c > 0.0 { c * at.value } else { 0.0 };
            if *c > 0.0 { at.share } else { 0.0 }
        };
        let shares = margins.iter().zip(problem.cost()).map(of).collect();
        Self { problem, margins, losses, shares, imbalance: 0.0 }
    }

    fn balance(&mut self) {
        self.imbalance = balance_classes(&mut self.shares, self.problem.sign(), |i| self.problem.cost()[i]);
    }

    /// Returns `Σ α_i y_i x_i`.
    fn sum<R: FeatureRows>(&self, rows: &R, par: Par) -> Vec<f64> {
        let signed = |((share, c), y): ((&f64, &f64), &f64)| share * c * y;
        let coef: Vec<f64> = self.shares.iter().zip(self.problem.cost()).zip(self.problem.sign()).map(signed).collect();
        combine(rows, &all_rows(rows.len()), &coef, par)
    }

    fn figures(&self, w: &[f64], u: &[f64], squares: &[f64]) -> Certificate {
        let problem = self.problem;
        let penalised = problem.free_column(w.len()).unwrap_or(w.len());
        let primal = problem.penalty_of(w) + self.losses;
        let (scale, quadratic) = match problem.penalty() {
            Penalty::L2 => (1.0, 0.5 * u[..penalised].iter().map(|u| u * u).sum::<f64>()),
            Penalty::L1 => (1.0 / u[..penalised].iter().fold(1.0_f64, |most, u| most.max(u.abs())), 0.0),
        };
        let conjugate = |(share, c): (&f64, &f64)| if *c > 0.0 { c * problem.loss().conjugate(scale * share) } else { 0.0 };
        let conjugates: f64 = self.shares.iter().zip(problem.cost()).map(conjugate).sum();
        // Comparisons drop NaN, which must not count as zero.
        let finite = w.iter().chain(u).chain(self.margins).all(|value| value.is_finite()) && primal.is_finite();
        let (primal, dual) = if finite { (primal, conjugates - quadratic) } else { (f64::INFINITY, f64::NEG_INFINITY) };
        let kkt = violation(problem, w, u, penalised).max(self.imbalance * f64::from(u8::from(penalised < w.len())));
        Certificate {
            primal,
            dual,
            kkt: if finite { kkt } else { f64::INFINITY },
            infeasible: if finite { 0.0 } else { f64::INFINITY },
            rounding: self.rounding(w, squares, primal.abs() + quadratic + conjugates.abs()),
        }
    }

    /// Estimates the rounding of the figures: each margin is a sum of size `‖w‖ ‖x‖`, and so is
    /// each entry of u.
    fn rounding(&self, w: &[f64], squares: &[f64], terms: f64) -> Rounding {
        let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        let (mut gap, mut kkt) = (UNITS * terms, 0.0);
        for ((share, c), square) in self.shares.iter().zip(self.problem.cost()).zip(squares) {
            let (alpha, length) = (share * c, square.sqrt());
            gap += 2.0 * UNITS * alpha * norm * length;
            kkt += UNITS * alpha * length;
        }
        Rounding { gap, kkt }
    }
}

/// Scales down the dual variables of the class with the larger sum, so that the column of a free
/// bias is orthogonal to them. A dual variable is its entry of `values`, times `weight` of its
/// index. Returns the part that the class lost.
pub fn balance_classes(values: &mut [f64], sign: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 2];
    for (i, (value, y)) in values.iter().zip(sign).enumerate() {
        sums[usize::from(*y < 0.0)] += value * weight(i);
    }
    let larger = if sums[0] >= sums[1] { 1.0 } else { -1.0 };
    let (most, least) = (sums[0].max(sums[1]), sums[0].min(sums[1]));
    let factor = if most > least { least / most } else { return 0.0 };
    values.iter_mut().zip(sign).filter(|(_, y)| **y == larger).for_each(|(value, _)| *value *= factor);
    1.0 - factor
}

/// Returns the largest violation of the optimality conditions: `w_j = u_j` for the L2 norm, `u_j`
/// in the subdifferential of `|w_j|` for the L1 norm.
fn violation(problem: &MarginProblem, w: &[f64], u: &[f64], penalised: usize) -> f64 {
    let of = |(w, u): (&f64, &f64)| match problem.penalty() {
        Penalty::L2 => (w - u).abs(),
        Penalty::L1 if *w == 0.0 => (u.abs() - 1.0).max(0.0),
        Penalty::L1 => (u - w.signum()).abs(),
    };
    let of_free = u[penalised..].iter().fold(0.0_f64, |most, u| most.max(u.abs()));
    w[..penalised].iter().zip(u).map(of).fold(of_free, f64::max)
}
