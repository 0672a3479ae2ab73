//! Exact support vector machines: training, cross-validation, leave-one-out, adding and removing
//! samples.
//!
//! Every solution comes with a certificate (primal objective, dual objective, KKT violation), which
//! is recomputed in double precision.
//!
//! # Main types, in reading order
//!
//! - [`data::Dataset`]: samples with labels. [`cv::FoldPlan`] assigns them to folds.
//! - [`Svm`]: the estimator, a plain value of parameters and options. It trains ([`Svm::fit`]),
//!   cross-validates ([`Svm::cross_validate`]), leaves one out and searches.
//! - [`Fitted`]: a training's [`model::Model`] with its certificate.
//! - [`cv::CvReport`]: the predictions, scores and certificates of a cross-validation.
//! - [`Ranges`], [`Search`] and [`SearchResult`]: a search over parameters and its [`Cell`]s.
//!   [`best`], [`one_standard_error`] and [`flattest`] select a cell; [`Nested`] is the result of
//!   nested cross-validation.
//! - [`LinearClassifier`]: logistic regression, the L1 norm of the weights, all classes at once.
//! - [`libsvm`] and [`liblinear`]: the behaviour of LIBSVM's and LIBLINEAR's programs, for drop-in
//!   replacements.
//! - [`background`]: trainings on the threads of an interpreter's process, for its packages.
//!
//! The other modules are the crates of the workspace, for programs that need more than the
//! estimator.
//!
//! # Train and predict
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let x = [[0.0, 0.1], [0.2, 0.0], [1.0, 0.9], [0.9, 1.1]];
//! let data = Dataset::from_rows(&x, &[1.0, 1.0, 2.0, 2.0])?;
//! let fitted = Svm::rbf(1.0).c(10.0).fit(&data)?;
//! assert!(fitted.certificate.holds);
//! assert_eq!(fitted.predict(&data.samples)?, data.labels);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cross-validate
//!
//! The data can have any number of classes. Scaling is fitted to the training samples of each fold.
//! A callback receives progress:
//!
//! ```
//! use maxmargin::prelude::*;
//! use maxmargin::data::scale::ScaleMethod;
//! use std::ops::ControlFlow;
//!
//! let mut data = Generator::Blobs.generate(150, None, 1)?;
//! data.labels.iter_mut().step_by(5).for_each(|label| *label = 7.0); // any numbers are labels
//! let plan = FoldPlan::stratified(&data.labels, 5, 1)?;
//! let svm = Svm::rbf(0.5).c(10.0).class_weight(7.0, 2.0).scale(ScaleMethod::Standard).threads(Par::Pool);
//! let control = RunControl::new(|progress| {
//!     let _ = (progress.done, progress.total);
//!     ControlFlow::Continue(())
//! });
//! let report = svm.cross_validate_with(&data, &plan, &control)?;
//! assert!(report.folds.iter().all(|fold| fold.certificate.holds));
//! println!("{} of {} correct", report.correct, report.samples_counted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Leave one out, and search a grid
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let data = Generator::TwoGaussians.generate(60, None, 1)?;
//! assert_eq!(Svm::rbf(0.5).leave_one_out(&data)?.folds.len(), 60);
//!
//! let plan = FoldPlan::stratified(&data.labels, 5, 1)?;
//! let ranges = Ranges::new().c(&[0.1, 1.0, 10.0]).gamma(&[0.05, 0.5]); // one kernel for all values of C
//! let grid = Svm::rbf(1.0).grid(&data, &plan, &ranges)?;
//! let best = grid.cells.iter().max_by_key(|cell| cell.result.correct).expect("six cells");
//! assert!(best.svm.fit(&data)?.certificate.holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Regression, and one class
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let x: Vec<[f64; 1]> = (0..40).map(|i| [f64::from(i) / 10.0]).collect();
//! let y: Vec<f64> = x.iter().map(|x| x[0].sin()).collect();
//! let data = Dataset::from_rows(&x, &y)?;
//! let fitted = Svm::epsilon_svr(100.0, 0.01).kernel(Kernel::rbf(1.0)).fit(&data)?;
//! assert!(fitted.certificate.holds);
//! assert!((fitted.predict(&data.samples)?[7] - y[7]).abs() < 0.02);
//!
//! let around = Svm::one_class(0.1).kernel(Kernel::rbf(1.0)).fit(&data)?; // labels are not looked at
//! let far = Samples::from_dense(1, 1, vec![50.0])?;
//! assert_eq!(around.predict(&far)?, [-1.0]); // 1 inside, -1 outside
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Probabilities
//!
//! Probabilities are fitted to decision values of samples that the machines were not trained on,
//! and evaluated on samples that took no part:
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let data = Generator::Banana.generate(200, None, 1)?;
//! let fitted = Svm::rbf(0.5).probability(Probability::Platt).fit(&data)?;
//! let p = fitted.model.probabilities(&data.samples, Par::Seq)?; // a row for each sample, a column for each of `model.classes()`
//! assert!((p[0] + p[1] - 1.0).abs() < 1e-12);
//! let report = fitted.calibration.expect("asked for");
//! println!("log loss {}", report.reliability.expect("of classes").log_loss);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ask why
//!
//! Exact Shapley values: how much each feature adds to a decision value.
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let data = Generator::Banana.generate(200, None, 1)?;
//! let fitted = Svm::rbf(0.5).fit(&data)?;
//! let why = fitted.model.explain(&data.samples, None)?;
//! let sum: f64 = why.values(0, 0).iter().sum(); // of row 0 and machine 0, one value for each feature
//! assert!((why.base(0) + sum - why.decision(0, 0)).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Store a model and read it back
//!
//! ```
//! use maxmargin::{model, prelude::*};
//!
//! let data = Generator::Blobs.generate(60, None, 1)?;
//! let fitted = Svm::linear().fit(&data)?;
//! let bytes = model::encode(&fitted.model)?;
//! assert_eq!(model::decode(&bytes)?.predict(&data.samples, Par::Seq)?, fitted.predict(&data.samples)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In short
//!
#![doc = include_str!("../README.md")]

pub use maxmargin_conformal as conformal;
pub use maxmargin_core as core;
pub use maxmargin_cv as cv;
pub use maxmargin_data as data;
pub use maxmargin_explain as explain;
pub use maxmargin_export as export;
pub use maxmargin_frankwolfe as frankwolfe;
pub use maxmargin_irwls as irwls;
pub use maxmargin_kernel as kernel;
pub use maxmargin_linear as linear;
pub use maxmargin_metrics as metrics;
pub use maxmargin_model as model;
pub use maxmargin_path as path;
pub use maxmargin_smo as smo;
pub use maxmargin_solvers as solvers;

pub mod background;
pub mod liblinear;
pub mod libsvm;
mod linear_classifier;
#[cfg(feature = "linfa")]
pub mod linfa;
#[cfg(doctest)]
mod pages;
pub mod prelude;
mod svm;

pub use linear_classifier::{
    FittedLinear, LinearClassifier, LinearMachineReport, LinearObjective, LinearRecord, LinearRecordError, cross_validate_linear,
    fit_linear, verify_linear,
};
pub use maxmargin_cv::{CvError as Error, Fitted, PreparedData, TrainOptions};
pub use maxmargin_solvers::Solver;
pub use svm::nested::{Nested, OuterFold};
pub use svm::search::{
    Cell, CellScore, ColumnKeys, Descent, DescentEnd, DescentPoint, Logs, MOST_WIDTHS, Ranges, Search, SearchHooks, SearchResult,
    best, flattest, one_standard_error,
};
pub use svm::{Svm, TrainingInput};
