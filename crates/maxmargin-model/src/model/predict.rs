//! Prediction: decision values and labels of samples.

use crate::error::ModelError;
use crate::model::Model;
use crate::model::weights::{are_dense, dense, sparse};
use crate::parts::Machine;
use crate::parts::Parts;
use maxmargin_data::{Par, Samples, Storage, prepare};
use maxmargin_kernel::{Expansion, Kernel, decision_table};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Queries per task of a linear model.
const CHUNK: usize = 1024;

impl Model {
    /// The decision values of every row of `queries`, row-major `queries × machines`. Of two
    /// classes that is one value a row, the second class at 0 and above; of more, one for each of
    /// [`maxmargin_data::classes::pairs`], where `(a, b)` goes to `b` at 0 and above.
    ///
    /// Each kernel value is computed once for all machines. Feature counts may differ: what a row
    /// lacks is 0. Features that the model never saw count in an RBF distance, as in LIBSVM, but
    /// are dropped where there is a scaler, which does not know their range. The bits do not depend
    /// on `par`.
    ///
    /// # Errors
    ///
    /// When rows cannot be scaled, or rows of a precomputed kernel lack the value of a support
    /// vector.
    pub fn decision_values(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let Parts { kernel, support, machines, .. } = self.parts();
        let queries = self.prepared(queries)?;
        if *kernel == Kernel::Linear {
            return Ok(self.linear(&queries, par));
        }
        let expansions: Vec<Expansion> = machines.iter().map(Machine::expansion).collect();
        if kernel.is_of_products()
            && let Some((support, queries)) = without_gaps_if_hollow(support, &queries)?
        {
            return Ok(decision_table(kernel, &support, &expansions, &queries, par)?);
        }
        Ok(decision_table(kernel, support, &expansions, &queries, par)?)
    }

    /// The label of every row of `queries`; of regression the value, of one class 1 or −1.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn predict(&self, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
        let decisions = self.decision_values(queries, par)?;
        Ok(decisions.chunks_exact(self.machines().len()).map(|row| self.label(row)).collect())
    }

    /// The rows as the kernel of this model sees them: their gaps filled where they are of a table,
    /// and scaled where the model scales.
    ///
    /// # Errors
    ///
    /// When they cannot be scaled, or a value is missing that the model does not fill in.
    pub fn prepared<'s>(&self, samples: &'s Samples) -> Result<Cow<'s, Samples>, ModelError> {
        let Parts { encoder, scaler, .. } = self.parts();
        Ok(prepare::apply(encoder.as_ref(), scaler.as_ref(), samples)?)
    }

    /// Every machine as one vector of weights, whether that is kept or made for the occasion.
    fn linear(&self, queries: &Samples, par: Par) -> Vec<f64> {
        let Parts { support, machines, .. } = self.parts();
        let is_dense = are_dense(support);
        let column = |p: usize| {
            let machine = &machines[p];
            if let Some(w) = self.weights(p) {
                weighted(queries, machine.bias, par, |j| w.get(j).copied().unwrap_or(0.0))
            } else if is_dense {
                let w = dense(support, machine);
                weighted(queries, machine.bias, par, |j| w.get(j).copied().unwrap_or(0.0))
            } else {
                let w = sparse(support, machine);
                weighted(queries, machine.bias, par, |j| w.get(&j).copied().unwrap_or(0.0))
            }
        };
        if let [_] = machines[..] {
            return column(0);
        }
        let mut values = vec![0.0; queries.len() * machines.len()];
        for p in 0..machines.len() {
            values.iter_mut().skip(p).step_by(machines.len()).zip(column(p)).for_each(|(place, value)| *place = value);
        }
        values
    }
}

/// `wᵀx + bias` of every row.
fn weighted(queries: &Samples, bias: f64, par: Par, w: impl Fn(usize) -> f64 + Sync) -> Vec<f64> {
    let mut values = vec![0.0; queries.len()];
    par.for_chunks(&mut values, CHUNK, |chunk, values| {
        for (q, value) in values.iter_mut().enumerate() {
            let mut sum = 0.0;
            queries.row(chunk * CHUNK + q).for_each(|j, v| sum += w(j) * v);
            *value = sum + bias;
        }
    });
    values
}

/// Whether almost no feature occurs: numbers per feature would cost gigabytes for a few bytes of a
/// file that name feature 4,000,000,000.
fn is_hollow(support: &Samples, queries: &Samples) -> bool {
    let sparse = [support, queries].iter().any(|s| matches!(s.storage(), Storage::Sparse(_)));
    let features = support.features().max(queries.features());
    sparse && features > (16 * (support.non_zeros() + queries.non_zeros())).max(1 << 22)
}

/// Hollow matrices without the columns that are zero in both: dot products and distances stay the
/// same.
fn without_gaps_if_hollow(support: &Samples, queries: &Samples) -> Result<Option<(Samples, Samples)>, ModelError> {
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
