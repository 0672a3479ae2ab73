//! Many cross-validations: every combination of some values.

use super::Svm;
use super::keys::{Base, Logs};
use super::ranges::{Cell, CellScore, Ranges, SearchResult};
use super::search::Search;
use maxmargin_core::Solve;
use maxmargin_cv::{Column, CvError, CvReport, CvWatch, FoldPlan, Quiet, Shared, Unlogged};
use maxmargin_data::Dataset;
use maxmargin_kernel::{Gamma, Kernel};

/// Who is told of a search, and where its cells are kept.
#[derive(Clone, Copy)]
pub struct SearchHooks<'a> {
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
    /// Cross-validates every combination of `ranges` by `plan`, each to its full tolerance: values
    /// of `C` over the same kernel rows, each from the solution before; what differs in the kernel
    /// side by side.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`], when no combination is a problem; where some are, the others are
    /// told in [`SearchResult::failed`].
    pub fn grid(&self, data: &Dataset, plan: &FoldPlan, ranges: &Ranges) -> Result<SearchResult<CvReport>, CvError> {
        self.grid_watched(data, plan, ranges, &Quiet, |_, report| report)
    }

    /// As [`Svm::grid`], telling `watch`, and keeping of every report what `each` makes of it:
    /// reports hold what every machine says of every sample. Fewer cells than combinations when
    /// `watch` ended the run.
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
    ) -> Result<SearchResult<T>, CvError> {
        self.search(data, plan, &Search::new(ranges.clone()), SearchHooks { watch, logs: &Unlogged }, each)
    }

    /// Cross-validates every column, and scores every cell; an error is one of all of them.
    pub(crate) fn stage<T: Send>(
        &self,
        (data, plan): (&Dataset, &FoldPlan),
        asked: Vec<Asked>,
        (attended, most_errors): (SearchHooks, Option<usize>),
        score: &(dyn Fn(&Svm, &CvReport) -> CellScore + Sync),
        each: &(impl Fn(&Svm, CvReport) -> T + Sync),
    ) -> Result<SearchResult<T>, CvError> {
        let (mut checked, mut failed) = (Vec::new(), Vec::new());
        for asked in asked {
            let first = asked.svm.formulation.with_c(asked.values[0]);
            match asked.svm.check().and_then(|()| first.check().map_err(CvError::from)) {
                Ok(()) => checked.push(asked),
                Err(found) => failed.push(Cell { svm: asked.svm, scored: CellScore::default(), found }),
            }
        }
        let solvers: Vec<Box<dyn Solve>> = checked.iter().map(|asked| asked.svm.solve()).collect();
        let classes = self.classes(data)?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| self.given_weights(classes))?;
        let mut columns = Vec::new();
        for (Asked { svm, values }, solver) in checked.iter().zip(&solvers) {
            let study = svm.study_of(data, classes.as_ref(), &weights, &**solver);
            columns.push(Column { study, values: values.clone(), most_errors });
        }
        let keep = |column: usize, row: usize, report: CvReport| {
            let Asked { svm, values } = &checked[column];
            let svm = Svm { formulation: svm.formulation.with_c(values[row]), ..svm.clone() };
            let scored = score(&svm, &report);
            let found = each(&svm, report);
            Cell { svm, scored, found }
        };
        let keys = || {
            let base = Base::new(data, plan);
            checked.iter().map(|asked| base.column(&asked.svm, &asked.values, most_errors)).collect()
        };
        let log = attended.logs.stage(&keys);
        let shared = Shared { plan, seeding: self.seeding, watch: attended.watch, log: &*log };
        let (mut cells, mut wanted) = (Vec::new(), 0);
        for (asked, column) in checked.iter().zip(maxmargin_cv::grid(&columns, shared, keep)) {
            match column {
                Ok(column) => {
                    cells.extend(column);
                    wanted += asked.values.len();
                }
                Err(found) => failed.push(Cell { svm: asked.svm.clone(), scored: CellScore::default(), found }),
            }
        }
        Ok(SearchResult { cells, failed, wanted, again: 0, descent: None })
    }

    /// The kernel as it is asked for: with the width of [`Svm::gamma`], where that is a number.
    pub fn kernel_given(&self) -> Kernel {
        match self.gamma {
            Some(Gamma::Value(gamma)) => self.kernel.clone().with_gamma(gamma),
            _ => self.kernel.clone(),
        }
    }
}
