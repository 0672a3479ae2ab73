//! Prediction: decision values and labels of samples.

use crate::error::ModelError;
use crate::model::{Model, Parts};
use maxmargin_data::{Par, Samples, Scaler, Storage};
use maxmargin_kernel::{Kernel, decision_values};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Queries per task of a linear model.
const CHUNK: usize = 1024;

impl Model {
    /// The decision value of every row of `queries`: positive class at 0 and above.
    ///
    /// Feature counts may differ: what a row lacks is 0. Features that the model never saw count in an RBF distance, as in LIBSVM,
    /// but are dropped where there is a scaler, which does not know their range. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// When rows cannot be scaled, or rows of a precomputed kernel lack the value of a support vector.
    pub fn decision_values(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let parts = self.parts();
        let queries = self.prepared(queries)?;
        if parts.kernel == Kernel::Linear {
            return Ok(if let Some(w) = self.w() {
                linear(parts, &queries, par, |j| w.get(j).copied().unwrap_or(0.0))
            } else {
                let w = sparse_weights(parts);
                linear(parts, &queries, par, |j| w.get(&j).copied().unwrap_or(0.0))
            });
        }
        if parts.kernel.is_of_products()
            && let Some((support, queries)) = without_gaps_if_hollow(&parts.support, &queries)?
        {
            return Ok(decision_values(&parts.kernel, &support, &parts.coef, parts.bias, &queries, par)?);
        }
        Ok(decision_values(&parts.kernel, &parts.support, &parts.coef, parts.bias, &queries, par)?)
    }

    /// The label of every row of `queries`.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn predict(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        Ok(self.decision_values(queries, par)?.into_iter().map(|d| self.label(d)).collect())
    }

    /// The label of a decision value.
    pub fn label(&self, decision: f64) -> f64 {
        if decision >= 0.0 { self.parts().positive } else { self.parts().negative }
    }

    /// The rows as the kernel of this model sees them: behind the scaler, if there is one.
    ///
    /// # Errors
    ///
    /// When they cannot be scaled.
    pub fn prepared<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
        prepared(self.parts().scaler.as_ref(), samples)
    }
}

/// The rows behind the scaler, if there is one.
pub(crate) fn prepared<'s>(scaler: Option<&Scaler>, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
    Ok(match scaler {
        None => Cow::Borrowed(samples),
        Some(scaler) => Cow::Owned(scaler.apply(samples)?),
    })
}

fn linear(parts: &Parts, queries: &Samples, par: Par, w: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; queries.len()];
    par.for_chunks(&mut values, CHUNK, |chunk, values| {
        for (q, value) in values.iter_mut().enumerate() {
            let mut sum = 0.0;
            queries.row(chunk * CHUNK + q).for_each(|j, v| sum += w(j) * v);
            *value = sum + parts.bias;
        }
    });
    values
}

/// Whether almost no feature occurs: numbers per feature would cost gigabytes for a few bytes of a file that name feature
/// 4,000,000,000.
fn is_hollow(support: &Samples, queries: &Samples) -> bool {
    let sparse = [support, queries].iter().any(|s| matches!(s.storage(), Storage::Sparse(_)));
    let features = support.features().max(queries.features());
    sparse && features > (16 * (support.non_zeros() + queries.non_zeros())).max(1 << 22)
}

/// Hollow matrices without the columns that are zero in both: dot products and distances stay the same.
pub(crate) fn without_gaps_if_hollow(support: &Samples, queries: &Samples) -> Result<Option<(Samples, Samples)>, ModelError> {
    if !is_hollow(support, queries) {
        return Ok(None);
    }
    let mut columns = BTreeSet::new();
    for samples in [support, queries] {
        for i in 0..samples.len() {
            samples.row(i).for_each(|j, _| _ = columns.insert(j));
        }
    }
    let place: HashMap<usize, u32> = columns.iter().copied().zip(0..).collect();
    let narrow = |samples: &Samples| {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..samples.len() {
            samples.row(i).for_each(|j, v| {
                indices.push(place[&j]);
                values.push(v);
            });
            offsets.push(indices.len());
        }
        Samples::from_sparse(place.len(), offsets, indices, values)
            .map_err(|e| ModelError::invalid("matrix of support vectors", e.to_string()))
    };
    Ok(Some((narrow(support)?, narrow(queries)?)))
}

/// `Σ coef_k x_k` where only few of very many features occur.
fn sparse_weights(parts: &Parts) -> HashMap<usize, f64> {
    let mut w = HashMap::new();
    for (i, c) in parts.coef.iter().enumerate() {
        parts.support.row(i).for_each(|j, v| *w.entry(j).or_insert(0.0) += c * v);
    }
    w
}
