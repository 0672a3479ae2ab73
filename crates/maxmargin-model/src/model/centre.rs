//! Models over features as they come, without the centring of a training.

use super::Model;
use super::weights::sparse;
use crate::error::ModelError;
use crate::parts::{Machine, Parts};
use maxmargin_data::Samples;
use maxmargin_data::scale::Scaler;
use std::borrow::Cow;

impl Model {
    /// Returns the model without its centring (`ScaleMethod::Centre`), for formats without a
    /// scaler: support vectors are rows of the data again, and the bias is `b − w·c`. A model with
    /// any other scaler, or with none, is returned as it is.
    ///
    /// Decision values are the same but for rounding, which the large products can make greater
    /// than in the centred model.
    ///
    /// # Errors
    ///
    /// When the result is not a valid model, because a bias is not finite.
    pub fn uncentred(&self) -> Result<Cow<'_, Self>, ModelError> {
        let Some(centre) = self.parts.scaler.as_ref().and_then(Scaler::centred_at) else {
            return Ok(Cow::Borrowed(self));
        };
        let machines = self.parts.machines.iter().map(|machine| {
            let bias = machine.bias - self.product_with(machine, &centre);
            Machine { bias, ..machine.clone() }
        });
        let machines = machines.collect();
        // The rows of a folded model are weights.
        let support = if self.folded() { self.parts.support.clone() } else { shifted(&self.parts.support, &centre)? };
        Self::new(Parts { machines, support, scaler: None, ..self.parts.clone() }).map(Cow::Owned)
    }

    /// Returns `w · c` for the weights `w` of a machine.
    fn product_with(&self, machine: &Machine, centre: &[(usize, f64)]) -> f64 {
        let support = &self.parts.support;
        if super::weights::are_dense(support) {
            let weights = machine.weights(support);
            return centre.iter().filter_map(|&(j, c)| Some(weights.get(j)? * c)).sum();
        }
        let weights = sparse(support, machine);
        centre.iter().filter_map(|(j, c)| Some(weights.get(j)? * c)).sum()
    }
}

/// The rows plus `centre`.
fn shifted(rows: &Samples, centre: &[(usize, f64)]) -> Result<Samples, ModelError> {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..rows.len() {
        let mut row = rows.row(i).entries();
        for &(j, c) in centre {
            match row.binary_search_by_key(&j, |entry| entry.0) {
                Ok(at) => row[at].1 += c,
                Err(at) => row.insert(at, (j, c)),
            }
        }
        for (j, value) in row {
            indices.push(j as u32);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    let features = centre.last().map_or(0, |far| far.0 + 1).max(rows.features());
    let made = Samples::from_sparse(features, offsets, indices, values);
    Ok(made.map_err(|error| ModelError::invalid("support vectors", error.to_string()))?.compact())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use maxmargin_data::Par;
    use maxmargin_kernel::Kernel;

    #[test]
    fn a_model_without_its_centre_has_the_same_values() {
        let rows = [1e9, 1.0, 1e9 + 2.0, 0.0, 1e9 + 1.0, 3.0];
        let raw = Samples::from_dense(3, 2, rows.to_vec()).expect("finite");
        let scaler = Scaler::centre(&raw).expect("far");
        let near = scaler.apply(&raw).expect("finite");
        let terms = vec![(0, -1.0), (1, 0.5), (2, 0.5)];
        let centred = Model::from_machines(Kernel::Linear, &near, Rule::VALUE, &[(terms, 0.25)]);
        let centred = centred.and_then(|model| model.with_scaler(scaler)).expect("a model");
        let plain = centred.uncentred().expect("finite");
        assert!(plain.parts().scaler.is_none());
        assert_eq!(plain.parts().support.dense_rows(0..3), raw.dense_rows(0..3));
        let values = |model: &Model| model.decision_values(&raw, Par::Seq).expect("values");
        for (a, b) in values(&centred).iter().zip(values(&plain)) {
            assert!((a - b).abs() <= 1e-5, "{a} and {b}");
        }
        assert!(matches!(plain.uncentred(), Ok(Cow::Borrowed(_))));
    }
}
