//! Which support vector machine a training is of.

use maxmargin::core::Formulation;
use serde::Deserialize;

/// What machines are to say, where it is not which of two classes (auto).
#[derive(Debug, Deserialize)]
pub(crate) struct Task {
    /// Regression: the width within which errors cost nothing.
    pub(crate) epsilon: Option<f64>,
    /// One class: the share of samples outside.
    pub(crate) outside: Option<f64>,
}

impl Task {
    pub(crate) fn formulation(&self, c: f64) -> Option<Formulation> {
        let regression = self.epsilon.map(|epsilon| Formulation::epsilon_svr(c, epsilon));
        regression.or_else(|| self.outside.map(|nu| Formulation::OneClass { nu }))
    }
}
