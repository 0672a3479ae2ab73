//! The callbacks and logs of a search, and the keys of its cells: cells with equal keys have equal
//! bits.

use crate::Svm;
use maxmargin_cv::{CalibrationOptions, CellLog, FoldPlan, RunControl, TrainOptions, Unlogged};
use maxmargin_data::sealed::key_of;
use maxmargin_data::{Dataset, Par};
use maxmargin_model::data_sha256;

/// The keys of one column of a search: a kernel with all its values of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnKeys {
    /// The key of the whole column, for locks.
    pub column: [u8; 32],
    /// The key of each cell. It covers the data, the folds, every setting, and all values of C up
    /// to the cell's, because solutions pass from one C to the next.
    pub cells: Vec<[u8; 32]>,
}

/// Logs that store the cells of a search.
pub trait Logs: Sync {
    /// Returns the log of some columns. Columns are identified by their indices in the result of
    /// `keys`.
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_>;
}

impl Logs for Unlogged {
    fn stage(&self, _: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        Box::new(Self)
    }
}

/// The control and the logs of a search.
#[derive(Clone, Copy)]
pub struct SearchHooks<'a> {
    /// Receives progress, and can end the search.
    pub control: &'a RunControl<'a>,
    /// Store finished cells; [`Unlogged`] stores nothing.
    pub logs: &'a dyn Logs,
}

/// The key of data and folds, on which the keys of all cells depend.
pub(crate) struct Base([u8; 32]);

impl Base {
    /// Returns the key of data and folds.
    pub(crate) fn new(data: &Dataset, plan: &FoldPlan) -> Self {
        let shape = [data.samples.len(), data.samples.features(), data.index_base as usize];
        let version = env!("CARGO_PKG_VERSION");
        let mut parts = vec![version.to_owned(), format!("{shape:?}"), format!("{plan:?}")];
        // In tables, equal numbers can be features of different columns.
        parts.extend(data.columns.iter().map(|columns| format!("{columns:?}")));
        Self(key_of(parts.iter().map(String::as_bytes).chain([&data_sha256(data)[..]])))
    }

    /// Returns the keys of one estimator with its values of C and the number of errors at which a
    /// cell is pruned.
    pub(crate) fn column(&self, svm: &Svm, values: &[f64], most_errors: Option<usize>) -> ColumnKeys {
        // The key has every setting by name and value, except those that change no bit.
        let plain = TrainOptions {
            formulation: svm.formulation().with_c(1.0),
            goal: Some(svm.resolved_goal()),
            calibration: CalibrationOptions::default(),
            max_time: None,
            memory: 0,
            par: Par::Seq,
            ..svm.options.clone()
        };
        let mut last = key_of([&self.0[..], format!("{plain:?} {most_errors:?}").as_bytes()]);
        let mut next = |c: &f64| {
            last = key_of([&last[..], &c.to_le_bytes()]);
            last
        };
        let cells: Vec<[u8; 32]> = values.iter().map(&mut next).collect();
        ColumnKeys { column: key_of(cells.iter().map(|cell| &cell[..])), cells }
    }
}
