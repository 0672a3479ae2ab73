//! Fields of columns as text, and calls of the libraries that decode columnar files.

#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::error::TableError;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use super::format::Columnar;
use std::cell::Cell;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use std::fmt;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows that are converted to text together. The fields of these rows are in memory twice.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) const BATCH: usize = 1024;

thread_local! {
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Columnar {
    /// An error that concerns the whole file.
    pub(super) fn fault(self, what: impl fmt::Display) -> TableError {
        TableError::Columnar { file: self, what: what.to_string() }
    }

    /// Runs the decoding library, which may panic on corrupted files.
    pub(super) fn guarded<T, E: fmt::Display>(self, work: impl FnOnce() -> Result<T, E>) -> Result<T, TableError> {
        DECODES.set(true);
        // Data that `work` changed are not used after a panic.
        let found = catch_unwind(AssertUnwindSafe(work));
        DECODES.set(false);
        match found {
            Ok(found) => found.map_err(|error| self.fault(error)),
            Err(_) => Err(self.fault("it is damaged; write it again")),
        }
    }
}

/// Returns whether this thread is running a decoding library, which may panic on corrupted files.
/// [`super::read`] converts the panic to an error, and the panic hook of a program should print
/// nothing.
pub fn decodes_columns() -> bool {
    DECODES.get()
}

/// Fields of a column as text that reads back as the same number.
#[cfg(any(feature = "arrow", feature = "parquet"))]
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: String,
    /// The end of each field in the text.
    ends: Vec<usize>,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds the field that `write_field` writes, or a missing value if it writes nothing. Returns
    /// its result.
    pub(super) fn push<T>(&mut self, write_field: impl FnOnce(&mut String) -> T) -> T {
        let result = write_field(&mut self.text);
        self.ends.push(self.text.len());
        result
    }

    pub(super) fn at(&self, row: usize) -> &str {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[begin..self.ends[row]]
    }
}
