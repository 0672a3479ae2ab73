//! Rules for the kernel parameter gamma.

use super::error::KernelError;
use maxmargin_data::Samples;
use serde::{Deserialize, Serialize};

/// A rule for a kernel's gamma.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gamma {
    /// The number itself.
    Value(f64),
    /// [`gamma_auto`].
    Auto,
    /// [`gamma_scale`].
    Scale,
    /// [`gamma_mean`].
    Mean,
}

impl Gamma {
    /// The gamma that the rule gives for these samples.
    pub fn of(self, samples: &Samples) -> f64 {
        match self {
            Gamma::Value(gamma) => gamma,
            Gamma::Auto => gamma_auto(samples),
            Gamma::Scale => gamma_scale(samples),
            Gamma::Mean => gamma_mean(samples),
        }
    }

    /// The gamma that the rule gives for these samples, if it is above 0 and finite. A number is
    /// taken as it is.
    pub(super) fn checked(self, samples: &Samples) -> Result<f64, KernelError> {
        let gamma = self.of(samples);
        let rule = match self {
            Gamma::Value(_) => return Ok(gamma),
            Gamma::Auto => "auto",
            Gamma::Scale => "scale",
            Gamma::Mean => "mean",
        };
        if gamma > 0.0 && gamma.is_finite() { Ok(gamma) } else { Err(KernelError::GammaRule { rule, value: gamma }) }
    }

    /// Returns whether the rule depends on the values of the samples, so that every training set
    /// has a gamma of its own.
    pub fn is_of_values(self) -> bool {
        matches!(self, Gamma::Scale | Gamma::Mean)
    }
}

/// The share of a mean square below which its distance from the square of a mean is taken from
/// differences, in a second pass: a difference of two sums would have too few digits.
const CANCELS: f64 = 1e-6;

/// Differences from a mean up to this many roundings of it are rounding alone.
const ROUNDINGS: f64 = 4.0 * f64::EPSILON;

/// `gamma = 1 / (features · variance of all values)`, scikit-learn's `scale`; 1 where all values
/// are equal, and 0 where squares of values overflow.
pub fn gamma_scale(samples: &Samples) -> f64 {
    let count = samples.len() as f64 * samples.features() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..samples.len() {
        samples.row(i).for_each(|_, v| {
            sum += v;
            squares += v * v;
        });
    }
    if !squares.is_finite() {
        return 0.0;
    }
    let mean = sum / count;
    let mut variance = squares / count - mean * mean;
    if variance <= CANCELS * (squares / count) {
        let (mut around, mut stored) = (0.0, 0.0);
        for i in 0..samples.len() {
            samples.row(i).for_each(|_, v| {
                around += (v - mean) * (v - mean);
                stored += 1.0;
            });
        }
        variance = (around + (count - stored) * mean * mean) / count;
    }
    let is_rounding = variance <= (ROUNDINGS * mean) * (ROUNDINGS * mean);
    if variance > 0.0 && !is_rounding { 1.0 / (samples.features() as f64 * variance) } else { 1.0 }
}

/// `gamma = 1 / features`, LIBSVM's default.
pub fn gamma_auto(samples: &Samples) -> f64 {
    1.0 / samples.features().max(1) as f64
}

/// `gamma = 1 / (2 · mean ‖x − z‖²)` over all pairs of samples: the σ² of an RBF kernel
/// `exp(−‖x − z‖² / 2σ²)` is the mean squared distance (Tsang et al. 2005, Frandi et al. 2013). 1
/// where all samples are equal, and 0 where squares of values overflow.
///
/// The mean over pairs, a sample with itself among them, is `2 (mean ‖x‖² − ‖mean x‖²)`.
pub fn gamma_mean(samples: &Samples) -> f64 {
    let n = samples.len() as f64;
    let mut mean = vec![0.0; samples.features()];
    let mut norms = 0.0;
    for i in 0..samples.len() {
        samples.row(i).for_each(|k, v| {
            mean[k] += v;
            norms += v * v;
        });
    }
    if !norms.is_finite() {
        return 0.0;
    }
    mean.iter_mut().for_each(|m| *m /= n);
    let square = mean.iter().map(|m| m * m).sum::<f64>();
    let mut variance = norms / n - square;
    if variance <= CANCELS * (norms / n) {
        let (mut around, mut stored) = (0.0, vec![0.0; mean.len()]);
        for i in 0..samples.len() {
            samples.row(i).for_each(|k, v| {
                around += (v - mean[k]) * (v - mean[k]);
                stored[k] += 1.0;
            });
        }
        // A value of 0 that is not stored is at a distance of the mean as well.
        around += mean.iter().zip(&stored).map(|(m, stored)| (n - stored) * m * m).sum::<f64>();
        variance = around / n;
    }
    let is_rounding = variance <= ROUNDINGS * ROUNDINGS * square;
    if variance > 0.0 && !is_rounding { 0.25 / variance } else { 1.0 }
}

#[cfg(test)]
mod tests {
    //! Rules by hand.

    use super::{Gamma, gamma_mean, gamma_scale};
    use crate::{Kernel, KernelError};
    use maxmargin_data::Samples;

    #[test]
    fn the_mean_squared_distance_of_three_points() {
        let samples = Samples::from_rows(&[[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]]).expect("samples");
        // Nine ordered pairs: twice 9, 16 and 25, and three times 0.
        let mean = 2.0 * (9.0 + 16.0 + 25.0) / 9.0;
        assert!((gamma_mean(&samples) - 1.0 / (2.0 * mean)).abs() < 1e-15);
        assert_eq!(Gamma::Mean.of(&samples), gamma_mean(&samples));
    }

    #[test]
    fn equal_samples_have_a_width() {
        for value in [2.0, 0.1, 1e9 + 0.1] {
            let samples = Samples::from_rows(&[[value]; 7]).expect("samples");
            assert_eq!((gamma_mean(&samples), gamma_scale(&samples)), (1.0, 1.0), "{value}");
        }
    }

    /// These used to be a gamma of 1 or 0 without a word, or an error about a gamma that nobody
    /// gave.
    #[test]
    fn rules_without_a_finite_width_are_named() {
        for (size, value) in [(1e160, 0.0), (1e-160, f64::INFINITY)] {
            let samples = Samples::from_rows(&[[size], [2.0 * size]]).expect("samples");
            for (gamma, rule) in [(Gamma::Scale, "scale"), (Gamma::Mean, "mean")] {
                assert_eq!(gamma.of(&samples), value, "{rule}");
                let refused = Kernel::rbf(1.0).resolved(gamma, &samples).expect_err("no width");
                assert_eq!(refused, KernelError::GammaRule { rule, value });
            }
            assert_eq!(Kernel::rbf(1.0).resolved(Gamma::Value(0.0), &samples), Ok(Kernel::rbf(0.0)));
            assert_eq!(Kernel::Linear.resolved(Gamma::Scale, &samples), Ok(Kernel::Linear));
        }
    }

    /// A sum of squares has no digits of a variance that is so much smaller.
    #[test]
    fn widths_do_not_depend_on_the_origin() {
        let spread = |i: usize, k: usize| ((i * 7 + k * 5) % 11) as f64 / 4.0;
        let moved =
            |by: f64| Samples::from_rows(&[0, 1, 2, 3, 4, 5].map(|i| [0, 1].map(|k| by + spread(i, k)))).expect("samples");
        for by in [1e4, 1e6, 1e9, 1e12] {
            for rule in [gamma_mean, gamma_scale] {
                let (near, far) = (rule(&moved(0.0)), rule(&moved(by)));
                // Values of the data lose digits themselves.
                assert!((far / near - 1.0).abs() < 1e-9 + 1e-15 * by, "{by}: {near} {far}");
            }
        }
    }

    /// Values that are not stored are at a distance of the mean, too.
    #[test]
    fn values_of_0_count() {
        let rows = [[0.0, 1e-5], [1.0, 0.0], [1.0 - 1e-5, 1e-5], [1.0, 0.0]];
        let far: Vec<[f64; 2]> = rows.iter().map(|row| [row[0] + 3e3, row[1]]).collect();
        let of = |rows: &[[f64; 2]]| gamma_mean(&Samples::from_rows(rows).expect("samples"));
        assert!((of(&rows) / of(&far) - 1.0).abs() < 1e-9, "{} {}", of(&rows), of(&far));
    }
}
