//! What a cell of a search depends on, as a key: equal keys, equal bits.

use super::Svm;
use maxmargin_cv::{CalibrationOptions, CellLog, FoldPlan, Unlogged};
use maxmargin_data::sealed::key_of;
use maxmargin_data::{Dataset, Par};
use maxmargin_model::data_sha256;

/// The keys of one column of a search: a kernel with all its values of C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnKeys {
    /// Of all its cells together: who works on it holds this.
    pub column: [u8; 32],
    /// Of each cell: of the data, the folds, every setting, and all values of C up to its own,
    /// along which solutions are passed.
    pub cells: Vec<[u8; 32]>,
}

/// Where the cells of a search are kept.
pub trait Logs: Sync {
    /// The log of some columns, which are called by their places in what `keys` gives.
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_>;
}

impl Logs for Unlogged {
    fn stage(&self, _: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        Box::new(Self)
    }
}

/// What all cells of a search on some data depend on.
pub(crate) struct Base([u8; 32]);

impl Base {
    /// Of data and folds.
    pub(crate) fn new(data: &Dataset, plan: &FoldPlan) -> Self {
        let shape = [data.samples.len(), data.samples.features(), data.index_base as usize];
        let version = env!("CARGO_PKG_VERSION");
        let mut parts = vec![version.to_owned(), format!("{shape:?}"), format!("{plan:?}")];
        // Of a table the same numbers may be features of other columns.
        parts.extend(data.columns.iter().map(|columns| format!("{columns:?}")));
        Self(key_of(parts.iter().map(String::as_bytes).chain([&data_sha256(data)[..]])))
    }

    /// Of one estimator, its values of C, and the errors after which a cell is given up.
    pub(crate) fn column(&self, svm: &Svm, values: &[f64], most_errors: Option<usize>) -> ColumnKeys {
        // Every setting by name and value; what changes no bit is left out.
        let plain = Svm {
            formulation: svm.formulation().with_c(1.0),
            goal: Some(svm.resolved_goal()),
            calibration: CalibrationOptions::default(),
            max_time: None,
            memory: 0,
            par: Par::Seq,
            ..svm.clone()
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
