//! Rules for the kernel parameter gamma.

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
}

/// `gamma = 1 / (features · variance of all values)`, scikit-learn's `scale`.
pub fn gamma_scale(samples: &Samples) -> f64 {
    let count = samples.len() as f64 * samples.features() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..samples.len() {
        samples.row(i).for_each(|_, v| {
            sum += v;
            squares += v * v;
        });
    }
    let variance = squares / count - (sum / count) * (sum / count);
    if variance > 0.0 { 1.0 / (samples.features() as f64 * variance) } else { 1.0 }
}

/// `gamma = 1 / features`, LIBSVM's default.
pub fn gamma_auto(samples: &Samples) -> f64 {
    1.0 / samples.features().max(1) as f64
}

/// `gamma = 1 / (2 · mean ‖x − z‖²)` over all pairs of samples: the σ² of an RBF kernel
/// `exp(−‖x − z‖² / 2σ²)` is the mean squared distance (Tsang et al. 2005, Frandi et al. 2013).
///
/// The mean over pairs, a sample with itself among them, is `2 (mean ‖x‖² − ‖mean x‖²)`.
pub fn gamma_mean(samples: &Samples) -> f64 {
    let mut mean = vec![0.0; samples.features()];
    let mut norms = 0.0;
    for i in 0..samples.len() {
        samples.row(i).for_each(|k, v| {
            mean[k] += v;
            norms += v * v;
        });
    }
    let n = samples.len() as f64;
    let distance = 2.0 * (norms / n - mean.iter().map(|m| (m / n) * (m / n)).sum::<f64>());
    if distance > 0.0 { 0.5 / distance } else { 1.0 }
}

#[cfg(test)]
mod tests {
    //! Rules by hand.

    use super::{Gamma, gamma_mean};
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
        let samples = Samples::from_rows(&[[2.0], [2.0]]).expect("samples");
        assert_eq!(gamma_mean(&samples), 1.0);
    }
}
