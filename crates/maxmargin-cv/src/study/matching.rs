//! Which row of the data is each support vector of a model?

use maxmargin_data::Samples;
use maxmargin_data::classes::pairs;
use maxmargin_kernel::Kernel;
use maxmargin_model::{DecisionRule, Model, Multiclass};
use std::collections::HashMap;

/// Column and bits of every value that is not zero.
type Key = Vec<(usize, u64)>;

/// Row of the data and coefficient of each support vector of a machine.
pub(crate) type Terms = Vec<(usize, f64)>;

/// The place of each label in `known`.
///
/// # Errors
///
/// The first row whose label is not there.
pub(crate) fn positions(labels: &[f64], known: &[f64]) -> Result<Vec<u32>, usize> {
    let place = |(row, label): (usize, &f64)| {
        let place = known.iter().position(|known| known == label);
        place.map(|place| place as u32).ok_or(row)
    };
    labels.iter().enumerate().map(place).collect()
}

/// The solution of every machine of `model` on the rows of its training data: the rows that the
/// record names, if they are what it says; without a record rows found by content.
///
/// `samples` are behind the model's scaler; `of` has the class of each row, by place in the model,
/// and is not looked at where there are no classes.
///
/// # Errors
///
/// What is wrong, when a support vector is no such row or a coefficient speaks for another class
/// than the row is in.
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
    let several = model.machines().len() > 1;
    let mut all = Vec::with_capacity(model.machines().len());
    let sides = model.multiclass().sides(model.classes().len());
    for (p, machine) in model.machines().iter().enumerate() {
        let training = model.record().map(|record| &record.machines[p]);
        let folded = training.and_then(|training| training.folded.as_deref());
        let mut terms = Terms::new();
        for (at, &coef) in folded.unwrap_or(&machine.coef).iter().enumerate() {
            let name = || if several { format!("support vector {at} of machine {p}") } else { format!("support vector {at}") };
            let vector = if folded.is_some() { None } else { Some(machine.support[at] as usize) };
            let row = match (training, &found, vector) {
                (Some(training), ..) => training.rows[at] as usize,
                (None, Some(rows), Some(vector)) => rows[vector],
                (None, ..) => continue,
            };
            if row >= samples.len() {
                return Err(format!("{} is said to be row {}, but there are {} rows", name(), row + 1, samples.len()));
            }
            if let Some(vector) = vector
                && key(model.kernel(), &model.parts().support, vector) != key(model.kernel(), samples, row)
            {
                return Err(format!("{} is said to be row {}, but differs from it", name(), row + 1));
            }
            if let Some(&(earlier, b)) = sides.get(p) {
                let class = of[row] as usize;
                // A positive coefficient speaks for the later class, or the one that is told from
                // the rest; one of 0 for none, but its sample is the machine's all the same.
                let is_earlier = earlier.map_or(class != b, |a| class == a);
                let speaks = if coef > 0.0 { class == b } else { is_earlier || (coef == 0.0 && class == b) };
                if !speaks && (coef != 0.0 || training.is_some()) {
                    return Err(format!("{} has the sign of a class that row {} is not in", name(), row + 1));
                }
            } else if model.decision_rule() == DecisionRule::Inlier && coef < 0.0 {
                return Err(format!("{} has a negative coefficient, which one class does not know", name()));
            }
            terms.push((row, coef));
        }
        all.push(terms);
    }
    Ok(all)
}

/// Looks every vector up among the rows of the class that its coefficients speak for; equal rows
/// are used in turn.
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

/// The terms of a regression without a record, whose vectors were found by content, given to equal
/// rows in the order of their targets: of two equal rows that of the greater target has the greater
/// residual, and so, in any solution, the greater coefficient.
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

/// What makes a row equal to another: its non-zero values, bit for bit; for a precomputed kernel,
/// its serial number.
fn key(kernel: &Kernel, samples: &Samples, row: usize) -> Key {
    let mut entries = Key::new();
    samples.row(row).for_each(|column, value| entries.push((column, value.to_bits())));
    if *kernel == Kernel::Precomputed {
        entries.retain(|(column, _)| *column == 0);
    }
    entries
}
