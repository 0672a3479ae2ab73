//! Collects the outcomes of all machines at every value of C, and makes the report of each value
//! that is complete.

use crate::folds::outcome::Outcome;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use maxmargin_kernel::RowWork;
use std::sync::{Mutex, PoisonError};

/// Callback for every cell (value of C) that is complete: its index and its results.
pub(crate) type OnCellDone<'a> = &'a (dyn Fn(usize, &Finished) + Sync);

/// One entry for each machine.
type Places = Vec<Option<(Outcome, RowWork)>>;

/// Collects outcomes from several threads. The thread that delivers the last outcome of a value of
/// C makes the report of that value.
pub(crate) struct ResultCollector<R> {
    /// Outcomes so far, for each value of C.
    waiting: Vec<Mutex<Places>>,
    reports: Vec<Mutex<Option<Result<CvReport, CvError>>>>,
    report: R,
}

impl<R: Fn(usize, &[Outcome], &[RowWork]) -> Result<CvReport, CvError>> ResultCollector<R> {
    /// An empty collector. It calls `report` once for each value, with the outcomes of all
    /// machines.
    pub(crate) fn new(values: usize, machines: usize, report: R) -> Self {
        let places = || (0..machines).map(|_| None).collect();
        Self {
            waiting: (0..values).map(|_| Mutex::new(places())).collect(),
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
        let (mut outcomes, work): (Vec<Outcome>, Vec<RowWork>) = all.into_iter().flatten().unzip();
        let report = (self.report)(value, &outcomes, &work).map(|report| {
            let alpha = outcomes.iter_mut().map(|of| of.full.take().map_or_else(Vec::new, |full| full.alpha)).collect();
            let cell = Finished { report, alpha };
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
