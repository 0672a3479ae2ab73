//! The reports of trainings and cross-validations. They have the same fields for any number of
//! machines.

mod certificate;
mod cross_validation;
pub(crate) mod finished;
mod fold;
mod machine;
mod margin_scores;
mod name;
mod scoring;
mod suspects;

pub use certificate::CertificateReport;
pub use cross_validation::CvReport;
pub use finished::Finished;
pub use fold::{FoldReport, FullReport, MissingClass};
pub use machine::MachineReport;
pub use name::Name;
pub use suspects::{Suspect, suspects};

pub(crate) use machine::bounded_of;
pub(crate) use margin_scores::margin_scores;
pub(crate) use scoring::Scoring;
