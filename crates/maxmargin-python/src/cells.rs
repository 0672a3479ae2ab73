//! Cells of a search as sealed bytes: who computes them need not be who keeps them.

use crate::report::validation;
use crate::run::{Failure, Line};
use maxmargin::cv::{CellLog, CvReport, Finished, FoldPlan, Opened};
use maxmargin::data::Dataset;
use maxmargin::{ColumnKeys, Logs, Ranges, Search, SearchHooks, Svm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// A cell's key in hexadecimal, and its bytes.
pub(crate) type Sealed = (String, Vec<u8>);

/// What a search asks for, without doing any of it.
#[derive(Default)]
struct Asked(Mutex<Vec<ColumnKeys>>);

impl Logs for Asked {
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(keys());
        Box::new(Nobodys)
    }
}

/// Every column is somebody else's.
struct Nobodys;

impl CellLog for Nobodys {
    fn open(&self, _: usize) -> Opened {
        Opened::Theirs(Vec::new())
    }

    fn keep(&self, _: usize, _: usize, _: &Finished) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}

/// The keys of the cells of every column of a search, in hexadecimal.
pub(crate) fn keys(
    svm: &Svm,
    (data, plan): (&Dataset, &FoldPlan),
    ranges: Ranges,
    line: &Line,
) -> Result<Vec<Vec<String>>, Failure> {
    let asked = Asked::default();
    svm.search(data, plan, &Search::new(ranges), SearchHooks { watch: line, logs: &asked }, |_, _| ())?;
    let columns = asked.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(columns.iter().map(|column| column.cells.iter().map(hex).collect()).collect())
}

/// Hands cells on as they are done.
#[derive(Default)]
pub(crate) struct Outbox {
    done: Mutex<Vec<Sealed>>,
    failed: Mutex<Option<String>>,
}

impl Outbox {
    /// What was done since this was asked last.
    pub(crate) fn taken(&self) -> Vec<Sealed> {
        std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One column: what is known of it, and where the rest goes.
struct Column<'a> {
    known: &'a [Vec<u8>],
    outbox: &'a Outbox,
}

impl Logs for Column<'_> {
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        let cells = keys().into_iter().next().map_or_else(Vec::new, |column| column.cells);
        Box::new(Stage { column: self, cells })
    }
}

struct Stage<'a> {
    column: &'a Column<'a>,
    cells: Vec<[u8; 32]>,
}

impl CellLog for Stage<'_> {
    fn open(&self, _: usize) -> Opened {
        let known = self.cells.iter().zip(self.column.known).map_while(|(key, bytes)| Finished::decode(bytes, key).ok());
        Opened::Mine(known.collect())
    }

    fn keep(&self, _: usize, row: usize, cell: &Finished) -> ControlFlow<()> {
        let (key, Column { outbox, .. }) = (&self.cells[row], self.column);
        match cell.encode(key) {
            Ok(bytes) => {
                outbox.done.lock().unwrap_or_else(PoisonError::into_inner).push((hex(key), bytes));
                ControlFlow::Continue(())
            }
            Err(error) => {
                *outbox.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                ControlFlow::Break(())
            }
        }
    }

    fn close(&self, _: usize) {}
}

/// Does what is left of one column: its cells go into `outbox`, each as it is done. `known` are its
/// first cells.
pub(crate) fn solve(
    svm: &Svm,
    (data, plan): (&Dataset, &FoldPlan),
    ranges: Ranges,
    (known, outbox): (&[Vec<u8>], &Outbox),
    line: &Line,
) -> Result<(), Failure> {
    let logs = Column { known, outbox };
    let found = svm.search(data, plan, &Search::new(ranges), SearchHooks { watch: line, logs: &logs }, |_, _: CvReport| ())?;
    if let Some(failed) = outbox.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(failed.into());
    }
    if let Some(failed) = found.failed.first() {
        return Err(failed.result.to_string().into());
    }
    if found.cells.len() < found.planned {
        return Err("the column was ended before its last cell".into());
    }
    Ok(())
}

/// The cross-validation that sealed bytes hold, which were kept under this key.
#[pyfunction]
pub(crate) fn cell<'py>(py: Python<'py>, bytes: &[u8], key: &str) -> PyResult<Bound<'py, PyDict>> {
    let key = unhex(key).ok_or_else(|| PyValueError::new_err(format!("`{key}` is no key of a cell: 64 hexadecimal digits")))?;
    let found = Finished::decode(bytes, &key).map_err(crate::data::invalid)?;
    validation(py, found.report)
}

fn hex(key: &[u8; 32]) -> String {
    use std::fmt::Write as _;
    key.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (k, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * k..2 * k + 2], 16).ok()?;
    }
    Some(key)
}
