//! Matches the support vectors of a model to rows of the data.

use crate::study::twin_alpha::TwinSamples;
use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_kernel::Kernel;
use maxmargin_model::{DecisionRule, Model, Multiclass};
use std::collections::HashMap;

/// Column and bits of every non-zero value of a row.
type Key = Vec<(usize, u64)>;

/// Row of the data and coefficient of each support vector of a machine.
pub(crate) type Terms = Vec<(usize, f64)>;

/// The index of each label in `known`.
///
/// # Errors
///
/// The first row with a label that is not in `known`.
pub(crate) fn positions(labels: &[f64], known: &[f64]) -> Result<Vec<u32>, usize> {
    let place = |(row, label): (usize, &f64)| {
        let place = known.iter().position(|known| known == label);
        place.map(|place| place as u32).ok_or(row)
    };
    labels.iter().enumerate().map(place).collect()
}

/// The solution of every machine of `model` on the rows of its training data. The rows are those
/// that the model's record names, after a check of their content. Without a record, rows are found
/// by content. A sample with two positive variables has a term for each.
///
/// `samples` are scaled by the model's scaler. `of` has the class of each row, as an index into the
/// model's classes; it is not read without classes.
///
/// # Errors
///
/// A message, when a support vector is no such row, or a coefficient has the sign of another class
/// than that of its row, or the parts of a sample are not those of its coefficient.
pub(crate) fn terms(model: &Model, samples: &Samples, of: &[u32]) -> Result<Vec<Terms>, String> {
    let found = match (model.record(), model.multiclass()) {
        (Some(_), _) => None,
        (None, Multiclass::OneVsOne) => Some(find(model, samples, of)?),
        (None, Multiclass::OneVsRest) => {
            return Err(
                "machines of each class against the rest do not tell of which class a vector is: they need the record of \
                        their training"
                    .to_owned(),
            );
        }
    };
    let mut all = Vec::with_capacity(model.machines().len());
    let sides = model.multiclass().sides(model.classes().len());
    let twins = TwinSamples::of(model)?;
    for (p, machine) in model.machines().iter().enumerate() {
        let training = model.record().map(|record| &record.machines[p]);
        let folded = training.and_then(|training| training.folded.as_deref());
        let mut terms = Terms::new();
        for (at, &coef) in folded.unwrap_or(&machine.coef).iter().enumerate() {
            let stored = if folded.is_some() { None } else { Some(machine.support[at] as usize) };
            let row = match (training, &found, stored) {
                (Some(training), ..) => training.rows[at] as usize,
                (None, Some(rows), Some(stored)) => rows[stored],
                (None, ..) => continue,
            };
            check(model, samples, of, &Vector { machine: p, sides: sides.get(p).copied(), at, row, coef, stored })?;
            terms.push((row, coef));
        }
        if training.is_some() && model.decision_rule() == DecisionRule::Value {
            twins.split(p, &mut terms, samples.len())?;
        }
        all.push(terms);
    }
    Ok(all)
}

/// A support vector of a machine.
struct Vector {
    machine: usize,
    /// The classes of the machine, if it has some.
    sides: Option<(Option<usize>, usize)>,
    /// Its index in the machine.
    at: usize,
    /// The row of the data that it is said to be.
    row: usize,
    coef: f64,
    /// Its index in the model's support vectors; `None` if the model does not store them.
    stored: Option<usize>,
}

/// Checks that a support vector is its row of the data, and that its coefficient has the sign of
/// the row's class.
fn check(model: &Model, samples: &Samples, of: &[u32], vector: &Vector) -> Result<(), String> {
    let &Vector { machine, at, row, coef, stored, .. } = vector;
    let name = || {
        if model.machines().len() > 1 {
            format!("support vector {at} of machine {machine}")
        } else {
            format!("support vector {at}")
        }
    };
    if row >= samples.len() {
        return Err(format!("{} is said to be row {}, but there are {} rows", name(), row + 1, samples.len()));
    }
    if let Some(stored) = stored
        && key(model.kernel(), &model.parts().support, stored) != key(model.kernel(), samples, row)
    {
        return Err(format!("{} is said to be row {}, but differs from it", name(), row + 1));
    }
    if let Some((earlier, later)) = vector.sides {
        let class = of[row] as usize;
        // A positive coefficient belongs to the later class, or to the class of a machine against
        // the rest. A zero coefficient belongs to any class of its machine.
        let is_earlier = earlier.map_or(class != later, |earlier| class == earlier);
        let fits = if coef > 0.0 { class == later } else { is_earlier || (coef == 0.0 && class == later) };
        if !fits && (coef != 0.0 || model.record().is_some()) {
            return Err(format!("{} has the sign of a class that row {} is not in", name(), row + 1));
        }
    } else if model.decision_rule() == DecisionRule::Inlier && coef < 0.0 {
        return Err(format!("{} has a negative coefficient, which one class does not know", name()));
    }
    Ok(())
}

/// Finds every vector among the rows of the class that the sign of its coefficients means. Equal
/// rows are used in turn.
fn find(model: &Model, samples: &Samples, of: &[u32]) -> Result<Vec<usize>, String> {
    let parts = model.parts();
    let mut class_of = vec![0; parts.support.len()];
    for ((a, b), machine) in pairs(parts.classes.len()).zip(&parts.machines) {
        for (&k, &coef) in machine.support.iter().zip(&machine.coef).filter(|(_, coef)| **coef != 0.0) {
            class_of[k as usize] = if coef > 0.0 { b } else { a };
        }
    }
    let mut places: HashMap<(usize, Key), Vec<usize>> = HashMap::new();
    for row in (0..samples.len()).rev() {
        let class = if parts.classes.is_empty() { 0 } else { of[row] as usize };
        places.entry((class, key(&parts.kernel, samples, row))).or_default().push(row);
    }
    let find = |(k, class): (usize, usize)| {
        let found = places.get_mut(&(class, key(&parts.kernel, &parts.support, k))).and_then(Vec::pop);
        found.ok_or_else(|| {
            format!(
                "support vector {k} is no row of the data: name the file that was trained on (LIBSVM's text keeps eight digits of a \
                 value: that file must have no more)"
            )
        })
    };
    class_of.into_iter().enumerate().map(find).collect()
}

/// The terms of a regression without a record, whose vectors were found by content. Coefficients of
/// equal rows are reassigned in the order of their targets: of two equal rows, the one with the
/// greater target has the greater residual, and therefore the greater coefficient in any solution.
pub(crate) fn by_targets(terms: &Terms, kernel: &Kernel, samples: &Samples, targets: &[f64]) -> Terms {
    let mut equal: HashMap<Key, Vec<usize>> = HashMap::new();
    (0..samples.len()).for_each(|row| equal.entry(key(kernel, samples, row)).or_default().push(row));
    let mut coef = vec![0.0; samples.len()];
    terms.iter().for_each(|(row, own)| coef[*row] = *own);
    for rows in equal.values_mut().filter(|rows| rows.len() > 1) {
        let mut own: Vec<f64> = rows.iter().map(|&row| coef[row]).collect();
        own.sort_by(f64::total_cmp);
        rows.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
        rows.iter().zip(own).for_each(|(&row, own)| coef[row] = own);
    }
    (0..samples.len()).filter(|&row| coef[row] != 0.0).map(|row| (row, coef[row])).collect()
}

/// The content that equal rows share: their non-zero values, bit for bit; for a precomputed kernel,
/// the serial number.
fn key(kernel: &Kernel, samples: &Samples, row: usize) -> Key {
    let mut entries = Key::new();
    samples.row(row).for_each(|column, value| entries.push((column, value.to_bits())));
    if *kernel == Kernel::Precomputed {
        entries.retain(|(column, _)| *column == 0);
    }
    entries
}
