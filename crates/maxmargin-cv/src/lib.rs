//! Exact cross-validation: the kernel is computed once for all folds, each fold starts from a solution that is already there,
//! and returns what a cold training would return, with a certificate.
//!
//! Layer 4 of maxmargin. Folds exist only here.

pub mod apart;
pub mod engine;
pub mod linear;
pub mod multiclass;
pub mod multiclass_apart;
pub mod one_vs_one;
mod outcome;
pub mod plan;
pub mod problem;
pub mod report;
pub mod seed;
mod task;
pub mod watch;

pub use apart::{ApartError, cross_validate_apart};
pub use engine::{CvConfig, CvError, cross_validate};
pub use linear::{LinearCv, LinearStart, cross_validate_linear, cross_validate_linear_apart};
pub use multiclass::{
    MulticlassCvReport, MulticlassFold, PairReport, cross_validate_linear_multiclass, cross_validate_multiclass,
};
pub use multiclass_apart::{JudgedFold, cross_validate_multiclass_apart};
pub use one_vs_one::{ClassOrder, ClassPair, PairProblem, PairRows, PairSolution, map_pairs, train_c_svc, train_pairs};
pub use plan::{FoldPlan, PlanError};
pub use problem::{Fold, Order, Pool, Trained};
pub use report::{CertificateReport, CvReport, FoldReport, FullReport};
pub use seed::{Seeding, Source};
pub use watch::{CvProgress, CvWatch, Quiet, Stage};
