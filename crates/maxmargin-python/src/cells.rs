//! Cells of a search as sealed bytes, so that one process can compute them and another store them.

use crate::report::validation;
use crate::run::{Channel, Failure};
use maxmargin::cv::{CellLog, ColumnState, CvReport, Finished, FoldPlan};
use maxmargin::data::Dataset;
use maxmargin::{ColumnKeys, Logs, Ranges, Search, SearchHooks, Svm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// The key of a cell in hexadecimal, and its bytes.
pub(crate) type Sealed = (String, Vec<u8>);

/// A log that collects the keys of a search and computes nothing.
#[derive(Default)]
struct KeyCollector(Mutex<Vec<ColumnKeys>>);

impl Logs for KeyCollector {
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(keys());
        Box::new(SkipAll)
    }
}

/// A log of columns that all belong to other processes, so that the search skips them.
struct SkipAll;

impl CellLog for SkipAll {
    fn open(&self, _: usize) -> ColumnState {
        ColumnState::Theirs(Vec::new())
    }

    fn keep(&self, _: usize, _: usize, _: &Finished) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}

/// Returns the keys of the cells of every column of a search, in hexadecimal.
pub(crate) fn keys(
    svm: &Svm,
    data: &Dataset,
    plan: &FoldPlan,
    ranges: Ranges,
    channel: &Channel,
) -> Result<Vec<Vec<String>>, Failure> {
    let collector = KeyCollector::default();
    svm.search(data, plan, &Search::new(ranges), SearchHooks { control: &channel.control(), logs: &collector }, |_, _| ())?;
    let columns = collector.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(columns.iter().map(|column| column.cells.iter().map(hex).collect()).collect())
}

/// A queue of finished cells.
#[derive(Default)]
pub(crate) struct Outbox {
    done: Mutex<Vec<Sealed>>,
    failed: Mutex<Option<String>>,
}

impl Outbox {
    /// Takes the cells that finished since the last call.
    pub(crate) fn drain(&self) -> Vec<Sealed> {
        std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One column: its known cells, and the queue for the others.
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
    fn open(&self, _: usize) -> ColumnState {
        let known = self.cells.iter().zip(self.column.known).map_while(|(key, bytes)| Finished::decode(bytes, key).ok());
        ColumnState::Mine(known.collect())
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

/// Computes the rest of one column. `known` are its first cells; every other cell goes into
/// `outbox` as soon as it is finished.
pub(crate) fn solve(
    svm: &Svm,
    data: &Dataset,
    plan: &FoldPlan,
    ranges: Ranges,
    known: &[Vec<u8>],
    outbox: &Outbox,
    channel: &Channel,
) -> Result<(), Failure> {
    let logs = Column { known, outbox };
    let found = svm.search(
        data,
        plan,
        &Search::new(ranges),
        SearchHooks { control: &channel.control(), logs: &logs },
        |_, _: CvReport| (),
    )?;
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

/// Returns the cross-validation in the sealed bytes of a cell with this key.
#[pyfunction]
pub(crate) fn cell<'py>(py: Python<'py>, bytes: &[u8], key: &str) -> PyResult<Bound<'py, PyDict>> {
    let key = unhex(key)
        .ok_or_else(|| PyValueError::new_err(format!("`{key}` is not the key of a cell, which has 64 hexadecimal digits")))?;
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
