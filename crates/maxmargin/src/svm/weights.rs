//! Factors of C: of classes, and of samples.

use super::Svm;
use maxmargin_cv::CvError;
use maxmargin_data::ClassLabels;

impl Svm {
    /// A factor of `C` for one class. A label that the data does not have is an error.
    #[must_use]
    pub fn class_weight(mut self, label: f64, factor: f64) -> Self {
        self.weights.push((label, factor));
        self
    }

    /// A factor of `C` for each sample of the data that it is trained on, 0 or more: a sample of weight 2 is one that is there twice.
    #[must_use]
    pub fn sample_weights(self, weights: Vec<f64>) -> Self {
        Self { sample_weights: Some(weights), ..self }
    }

    /// A factor of C for each class.
    pub(super) fn class_weights(&self, classes: &ClassLabels) -> Result<Vec<f64>, CvError> {
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
