//! Decision values of queries that contain their kernel values.

use crate::KernelError;
use crate::predict::Expansion;
use crate::store::precomputed::{ColumnPlaces, cell, serial};
use maxmargin_data::Samples;

/// Sums over kernel values that the queries contain.
pub(super) fn decide(support: &Samples, expansions: &[Expansion], queries: &Samples) -> Result<Vec<f64>, KernelError> {
    // A model may store its support vectors as `0:serial` alone. The serial number is therefore
    // checked against the queries' columns.
    let wide = |k: usize| -> Result<usize, KernelError> {
        let value = cell(support, k, 0);
        if value.fract() == 0.0 && value >= 1.0 && value <= f64::from(u32::MAX) { Ok(value as usize) } else { serial(support, k) }
    };
    let serials = (0..support.len()).map(wide).collect::<Result<Vec<_>, _>>()?;
    if let Some((k, &serial)) = serials.iter().enumerate().find(|(_, s)| **s >= queries.features().max(1)) {
        return Err(KernelError::QueryColumns { vector: k + 1, serial, columns: queries.features().saturating_sub(1) });
    }
    let columns = ColumnPlaces::new(&serials, queries.features());
    let places: Vec<usize> = serials.iter().filter_map(|&s| columns.place(s)).collect();
    let mut row = vec![0.0; columns.len()];
    let mut values = Vec::with_capacity(queries.len() * expansions.len());
    for q in 0..queries.len() {
        row.fill(0.0);
        queries.row(q).for_each(|j, v| {
            if let Some(value) = columns.place(j).and_then(|at| row.get_mut(at)) {
                *value = v;
            }
        });
        for e in expansions {
            let terms = e.support.iter().zip(e.coef).map(|(&k, &c)| c * row[places[k as usize]]);
            values.push(terms.sum::<f64>() + e.bias);
        }
    }
    Ok(values)
}
