//! Conformal predictions: intervals, sets and p-values with a promise.

use super::{Svm, TrainingInput};
use maxmargin_conformal::ConformalError;
use maxmargin_conformal::Level;
use maxmargin_cv::{ConformalCoverage, ConformalOptions, CvError, CvReport, FoldPlan};

impl Svm {
    /// Adds scores and machines of folds to trained models, so that their predictions come with a
    /// promise: about the share `alpha` of intervals or sets misses the truth, if new rows are like
    /// those of the training; that it is at most twice this share is proved
    /// ([`Conformal`](maxmargin_cv::Conformal)). There are ten seeded folds; each starts from the
    /// trained model. [`Fitted::conformal`](crate::Fitted) reports what held-out rows show.
    ///
    /// ```
    /// use maxmargin::cv::Conformal;
    /// use maxmargin::prelude::*;
    ///
    /// let x: Vec<[f64; 1]> = (0..80).map(|i| [f64::from(i) / 20.0]).collect();
    /// let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| x[0].sin() + 0.1 * f64::from(i as u32 * 7 % 11)).collect();
    /// let data = Dataset::from_rows(&x, &y)?;
    /// let fitted = Svm::epsilon_svr(10.0, 0.1).kernel(Kernel::rbf(1.0)).conformal(0.1)?.fit(&data)?;
    /// let kept = Conformal::of(&fitted.model)?.expect("asked for");
    /// let intervals = kept.intervals(&fitted.model, &data.samples, kept.level(), None, Par::Seq)?;
    /// assert!(intervals.iter().zip(&y).filter(|(interval, y)| interval.contains(**y)).count() >= 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When `alpha` is not above 0 and below 1.
    pub fn conformal(self, alpha: f64) -> Result<Self, ConformalError> {
        Ok(self.conformal_with(ConformalOptions::new(Level::new(alpha)?)))
    }

    /// As [`Svm::conformal`], with folds of the caller, with the promise for each class or each
    /// group by itself ([`ConformalOptions::groups`]), or with another kind of score
    /// ([`ConformalOptions::score`]).
    #[must_use]
    pub fn conformal_with(self, conformal: ConformalOptions) -> Self {
        self.with(|options| options.conformal = Some(conformal))
    }

    /// Checks that a cross-validation over these folds can report coverage, before any training.
    ///
    /// # Errors
    ///
    /// As [`Svm::conformal_coverage`].
    pub fn check_conformal<'d>(
        &self,
        data: impl Into<TrainingInput<'d>>,
        conformal: &ConformalOptions,
        plan: &FoldPlan,
    ) -> Result<(), CvError> {
        self.study(data.into(), |study| Ok(study.check_conformal_coverage(conformal, plan)?))
    }

    /// Reports what conformal predictions of held-out rows cover, by a cross-validation of this
    /// estimator; `None` if some folds have no solution.
    ///
    /// # Errors
    ///
    /// When the formulation has no conformal predictions, or the folds leave a class without scores
    /// or give a row several; for quantiles and scaled errors, which need more machines.
    pub fn conformal_coverage<'d>(
        &self,
        data: impl Into<TrainingInput<'d>>,
        conformal: &ConformalOptions,
        plan: &FoldPlan,
        report: &CvReport,
    ) -> Result<Option<ConformalCoverage>, CvError> {
        self.study(data.into(), |study| study.conformal_coverage(conformal, plan, report))
    }
}
