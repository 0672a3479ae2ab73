//! Warnings about folds whose training sets lack a class.

use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use maxmargin::cv::{FoldReport, MissingClass, OutOfFold};

/// Most folds that a warning names one by one.
const NAMED: usize = 5;

/// Warns of classes that the folds of a cross-validation cannot predict.
pub(crate) fn warn_of_folds(what: &str, missing: &[MissingClass], notes: &mut Notes) {
    for MissingClass { label, folds } in missing {
        let (label, one) = (label_names::display(*label), folds.len() == 1);
        notes.warn(format!(
            "class {label} has no row in the training set of {}: {} cannot predict it, and its rows there count as errors; use fewer or \
             stratified folds, or leave the class out",
            named(what, folds),
            if one { "this fold" } else { "these folds" },
        ));
    }
}

/// Warns of folds that predict one class for every row, and of classes that folds lack.
pub(crate) fn warn_of_report<'a>(
    folds: impl Iterator<Item = &'a FoldReport> + Clone,
    missing: &[MissingClass],
    classes: usize,
    notes: &mut Notes,
) {
    let alone: Vec<usize> = folds.filter(|fold| fold.missing_classes.len() + 1 == classes).map(|fold| fold.fold).collect();
    warn_of_folds("fold", missing, notes);
    if classes > 1 && !alone.is_empty() {
        notes.warn(format!("{}: the training set has one class only, which is predicted for every row", named("fold", &alone)));
    }
}

/// Warns of classes that machines of the calibration were not trained on.
pub(crate) fn warn_of_calibration(run: Option<&OutOfFold>, notes: &mut Notes) {
    for MissingClass { label, folds } in run.map_or(&[][..], |run| &run.missing_classes) {
        notes.warn(format!(
            "class {} has no row in the training set of {} of the calibration: its probabilities come from machines that were not trained on it; \
             use more rows of this class",
            label_names::display(*label),
            named("fold", folds),
        ));
    }
}

/// `fold 3`, `folds 0, 3 and 7` or `17 folds (0, 3, 7, 9, 11, …)`
fn named(what: &str, folds: &[usize]) -> String {
    let text = |folds: &[usize]| folds.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match folds {
        [one] => format!("{what} {one}"),
        [first @ .., last] if folds.len() <= NAMED => format!("{what}s {} and {last}", text(first)),
        _ => format!("{} {what}s ({}, …)", format::count(folds.len() as u64), text(&folds[..NAMED])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_folds_are_counted() {
        assert_eq!(named("fold", &[3]), "fold 3");
        assert_eq!(named("outer fold", &[0, 3, 7]), "outer folds 0, 3 and 7");
        assert_eq!(named("fold", &[0, 3, 7, 9, 11, 12]), "6 folds (0, 3, 7, 9, 11, …)");
    }
}
