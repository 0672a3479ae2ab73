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
}

impl Gamma {
    /// The gamma that the rule gives for these samples.
    pub fn of(self, samples: &Samples) -> f64 {
        match self {
            Gamma::Value(gamma) => gamma,
            Gamma::Auto => gamma_auto(samples),
            Gamma::Scale => gamma_scale(samples),
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
