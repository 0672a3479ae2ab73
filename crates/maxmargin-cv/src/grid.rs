//! A grid: columns side by side, each one study with all values of C over the same kernel values.

use crate::error::CvError;
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::seed::Seeding;
use crate::study::Study;
use crate::watch::{CvWatch, OfColumn};
use maxmargin_core::Status;
use maxmargin_kernel::{Kernel, gamma_scale};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Where a Gaussian kernel takes most iterations at large C, as a factor of [`gamma_scale`]: neither nearly linear nor nearly the identity.
const HARDEST: f64 = 0.1;

/// What a column of a grid found, one entry for each value of C that it came to, or why it is no problem.
pub type Column<T> = Result<Vec<T>, CvError>;

/// Cross-validates every study of `columns` for all `values` of C by `plan`, and keeps of every report what `each` (given the places of column and value)
/// makes of it. As many columns run at a time as there are threads, each on its share of the memory; those that will take long come first. Results do not
/// depend on it.
///
/// A column that fails (its kernel is not finite, a fold is no problem) does not keep the others from their results. What was not begun when time was over, or
/// when `watch` ended the run, is empty. Progress counts cells.
///
/// # Panics
///
/// When there are no values.
pub fn grid<T: Send>(
    columns: &[Study],
    values: &[f64],
    plan: &FoldPlan,
    seeding: Seeding,
    watch: &dyn CvWatch,
    each: impl Fn(usize, usize, CvReport) -> T + Sync,
) -> Vec<Column<T>> {
    let Some(first) = columns.first() else { return Vec::new() };
    let begun = Instant::now();
    let lanes = first.par.threads().min(columns.len());
    let order = longest_first(columns);
    let done: Vec<AtomicUsize> = columns.iter().map(|_| AtomicUsize::new(0)).collect();
    let found: Vec<Mutex<Column<T>>> = columns.iter().map(|_| Mutex::new(Ok(Vec::new()))).collect();
    let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
    // A lane for each thread: one that has nothing left to begin helps with the folds of the others.
    first.par.map(lanes, |_| {
        while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let study = &columns[at];
            let left = study.stop.left(begun, 0);
            if ended.load(Ordering::Relaxed) || left.max_time.is_some_and(|left| left.is_zero()) {
                return;
            }
            let study = Study { stop: left, memory: study.memory / lanes as u64, ..*study };
            let relay = OfColumn { watch, done: &done, column: at, cells: values.len() };
            let reports = study.cross_validate_along(values, plan, seeding, &relay);
            let interrupted = match &reports {
                Ok(reports) => reports.iter().any(|report| report.status() == Status::Interrupted),
                Err(error) => matches!(error, CvError::Ended(Status::Interrupted)),
            };
            ended.fetch_or(interrupted, Ordering::Relaxed);
            done[at].store(values.len(), Ordering::Relaxed);
            let kept =
                reports.map(|reports| reports.into_iter().enumerate().map(|(row, report)| each(at, row, report)).collect());
            // Poisoned by a panic that goes on anyway.
            if let Ok(mut place) = found[at].lock() {
                *place = kept;
            }
        }
    });
    found.into_iter().filter_map(|column| column.into_inner().ok()).collect()
}

/// The places of columns, those that are expected to take longest first.
fn longest_first(columns: &[Study]) -> Vec<usize> {
    // Columns are of the same data, all but always.
    let usual = columns.first().map_or(1.0, |first| HARDEST * gamma_scale(&first.data.samples));
    let ease: Vec<f64> = columns.iter().map(|study| ease(study, usual)).collect();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| ease[a].total_cmp(&ease[b]));
    order
}

/// How far a Gaussian kernel is from the hardest width, in logarithm; others are taken to be hard.
fn ease(study: &Study, hardest: f64) -> f64 {
    let width = match (study.kernel, study.gamma) {
        (Kernel::Rbf { .. }, Some(rule)) => rule.of(&study.data.samples),
        (Kernel::Rbf { gamma }, None) => *gamma,
        _ => return 0.0,
    };
    (width / hardest).ln().abs()
}
