//! Range, mean and spread of a feature.

/// The statistics of a feature from one pass over some rows.
#[derive(Clone, Copy)]
pub(super) struct FeatureStats {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) count: usize,
    pub(super) sum: f64,
    /// The sum of squared deviations, each divided by `unit`.
    pub(super) squares: f64,
    pub(super) unit: f64,
}

impl FeatureStats {
    /// Returns the power of two at or below the largest magnitude, and at most 1. A division by it
    /// changes no digit, and then squares of deviations do not underflow.
    pub(super) fn power_of_two(&self) -> f64 {
        const EXPONENT: u64 = 0x7ff << 52;
        let magnitude = self.min.abs().max(self.max.abs());
        f64::from_bits(magnitude.to_bits() & EXPONENT).clamp(f64::from_bits(1), 1.0)
    }
}
