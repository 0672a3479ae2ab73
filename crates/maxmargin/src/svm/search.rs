//! Many cross-validations: every combination of some values.

use super::Svm;
use super::ranges::{Cell, Found, Ranges};
use maxmargin_core::Solve;
use maxmargin_cv::{CvError, CvReport, CvWatch, FoldPlan, Quiet, Study};
use maxmargin_data::Dataset;
use maxmargin_kernel::{Gamma, Kernel};

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
        let (columns, costs) = (ranges.columns(self), ranges.costs(self.formulation));
        let mut checked = Vec::new();
        let mut failed = Vec::new();
        for svm in columns {
            match svm.check().and_then(|()| svm.formulation.with_c(costs[0]).check().map_err(CvError::from)) {
                Ok(()) => checked.push(svm),
                Err(found) => failed.push(Cell { svm, found }),
            }
        }
        let cell = |column: &Svm, c: f64| Svm { formulation: column.formulation.with_c(c), ..column.clone() };
        let solvers: Vec<Box<dyn Solve>> = checked.iter().map(Svm::solve).collect();
        let classes = self.classes(data)?;
        let weights = self.weights_of(classes.as_ref())?;
        let studies: Vec<Study> =
            checked.iter().zip(&solvers).map(|(svm, solver)| svm.study_of(data, classes.as_ref(), &weights, &**solver)).collect();
        let keep = |column: usize, row: usize, report: CvReport| {
            let svm = cell(&checked[column], costs[row]);
            let found = each(&svm, report);
            Cell { svm, found }
        };
        let columns = maxmargin_cv::grid(&studies, &costs, plan, self.seeding, watch, keep);
        let mut cells = Vec::new();
        for (svm, column) in checked.iter().zip(columns) {
            match column {
                Ok(column) => cells.extend(column),
                Err(found) => failed.push(Cell { svm: svm.clone(), found }),
            }
        }
        match failed.pop() {
            Some(only) if cells.is_empty() => {
                failed.push(only);
                Err(failed.swap_remove(0).found)
            }
            last => {
                failed.extend(last);
                Ok(Found { cells, failed })
            }
        }
    }

    /// The kernel as it is asked for: with the width of [`Svm::gamma`], where that is a number.
    pub fn kernel_given(&self) -> Kernel {
        match self.gamma {
            Some(Gamma::Value(gamma)) => self.kernel.clone().with_gamma(gamma),
            _ => self.kernel.clone(),
        }
    }
}
