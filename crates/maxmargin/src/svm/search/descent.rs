//! The report of a descent along a smooth loss.

use super::bfgs::DescentEnd;

/// The greatest number of features with a width each. The curvature matrix grows with its square,
/// and every loss solves one system of equations for each feature.
pub const MOST_WIDTHS: usize = 1000;

/// A descent from the best cell of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// The index of the cell at the start.
    pub from: usize,
    /// The index of the cell at the end; `from` itself if no point is lower.
    pub at: usize,
    /// The γ of each feature at the end; `None` if all features share one γ.
    pub widths: Option<Vec<f64>>,
    /// All points with a computed loss, in order.
    pub points: Vec<DescentPoint>,
    /// The reason for the end.
    pub ended: DescentEnd,
    /// The number of solver iterations of all trainings.
    pub iterations: u64,
}

/// A point of a descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentPoint {
    /// C.
    pub c: f64,
    /// γ, or the geometric mean of the γ of all features.
    pub gamma: f64,
    /// The loss at this point ([`maxmargin_cv::Smooth::loss`]).
    pub loss: f64,
    /// The derivatives of the loss with respect to log C and log γ, the latter summed over all
    /// features.
    pub gradient: [f64; 2],
}

impl Descent {
    /// The loss at the start.
    pub fn loss_from(&self) -> f64 {
        self.points.first().map_or(f64::NAN, |point| point.loss)
    }

    /// The least loss.
    pub fn loss_at(&self) -> f64 {
        self.points.iter().map(|point| point.loss).fold(f64::NAN, f64::min)
    }
}
