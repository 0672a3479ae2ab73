//! The short way for linear SVMs: no kernel values, weights instead of support vectors.

use crate::svm::{SvmError, Trained};
use maxmargin_core::{Dual, Loss, Offset, Silent, Start, Stop, Watch};
use maxmargin_cv::{CvReport, CvWatch, FoldPlan, LinearCv, LinearStart, Pool, Quiet, cross_validate_linear};
use maxmargin_data::{BinaryLabels, Dataset, Par};
use maxmargin_linear::{Config, LinearSolution, Matrix, Method, solve, warm};
use maxmargin_model::{Asked, Model, Record};

/// A two-class linear SVM `w · x + b`: its loss, its parameters and the means to train it.
///
/// With the hinge loss and a free bias it is what [`crate::Svm::linear`] trains, in a fraction of the time and memory.
#[derive(Clone, Copy, Debug)]
pub struct LinearSvm {
    c: f64,
    weights: [f64; 2],
    loss: Loss,
    offset: Offset,
    stop: Stop,
    config: Config,
}

impl Default for LinearSvm {
    fn default() -> Self {
        Self::new()
    }
}

impl LinearSvm {
    /// Hinge loss, free bias, `C = 1`, ε = 10⁻³, on the calling thread.
    pub fn new() -> Self {
        Self {
            c: 1.0,
            weights: [1.0; 2],
            loss: Loss::Hinge,
            offset: Offset::Free,
            stop: Stop::at(1e-3),
            config: Config::default(),
        }
    }

    /// The price of a missed margin.
    #[must_use]
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// Factors of `C` for the class of the smaller label and that of the greater.
    #[must_use]
    pub fn class_weights(self, negative: f64, positive: f64) -> Self {
        Self { weights: [negative, positive], ..self }
    }

    /// The loss.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Self { loss, ..self }
    }

    /// The bias.
    #[must_use]
    pub fn offset(self, offset: Offset) -> Self {
        Self { offset, ..self }
    }

    /// When to stop; see [`Stop`].
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Also go on until the relative duality gap is at most this.
    #[must_use]
    pub fn gap(self, gap: f64) -> Self {
        Self { config: Config { gap: Some(gap), ..self.config }, ..self }
    }

    /// The method, if not the default.
    #[must_use]
    pub fn method(self, method: Method) -> Self {
        Self { config: Config { method, ..self.config }, ..self }
    }

    /// Seed of the random orders of coordinate descent.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { config: Config { seed, ..self.config }, ..self }
    }

    /// Uses these threads; results are the same for any number of them.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        Self { config: Config { par, ..self.config }, ..self }
    }

    fn upper(&self, labels: &BinaryLabels, c: f64) -> Vec<f64> {
        labels.signs.iter().map(|s| c * self.weights[usize::from(*s > 0.0)]).collect()
    }

    /// The dual problem of `labels` at this `C`.
    ///
    /// # Errors
    ///
    /// When `C` or a weight is out of range, or there is one class only and the bias is free.
    pub fn dual(&self, labels: &BinaryLabels, c: f64) -> Result<Dual, SvmError> {
        let ids = (0..labels.signs.len()).collect();
        Ok(Dual::svc(self.loss, self.offset, ids, labels.signs.clone(), self.upper(labels, c))?)
    }

    /// Trains on all of `data`.
    ///
    /// # Errors
    ///
    /// When the data is not a two-class problem or a parameter is out of range. Not converging is a status, not an error.
    pub fn train(&self, data: &Dataset) -> Result<Trained, SvmError> {
        self.train_watched(data, &mut Silent)
    }

    /// As [`LinearSvm::train`], telling `watch` about progress; it may end the training early.
    ///
    /// # Errors
    ///
    /// As [`LinearSvm::train`].
    pub fn train_watched(&self, data: &Dataset, watch: &mut dyn Watch) -> Result<Trained, SvmError> {
        let labels = BinaryLabels::new(&data.labels)?;
        let matrix = Matrix::new(&data.samples, self.offset.feature(), self.config.par);
        let dual = self.dual(&labels, self.c)?;
        let found = solve(&matrix, &dual, Start::zero(&dual)?, &self.config, &self.stop, watch)?;
        self.trained(data, &labels, self.c, &dual, found)
    }

    /// Trains for every `C` of `values`, each from the solution before: bounded α go to the new bound, free ones stay.
    ///
    /// # Errors
    ///
    /// As [`LinearSvm::train`].
    pub fn path(&self, data: &Dataset, values: &[f64]) -> Result<Vec<Trained>, SvmError> {
        let labels = BinaryLabels::new(&data.labels)?;
        let matrix = Matrix::new(&data.samples, self.offset.feature(), self.config.par);
        let mut before: Option<(Dual, Vec<f64>)> = None;
        let mut models = Vec::new();
        for &c in values {
            let dual = self.dual(&labels, c)?;
            let start = match &before {
                Some((old, alpha)) => Start::checked(&dual, warm::along_c(old, alpha, &dual))?,
                None => Start::zero(&dual)?,
            };
            let found = solve(&matrix, &dual, start, &self.config, &self.stop, &mut Silent)?;
            let alpha = found.solution.alpha.clone();
            models.push(self.trained(data, &labels, c, &dual, found)?);
            before = Some((dual, alpha));
        }
        Ok(models)
    }

    /// Cross-validates by `plan`, every fold from the model of all data, with a certificate each.
    ///
    /// # Errors
    ///
    /// As [`LinearSvm::train`], and when a training set is no problem or the plan is for other data.
    pub fn cross_validate(&self, data: &Dataset, plan: &FoldPlan) -> Result<CvReport, SvmError> {
        self.cross_validate_watched(data, plan, LinearStart::Full(None), &Quiet)
    }

    /// As [`LinearSvm::cross_validate`], from another start, telling `watch` about progress.
    ///
    /// # Errors
    ///
    /// As [`LinearSvm::cross_validate`].
    pub fn cross_validate_watched(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        start: LinearStart,
        watch: &dyn CvWatch,
    ) -> Result<CvReport, SvmError> {
        if plan.len() != data.samples.len() {
            return Err(SvmError::Plan { plan: plan.len(), data: data.samples.len() });
        }
        let labels = BinaryLabels::new(&data.labels)?;
        let pool = Pool { upper: self.upper(&labels, self.c), labels: labels.signs };
        Ok(cross_validate_linear(plan, &pool, &data.samples, &self.cv(), start, watch)?)
    }

    /// What [`maxmargin_cv::cross_validate_linear`] is told.
    pub fn cv(&self) -> LinearCv {
        LinearCv { loss: self.loss, offset: self.offset, stop: self.stop, config: self.config }
    }

    fn trained(
        &self,
        data: &Dataset,
        labels: &BinaryLabels,
        c: f64,
        dual: &Dual,
        found: LinearSolution,
    ) -> Result<Trained, SvmError> {
        let LinearSolution { w, solution, certificate, .. } = found;
        let asked = Asked { c, weights: self.weights, eps: self.stop.tol };
        let record = Record::of_weights(data, asked, (self.loss, self.offset), dual, &solution, certificate);
        let model = Model::from_weights(data.samples.features(), labels, &w, solution.bias)?
            .with_index_base(data.index_base)?
            .with_record(record)?;
        Ok(Trained { model, certificate, status: solution.status, work: solution.work })
    }
}
