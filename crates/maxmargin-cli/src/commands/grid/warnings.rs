//! Warnings about a finished search.

use super::cell::CellDocument;
use super::choice::Choice;
use crate::args::GridArgs;
use crate::console::format;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::report::status_text;
use maxmargin::core::Status;
use maxmargin::data::ClassLabels;

/// The largest class, of equals the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Majority {
    label: f64,
    size: usize,
    /// The number of rows of all classes.
    rows: usize,
}

impl Majority {
    pub(super) fn of(classes: &ClassLabels) -> Self {
        let sizes = classes.sizes().iter().copied();
        let largest = classes.labels().iter().copied().zip(sizes).rev().max_by_key(|(_, size)| *size);
        let (label, size) = largest.unwrap_or_default();
        Self { label, size, rows: classes.of().len() }
    }

    /// Returns the accuracy of always predicting it.
    pub(super) fn share(self) -> f64 {
        self.size as f64 / self.rows as f64
    }
}

/// Warns if the best cell has learnt nothing, or is at the edge of a range.
pub(super) fn warn_of_best(
    best: Option<&CellDocument>,
    majority: Option<Majority>,
    only_class: Option<f64>,
    ranges: &[Vec<f64>; 2],
    args: &GridArgs,
    choice: &Choice,
    notes: &mut Notes,
) {
    match (best, majority) {
        (Some(best), Some(majority)) if choice.is_default() && best.found.correct <= majority.size => {
            notes.warn(no_better(best, majority, args));
        }
        (Some(best), Some(_)) if only_class.is_some() => {
            notes.warn(format!(
                "the best combination by {} predicts {} for every row ({}); try {}",
                choice.name(),
                only_class.map(label_names::display).unwrap_or_default(),
                best.text(),
                tries_of_classes(args).join(", ")
            ));
        }
        (Some(best), None) if best.found.scores.get("r2").is_some_and(|r2| *r2 <= 0.0) => {
            notes.warn(format!("no combination beats predicting the mean of the targets; try {}", tries(args).join(", ")));
        }
        (Some(best), _) => {
            let advice = |option: &str| {
                if args.whole { format!("`maxmargin grid` tries others ({option})") } else { format!("widen {option}") }
            };
            best.on_border(ranges).into_iter().for_each(|(what, option)| notes.warn(format!("{what}; {}", advice(option))));
        }
        _ => {}
    }
}

/// Returns whether a cell within the ranges is as good as the best.
pub(super) fn is_equalled_within(best: &CellDocument, cells: &[&CellDocument], ranges: &[Vec<f64>; 2]) -> bool {
    cells.iter().any(|cell| cell.exact && cell.converged() && cell.score == best.score && cell.on_border(ranges).is_empty())
}

/// Returns advice on what else to try.
fn tries(args: &GridArgs) -> Vec<&'static str> {
    // A search has no ranges to widen, and tries scalings itself.
    if args.whole {
        return vec!["other values of C and gamma (`maxmargin grid`, -c and -g)"];
    }
    let mut tries = vec!["larger values of C (-c)"];
    tries.extend(args.search.kernels().iter().any(|kernel| kernel.gamma().is_some()).then_some("other widths (-g)"));
    let can_scale = args.problem.scale.is_none() && !args.search.kernels().contains(&maxmargin::kernel::Kernel::Precomputed);
    tries.extend(can_scale.then_some("scaled features (--scale minmax)"));
    tries
}

/// Returns advice on what else to try for classes.
fn tries_of_classes(args: &GridArgs) -> Vec<&'static str> {
    let mut tries = tries(args);
    tries.extend(args.problem.weight.is_empty().then_some("a weight for the rare classes (--weight LABEL=W, or balanced)"));
    tries
}

/// Returns the warning for a search that has learnt nothing.
fn no_better(best: &CellDocument, majority: Majority, args: &GridArgs) -> String {
    format!(
        "nothing beats the majority class: always predicting {} has an accuracy of {}, the best combination {}; try {}",
        label_names::display(majority.label),
        format::percent(majority.share()),
        format::percent(best.found.correct as f64 / majority.rows as f64),
        tries_of_classes(args).join(", "),
    )
}

/// Most cells that a warning names one by one.
const NAMED: usize = 10;

/// Warns of missing and unconverged cells; returns whether there are none.
pub(super) fn warn_of_unfinished(cells: &[&CellDocument], wanted: usize, notes: &mut Notes) -> bool {
    if cells.len() < wanted {
        notes.warn(format!("{} of {wanted} combinations were not reached", wanted - cells.len()));
    }
    let open = cells.iter().filter(|cell| cell.found.solved.status != Status::Converged);
    let open: Vec<String> = open.map(|cell| format!("{} ({})", cell.text(), status_text(cell.found.solved.status))).collect();
    if !open.is_empty() {
        let more = if open.len() > NAMED { format!(" and {} more", open.len() - NAMED) } else { String::new() };
        let named = open[..open.len().min(NAMED)].join(", ");
        notes.warn(format!("not converged: {named}{more}; raise --max-iter or --time-limit, or loosen --eps or --gap"));
    }
    open.is_empty() && cells.len() == wanted
}
