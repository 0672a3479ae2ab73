//! The order and the signs that LIBSVM has for the classes and machines of a model.

use crate::decision::Multiclass;
use crate::error::ModelError;
use crate::model::Model;
use maxmargin_data::classes::pairs;
use maxmargin_data::{Par, Samples};

/// The places of a model's classes and pairs in LIBSVM's text.
pub(super) struct Layout {
    /// Classes in the order of its labels.
    pub(super) order: Vec<usize>,
    /// The place of each class in that order.
    pub(super) places: Vec<usize>,
    /// The machine of each of its pairs, and the sign that its decision values have there.
    pub(super) machines: Vec<(usize, f64)>,
}

impl Layout {
    pub(super) fn of(model: &Model) -> Self {
        let order: Vec<usize> = model.label_order().iter().map(|&class| class as usize).collect();
        let count = order.len();
        let mut places = vec![0; count];
        order.iter().enumerate().for_each(|(place, &class)| places[class] = place);
        let mut layout = Self { order, places, machines: Vec::new() };
        let machines: Vec<(usize, usize)> = pairs(count).collect();
        let place = |&(a, b): &(usize, usize)| {
            let (a, b) = (layout.places[a], layout.places[b]);
            (a.min(b), a.max(b))
        };
        let mut numbered: Vec<usize> = (0..machines.len()).collect();
        numbered.sort_by_key(|&machine| place(&machines[machine]));
        layout.machines = numbered.into_iter().map(|p| (p, layout.sign(machines[p].0, machines[p].1))).collect();
        layout
    }

    /// Returns the sign that decision values of a pair have in LIBSVM: a positive value is for the
    /// class that comes first in the order of labels there, for the later class here.
    pub(super) fn sign(&self, a: usize, b: usize) -> f64 {
        if self.places[b] < self.places[a] { 1.0 } else { -1.0 }
    }
}

/// The decision values of LIBSVM for every row, row-major rows × pairs: pairs are those of the
/// labels in [`Model::label_order`], and a positive value is for the first of a pair. Regression
/// and one class have the values of [`Model::decision_values`].
///
/// # Errors
///
/// As [`Model::decision_values`].
pub fn decision_values(model: &Model, queries: &Samples, par: Par) -> Result<Vec<f64>, ModelError> {
    let own = model.decision_values(queries, par)?;
    if model.classes().is_empty() || model.multiclass() == Multiclass::OneVsRest {
        return Ok(own);
    }
    let layout = Layout::of(model);
    let reordered = |row: &[f64]| layout.machines.iter().map(|&(machine, sign)| 0.0 + sign * row[machine]).collect::<Vec<_>>();
    Ok(own.chunks_exact(model.machines().len()).flat_map(reordered).collect())
}
