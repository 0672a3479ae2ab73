//! The quadratic model of a proximal Newton step, and the steps of coordinate descent on it.
//!
//! With few columns the matrix `H` is computed: a step then costs one column of it, and a column
//! that does not move costs nothing (`matrix_descent.rs`). With many columns a step reads the rows
//! of its column (`column_descent.rs`).

use crate::compressed::Compressed;
use crate::config::Method;
use crate::margin::context::MarginRun;
use crate::margin::l1_problem::violation_of;
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use std::sync::OnceLock;

/// The least curvature of a column.
const LEAST: f64 = 1e-12;

/// The columns of a working set, by columns and by rows. The rows of a selection are made when they
/// are asked for.
pub(crate) enum Columns<'r> {
    Borrowed { columns: &'r Compressed, rows: &'r Compressed },
    Owned { columns: Compressed, rows: OnceLock<Compressed> },
}

impl Columns<'_> {
    pub(crate) fn columns(&self) -> &Compressed {
        match self {
            Self::Borrowed { columns, .. } => columns,
            Self::Owned { columns, .. } => columns,
        }
    }

    pub(crate) fn rows(&self) -> &Compressed {
        match self {
            Self::Borrowed { rows, .. } => rows,
            Self::Owned { columns, rows } => rows.get_or_init(|| columns.transposed()),
        }
    }

    /// Returns the rows if they were made.
    pub(crate) fn known_rows(&self) -> Option<&Compressed> {
        match self {
            Self::Borrowed { rows, .. } => Some(rows),
            Self::Owned { rows, .. } => rows.get(),
        }
    }

    /// Returns the number of entries in the rows with weights.
    pub(crate) fn entries_with(&self, weights: &[f64]) -> usize {
        if let Some(rows) = self.known_rows() {
            return (0..rows.len()).filter(|&i| weights[i] > 0.0).map(|i| rows.entries_of(i)).sum();
        }
        let (columns, mut count) = (self.columns(), 0);
        (0..columns.len()).for_each(|j| columns.each(j, |i, _| count += usize::from(weights[i] > 0.0)));
        count
    }
}

/// Returns true if the run is asked for coordinate descent alone.
pub(crate) fn descends(run: &MarginRun) -> bool {
    matches!(run.config.method, Method::Descent | Method::Avsf)
}

/// The model `−u·d + ½ dᵀHd + ‖w + d‖₁`, `H = Σ h_i x_i x_iᵀ`.
pub(crate) struct QuadraticModel<'a> {
    pub(crate) columns: &'a Columns<'a>,
    pub(crate) weights: &'a [f64],
    pub(crate) u: &'a [f64],
    pub(crate) w: &'a [f64],
    /// The primal objective at `d = 0`.
    pub(crate) primal: f64,
    /// The largest violation at `d = 0`.
    pub(crate) violation: f64,
    pub(crate) free: Option<usize>,
    pub(crate) par: Par,
}

/// A step of coordinate descent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoordinateStep {
    pub(crate) delta: f64,
    pub(crate) violation: f64,
    /// The decrease of the model.
    pub(crate) gain: f64,
}

/// Returns the factor of all simplifications of a model at this violation: they make steps cheap
/// far from the optimum and slow near it.
pub(crate) fn simplification(violation: f64) -> f64 {
    violation.min(1.0)
}

impl QuadraticModel<'_> {
    /// Minimises over column `j`, where `gradient` is that of the quadratic part.
    #[inline]
    pub(crate) fn coordinate(&self, j: usize, d: f64, gradient: f64, curvature: f64) -> CoordinateStep {
        let (at, free) = (self.w[j] + d, self.free == Some(j));
        let violation = violation_of(at, -gradient, free);
        if violation == 0.0 {
            return CoordinateStep { delta: 0.0, violation, gain: 0.0 };
        }
        let curvature = curvature + LEAST;
        let to = at - gradient / curvature;
        let threshold = if free { 0.0 } else { 1.0 / curvature };
        let to = if to > threshold {
            to - threshold
        } else if to < -threshold {
            to + threshold
        } else {
            0.0
        };
        // A weight that becomes 0 is 0 exactly: `w + d` has no rounding then.
        let delta = if to == 0.0 { -self.w[j] - d } else { to - at };
        let of_norm = if free { 0.0 } else { at.abs() - to.abs() };
        CoordinateStep { delta, violation, gain: of_norm - delta * (gradient + 0.5 * curvature * delta) }
    }
}
