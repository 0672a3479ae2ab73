//! A grid of parameters: its columns run in parallel. A column is a study with all its values of C
//! over the same kernel values.

use crate::folds::machine_run::{Step, WarmStart};
use crate::folds::validate::CvRequest;
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use crate::search::log::{CellLog, ColumnState};
use crate::seed::Seeding;
use crate::study::Study;
use crate::study::page_pool::PagePool;
use maxmargin_core::{Progress, RunControl, Status};
use maxmargin_kernel::{Kernel, gamma_scale};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The width at which a Gaussian kernel takes most iterations at large C, as a factor of
/// [`gamma_scale`]. The kernel matrix is then neither nearly linear nor nearly the identity.
const HARDEST: f64 = 0.1;

/// Waiting time before columns that other processes work on are tried again.
const AGAIN: Duration = Duration::from_millis(100);

/// A study and its values of C. Each value starts from the solution of the previous one.
#[derive(Clone)]
pub struct GridColumn<'a> {
    /// The study; its C is replaced by the values.
    pub study: Study<'a>,
    /// Values of C; at least one.
    pub values: Vec<f64>,
    /// Prunes a cell of one machine of two classes once it has made more errors than this, or more
    /// than an earlier complete cell of the column. Folds are then trained in order
    /// ([`CvReport::pruned`]).
    pub most_errors: Option<usize>,
}

/// The results of a column, one for each value of C that it reached, or the error that stopped it.
pub type Cells<T> = Result<Vec<T>, CvError>;

/// The inputs that all columns of a grid share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The folds.
    pub plan: &'a FoldPlan,
    /// The seeding of the folds.
    pub seeding: Seeding,
    /// Receives progress in cells, and may end the run.
    pub control: &'a RunControl<'a>,
    /// The log that keeps finished cells.
    pub log: &'a dyn CellLog,
}

/// Cross-validates every study of `columns` for all its values of C, and returns the results of
/// `each` (given the index of the column, the index of the value, and the report). As many columns
/// run at a time as there are threads, each with its share of the memory; those that are expected
/// to take longest come first. Results depend neither on the order nor on the content of the log.
///
/// A column that fails (its kernel is not finite, a fold is no valid problem) does not stop the
/// others. A column that was not begun when the time was over, or when the run was cancelled, has
/// no results.
pub fn grid<T: Send>(columns: &[GridColumn], shared: Shared, each: impl Fn(usize, usize, CvReport) -> T + Sync) -> Vec<Cells<T>> {
    let run = GridRun {
        columns,
        shared,
        each: &each,
        begun: Instant::now(),
        done: columns.iter().map(|_| AtomicUsize::new(0)).collect(),
        results: columns.iter().map(|_| Mutex::new(Ok(Vec::new()))).collect(),
        ended: AtomicBool::new(false),
        pool: PagePool::default(),
    };
    let mut left = longest_first(columns);
    while !left.is_empty() {
        left = run.pass(&left);
        // Columns that other processes work on are tried again once no other work is left.
        if run.is_over() {
            break;
        }
        if !left.is_empty() {
            sleep(AGAIN);
        }
    }
    run.results.into_iter().filter_map(|column| column.into_inner().ok()).collect()
}

/// A running grid.
struct GridRun<'a, T, E> {
    columns: &'a [GridColumn<'a>],
    shared: Shared<'a>,
    each: &'a E,
    begun: Instant,
    /// Cells that are done, for each column.
    done: Vec<AtomicUsize>,
    results: Vec<Mutex<Cells<T>>>,
    ended: AtomicBool,
    /// Memory for the kernel values of one column after the other.
    pool: PagePool,
}

impl<T: Send, E: Fn(usize, usize, CvReport) -> T + Sync> GridRun<'_, T, E> {
    /// Runs the columns with these indices. Returns those that another process works on.
    fn pass(&self, order: &[usize]) -> Vec<usize> {
        let par = self.columns[order[0]].study.options.par;
        let lanes = par.threads().min(order.len());
        let (next, busy) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        // A lane for each thread. A thread whose lane is finished helps with the folds of the
        // others.
        par.map(lanes, |_| {
            while let Some(&at) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.is_over() {
                    return;
                }
                if !self.column(at, lanes) {
                    busy.lock().unwrap_or_else(PoisonError::into_inner).push(at);
                }
            }
        });
        let mut busy = busy.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Restore the order of the input, which does not depend on threads.
        busy.sort_by_key(|at| order.iter().position(|known| known == at));
        busy
    }

    /// Returns true if no further column may begin. Reports progress.
    fn is_over(&self) -> bool {
        let late =
            self.columns.iter().any(|column| column.study.stop.left(self.begun, 0).max_time.is_some_and(|left| left.is_zero()));
        if self.shared.control.progress(&self.progress()).is_err() {
            self.ended.store(true, Ordering::Relaxed);
        }
        late || self.ended.load(Ordering::Relaxed)
    }

    fn total(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).sum()
    }

    fn progress(&self) -> Progress {
        let done = self.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        Progress { done, total: self.total(), ..Progress::default() }
    }

    /// Runs one column. Returns false if another process works on it.
    fn column(&self, at: usize, lanes: usize) -> bool {
        let GridColumn { values, most_errors, .. } = &self.columns[at];
        let log = self.shared.log;
        let (before, mine) = match log.open(at) {
            ColumnState::Mine(before) => (before, true),
            ColumnState::Theirs(before) => (before, false),
            ColumnState::Busy => return false,
        };
        let first = before.len();
        // Cells whose machines the next one may take over are run again.
        let begin = first.saturating_sub(before.last().map_or(0, |cell| cell.values_to_repeat));
        let last = begin.checked_sub(1).map(|last| (values[last], before[last].alpha.clone()));
        // The bound of errors that an uninterrupted run would have after these cells.
        let complete = before[..begin]
            .iter()
            .map(|cell| &cell.report)
            .filter(|report| report.pruned.is_none() && report.status() == Status::Converged);
        let fewest = complete.map(|report| report.samples_counted - report.correct).min();
        let max_errors = most_errors.map(|most| fewest.map_or(most, |fewest| most.min(fewest)));
        let mut results: Vec<T> = before.into_iter().enumerate().map(|(row, cell)| (self.each)(at, row, cell.report)).collect();
        self.done[at].store(first, Ordering::Relaxed);
        let steps: Vec<Step> = (values[begin..].iter().enumerate())
            .map(|(k, &c)| Step { c, from: last.as_ref().filter(|_| k == 0).map(|(c, alpha)| WarmStart::Alpha(*c, alpha)) })
            .collect();
        let mut failure = None;
        if mine && first < values.len() {
            let part = ColumnPart { begin, first };
            match self.validate(at, lanes, part, &steps, max_errors) {
                Ok(new) => results.extend(new),
                // Cells that were done before this run remain valid.
                Err(CvError::Ended(_)) if first > 0 => {}
                Err(error) => failure = Some(error),
            }
        }
        if mine {
            log.close(at);
        }
        self.done[at].store(values.len(), Ordering::Relaxed);
        // A poisoned lock is left alone: the panic that poisoned it is being propagated.
        if let Ok(mut place) = self.results[at].lock() {
            *place = failure.map_or(Ok(results), Err);
        }
        true
    }

    /// Cross-validates a part of the values of a column, and logs those that are new. Returns their
    /// results, made as soon as a cell is complete: its decision values need not be kept. Records
    /// an interruption.
    fn validate(
        &self,
        at: usize,
        lanes: usize,
        ColumnPart { begin, first }: ColumnPart,
        steps: &[Step],
        max_errors: Option<usize>,
    ) -> Result<Vec<T>, CvError> {
        let GridColumn { study, values, .. } = &self.columns[at];
        let Shared { plan, seeding, control, log } = self.shared;
        let study = Study { stop: study.stop.left(self.begun, 0), memory: study.memory / lanes as u64, ..*study };
        let control = control.child(move |progress| {
            let here = begin + (values.len() - begin) * progress.done / progress.total.max(1);
            self.done[at].fetch_max(here, Ordering::Relaxed);
            let Progress { done, total, .. } = self.progress();
            Progress { done, total, ..*progress }
        });
        let on_cell_done = |row: usize, cell: Finished| {
            // A cell that ended early is not logged, so that the next run repeats it.
            let (row, status) = (begin + row, cell.report.status());
            let is_new = row >= first;
            let is_last = is_new && !status.ended_early() && log.keep(at, row, &cell).is_break();
            if is_last || status == Status::Interrupted {
                self.ended.store(true, Ordering::Relaxed);
            }
            is_new.then(|| (self.each)(at, row, cell.report))
        };
        let request = CvRequest {
            steps,
            // A log may go on with more values later.
            is_along_c: true,
            max_errors,
            plan,
            seeding,
            control: &control,
            on_cell_done: &on_cell_done,
            keep: None,
            counts_fixed_labels: false,
            pool: &self.pool,
        };
        let result = study.validate(&request);
        self.ended.fetch_or(matches!(result, Err(CvError::Ended(Status::Interrupted))), Ordering::Relaxed);
        result.map(|cells| cells.into_iter().flatten().collect())
    }
}

/// The values of a column that a run begins with, by index.
#[derive(Clone, Copy)]
struct ColumnPart {
    /// The first that is run.
    begin: usize,
    /// The first that is not known yet.
    first: usize,
}

/// The indices of columns; those that are expected to take longest come first.
fn longest_first(columns: &[GridColumn]) -> Vec<usize> {
    // Columns nearly always have the same data.
    let usual = columns.first().map_or(1.0, |first| HARDEST * gamma_scale(&first.study.data.samples));
    let ease: Vec<f64> = columns.iter().map(|column| ease(&column.study, usual)).collect();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| ease[a].total_cmp(&ease[b]));
    order
}

/// The distance of a Gaussian kernel's width from the hardest width, in logarithm. Other kernels
/// count as hard.
fn ease(study: &Study, hardest: f64) -> f64 {
    let width = match (&study.options.kernel, study.gamma) {
        (Kernel::Rbf { .. }, Some(rule)) => rule.of(&study.data.samples),
        (Kernel::Rbf { gamma }, None) => *gamma,
        _ => return 0.0,
    };
    (width / hardest).ln().abs()
}
