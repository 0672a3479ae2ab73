//! Scores of one class, where samples have no labels.

use crate::metric::Metric;

/// The metrics of every cross-validation of one class.
pub static INLIER_METRICS: &[&Metric] = &[&INLIERS];

/// The fraction of samples that are predicted to be inside.
pub static INLIERS: Metric =
    Metric::new("inliers", |_truth, predicted| predicted.iter().filter(|p| **p > 0.0).count() as f64 / predicted.len() as f64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inliers_are_positive_predictions() {
        assert_eq!(INLIERS.score(&[0.0; 4], &[1.0, -1.0, -1.0, 1.0]), 0.5);
    }
}
