//! Many cross-validations: every combination of some values.

use super::Svm;
use super::keys::{Base, Logs};
use super::ranges::{Cell, Found, Ranges};
use maxmargin_core::Solve;
use maxmargin_cv::{Column, CvError, CvReport, CvWatch, FoldPlan, Quiet, Shared, Unlogged};
use maxmargin_data::Dataset;
use maxmargin_kernel::{Gamma, Kernel};

/// Who is told of a search, and where its cells are kept.
#[derive(Clone, Copy)]
pub struct Attended<'a> {
    /// Is told, and may end it.
    pub watch: &'a dyn CvWatch,
    /// Keeps what is done: [`Unlogged`] keeps nothing.
    pub logs: &'a dyn Logs,
}

/// An estimator and the values of C that it is tried with, each from the solution before.
pub(crate) struct Asked {
    pub(crate) svm: Svm,
    pub(crate) values: Vec<f64>,
}

impl Svm {
    /// Cross-validates every combination of `ranges` by `plan`, each to its full tolerance: values of `C` over the same kernel rows, each from the solution
    /// before; what differs in the kernel side by side.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], when no combination is a problem; where some are, the others are told in [`Found::failed`].
    pub fn grid(&self, data: &Dataset, plan: &FoldPlan, ranges: &Ranges) -> Result<Found<CvReport>, CvError> {
        self.grid_watched(data, plan, ranges, &Quiet, |_, report| report)
    }

    /// As [`Svm::grid`], telling `watch`, and keeping of every report what `each` makes of it: reports hold what every machine says of every sample. Fewer
    /// cells than combinations when `watch` ended the run.
    ///
    /// # Errors
    ///
    /// As [`Svm::grid`].
    pub fn grid_watched<T: Send>(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        ranges: &Ranges,
        watch: &dyn CvWatch,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<Found<T>, CvError> {
        self.grid_attended(data, plan, ranges, Attended { watch, logs: &Unlogged }, each)
    }

    /// As [`Svm::grid_watched`], with a log: cells that it has are not computed again, and all others are kept there as soon as they are done. What is
    /// found has the same bits whatever the log had.
    ///
    /// # Errors
    ///
    /// As [`Svm::grid`].
    pub fn grid_attended<T: Send>(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        ranges: &Ranges,
        attended: Attended,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<Found<T>, CvError> {
        let costs = ranges.costs(self.formulation);
        let asked: Vec<Asked> = ranges.columns(self).into_iter().map(|svm| Asked { svm, values: costs.clone() }).collect();
        self.stage(data, plan, asked, attended, each)?.or_error()
    }

    /// Cross-validates every column; an error is one of all of them.
    pub(crate) fn stage<T: Send>(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        asked: Vec<Asked>,
        attended: Attended,
        each: impl Fn(&Svm, CvReport) -> T + Sync,
    ) -> Result<Found<T>, CvError> {
        let (mut checked, mut failed) = (Vec::new(), Vec::new());
        for asked in asked {
            let first = asked.svm.formulation.with_c(asked.values[0]);
            match asked.svm.check().and_then(|()| first.check().map_err(CvError::from)) {
                Ok(()) => checked.push(asked),
                Err(found) => failed.push(Cell { svm: asked.svm, found }),
            }
        }
        let solvers: Vec<Box<dyn Solve>> = checked.iter().map(|asked| asked.svm.solve()).collect();
        let classes = self.classes(data)?;
        let weights = self.weights_of(classes.as_ref())?;
        let mut columns = Vec::new();
        for (Asked { svm, values }, solver) in checked.iter().zip(&solvers) {
            columns.push(Column {
                study: svm.study_of(data, classes.as_ref(), &weights, &**solver),
                values: values.clone(),
                most_errors: None,
            });
        }
        let keep = |column: usize, row: usize, report: CvReport| {
            let Asked { svm, values } = &checked[column];
            let svm = Svm { formulation: svm.formulation.with_c(values[row]), ..svm.clone() };
            let found = each(&svm, report);
            Cell { svm, found }
        };
        let keys = || {
            let base = Base::new(data, plan);
            checked.iter().map(|asked| base.column(&asked.svm, &asked.values)).collect()
        };
        let log = attended.logs.stage(&keys);
        let shared = Shared { plan, seeding: self.seeding, watch: attended.watch, log: &*log };
        let mut cells = Vec::new();
        for (asked, column) in checked.iter().zip(maxmargin_cv::grid(&columns, shared, keep)) {
            match column {
                Ok(column) => cells.extend(column),
                Err(found) => failed.push(Cell { svm: asked.svm.clone(), found }),
            }
        }
        Ok(Found { cells, failed })
    }

    /// The kernel as it is asked for: with the width of [`Svm::gamma`], where that is a number.
    pub fn kernel_given(&self) -> Kernel {
        match self.gamma {
            Some(Gamma::Value(gamma)) => self.kernel.clone().with_gamma(gamma),
            _ => self.kernel.clone(),
        }
    }
}

impl<T> Found<T> {
    /// The first failure, where there is nothing else.
    fn or_error(mut self) -> Result<Self, CvError> {
        if self.cells.is_empty() && !self.failed.is_empty() { Err(self.failed.swap_remove(0).found) } else { Ok(self) }
    }
}
