//! What the machines of a study have at every value of C, until a value is complete and has a
//! report.

use crate::folds::outcome::Outcome;
use crate::folds::validate::OnCellDone;
use crate::report::CvReport;
use crate::report::finished::Finished;
use crate::run::error::CvError;
use maxmargin_kernel::RowWork;
use std::sync::{Mutex, PoisonError};

/// One place a machine.
type Places = Vec<Option<(Outcome, RowWork)>>;

/// Outcomes as they come: whoever brings the last one of a value of C makes its report.
pub(crate) struct ResultCollector<R> {
    /// For each value of C.
    waiting: Vec<Mutex<Places>>,
    made: Vec<Mutex<Option<Result<CvReport, CvError>>>>,
    report: R,
}

impl<R: Fn(usize, &[Outcome], &[RowWork]) -> Result<CvReport, CvError>> ResultCollector<R> {
    /// Nothing has come yet; `report` is asked once for each value, given the outcomes of all
    /// machines.
    pub(crate) fn new(values: usize, machines: usize, report: R) -> Self {
        let places = || (0..machines).map(|_| None).collect();
        Self {
            waiting: (0..values).map(|_| Mutex::new(places())).collect(),
            made: (0..values).map(|_| Mutex::new(None)).collect(),
            report,
        }
    }

    /// Takes what machine `p` has at a value; tells `told` where that makes it complete.
    pub(crate) fn put(&self, (value, p): (usize, usize), outcome: Outcome, work: RowWork, told: OnCellDone) {
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
            told(value, &cell);
            cell.report
        });
        *self.made[value].lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    /// The reports up to the first value that some machine did not come to, or that nobody could
    /// judge any more.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn reports(self) -> Result<Vec<CvReport>, CvError> {
        let mut reports = Vec::new();
        for made in self.made {
            match made.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(Ok(report)) => reports.push(report),
                Some(Err(CvError::Ended(_))) if !reports.is_empty() => break,
                Some(Err(error)) => return Err(error),
                None => break,
            }
        }
        Ok(reports)
    }
}
