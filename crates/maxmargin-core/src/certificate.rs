//! The certificate: primal, dual, KKT violation and feasibility, recomputed in `f64` from exact
//! kernel values.

mod simplex;

use crate::dual::{Dual, EqualityConstraint};
use crate::gradient::exact_gradient;
use crate::rounding::Rounding;
use crate::solution::Solution;
use maxmargin_data::Par;
use maxmargin_kernel::Exact;
use serde::{Deserialize, Serialize};

/// How good a solution is, whoever made it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// Primal objective `½‖w‖² + Σ C_k ξ_k` with the solution's bias (that of its formulation:
    /// `docs/math/formulations.md`): an upper bound on the optimum. With a ridge `r` the loss is
    /// `ξ²/2r` up to where it is as steep as `C`: the squared hinge loss where there is no upper
    /// bound. Infinite without both, and where the kernel matrix is not known to be positive
    /// semidefinite: weak duality does not hold then, and a point that meets the KKT conditions may
    /// be any stationary point. On the simplex the slacks are those of the margin ρ that makes the
    /// bound best, and `−ρ` is part of the objective; where each sign has a sum, each has a ρ.
    pub primal: f64,
    /// Dual objective `−(½ αᵀQα + linᵀα)`: a lower bound on the optimum. LIBSVM prints `obj =
    /// −dual`.
    pub dual: f64,
    /// Largest KKT violation `max over I_low − min over I_up` of `s_k g_k` (LIBSVM's stopping
    /// quantity), at least 0. On the simplex, whose constraint has no signs: of `g_k` itself, over
    /// the α that may fall and those that may rise, in each sign where each has a sum. Without a
    /// balance the range of the projected gradient, zero included (LIBLINEAR's stopping quantity).
    pub kkt: f64,
    /// Largest violation of the box, relative to its size, or of the balance, relative to `Σ α` (of
    /// each sign where each has a sum). Infinite when α, the bias or a gradient is not finite.
    pub infeasible: f64,
    /// How far rounding may have taken the figures above. Files do not keep it: it is found again
    /// when a model is verified.
    #[serde(skip)]
    pub rounding: Rounding,
}

impl Certificate {
    /// `primal − dual`.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// The gap relative to the larger of |primal|, |dual| (0 for 0/0, infinite where the primal
    /// is).
    pub fn relative_gap(&self) -> f64 {
        let scale = self.primal.abs().max(self.dual.abs());
        if scale == f64::INFINITY {
            f64::INFINITY
        } else if scale > 0.0 {
            self.gap() / scale
        } else {
            0.0
        }
    }

    /// The relative gap that rounding may make by itself: 0 where there is none, infinite where
    /// nothing is known of the objective.
    pub fn relative_rounding(&self) -> f64 {
        let scale = self.primal.abs().max(self.dual.abs());
        if self.rounding.gap == 0.0 {
            0.0
        } else if scale == f64::INFINITY {
            f64::INFINITY
        } else {
            self.rounding.gap / scale
        }
    }

    /// The relative gap up to which a point is called optimal, whatever its KKT violation is: a
    /// small violation alone bounds the gap by itself times `Σ C_k` only.
    pub const OPTIMAL: f64 = 1e-2;

    /// The violation of the box or of the balance, as a share of it, up to which a point counts as
    /// feasible.
    pub const FEASIBLE: f64 = 1e-9;

    /// Whether the gap, and what rounding may make of it, is small enough to speak of an optimum.
    pub fn is_optimal(&self) -> bool {
        self.infeasible <= Self::FEASIBLE && self.has_gap(Self::OPTIMAL)
    }

    /// No knowledge: the certificate of a point that was not computed.
    pub const NOTHING: Self = Self {
        primal: f64::INFINITY,
        dual: f64::NEG_INFINITY,
        kkt: f64::INFINITY,
        infeasible: f64::INFINITY,
        rounding: Rounding::NONE,
    };

    /// The part that model files keep: what rounding may do is found again when a model is
    /// verified.
    #[must_use]
    pub fn as_kept(self) -> Self {
        Self { rounding: Rounding::NONE, ..self }
    }

    /// Whether the KKT violation is at most `tol`, as far as rounding lets it be known, and the
    /// point is feasible.
    pub fn holds(&self, tol: f64) -> bool {
        self.kkt <= tol && self.rounding.kkt <= tol && self.infeasible <= Self::FEASIBLE
    }

    /// Whether the relative gap is at most `gap`, as far as rounding lets it be known. A gap that
    /// is further below 0 than rounding takes it is a contradiction, and shows nothing.
    pub fn has_gap(&self, gap: f64) -> bool {
        // Files do not keep the rounding of a point, and every point has some.
        let rounding = if self.rounding == Rounding::NONE { KEPT * self.dual.abs() } else { self.rounding.gap };
        self.relative_gap() <= gap && self.relative_rounding() <= gap && self.gap() >= -rounding
    }

    /// Whether the point may be a stationary point that is no optimum: it was judged, and the
    /// kernel matrix is not known to be positive semidefinite.
    pub fn is_stationary_only(&self) -> bool {
        self.primal == f64::INFINITY && self.kkt.is_finite() && self.dual.is_finite()
    }
}

/// The relative gap below 0 that is taken for rounding in a certificate from a file.
const KEPT: f64 = 1e-9;

/// Judges one solution from scratch, by kernel values computed anew or by features.
///
/// # Panics
///
/// When `solution` has another number of variables than `dual`.
pub fn certify<'e>(dual: &Dual, source: impl Into<Exact<'e>>, solution: &Solution, par: Par) -> Certificate {
    let source = source.into();
    let gradient = exact_gradient(dual, source, &solution.alpha, par);
    certify_gradient(dual, source, &solution.alpha, solution.bias, &gradient)
}

/// Judges a point by its gradient `Qα + lin`, which must come from exact `f64` values of `source`:
/// a certificate can be no better than the gradient it is made of.
///
/// # Panics
///
/// When `alpha` and `gradient` do not have one entry per variable, or the problem names samples
/// that `source` does not have.
pub fn certify_gradient<'e>(
    dual: &Dual,
    source: impl Into<Exact<'e>>,
    alpha: &[f64],
    bias: f64,
    gradient: &[f64],
) -> Certificate {
    let source = source.into();
    let figures = figures(dual, alpha, bias, gradient);
    let rounding = Rounding::at(dual, source, alpha, bias, gradient);
    let shift = shift(dual, source);
    let primal = if shift == 0.0 { figures.primal } else { figures.primal + shift * reach(dual, alpha) };
    Certificate { primal, rounding, ..figures }
}

/// A `σ` for which `Q + σI` is known to be positive semidefinite: a ridge is part of Q.
pub(crate) fn shift(dual: &Dual, source: Exact) -> f64 {
    let of_kernel = source.indefiniteness();
    if of_kernel == 0.0 {
        0.0
    } else {
        (of_kernel - (0..dual.len()).map(|k| dual.ridge_of(k)).fold(f64::INFINITY, f64::min)).max(0.0)
    }
}

/// `½ max ‖α − α'‖²` over the box of `α'`. Where `K + σI` is positive semidefinite, no feasible
/// point has a dual objective that is more than `σ` times this above the primal one.
fn reach(dual: &Dual, alpha: &[f64]) -> f64 {
    let far = alpha.iter().zip(dual.upper()).map(|(a, u)| a.max(u - a)).filter(|by| *by != 0.0);
    0.5 * far.map(|by| by * by).sum::<f64>()
}

/// `max over 0 ≤ a ≤ upper of a ξ − ½ ridge a²`: the loss whose conjugate is the box and the ridge.
pub(crate) fn loss(xi: f64, upper: f64, ridge: f64) -> f64 {
    if xi <= 0.0 {
        0.0
    } else if ridge == 0.0 {
        upper * xi // also where there is no upper bound
    } else if xi <= ridge * upper {
        0.5 * xi * xi / ridge
    } else {
        upper * (xi - 0.5 * ridge * upper)
    }
}

/// The figures of a certificate from α, the bias and the gradient alone, for solvers that look
/// whether to go on: exact if the gradient is, a gap below 0
/// taken for rounding, and the primal that of a positive semidefinite kernel matrix. What is
/// reported comes from [`certify_gradient`].
///
/// # Panics
///
/// When `alpha` and `gradient` do not have one entry per variable.
pub fn figures(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    assert!(alpha.len() == dual.len() && gradient.len() == dual.len(), "one entry per variable");
    let figures = if matches!(dual.balance(), EqualityConstraint::Simplex | EqualityConstraint::PerSign(..)) {
        simplex::figures(dual, alpha, bias, gradient)
    } else {
        of_sum(dual, alpha, bias, gradient)
    };
    Certificate { rounding: Rounding { gap: (-figures.gap()).max(0.0), kkt: 0.0 }, ..figures }
}

/// The figures where there is one sum, or none.
fn of_sum(dual: &Dual, alpha: &[f64], bias: f64, gradient: &[f64]) -> Certificate {
    let quadratic: f64 = (0..dual.len()).map(|k| alpha[k] * (gradient[k] - dual.linear_term()[k])).sum();
    let ridge: f64 = alpha.iter().enumerate().map(|(k, a)| dual.ridge_of(k) * a * a).sum();
    let linear: f64 = alpha.iter().zip(dual.linear_term()).map(|(a, p)| a * p).sum();
    // Without a balance every variable moves alone: its gradient is measured against 0, whatever
    // its sign.
    let alone = dual.balance() == EqualityConstraint::Free;
    let given = bias;
    // The bias is then inside the kernel, or there is none.
    let bias = if alone { 0.0 } else { bias };
    let none = if alone { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (mut slack, (mut lowest_up, mut highest_low)) = (0.0, none);
    // Comparisons lose what is not a number; it must not pass for zero.
    let finite = given.is_finite() && alpha.iter().chain(gradient).all(|v| v.is_finite());
    let mut infeasible: f64 = if finite { 0.0 } else { f64::INFINITY };
    let (mut balance, mut mass) = (0.0, 0.0);
    for k in 0..dual.len() {
        let (s, a, u) = (dual.sign()[k], alpha[k], dual.upper()[k]);
        // The ridge is part of the loss, not of w: 1 − y f(x) for C-SVC.
        let ridge = dual.ridge_of(k);
        slack += loss(ridge * a - gradient[k] - s * bias, u, ridge);
        infeasible = infeasible.max(outside(a, u));
        balance += s * a;
        mass += a;
        let s = if alone { 1.0 } else { s };
        let f = s * gradient[k];
        let (may_fall, may_rise) = (a > 0.0, a < u);
        if (s > 0.0 && may_rise) || (s < 0.0 && may_fall) {
            lowest_up = lowest_up.min(f);
        }
        if (s > 0.0 && may_fall) || (s < 0.0 && may_rise) {
            highest_low = highest_low.max(f);
        }
    }
    let wanted = match dual.balance() {
        EqualityConstraint::Sum(wanted) => Some(wanted),
        _ => None,
    };
    if let Some(wanted) = wanted {
        infeasible = infeasible.max(apart(balance, wanted, mass));
    }
    Certificate {
        primal: 0.5 * (quadratic - ridge) + slack + wanted.map_or(0.0, |d| d * bias),
        dual: -(0.5 * quadratic + linear),
        kkt: (highest_low - lowest_up).max(0.0),
        infeasible,
        rounding: Rounding::NONE,
    }
}

/// How far α is outside its box, as a share of the box; of a box without an upper bound, or that is
/// empty, of α itself.
pub(crate) fn outside(alpha: f64, upper: f64) -> f64 {
    let by = (-alpha).max(alpha - upper);
    if by <= 0.0 {
        0.0
    } else if upper > 0.0 && upper.is_finite() {
        by / upper
    } else {
        1.0
    }
}

/// How far a sum is from the one that is wanted, as a share of what it is made of.
pub(crate) fn apart(sum: f64, wanted: f64, mass: f64) -> f64 {
    if sum == wanted { 0.0 } else { (sum - wanted).abs() / mass.abs().max(wanted.abs()) }
}
