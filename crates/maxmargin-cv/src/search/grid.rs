//! A grid: columns side by side, each one study with all its values of C over the same kernel
//! values.

use crate::folds::validate::{Step, WarmStart};
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use crate::run::watch::{ColumnProgress, CvProgress, CvWatch};
use crate::search::log::{CellLog, Opened};
use crate::seed::Seeding;
use crate::study::Study;
use maxmargin_core::Status;
use maxmargin_kernel::{Kernel, gamma_scale};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where a Gaussian kernel takes most iterations at large C, as a factor of [`gamma_scale`]:
/// neither nearly linear nor nearly the identity.
const HARDEST: f64 = 0.1;

/// So often columns that others are at are asked for.
const AGAIN: Duration = Duration::from_millis(100);

/// A study and the values of C that it is tried with, each from the solution before.
#[derive(Clone)]
pub struct Column<'a> {
    /// Everything but C.
    pub study: Study<'a>,
    /// Values of C; at least one.
    pub values: Vec<f64>,
    /// Gives a cell of one machine of two classes up once it has made more errors than these, or
    /// than a cell before it in its column made in all: folds are then trained in order
    /// ([`CvReport::lost`]).
    pub most_errors: Option<usize>,
}

/// What a column of a grid found, one entry for each value of C that it came to, or why it is no
/// problem.
pub type Cells<T> = Result<Vec<T>, CvError>;

/// What all columns of a grid share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The folds.
    pub plan: &'a FoldPlan,
    /// How their trainings start.
    pub seeding: Seeding,
    /// Who is told, in cells that are done of all, and may end the run.
    pub watch: &'a dyn CvWatch,
    /// Where finished cells are kept.
    pub log: &'a dyn CellLog,
}

/// Cross-validates every study of `columns` for all its values of C, and keeps of every report what
/// `each` (given the places of column and value) makes of it. As many columns run at a time as
/// there are threads, each on its share of the memory; those that will take long come first.
/// Results do not depend on it, nor on what the log had already.
///
/// A column that fails (its kernel is not finite, a fold is no problem) does not keep the others
/// from their results. What was not begun when time was over, or when the watch ended the run, is
/// empty.
pub fn grid<T: Send>(columns: &[Column], shared: Shared, each: impl Fn(usize, usize, CvReport) -> T + Sync) -> Vec<Cells<T>> {
    let run = Run {
        columns,
        shared,
        each: &each,
        begun: Instant::now(),
        done: columns.iter().map(|_| AtomicUsize::new(0)).collect(),
        found: columns.iter().map(|_| Mutex::new(Ok(Vec::new()))).collect(),
        ended: AtomicBool::new(false),
    };
    let mut left = longest_first(columns);
    while !left.is_empty() {
        left = run.pass(&left);
        // What others are at is looked at again when nothing else is to be done.
        if run.is_over() {
            break;
        }
        if !left.is_empty() {
            sleep(AGAIN);
        }
    }
    run.found.into_iter().filter_map(|column| column.into_inner().ok()).collect()
}

struct Run<'a, T, E> {
    columns: &'a [Column<'a>],
    shared: Shared<'a>,
    each: &'a E,
    begun: Instant,
    /// Cells that are done of each column.
    done: Vec<AtomicUsize>,
    found: Vec<Mutex<Cells<T>>>,
    ended: AtomicBool,
}

impl<T: Send, E: Fn(usize, usize, CvReport) -> T + Sync> Run<'_, T, E> {
    /// Runs the columns at these places; those that somebody else is at.
    fn pass(&self, order: &[usize]) -> Vec<usize> {
        let par = self.columns[order[0]].study.par;
        let lanes = par.threads().min(order.len());
        let (next, busy) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        // A lane for each thread: one that has nothing left to begin helps with the folds of the
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
        // In the order that they came in, whatever thread found them so.
        busy.sort_by_key(|at| order.iter().position(|known| known == at));
        busy
    }

    /// Whether nothing more is to be begun; the watch is asked.
    fn is_over(&self) -> bool {
        let late =
            self.columns.iter().any(|column| column.study.stop.left(self.begun, 0).max_time.is_some_and(|left| left.is_zero()));
        if self.shared.watch.tick(&self.progress()).is_break() {
            self.ended.store(true, Ordering::Relaxed);
        }
        late || self.ended.load(Ordering::Relaxed)
    }

    fn total(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).sum()
    }

    fn progress(&self) -> CvProgress {
        let done = self.done.iter().map(|done| done.load(Ordering::Relaxed)).sum();
        CvProgress { done, total: self.total(), ..CvProgress::default() }
    }

    /// One column; whether it is settled.
    fn column(&self, at: usize, lanes: usize) -> bool {
        let Column { study, values, most_errors } = &self.columns[at];
        let log = self.shared.log;
        let (before, mine) = match log.open(at) {
            Opened::Mine(before) => (before, true),
            Opened::Theirs(before) => (before, false),
            Opened::Busy => return false,
        };
        let first = before.len();
        let last = before.last().map(|cell| (values[first - 1], cell.alpha.clone()));
        // As the cells before were judged by those before them.
        let whole =
            before.iter().map(|cell| &cell.report).filter(|report| report.lost.is_none() && report.status() == Status::Converged);
        let fewest = whole.map(|report| report.samples_counted - report.correct).min();
        let most = most_errors.map(|most| fewest.map_or(most, |fewest| most.min(fewest)));
        let mut kept: Vec<T> = before.into_iter().enumerate().map(|(row, cell)| (self.each)(at, row, cell.report)).collect();
        self.done[at].store(first, Ordering::Relaxed);
        let rest: Vec<Step> = (values[first..].iter().enumerate())
            .map(|(k, &c)| Step { c, from: last.as_ref().filter(|_| k == 0).map(|(c, alpha)| WarmStart::Alpha(*c, alpha)) })
            .collect();
        let mut result = Ok(());
        if mine && !rest.is_empty() {
            let study = Study { stop: study.stop.left(self.begun, 0), memory: study.memory / lanes as u64, ..*study };
            let relay = ColumnProgress {
                watch: self.shared.watch,
                done: &self.done,
                column: at,
                first,
                cells: values.len(),
                total: self.total(),
            };
            let told = |row: usize, cell: &Finished| {
                // Who was ended is none that another run should take for done.
                if !cell.report.status().ended_early() && log.keep(at, first + row, cell).is_break() {
                    self.ended.store(true, Ordering::Relaxed);
                }
            };
            let Shared { plan, seeding, .. } = self.shared;
            match study.validated((&rest, most), plan, seeding, &relay, &told) {
                Ok(reports) => {
                    let interrupted = reports.iter().any(|report| report.status() == Status::Interrupted);
                    self.ended.fetch_or(interrupted, Ordering::Relaxed);
                    kept.extend(reports.into_iter().enumerate().map(|(row, report)| (self.each)(at, first + row, report)));
                }
                Err(error) => {
                    self.ended.fetch_or(matches!(error, CvError::Ended(Status::Interrupted)), Ordering::Relaxed);
                    // What was done before this run is no less so.
                    let ended = matches!(error, CvError::Ended(_)) && first > 0;
                    result = if ended { Ok(()) } else { Err(error) };
                }
            }
        }
        if mine {
            log.close(at);
        }
        self.done[at].store(values.len(), Ordering::Relaxed);
        // Poisoned by a panic that goes on anyway.
        if let Ok(mut place) = self.found[at].lock() {
            *place = result.map(|()| kept);
        }
        true
    }
}

/// The places of columns, those that are expected to take longest first.
fn longest_first(columns: &[Column]) -> Vec<usize> {
    // Columns are of the same data, all but always.
    let usual = columns.first().map_or(1.0, |first| HARDEST * gamma_scale(&first.study.data.samples));
    let ease: Vec<f64> = columns.iter().map(|column| ease(&column.study, usual)).collect();
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
