//! One stage of a search: columns of cells, each over shared kernel rows.

use super::cell::{Cell, CellScore};
use super::hooks::{Base, SearchHooks};
use super::result::SearchResult;
use crate::Svm;
use crate::svm::TrainingInput;
use maxmargin_core::Solve;
use maxmargin_cv::{CvError, CvReport, FoldPlan, GridColumn, Shared, Study};

/// A column of a search: an estimator and its values of C, each trained from the solution before.
pub(crate) struct SearchColumn {
    pub(crate) svm: Svm,
    pub(crate) values: Vec<f64>,
}

/// The data, folds and callbacks of one stage of a search.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(crate) input: TrainingInput<'a>,
    pub(crate) plan: &'a FoldPlan,
    pub(crate) hooks: SearchHooks<'a>,
    /// The number of errors at which a cell is pruned, if cells are pruned.
    pub(crate) most_errors: Option<usize>,
}

impl Svm {
    /// Cross-validates every column, and scores every cell. Returns an error if it concerns all
    /// columns.
    pub(crate) fn stage<T: Send>(
        &self,
        stage: &Stage,
        columns: Vec<SearchColumn>,
        score_of: &(dyn Fn(&Svm, &CvReport) -> CellScore + Sync),
        each: &(impl Fn(&Svm, CvReport) -> T + Sync),
    ) -> Result<SearchResult<T>, CvError> {
        let Stage { input: TrainingInput { data, prepared }, plan, hooks, most_errors } = *stage;
        let (mut checked, mut failed) = (Vec::new(), Vec::new());
        for asked in columns {
            let first = asked.svm.options.formulation.with_c(asked.values[0]);
            match asked.svm.check().and_then(|()| first.check().map_err(CvError::from)) {
                Ok(()) => checked.push(asked),
                Err(error) => failed.push(Cell { svm: asked.svm, score: CellScore::default(), result: error }),
            }
        }
        let solvers: Vec<Box<dyn Solve + Send>> = checked.iter().map(|asked| asked.svm.options.build_solver()).collect();
        let classes = self.classes(data)?;
        let weights = classes.as_ref().map_or(Ok(Vec::new()), |classes| self.options.given_weights(classes))?;
        let mut studies = Vec::new();
        for (SearchColumn { svm, values }, solver) in checked.iter().zip(&solvers) {
            let study = Study { prepared, ..Study::new(data, classes.as_ref(), &svm.options, &weights, &**solver) };
            studies.push(GridColumn { study, values: values.clone(), most_errors });
        }
        let keep = |column: usize, row: usize, report: CvReport| {
            let SearchColumn { svm, values } = &checked[column];
            let svm = svm.clone().with_c_if_any(values[row]);
            let score = score_of(&svm, &report);
            let result = each(&svm, report);
            Cell { svm, score, result }
        };
        let keys = || {
            let base = Base::new(data, plan);
            checked.iter().map(|asked| base.column(&asked.svm, &asked.values, most_errors)).collect()
        };
        let log = hooks.logs.stage(&keys);
        let shared = Shared { plan, seeding: self.options.seeding, control: hooks.control, log: &*log };
        let (mut cells, mut planned) = (Vec::new(), 0);
        for (asked, column) in checked.iter().zip(maxmargin_cv::grid(&studies, shared, keep)) {
            match column {
                Ok(column) => {
                    cells.extend(column);
                    planned += asked.values.len();
                }
                Err(error) => failed.push(Cell { svm: asked.svm.clone(), score: CellScore::default(), result: error }),
            }
        }
        Ok(SearchResult { cells, failed, planned, repeated_iterations: 0, descent: None })
    }
}
