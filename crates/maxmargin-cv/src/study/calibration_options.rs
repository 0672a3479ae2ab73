//! The requested probabilities and threshold of a training.

use crate::run::error::CvError;
use maxmargin_core::Formulation;
use maxmargin_metrics::Metric;
use maxmargin_model::{Calibration, ModelError};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The requested calibrations, fitted to out-of-fold decision values.
#[derive(Clone, Copy, Debug, Default)]
pub struct CalibrationOptions {
    /// Probabilities by this method.
    pub probability: Option<Probability>,
    /// The threshold with the best score by this metric.
    pub threshold: Option<&'static Metric>,
}

impl CalibrationOptions {
    /// Returns true if neither probabilities nor a threshold are requested.
    pub fn is_nothing(&self) -> bool {
        self.probability.is_none() && self.threshold.is_none()
    }

    /// Checks that machines of a formulation can have probabilities, if they are requested.
    pub(crate) fn check_formulation(&self, formulation: Formulation) -> Result<(), CvError> {
        match formulation.level() {
            Some(_) if self.probability.is_some() => Err(CvError::OneSided(formulation.name())),
            _ => Ok(()),
        }
    }
}

/// The method that turns decision values of classes into probabilities. Regression always uses
/// LIBSVM's scale of errors, and one class LIBSVM's marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Probability {
    /// Platt's sigmoid: two numbers for each machine. It fits if the errors of decision values are
    /// alike on both sides.
    #[default]
    Platt,
    /// Isotonic regression: any monotone function. It fits wherever the order of decision values is
    /// right, and needs about a thousand samples or more.
    Isotonic,
}

impl Probability {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Platt, Self::Isotonic];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
        }
    }

    pub(crate) fn fit(self, decisions: &[f64], later: &[bool]) -> Result<Calibration, ModelError> {
        match self {
            Self::Platt => Calibration::platt(decisions, later),
            Self::Isotonic => Calibration::isotonic(decisions, later),
        }
    }
}

impl FromStr for Probability {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|known| known.name() == name);
        found.ok_or_else(|| format!("no probabilities are called `{name}`; there are platt and isotonic"))
    }
}
