//! The document of a cross-validation.

use super::importance::ImportanceDocument;
use crate::commands::suspects::SuspectsDocument;
use crate::report::{CvResults, End, Seconds, Setup};
use maxmargin::cv::ConformalCoverage;
use serde::Serialize;

/// A cross-validation with its data, options and time.
#[derive(Debug, Serialize)]
pub(super) struct CvDocument {
    #[serde(flatten)]
    pub(super) setup: Setup,
    pub(super) k: usize,
    pub(super) fold_plan: String,
    #[serde(flatten)]
    pub(super) found: CvResults,
    /// The list of doubtful labels, if it was asked for.
    pub(super) suspects: Option<SuspectsDocument>,
    /// The coverage of conformal predictions, if requested.
    pub(super) conformal: Option<ConformalCoverage>,
    /// The permutation importance of the columns, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) importance: Option<ImportanceDocument>,
    #[serde(flatten)]
    pub(super) seconds: Seconds,
    #[serde(flatten)]
    pub(super) end: End,
}

/// `10 stratified folds`
pub(super) fn folds_text(k: usize, plan: &str, rounds: usize) -> String {
    let times = if rounds > 1 { format!(" in {rounds} rounds") } else { String::new() };
    format!("{k} {plan} folds{times}")
}
