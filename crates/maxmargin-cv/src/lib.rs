//! Studies of a data set: training, exact cross-validation, leave-one-out, many values of C.
//!
#![doc = include_str!("../README.md")]
//!
//! The kernel is computed once for all folds, each fold starts from a solution that is already
//! there, and returns what a cold training would return, with a certificate. A study is a list of
//! machines: one for two classes, one for each pair of more, or one for each class against the
//! rest.
//!
//! Layer 4 of maxmargin. Folds exist only here.

pub mod agreement;
mod apart;
mod arrangement;
mod calibrate;
mod class_weights;
pub mod descend;
mod engine;
mod error;
mod finished;
mod fold_classes;
mod gather;
mod grid;
mod limit;
pub mod log;
mod matching;
mod metric;
mod outcome;
pub mod plan;
mod pool;
mod probability;
mod problem;
pub mod ranking;
mod reliability;
pub mod report;
mod seed;
pub mod sensitivity;
pub mod smooth;
pub mod solver;
mod spaces;
pub mod statistics;
mod study;
mod tally;
mod task;
mod threshold;
mod train;
pub mod update;
mod validate;
pub mod values;
pub mod verify;
pub mod watch;
mod words;

pub use calibrate::{Calibrated, CalibrationOptions, CalibrationReport, OutOfFold, calibration_plan};
pub use class_weights::ClassWeights;
pub use error::CvError;
pub use finished::Finished;
pub use grid::{Cells, Column, Shared, grid};
pub use log::{CellLog, Opened, Unlogged};
pub use metric::{
    Accuracy, BalancedAccuracy, Best, Confusion, METRICS, Metric, Score, TWO_CLASS_METRICS, all_metrics, metrics_of, score_of,
};
pub use plan::{FoldPlan, PlanError};
pub use probability::{Probability, cross_fitted};
pub use reliability::{Bin, Reliability};
pub use report::{CertificateReport, CvReport, FoldReport, FullReport, MachineReport, MissingClass};
pub use seed::{Seeding, Source};
pub use sensitivity::Sensitivity;
pub use smooth::{Smooth, SmoothLoss};
pub use solver::{SmoChunks, SmoFinish, Solver};
pub use statistics::FoldStatistics;
pub use study::Study;
pub use threshold::{ThresholdReport, best_threshold, is_tunable};
pub use train::Fitted;
pub use update::{Change, MachineUpdate, PathStats, TrainingData, UpdateError, Updated, update};
pub use verify::{Check, Claim, MachineVerdict, Verdict, VerifyError, verify};
pub use watch::{CvProgress, CvWatch, Quiet, Stage};
