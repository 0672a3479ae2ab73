//! The type [`Certificate`] and the formulas that all its kinds share.

use crate::certificate::rounding::Rounding;
use serde::{Deserialize, Serialize};

/// The quality of a solution, independent of the solver that produced it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The primal objective `½‖w‖² + Σ C_k ξ_k` with the solution's bias (that of its formulation:
    /// `docs/math/formulations.md`), an upper bound on the optimum.
    ///
    /// With a ridge `r` the loss is `ξ²/2r` up to the slope `C`, and linear above: the squared
    /// hinge loss if there is no upper bound.
    ///
    /// It is infinite if there is neither ridge nor upper bound, and if the kernel matrix is not
    /// known to be positive semidefinite. Weak duality does not hold then, and a KKT point may be
    /// any stationary point.
    ///
    /// On the simplex the slacks are those of the margin ρ with the best bound, and `−ρ` is part of
    /// the objective. If each sign has a sum, each has a ρ.
    pub primal: f64,
    /// The dual objective `−(½ αᵀQα + linᵀα)`, a lower bound on the optimum. LIBSVM prints `obj =
    /// −dual`.
    pub dual: f64,
    /// The largest KKT violation, at least 0: `max over I_low − min over I_up` of `s_k g_k`
    /// (LIBSVM's stopping quantity).
    ///
    /// On the simplex, whose constraint has no signs, it is that of `g_k` over the α that may fall
    /// and those that may rise; with a sum per sign, the larger one of the signs. Without a
    /// constraint it is the range of the projected gradient, zero included (LIBLINEAR's stopping
    /// quantity).
    pub kkt: f64,
    /// The largest violation of a box, relative to its size, or of the equality constraint,
    /// relative to `Σ α` (of each sign if each has a sum). Infinite if α, the bias or a gradient is
    /// not finite.
    pub infeasible: f64,
    /// The rounding error of the figures above. Files do not store it; verifying a model computes
    /// it again.
    #[serde(skip)]
    pub rounding: Rounding,
}

impl Certificate {
    /// Returns `primal − dual`.
    pub fn gap(&self) -> f64 {
        self.primal - self.dual
    }

    /// Returns the gap relative to the larger of |primal| and |dual|: 0 for 0/0, infinite if the
    /// primal is or one of them is no number.
    pub fn relative_gap(&self) -> f64 {
        let scale = self.primal.abs().max(self.dual.abs());
        if scale == f64::INFINITY || self.gap().is_nan() {
            f64::INFINITY
        } else if scale > 0.0 {
            self.gap() / scale
        } else {
            0.0
        }
    }

    /// Returns the part of the relative gap that rounding alone may cause: 0 without rounding,
    /// infinite if the primal is.
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

    /// The relative gap up to which a point is called optimal, for any KKT violation. A small
    /// violation alone bounds the gap only by its product with `Σ C_k`.
    pub const OPTIMAL: f64 = 1e-2;

    /// The relative violation of the box or the equality constraint up to which a point counts as
    /// feasible.
    pub const FEASIBLE: f64 = 1e-9;

    /// Returns true if the gap, with its rounding error, is small enough for an optimum.
    pub fn is_optimal(&self) -> bool {
        self.infeasible <= Self::FEASIBLE && self.has_gap(Self::OPTIMAL)
    }

    /// The certificate of a point that was not computed: no information.
    pub const NOTHING: Self = Self {
        primal: f64::INFINITY,
        dual: f64::NEG_INFINITY,
        kkt: f64::INFINITY,
        infeasible: f64::INFINITY,
        rounding: Rounding::NONE,
    };

    /// Returns the part that model files store. Verifying a model computes the rounding error
    /// again.
    #[must_use]
    pub fn as_kept(self) -> Self {
        Self { rounding: Rounding::NONE, ..self }
    }

    /// Returns true if the KKT violation is known to be at most `tol` despite rounding, and the
    /// point is feasible.
    pub fn holds(&self, tol: f64) -> bool {
        self.kkt <= tol && self.rounding.kkt <= tol && self.infeasible <= Self::FEASIBLE
    }

    /// Returns true if the relative gap is known to be at most `gap` despite rounding. A gap below
    /// 0 by more than rounding is a contradiction and shows nothing.
    pub fn has_gap(&self, gap: f64) -> bool {
        // Files do not store the rounding error, and every point has some.
        let rounding = if self.rounding == Rounding::NONE { KEPT * self.dual.abs() } else { self.rounding.gap };
        self.relative_gap() <= gap && self.relative_rounding() <= gap && self.gap() >= -rounding
    }

    /// Returns true if the point may be a stationary point without being an optimum: it has
    /// figures, and the kernel matrix is not known to be positive semidefinite.
    pub fn is_stationary_only(&self) -> bool {
        self.primal == f64::INFINITY && self.kkt.is_finite() && self.dual.is_finite()
    }
}

/// The relative gap below 0 that counts as rounding in a certificate from a file.
const KEPT: f64 = 1e-9;

/// Returns `max over 0 ≤ a ≤ upper of a ξ − ½ ridge a²`: the loss whose conjugate is the box and
/// the ridge.
#[inline]
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

/// Returns the distance of α from its box as a share of the box; of a box without an upper bound,
/// or an empty one, as a share of α.
#[inline]
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

/// Returns the distance of a sum from its required value, as a share of its terms.
pub(crate) fn apart(sum: f64, wanted: f64, mass: f64) -> f64 {
    if sum == wanted { 0.0 } else { (sum - wanted).abs() / mass.abs().max(wanted.abs()) }
}
