//! Warnings about data and kernels before a training.

use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use maxmargin::data::ClassLabels;
use maxmargin::kernel::Diagnosis;

/// A class is rare if it has fewer rows than this share of what equal classes would have.
const TINY_SHARE: f64 = 0.02;

/// A class with fewer rows than this is rare if equal classes would have at least twice as many.
const TINY: usize = 5;

/// Warns if the kernel matrix is nearly the identity or nearly constant.
pub(super) fn warn_of_kernel(found: &Diagnosis, notes: &mut Notes) {
    if found.is_identity() {
        notes.warn(format!(
            "the kernel matrix is numerically the identity: {:.1} % of {} sampled pairs have a kernel value below 2^-24, so that no machine \
             generalises; use a smaller -g or --scale minmax",
            100.0 * found.share_unrelated,
            found.pairs,
        ));
    } else if found.is_constant() {
        notes.warn(format!(
            "the kernel matrix is numerically constant: {:.1} % of {} sampled pairs cannot be told apart; use a larger -g",
            100.0 * found.share_identical,
            found.pairs,
        ));
    }
}

/// Warns of the smallest rare class.
pub(super) fn warn_of_rare(classes: &ClassLabels, notes: &mut Notes) {
    let rows = classes.of().len();
    let tiny = |size: usize| {
        let equal = size * classes.count();
        (size < TINY && 2 * equal <= rows) || equal as f64 <= TINY_SHARE * rows as f64
    };
    let rare: Vec<usize> = (0..classes.count()).filter(|&class| tiny(classes.sizes()[class])).collect();
    let Some(&smallest) = rare.iter().min_by_key(|&&class| classes.sizes()[class]) else { return };
    let (label, size) = (label_names::display(classes.labels()[smallest]), classes.sizes()[smallest]);
    let others = match rare.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more are rare"),
    };
    notes.warn(format!(
        "class {label} has only {size} of {rows} rows ({:.2} %){others}: never predicting it has an accuracy of {:.2} %; consider \
         --weight {label}=W or --weight balanced",
        100.0 * size as f64 / rows as f64,
        100.0 * (rows - size) as f64 / rows as f64,
    ));
}

/// Warns if the values to predict look like classes.
pub(super) fn warn_of_targets(values: &[f64], notes: &mut Notes) {
    let mut different = values.to_vec();
    different.sort_by(f64::total_cmp);
    different.dedup();
    match different[..] {
        [only] => notes.warn(format!("every row has the value {}: there is nothing to learn", format::exact(only))),
        [one, other] => notes.warn(format!(
            "only two different values, {} and {}, are to be predicted; if they are classes, use --formulation c-svc",
            format::exact(one),
            format::exact(other)
        )),
        _ => {}
    }
}
