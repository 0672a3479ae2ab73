//! Collects the outcomes of all machines at every value of C, and makes the report of each value
//! that is complete.

use crate::folds::outcome::Outcome;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use maxmargin_kernel::RowWork;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Callback for every cell (value of C) that is complete: its index and its results.
pub(crate) type OnCellDone<'a> = &'a (dyn Fn(usize, &Finished) + Sync);

/// One entry for each machine.
type Places = Vec<Option<(Outcome, RowWork)>>;

/// The outcomes of all machines at one value of C.
type Complete = (Vec<Outcome>, Vec<RowWork>);

/// Collects outcomes from several threads. A thread that delivers the last outcome of a value of C
/// makes the report of that value, and of later ones that are complete by then.
pub(crate) struct ResultCollector<R> {
    /// Outcomes so far, for each value of C.
    waiting: Vec<Mutex<Places>>,
    turn: Mutex<Turn>,
    reports: Vec<Mutex<Option<Result<CvReport, CvError>>>>,
    report: R,
}

/// Reports are made in the order of the values, so that one may use what the last one has computed
/// and no result depends on the number of threads.
struct Turn {
    /// The values that are complete and have no report.
    ready: Vec<Option<Complete>>,
    /// The value whose report is next.
    next: usize,
    /// Set while a thread makes reports. It holds no lock meanwhile: its pool may give it the work
    /// of another machine, which ends here, too.
    busy: bool,
}

impl Turn {
    /// The next value to be reported, if it is complete.
    fn take_next(&mut self) -> Option<(usize, Complete)> {
        let complete = self.ready.get_mut(self.next)?.take()?;
        self.next += 1;
        Some((self.next - 1, complete))
    }
}

impl<R: Fn(usize, &[Outcome], &[RowWork]) -> Result<CvReport, CvError>> ResultCollector<R> {
    /// An empty collector. It calls `report` once for each value, in their order, with the outcomes
    /// of all machines.
    pub(crate) fn new(values: usize, machines: usize, report: R) -> Self {
        let places = || (0..machines).map(|_| None).collect();
        Self {
            waiting: (0..values).map(|_| Mutex::new(places())).collect(),
            turn: Mutex::new(Turn { ready: (0..values).map(|_| None).collect(), next: 0, busy: false }),
            reports: (0..values).map(|_| Mutex::new(None)).collect(),
            report,
        }
    }

    /// Adds the outcome of machine `p` at a value. Calls `on_cell_done` if this completes the
    /// value.
    pub(crate) fn put(&self, value: usize, p: usize, outcome: Outcome, work: RowWork, on_cell_done: OnCellDone) {
        let all = {
            let mut waiting = self.waiting[value].lock().unwrap_or_else(PoisonError::into_inner);
            waiting[p] = Some((outcome, work));
            if waiting.iter().any(Option::is_none) {
                return;
            }
            std::mem::take(&mut *waiting)
        };
        let mut turn = self.turn();
        turn.ready[value] = Some(all.into_iter().flatten().unzip());
        if turn.busy {
            return;
        }
        turn.busy = true;
        while let Some((value, complete)) = turn.take_next() {
            drop(turn);
            self.make_report(value, complete, on_cell_done);
            turn = self.turn();
        }
        turn.busy = false;
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_report(&self, value: usize, (mut outcomes, work): Complete, on_cell_done: OnCellDone) {
        let report = (self.report)(value, &outcomes, &work).map(|report| {
            let alpha = outcomes.iter_mut().map(|of| of.full.take().map_or_else(Vec::new, |full| full.alpha)).collect();
            let values_to_repeat = outcomes.iter().map(|of| of.carried_values).max().unwrap_or(0);
            let cell = Finished { report, alpha, values_to_repeat };
            on_cell_done(value, &cell);
            cell.report
        });
        *self.reports[value].lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// The reports up to the first value that some machine did not reach, or that could not be
    /// certified any more.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn reports(self) -> Result<Vec<CvReport>, CvError> {
        let mut reports = Vec::new();
        for report in self.reports {
            match report.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(Ok(report)) => reports.push(report),
                Some(Err(CvError::Ended(_))) if !reports.is_empty() => break,
                Some(Err(error)) => return Err(error),
                None => break,
            }
        }
        Ok(reports)
    }
}
