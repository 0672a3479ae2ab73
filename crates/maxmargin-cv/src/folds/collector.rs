//! Collects the outcomes of all machines at every value of C, and makes the report of each value
//! that is complete.

use crate::folds::outcome::Outcome;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use maxmargin_kernel::RowWork;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Makes what is kept of every cell (value of C) as soon as it is complete, from its index and its
/// results. The decision values of many classes are large, so that a search drops them here.
pub(crate) type OnCellDone<'a, T> = &'a (dyn Fn(usize, Finished) -> T + Sync);

/// One entry for each machine.
type Places = Vec<Option<(Outcome, RowWork)>>;

/// The outcomes of all machines at one value of C.
type Complete = (Vec<Outcome>, Vec<RowWork>);

/// Collects outcomes from several threads. A thread that delivers the last outcome of a value of C
/// makes the report of that value, and of later ones that are complete by then.
pub(crate) struct ResultCollector<'a, R, T> {
    /// Outcomes so far, for each value of C.
    waiting: Vec<Mutex<Places>>,
    turn: Mutex<Turn>,
    kept: Vec<Mutex<Option<Result<T, CvError>>>>,
    report: R,
    on_cell_done: OnCellDone<'a, T>,
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

impl<'a, R: Fn(usize, &[Outcome], &[RowWork]) -> Result<CvReport, CvError>, T> ResultCollector<'a, R, T> {
    /// An empty collector. It calls `report` once for each value, in their order, with the outcomes
    /// of all machines, and then `on_cell_done`.
    pub(crate) fn new(values: usize, machines: usize, report: R, on_cell_done: OnCellDone<'a, T>) -> Self {
        let places = || (0..machines).map(|_| None).collect();
        Self {
            waiting: (0..values).map(|_| Mutex::new(places())).collect(),
            turn: Mutex::new(Turn { ready: (0..values).map(|_| None).collect(), next: 0, busy: false }),
            kept: (0..values).map(|_| Mutex::new(None)).collect(),
            report,
            on_cell_done,
        }
    }

    /// Adds the outcome of machine `p` at a value.
    pub(crate) fn put(&self, value: usize, p: usize, outcome: Outcome, work: RowWork) {
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
            self.make_report(value, complete);
            turn = self.turn();
        }
        turn.busy = false;
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn make_report(&self, value: usize, (mut outcomes, work): Complete) {
        let kept = (self.report)(value, &outcomes, &work).map(|report| {
            let alpha = outcomes.iter_mut().map(|of| of.full.take().map_or_else(Vec::new, |full| full.alpha)).collect();
            let values_to_repeat = outcomes.iter().map(|of| of.carried_values).max().unwrap_or(0);
            (self.on_cell_done)(value, Finished { report, alpha, values_to_repeat })
        });
        *self.kept[value].lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    /// Returns the results of the values up to the first one that some machine did not reach, or
    /// that could not be certified any more.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn kept(self) -> Result<Vec<T>, CvError> {
        let mut all = Vec::new();
        for kept in self.kept {
            match kept.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(Ok(kept)) => all.push(kept),
                Some(Err(CvError::Ended(_))) if !all.is_empty() => break,
                Some(Err(error)) => return Err(error),
                None => break,
            }
        }
        Ok(all)
    }
}
