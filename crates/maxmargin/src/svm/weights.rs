//! The multiclass scheme, and factors of C for classes and samples.

use super::Svm;
use maxmargin_cv::{CvError, TrainOptions};
use maxmargin_data::ClassLabels;
use maxmargin_model::{ClassWeights, Multiclass};

impl Svm {
    /// Trains one machine for each class against all others, and predicts the class with the
    /// greatest decision value. The default is one machine for each pair of classes, with votes.
    /// Two classes always have one machine. As in LIBLINEAR, the weight of a class
    /// ([`Svm::class_weight`]) applies in its own machine, where the rest has `C`.
    #[must_use]
    pub fn one_vs_rest(self) -> Self {
        self.multiclass(Multiclass::OneVsRest)
    }

    /// Sets the multiclass scheme.
    #[must_use]
    pub fn multiclass(self, multiclass: Multiclass) -> Self {
        self.with(|options| options.multiclass = multiclass)
    }

    /// Sets a factor of `C` for one class. A label that the data does not have is an error.
    #[must_use]
    pub fn class_weight(self, label: f64, factor: f64) -> Self {
        self.with(|options| options.weights.push((label, factor)))
    }

    /// Balances the classes of every training set by factors of `C`. The factor of a class is the
    /// number of rows, divided by the number of classes and by the rows of the class, times its
    /// [`Svm::class_weight`]. Every fold of a cross-validation, a search or a calibration has the
    /// factors of its own training set.
    #[must_use]
    pub fn balanced(self) -> Self {
        self.with(|options| options.class_weights = ClassWeights::Balanced)
    }

    /// Balances the classes as [`Svm::balanced`], with each row counted by its weight
    /// ([`Svm::sample_weights`]).
    #[must_use]
    pub fn balanced_by_weight(self) -> Self {
        self.with(|options| options.class_weights = ClassWeights::BalancedByWeight)
    }

    /// Sets a factor of `C` for each training sample, 0 or more. A sample of weight 2 is equivalent
    /// to two equal samples.
    #[must_use]
    pub fn sample_weights(self, weights: Vec<f64>) -> Self {
        self.with(|options| options.sample_weights = Some(weights))
    }

    /// Returns the factor of `C` for each class of a training set of all rows, in the order of
    /// their labels.
    ///
    /// # Errors
    ///
    /// When a weight belongs to a class that the data does not have.
    ///
    /// # Panics
    ///
    /// When classes are balanced by weight, and the estimator has fewer sample weights than there
    /// are rows.
    pub fn weights_of(&self, classes: &ClassLabels) -> Result<Vec<f64>, CvError> {
        let TrainOptions { class_weights, sample_weights, .. } = &self.options;
        let own = class_weights.factors(classes.of(), classes.count(), sample_weights.as_deref(), 0..classes.of().len());
        Ok(own.iter().zip(self.options.given_weights(classes)?).map(|(own, given)| own * given).collect())
    }

    /// Returns the estimator for some rows of the data, with the weights of these rows and of their
    /// classes.
    ///
    /// # Panics
    ///
    /// When a row has no label, or no weight where the estimator has sample weights.
    #[must_use]
    pub fn among(&self, labels: &[f64], rows: &[usize]) -> Self {
        let has = |label: f64| rows.iter().any(|&i| labels[i] == label);
        self.clone().with(|options| {
            options.sample_weights = options.sample_weights.as_ref().map(|weights| rows.iter().map(|&i| weights[i]).collect());
            options.weights.retain(|weight| has(weight.0) || !labels.contains(&weight.0));
        })
    }

    /// Returns the estimator with the class and sample weights of another.
    pub(super) fn with_weights_of(self, other: &Self) -> Self {
        let TrainOptions { sample_weights, weights, .. } = &other.options;
        self.with(|options| (options.sample_weights, options.weights) = (sample_weights.clone(), weights.clone()))
    }
}
