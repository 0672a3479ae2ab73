//! Folds by options.

use crate::console::failure::Failure;
use crate::console::label_names;
use crate::console::notes::Notes;
use crate::files::input::{Input, MaxSize, read_text};
use crate::files::output::Output;
use crate::problem::groups::group_numbers;
use maxmargin::core::TargetKind;
use maxmargin::cv::{FoldPlan, PlanError};
use maxmargin::data::ClassLabels;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The names of the folds that are no file.
pub(crate) const FOLDS: &str =
    "stratified, contiguous, shuffled, groups, stratified-groups, leave-one-group-out, leave-one-out, expanding, sliding";

/// The source of the folds. Those of groups name the column or file that has them, or take the
/// `qid` of each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Folds {
    Stratified,
    Contiguous,
    Shuffled,
    Groups(Option<String>),
    StratifiedGroups(Option<String>),
    LeaveOneGroupOut(Option<String>),
    LeaveOneOut,
    Expanding,
    Sliding,
    File(PathBuf),
}

/// The folds that a command asks for.
#[derive(Clone, Debug)]
pub(crate) struct FoldRequest {
    pub(crate) k: usize,
    pub(crate) loo: bool,
    /// The source of the folds; chosen by the targets if none.
    pub(crate) folds: Option<Folds>,
    /// Rows between training and test sets of a time series.
    pub(crate) fold_gap: usize,
    /// The most rows of a training set of sliding folds.
    pub(crate) window: Option<usize>,
    /// Number of repeats, with the next seeds.
    pub(crate) repeat: usize,
    pub(crate) seed: u64,
    /// The limit on the bytes of a file of folds.
    pub(crate) max_size: Option<u64>,
}

/// Writes the fold number of every row, if there is an output.
pub(crate) fn write_folds(output: Option<Output>, plan: &FoldPlan) -> Result<(), Failure> {
    output.map_or(Ok(()), |output| output.write(|out| out.write_all(plan.to_text().as_bytes())))
}

impl Folds {
    /// Returns the file or column that the groups are read from.
    pub(crate) fn source_of_groups(&self) -> Option<&str> {
        match self {
            Self::Groups(source) | Self::StratifiedGroups(source) | Self::LeaveOneGroupOut(source) => source.as_deref(),
            _ => None,
        }
    }
}

/// Returns the file that folds or their groups are read from; a column of a table has the name of
/// no file.
pub(crate) fn folds_file(folds: Option<&Folds>) -> Option<&Path> {
    match folds? {
        Folds::File(path) => Some(path),
        other => other.source_of_groups().map(Path::new),
    }
}

/// The name of leave-one-out.
pub(crate) const LEAVE_ONE_OUT: &str = "leave-one-out";

/// Returns whether the options mean leave-one-out for this many rows: by name, or by as many folds
/// as rows.
pub(crate) fn leaves_one_out(args: &FoldRequest, rows: usize) -> bool {
    args.loo || args.folds == Some(Folds::LeaveOneOut) || (args.folds.is_none() && args.k == rows)
}

/// Returns the folds that the options describe, and their name.
pub(crate) fn plan(
    args: &FoldRequest,
    needs: TargetKind,
    input: &Input,
    notes: &mut Notes,
) -> Result<(FoldPlan, String), Failure> {
    let (labels, k) = (&input.data.labels, args.k);
    let usual = if needs == TargetKind::Classes { Folds::Stratified } else { Folds::Shuffled };
    let usual = if leaves_one_out(args, labels.len()) { Folds::LeaveOneOut } else { usual };
    let folds = args.folds.as_ref().unwrap_or(&usual);
    check(args, folds)?;
    if matches!(folds, Folds::Stratified | Folds::StratifiedGroups(_)) && needs != TargetKind::Classes {
        let word = if *folds == Folds::Stratified { "stratified" } else { "stratified-groups" };
        let what = format!("--folds {word}: there are no classes; use shuffled, contiguous, groups or a file");
        return Err(Failure::Usage(what));
    }
    let groups = || match (folds.source_of_groups(), &input.data.groups) {
        (Some(source), _) => group_numbers(source, args.max_size, input).map(Cow::Owned),
        (None, Some(groups)) => Ok(Cow::Borrowed(&groups[..])),
        (None, None) => {
            let what = "no row has a group; name the column of a table or a file as in groups:COLUMN, write `label qid:GROUP index:value …`, or choose other folds";
            Err(Failure::input(&input.name, what))
        }
    };
    let series = |window| FoldPlan::time_series(labels.len(), k, window, args.fold_gap);
    let first = || labels.len() - k * (labels.len() / (k + 1));
    let plan = match folds {
        Folds::Stratified => repeated(args, args.seed, |seed| FoldPlan::stratified(labels, k, seed)),
        Folds::Contiguous => FoldPlan::contiguous(labels.len(), k),
        Folds::Shuffled => repeated(args, args.seed, |seed| FoldPlan::shuffled(labels.len(), k, seed)),
        Folds::Expanding => series(None),
        Folds::Sliding => series(args.window.or_else(|| first().checked_sub(args.fold_gap))),
        Folds::Groups(_) => FoldPlan::groups(&groups()?, k),
        Folds::StratifiedGroups(_) => FoldPlan::stratified_groups(labels, &groups()?, k),
        Folds::LeaveOneGroupOut(_) => FoldPlan::leave_one_group_out(&groups()?),
        Folds::LeaveOneOut => FoldPlan::leave_one_out(labels.len()),
        Folds::File(path) => return file_plan(path, labels.len(), MaxSize::of(args.max_size)),
    };
    let name = match folds {
        Folds::Stratified => "stratified",
        Folds::Contiguous => "contiguous",
        Folds::Shuffled => "shuffled",
        Folds::StratifiedGroups(_) => "stratified-groups",
        Folds::LeaveOneGroupOut(_) => "leave-one-group-out",
        Folds::LeaveOneOut => LEAVE_ONE_OUT,
        Folds::Expanding => "expanding",
        Folds::Sliding => "sliding",
        _ => "groups",
    };
    let plan = plan.map_err(|e| Failure::input(&input.name, e))?;
    if *folds == Folds::Stratified {
        warn_of_few(labels, k, notes);
    }
    Ok((plan, name.to_owned()))
}

/// Warns of classes with fewer rows than stratified folds.
fn warn_of_few(labels: &[f64], k: usize, notes: &mut Notes) {
    let Ok(classes) = ClassLabels::new(labels) else { return };
    for (label, size) in classes.labels().iter().zip(classes.sizes()).filter(|(_, size)| **size < k) {
        notes.warn(format!(
            "class {} has {size} row{}, fewer than the {k} stratified folds: {} of them have none of it to test",
            label_names::display(*label),
            if *size == 1 { "" } else { "s" },
            k - size,
        ));
    }
}

/// Refuses options that do not apply to these folds.
fn check(args: &FoldRequest, folds: &Folds) -> Result<(), Failure> {
    let series = matches!(folds, Folds::Expanding | Folds::Sliding);
    let wrong = [
        (args.fold_gap > 0 && !series, "--fold-gap: it is for time series, --folds expanding and --folds sliding"),
        (args.window.is_some() && *folds != Folds::Sliding, "--window: it is for --folds sliding"),
        (
            args.repeat > 1 && !matches!(folds, Folds::Stratified | Folds::Shuffled),
            "--repeat: it is for stratified and shuffled folds; these folds are the same each time",
        ),
    ];
    wrong.iter().find(|wrong| wrong.0).map_or(Ok(()), |wrong| Err(Failure::Usage(wrong.1.to_owned())))
}

/// Returns the plan, repeated with the next seeds as often as requested.
fn repeated(args: &FoldRequest, seed: u64, plan: impl Fn(u64) -> Result<FoldPlan, PlanError>) -> Result<FoldPlan, PlanError> {
    let plans: Vec<FoldPlan> = (0..args.repeat as u64).map(|more| plan(seed.wrapping_add(more))).collect::<Result<_, _>>()?;
    FoldPlan::joined(&plans)
}

fn file_plan(path: &Path, samples: usize, most: MaxSize) -> Result<(FoldPlan, String), Failure> {
    let name = path.display().to_string();
    let text = read_text(path, most).map_err(|e| {
        let what = format!("cannot read the folds: {e}; --folds takes {FOLDS} or a file");
        Failure::input(&name, what)
    })?;
    let plan = FoldPlan::from_text(&text, samples).map_err(|e| match e {
        PlanError::Line { line, found } => Failure::input(
            format!("{name}:{line}"),
            format!(
                "`{found}` is not a fold number; a folds file holds one number (from 0) for each row: the fold that tests it"
            ),
        ),
        other => Failure::input(&name, other),
    })?;
    Ok((plan, name))
}
