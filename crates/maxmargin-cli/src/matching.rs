//! Which row of the data is each support vector of a model?

use maxmargin::data::Samples;
use maxmargin::kernel::Kernel;
use maxmargin::model::Model;
use std::collections::HashMap;

/// Column and bits of every value that is not zero.
pub(crate) type Key = Vec<(usize, u64)>;

/// The row of each support vector: the rows the model names, if they are what it says; otherwise rows found by content.
///
/// `samples` are behind the model's scaler; `signs` are the labels. The answer says what is wrong when there is no such row.
pub(crate) fn match_rows(
    model: &Model,
    samples: &Samples,
    signs: &[f64],
    claimed: Option<&[usize]>,
) -> Result<Vec<usize>, String> {
    let rows = match claimed {
        Some(rows) => {
            check_claimed(model, samples, rows)?;
            rows.to_vec()
        }
        None => find(model, samples, signs)?,
    };
    for (at, (&row, coef)) in rows.iter().zip(&model.parts().coef).enumerate() {
        if coef * signs[row] < 0.0 {
            return Err(format!(
                "the coefficient of support vector {at} has the sign of the class that row {} is not in",
                row + 1
            ));
        }
    }
    Ok(rows)
}

fn check_claimed(model: &Model, samples: &Samples, rows: &[usize]) -> Result<(), String> {
    for (at, &row) in rows.iter().enumerate() {
        if row >= samples.len() {
            return Err(format!("support vector {at} is said to be row {}, but there are {} rows", row + 1, samples.len()));
        }
        if key(model.kernel(), &model.parts().support, at) != key(model.kernel(), samples, row) {
            return Err(format!("support vector {at} is said to be row {}, but differs from it", row + 1));
        }
    }
    Ok(())
}

/// Looks every support vector up among the rows of its class; equal rows are used in turn.
fn find(model: &Model, samples: &Samples, signs: &[f64]) -> Result<Vec<usize>, String> {
    let mut places: HashMap<(bool, Key), Vec<usize>> = HashMap::new();
    for row in (0..samples.len()).rev() {
        places.entry((signs[row] > 0.0, key(model.kernel(), samples, row))).or_default().push(row);
    }
    let support = &model.parts().support;
    let mut rows = Vec::with_capacity(support.len());
    for (at, coef) in model.parts().coef.iter().enumerate() {
        let found = places.get_mut(&(*coef > 0.0, key(model.kernel(), support, at))).and_then(Vec::pop);
        rows.push(found.ok_or_else(|| {
            format!("support vector {at} is no row of the data (LIBSVM writes eight digits only: train on such data, or export from maxmargin)")
        })?);
    }
    Ok(rows)
}

/// What makes a row equal to another: its non-zero values, bit for bit; for a precomputed kernel, its serial number.
pub(crate) fn key(kernel: &Kernel, samples: &Samples, row: usize) -> Key {
    let mut entries = Key::new();
    samples.row(row).for_each(|column, value| entries.push((column, value.to_bits())));
    if *kernel == Kernel::Precomputed {
        entries.retain(|(column, _)| *column == 0);
    }
    entries
}
