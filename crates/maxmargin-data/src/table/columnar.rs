//! Files that hold columns with names and types: Parquet, and those of Arrow.

use super::cells::Cells;
use super::error::TableError;
use crate::asking::Asking;
#[cfg(any(feature = "arrow", feature = "parquet"))]
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{cell::Cell, fmt};

/// Rows that are turned into text together: the fields of all columns of so many are in memory
/// twice.
#[cfg(any(feature = "arrow", feature = "parquet"))]
pub(super) const BATCH: usize = 1024;

thread_local! {
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// A format of files that say by themselves what their columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columnar {
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow: a file (Feather) or a stream (IPC).
    Arrow,
}

impl Columnar {
    /// What this is, by how it begins.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        // A file, a stream, and Feather before it was a file of Arrow.
        let arrow: [&[u8]; 3] = [b"ARROW1", &[0xff; 4], b"FEA1"];
        if bytes.starts_with(b"PAR1") {
            Some(Self::Parquet)
        } else {
            arrow.iter().any(|begin| bytes.starts_with(begin)).then_some(Self::Arrow)
        }
    }

    /// The feature that reads them.
    pub fn feature(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// The fields of a file below a row of names. Columns that `leaves_out` says of all names have
    /// no fields, and may hold anything.
    pub(super) fn cells(
        self,
        bytes: &[u8],
        leaves_out: impl FnOnce(&[String]) -> Vec<bool>,
        asking: &Asking,
    ) -> Result<Cells, TableError> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Parquet => super::parquet::cells(bytes, leaves_out, asking),
            #[cfg(feature = "arrow")]
            Self::Arrow => super::arrow::cells(bytes, leaves_out, asking),
            #[cfg(not(all(feature = "arrow", feature = "parquet")))]
            _ => {
                let _ = (bytes, leaves_out, asking);
                Err(TableError::NotBuiltFor { file: self })
            }
        }
    }

    /// A fault of the file as a whole.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn fault(self, what: impl fmt::Display) -> TableError {
        TableError::Columnar { file: self, what: what.to_string() }
    }

    /// Runs the library for these files, which may panic at some that are damaged.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(super) fn guarded<T, E: fmt::Display>(self, work: impl FnOnce() -> Result<T, E>) -> Result<T, TableError> {
        DECODES.set(true);
        // Nothing that `work` has changed is used after a panic.
        let found = catch_unwind(AssertUnwindSafe(work));
        DECODES.set(false);
        match found {
            Ok(found) => found.map_err(|error| self.fault(error)),
            Err(_) => Err(self.fault("it is damaged; write it again")),
        }
    }
}

impl fmt::Display for Columnar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        })
    }
}

/// Whether this thread is inside a library for such files, which may panic at some that are
/// damaged: [`super::read`] makes an error of it, and the panic hook of a program had better say
/// nothing.
pub fn decodes_columns() -> bool {
    DECODES.get()
}

/// Fields of a column, one after the other, as text that reads back as the same number.
#[cfg(any(feature = "arrow", feature = "parquet"))]
#[derive(Debug, Default)]
pub(super) struct Fields {
    text: String,
    /// Where each ends in the text.
    ends: Vec<usize>,
}

#[cfg(any(feature = "arrow", feature = "parquet"))]
impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Adds the field that `say` writes; a gap where it writes nothing. What it says is returned.
    pub(super) fn push<T>(&mut self, say: impl FnOnce(&mut String) -> T) -> T {
        let said = say(&mut self.text);
        self.ends.push(self.text.len());
        said
    }

    pub(super) fn at(&self, row: usize) -> &str {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[begin..self.ends[row]]
    }
}
