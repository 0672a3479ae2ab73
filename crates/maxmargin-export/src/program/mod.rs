//! A model as a prediction program: the one description that all writers print.

mod functions;
mod inputs;
mod intervals;
mod outcome;

pub use functions::{Expansion, Functions, KernelFunction, Matrix, Terms};
pub use inputs::{InputColumn, InputKind, Inputs, Scale};
pub use intervals::{FoldBand, FoldIntervals};
pub use outcome::{CalibrationMap, Classes, Labels, Outcome};

use crate::error::ExportError;
use maxmargin_core::levels;
use maxmargin_model::{Calibration, Model};
use serde::Serialize;

/// The version of the description as JSON. It changes when a reader of the former version would
/// predict something else.
const VERSION: u32 = 1;

/// A model as a prediction program.
///
/// The steps of a prediction: inputs become features ([`Inputs`]); features are filled and scaled,
/// and decision values are sums over support vectors ([`Functions`]); each decision value becomes a
/// probability ([`CalibrationMap`]); and an [`Outcome`] follows from both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Program {
    /// Always `maxmargin-program`.
    pub format: &'static str,
    /// The version of this description.
    pub version: u32,
    /// The version of the program that wrote it.
    pub maxmargin: &'static str,
    /// The inputs.
    pub inputs: Inputs,
    /// The decision functions.
    #[serde(flatten)]
    pub functions: Functions,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The level of each function of a regression with several; otherwise empty. The prediction of
    /// a level is then the value at its place of the ascending decision values.
    pub levels: Vec<f64>,
    /// The place of the level that is the prediction of a regression; 0 without levels.
    pub central: usize,
    /// The calibration of each decision function; empty without probabilities.
    pub calibration: Vec<CalibrationMap>,
    /// The intervals of a regression, if they were asked for.
    pub intervals: Option<FoldIntervals>,
}

impl Program {
    /// Returns the program of a model. `labels` replaces the labels of its classes; without it,
    /// they are the words of a table's target, or numbers.
    ///
    /// # Errors
    ///
    /// When the kernel is precomputed or a function of the user, or the file would be too large.
    pub fn new(model: &Model, labels: Option<Labels>) -> Result<Self, ExportError> {
        let parts = model.parts();
        let inputs = Inputs::of(model);
        let functions = Functions::of_model(model)?;
        let outcome = Outcome::of(model, labels)?;
        let calibration = parts.calibration.iter().map(CalibrationMap::of).collect::<Result<_, _>>()?;
        Ok(Self {
            format: "maxmargin-program",
            version: VERSION,
            maxmargin: env!("CARGO_PKG_VERSION"),
            inputs,
            functions,
            outcome,
            central: levels::central(model.levels()),
            levels: model.levels().to_vec(),
            calibration,
            intervals: None,
        })
    }

    /// Adds intervals to a regression.
    #[must_use]
    pub fn with_intervals(mut self, intervals: FoldIntervals) -> Self {
        self.intervals = Some(intervals);
        self
    }

    /// The number of decision functions.
    pub fn machines(&self) -> usize {
        self.functions.bias.len()
    }

    /// The number of outcomes that have a probability: the classes, or inside and outside; 0
    /// without probabilities.
    pub fn outcomes(&self) -> usize {
        match (&self.outcome, &self.calibration[..]) {
            (_, []) | (Outcome::Value, _) => 0,
            (Outcome::Inlier, _) => 2,
            (Outcome::Classes(classes), _) => classes.labels.len(),
        }
    }

    /// The scale of a calibrated regression's errors.
    pub fn error_scale(&self) -> Option<f64> {
        match self.calibration.first() {
            Some(CalibrationMap::Laplace { scale }) => Some(*scale),
            _ => None,
        }
    }

    /// The number of stored constants: vectors, coefficients and everything else of the functions.
    pub fn numbers(&self) -> usize {
        let folds = self.intervals.as_ref().map_or(0, FoldIntervals::numbers);
        self.functions.numbers() + folds
    }
}

/// Returns the description of a calibration.
impl CalibrationMap {
    fn of(calibration: &Calibration) -> Result<Self, ExportError> {
        Ok(match calibration {
            Calibration::Sigmoid { a, b } => Self::Sigmoid { a: *a, b: *b },
            Calibration::Steps { at, probability } => Self::Steps { at: at.clone(), probability: probability.clone() },
            Calibration::Laplace { scale } => Self::Laplace { scale: *scale },
            Calibration::Marks(marks) => Self::Marks { marks: marks.clone() },
            other => return Err(ExportError::Calibration(other.name())),
        })
    }
}
