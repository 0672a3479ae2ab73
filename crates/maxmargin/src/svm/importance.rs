//! Permutation importance of columns, out of fold.

use super::{Svm, TrainingInput};
use maxmargin_cv::{CvError, CvReport, FoldPlan, Importance, ImportanceOptions};
use maxmargin_data::RunControl;
use maxmargin_explain::Players;

impl Svm {
    /// Cross-validates as [`Svm::cross_validate_with`], and computes how much worse the score of
    /// the held-out rows is when a column of them is shuffled
    /// ([`Study::cross_validate_with_importance`](maxmargin_cv::Study::cross_validate_with_importance)).
    /// By default the columns are those of the table, or else the features.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`]; when a training set lacks a class, or columns do not cover the
    /// features.
    pub fn cross_validate_with_importance<'d>(
        &self,
        data: impl Into<TrainingInput<'d>>,
        plan: &FoldPlan,
        options: &ImportanceOptions,
        control: &RunControl,
    ) -> Result<(CvReport, Option<Importance>), CvError> {
        let input = data.into();
        let table = input.data.columns.as_deref();
        let columns = options.columns.clone().or_else(|| table.map(|columns| Players::columns(columns).of_features().to_vec()));
        let options = ImportanceOptions { columns, ..options.clone() };
        self.study(input, |study| study.cross_validate_with_importance(plan, self.options.seeding, &options, control))
    }
}
