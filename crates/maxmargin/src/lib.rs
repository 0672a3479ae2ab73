//! Exact support vector machines: training, cross-validation, leave-one-out, adding and removing samples.
//!
//! One `use` for everything: [`Svm`] is the short way, the modules are the crates of the workspace.
//!
//! # Train and predict
//!
//! ```
//! use maxmargin::{Svm, data::Generator};
//!
//! let data = Generator::Banana.generate(400, None, 1)?;
//! let svm = Svm::rbf(1.0).c(10.0);
//! let trained = svm.train(&data)?;
//! assert!(trained.certificate.kkt <= 1e-3);
//!
//! let fresh = Generator::Banana.generate(100, None, 2)?;
//! let labels = trained.model.predict(&fresh.samples, svm.par())?;
//! assert_eq!(labels.len(), 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A linear SVM, for many values of C
//!
//! ```
//! use maxmargin::{LinearSvm, data::Generator};
//!
//! let data = Generator::SparseText.generate(500, None, 1)?;
//! let models = LinearSvm::new().path(&data, &[0.1, 1.0, 10.0, 100.0])?;
//! assert!(models.iter().all(|trained| trained.certificate.kkt <= 1e-3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cross-validate
//!
//! ```
//! use maxmargin::{Svm, cv::{FoldPlan, Seeding}, data::Generator};
//!
//! let data = Generator::TwoGaussians.generate(300, None, 1)?;
//! let plan = FoldPlan::stratified(&data.labels, 10, 1)?;
//! let report = Svm::rbf(0.5).c(1.0).cross_validate(&data, &plan, Seeding::Full)?;
//! assert!(report.folds.iter().all(|fold| fold.certificate.kkt <= 1e-3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several classes
//!
//! ```
//! use maxmargin::{Svm, cv::{FoldPlan, Seeding}, data::Generator};
//!
//! let mut data = Generator::Blobs.generate(90, None, 1)?;
//! data.labels.iter_mut().step_by(5).for_each(|label| *label = 7.0); // any numbers are labels
//! let trained = Svm::rbf(0.5).c(10.0).train_multiclass(&data)?;
//! assert_eq!(trained.model.classes(), [-1.0, 1.0, 7.0]);
//! assert!(trained.worst.1.kkt <= 1e-3); // the worst of three machines
//!
//! let plan = FoldPlan::stratified(&data.labels, 5, 1)?;
//! let report = Svm::rbf(0.5).c(10.0).cross_validate_multiclass(&data, &plan, Seeding::Full)?;
//! assert!(report.folds.iter().all(|fold| fold.kkt <= 1e-3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Leave one out
//!
//! ```
//! use maxmargin::{Svm, cv::{FoldPlan, Seeding}, data::Generator};
//!
//! let data = Generator::Blobs.generate(60, None, 1)?;
//! let plan = FoldPlan::leave_one_out(data.samples.len())?;
//! let report = Svm::rbf(0.5).cross_validate(&data, &plan, Seeding::Full)?;
//! assert_eq!(report.folds.len(), 60);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Store a model and read it back
//!
//! ```
//! use maxmargin::{Svm, data::Generator, model};
//!
//! let data = Generator::Blobs.generate(60, None, 1)?;
//! let trained = Svm::linear().train(&data)?;
//! let bytes = model::encode(&trained.model)?;
//! let again = model::decode(&bytes)?;
//! let par = maxmargin::data::Par::Seq;
//! assert_eq!(again.decision_values(&data.samples, par)?, trained.model.decision_values(&data.samples, par)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Add and remove samples
//!
//! ```
//! use maxmargin::{Change, Kept, Svm, data::{Generator, Par}, update};
//! use std::ops::ControlFlow;
//!
//! let data = Generator::TwoGaussians.generate(200, None, 1)?;
//! let trained = Svm::rbf(0.5).c(10.0).train(&data)?;
//! let fresh = Generator::TwoGaussians.generate(5, None, 2)?;
//! let change = Change { add: Some(&fresh), remove: &[1, 2, 3], c: None };
//! let updated = update(&trained.model, &Kept::new(data), &change, 1 << 28, Par::Seq, |_| ControlFlow::Continue(()))?;
//! assert!(updated.certificate.kkt <= updated.paths[0].tolerance);
//! assert_eq!(updated.added, 201..206);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use maxmargin_core as core;
pub use maxmargin_cv as cv;
pub use maxmargin_data as data;
pub use maxmargin_frankwolfe as frankwolfe;
pub use maxmargin_irwls as irwls;
pub use maxmargin_kernel as kernel;
pub use maxmargin_linear as linear;
pub use maxmargin_model as model;
pub use maxmargin_path as path;
pub use maxmargin_smo as smo;

mod c_svc;
mod chunks;
mod l2_svm;
mod linear_svm;
mod multiclass;
mod svm;
mod update;

pub use c_svc::{CSvcSolver, solve_c_svc};
pub use chunks::SmoChunks;
pub use l2_svm::{L2Config, L2Error, L2Solved, solve_l2};
pub use linear_svm::LinearSvm;
pub use multiclass::{Multiclass, MulticlassTrained};
pub use svm::{Svm, SvmError, Trained};
pub use update::{Change, Kept, UpdateError, Updated, update};
