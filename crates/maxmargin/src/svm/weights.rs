//! Classes: which of them machines tell apart, and factors of C, of classes and of samples.

use super::Svm;
use maxmargin_cv::{ClassWeights, CvError};
use maxmargin_data::ClassLabels;
use maxmargin_model::Multiclass;

impl Svm {
    /// Several classes as one machine for each against all the others, of which the greatest
    /// decision value is taken, instead of one for each pair, which vote. Two classes are one
    /// machine in any case. As in LIBLINEAR, the weight of a class ([`Svm::class_weight`]) counts
    /// in its own machine, where the rest has `C`.
    #[must_use]
    pub fn one_vs_rest(self) -> Self {
        self.multiclass(Multiclass::OneVsRest)
    }

    /// Which classes machines tell apart.
    #[must_use]
    pub fn multiclass(self, multiclass: Multiclass) -> Self {
        Self { multiclass, ..self }
    }

    /// A factor of `C` for one class. A label that the data does not have is an error.
    #[must_use]
    pub fn class_weight(mut self, label: f64, factor: f64) -> Self {
        self.weights.push((label, factor));
        self
    }

    /// Factors of `C` by which all classes of a training set weigh the same: that of a class is the
    /// number of rows, divided by the number of classes and by the rows of the class, times what
    /// [`Svm::class_weight`] says. Every fold of a cross-validation, a search or a calibration has
    /// the factors of its own training set.
    #[must_use]
    pub fn balanced(self) -> Self {
        Self { class_weights: ClassWeights::Balanced, ..self }
    }

    /// As [`Svm::balanced`], where every row counts as much as its weight
    /// ([`Svm::sample_weights`]).
    #[must_use]
    pub fn balanced_by_weight(self) -> Self {
        Self { class_weights: ClassWeights::BalancedByWeight, ..self }
    }

    /// A factor of `C` for each sample of the data that it is trained on, 0 or more: a sample of
    /// weight 2 is one that is there twice.
    #[must_use]
    pub fn sample_weights(self, weights: Vec<f64>) -> Self {
        Self { sample_weights: Some(weights), ..self }
    }

    /// The factor of `C` for each class of a training set of all rows, in the order of their
    /// labels.
    ///
    /// # Errors
    ///
    /// When a weight is of a class that is not there.
    ///
    /// # Panics
    ///
    /// When classes are balanced by weight, and the estimator has fewer weights of samples than
    /// there are rows.
    pub fn weights_of(&self, classes: &ClassLabels) -> Result<Vec<f64>, CvError> {
        let own = self.class_weights.factors(classes, self.sample_weights.as_deref(), 0..classes.of().len());
        Ok(own.iter().zip(self.given_weights(classes)?).map(|(own, given)| own * given).collect())
    }

    /// The estimator for some rows of the data that its weights are of: those of these rows, and of
    /// the classes that they have.
    #[must_use]
    pub fn among(&self, labels: &[f64], rows: &[usize]) -> Self {
        let has = |label: f64| rows.iter().any(|&i| labels[i] == label);
        let sample_weights = self.sample_weights.as_ref().map(|weights| rows.iter().map(|&i| weights[i]).collect());
        let weights = self.weights.iter().copied().filter(|weight| has(weight.0) || !labels.contains(&weight.0)).collect();
        Self { weights, sample_weights, ..self.clone() }
    }

    /// The estimator with all weights of another.
    pub(super) fn with_weights_of(self, other: &Self) -> Self {
        Self { sample_weights: other.sample_weights.clone(), weights: other.weights.clone(), ..self }
    }

    /// The factor that [`Svm::class_weight`] gave each class; of several the last.
    ///
    /// # Errors
    ///
    /// When a weight is of a class that is not there.
    pub(super) fn given_weights(&self, classes: &ClassLabels) -> Result<Vec<f64>, CvError> {
        let labels = classes.labels();
        let mut weights = vec![1.0; labels.len()];
        for &(label, factor) in &self.weights {
            let Some(at) = labels.iter().position(|known| *known == label) else {
                let names: Vec<String> = labels.iter().map(f64::to_string).collect();
                return Err(CvError::UnknownClass { label, known: names.join(", ") });
            };
            weights[at] = factor;
        }
        Ok(weights)
    }
}
