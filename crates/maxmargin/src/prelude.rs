//! The types that most programs need. No name here shadows one of the standard prelude.
//!
//! ```
//! use maxmargin::prelude::*;
//!
//! let data = Generator::Banana.generate(200, None, 1)?;
//! let fitted = Svm::rbf(1.0).c(10.0).fit(&data)?;
//! assert!(fitted.certificate.holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::{LinearClassifier, Ranges, Svm};
pub use maxmargin_core::{BiasTerm, Goal, Loss, Penalty};
pub use maxmargin_cv::{CvReport, Fitted, FoldPlan, Probability, Seeding};
pub use maxmargin_data::{Dataset, Generator, Impute, Par, RunControl, Samples};
pub use maxmargin_explain::{ExplainModel, Explanation};
pub use maxmargin_kernel::{Gamma, Kernel};
pub use maxmargin_metrics::Metric;
pub use maxmargin_model::Model;
pub use maxmargin_solvers::Solver;
