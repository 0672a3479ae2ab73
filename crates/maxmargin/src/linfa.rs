//! The traits of the `linfa` crate (feature `linfa`): [`Svm`] implements `Fit`, and its models
//! implement `Predict`, for arrays of rows of `f32` or `f64`.
//!
//! `Svm` also has an inherent `fit`, so that linfa's must be called by its full name. Labels are
//! numbers (`f64`), or classes for linfa's confusion matrices (`usize`, `bool`).
//!
//! ```
//! use linfa::prelude::*;
//! use maxmargin::Svm;
//! use ndarray::array;
//!
//! let x = array![[0.0, 0.1], [0.2, 0.0], [1.0, 0.9], [0.9, 1.1]];
//! let data = DatasetBase::new(x, array![0_usize, 0, 1, 1]);
//! let model = Fit::fit(&Svm::rbf(1.0).c(10.0), &data)?;
//! assert_eq!(model.predict(&data).confusion_matrix(&data)?.accuracy(), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Fitted, Svm};
use ::linfa::dataset::{AsSingleTargets, DatasetBase};
use ::linfa::traits::{Fit, PredictInplace};
use maxmargin_data::{DataError, Dataset, Samples};
use ndarray::{Array1, ArrayBase, Data, Ix2};
use std::marker::PhantomData;

/// A label of linfa's datasets.
pub trait Class: Copy {
    /// Returns the label as a number.
    fn number(self) -> f64;

    /// Returns the label of a number from [`Class::number`].
    fn of(number: f64) -> Self;
}

impl Class for f64 {
    fn number(self) -> f64 {
        self
    }

    fn of(number: f64) -> Self {
        number
    }
}

impl Class for usize {
    fn number(self) -> f64 {
        self as f64
    }

    fn of(number: f64) -> Self {
        number as Self
    }
}

impl Class for bool {
    fn number(self) -> f64 {
        f64::from(u8::from(self))
    }

    fn of(number: f64) -> Self {
        number > 0.0
    }
}

/// An error of a training by linfa's `Fit`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The numbers are not a data set.
    #[error(transparent)]
    Data(#[from] DataError),
    /// As in [`Svm::fit`].
    #[error(transparent)]
    Svm(#[from] crate::Error),
    /// An error of linfa's own.
    #[error(transparent)]
    Linfa(#[from] ::linfa::Error),
}

/// A trained model that predicts labels of the kind it was trained with.
#[derive(Clone, Debug)]
pub struct Classifier<L> {
    /// The model with its certificate and statistics.
    pub fitted: Fitted,
    labels: PhantomData<L>,
}

impl<F, D, T> Fit<ArrayBase<D, Ix2>, T, Error> for Svm
where
    F: Copy + Into<f64>,
    D: Data<Elem = F>,
    T: AsSingleTargets,
    T::Elem: Class,
{
    type Object = Classifier<T::Elem>;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<Self::Object, Error> {
        let samples = Samples::from_ndarray(dataset.records.view()).map_err(DataError::from)?;
        let labels: Vec<f64> = dataset.as_single_targets().iter().map(|label| label.number()).collect();
        let data = Dataset::from_samples(samples.compact(), &labels)?;
        Ok(Classifier { fitted: Svm::fit(self, &data)?, labels: PhantomData })
    }
}

impl<F, D, L> PredictInplace<ArrayBase<D, Ix2>, Array1<L>> for Classifier<L>
where
    F: Copy + Into<f64>,
    D: Data<Elem = F>,
    L: Class,
{
    /// # Panics
    ///
    /// When a value is not finite, the model has another number of features, or `y` has another
    /// length, because linfa's trait has no errors. [`Fitted::predict`] returns an error instead.
    fn predict_inplace<'a>(&'a self, x: &'a ArrayBase<D, Ix2>, y: &mut Array1<L>) {
        assert_eq!(x.nrows(), y.len(), "one target for each row");
        let samples = Samples::from_ndarray(x.view()).unwrap_or_else(|error| panic!("{error}"));
        let labels = self.fitted.predict(&samples).unwrap_or_else(|error| panic!("{error}"));
        y.iter_mut().zip(labels).for_each(|(place, label)| *place = L::of(label));
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array1<L> {
        Array1::from_elem(x.nrows(), L::of(0.0))
    }
}
