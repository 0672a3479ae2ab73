//! Studies of a data set: training, exact cross-validation, leave-one-out, many values of C.
//!
#![doc = include_str!("../README.md")]
//!
//! The kernel is computed once for all folds. Each fold starts from a known solution, and returns
//! the result of a cold training, with a certificate.
//!
//! In reading order:
//! - [`TrainOptions`] holds all options of a training, with their defaults.
//! - [`Study`] holds data, options and solver, and its methods train and validate. It
//!   has one machine for two classes; for more classes one machine for each pair, or for each class
//!   against the rest ([`maxmargin_model::Multiclass`]).
//! - [`FoldPlan`] has the training set and the test set of each fold ([`plan`]).
//! - `folds` runs a plan: a trainer for each machine, starts of folds by a [`Seeding`], audits, and
//!   the assembly of a [`CvReport`].
//! - [`grid`] runs a plan over columns of cells that share a kernel, and keeps finished cells in a
//!   log.
//! - [`SmoothLoss`] has the gradient of a validation loss by C and γ.
//! - [`CalibrationOptions`] requests probabilities and thresholds, fitted to out-of-fold decision
//!   values.
//! - [`ConformalOptions`] requests intervals, sets and p-values, from scores by machines of folds
//!   that a model keeps ([`Conformal`]).
//! - [`verify()`] checks a model against its data; [`update()`] adds and removes samples.
//!
//! Layer 5 of maxmargin. Folds exist only here.

mod calibrate;
mod conformal;
mod fold_machines;
mod folds;
mod importance;
pub mod plan;
pub mod report;
mod run;
mod search;
mod seed;
mod study;
mod train;
pub mod update;
pub mod verify;

pub use calibrate::{
    Calibrated, CalibrationReport, OutOfFold, ThresholdReport, best_threshold, calibration_plan, cross_fitted, is_tunable,
};
pub use conformal::{
    ClassCoverage, Conformal, ConformalCoverage, ConformalReport, Conformalised, GroupCoverage, left_out_of, prediction_program,
};
pub use importance::{ColumnImportance, Importance, ImportanceOptions};
pub use maxmargin_core::{Progress, RunControl, Stage};
pub use plan::{FoldPlan, PlanError};
pub use report::{CertificateReport, CvReport, Finished, FoldReport, FullReport, MachineReport, MissingClass, Suspect, suspects};
pub use run::error::CvError;
pub use run::refusal::{ConformalProblem, ModelMismatch, ThresholdProblem};
pub use search::gradient::{GradientParameters, Moved, Sensitivity, Smooth, SmoothLoss};
pub use search::{CellLog, Cells, ColumnState, GridColumn, Shared, Unlogged, grid};
pub use seed::{SeedSource, Seeding};
pub use study::{
    CalibrationOptions, ConformalGroups, ConformalOptions, Exchangeable, PreparedData, Probability, Study, TrainOptions,
    check_sample_weights,
};
pub use train::Fitted;
pub use update::{Change, KeptPreparation, MachineUpdate, PathStats, TrainingData, UpdateError, Updated, full_p_values, update};
pub use verify::{Check, Claim, MachineVerdict, Verdict, VerifyError, verify};
