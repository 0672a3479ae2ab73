//! The request for data: a source, and how to read or generate it.

use crate::console::notes::Notes;
use std::path::PathBuf;

/// The data of a command.
#[derive(Clone, Debug)]
pub(crate) struct DataRequest {
    /// A file, `-` for standard input, or the name of a generator.
    pub(crate) source: String,
    pub(crate) options: ReadRequest,
}

/// Options of reading and generating data.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadRequest {
    /// Rows of a generated data set.
    pub(crate) rows: Option<usize>,
    /// Features of a generated data set.
    pub(crate) features: Option<usize>,
    /// Seed of generators.
    pub(crate) seed: u64,
    /// True if features are numbered from 0.
    pub(crate) zero_based: bool,
    /// True if indices out of order are sorted instead of refused.
    pub(crate) sort: bool,
    /// The limit on the unpacked bytes of a file.
    pub(crate) max_size: Option<u64>,
    /// The folder in which parsed files are cached.
    pub(crate) cache: Option<PathBuf>,
    pub(crate) table: TableRequest,
    /// The unpacked bytes of the file, if they were read before.
    pub(crate) content: Option<Vec<u8>>,
}

impl ReadRequest {
    /// Warns of a cache that is not used, because only files of LIBSVM's format are cached.
    pub(super) fn warn_of_unused_cache(&self, name: &str, what: &str, notes: &mut Notes) {
        if self.cache.is_some() {
            notes.warn(format!("--cache: {name} is {what}, and only files of LIBSVM's format are cached; leave it out"));
        }
    }
}

/// The format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileFormat {
    Libsvm,
    Csv,
    Tsv,
    Parquet,
    Arrow,
}

/// Options of reading tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableRequest {
    /// The format; detected if none.
    pub(crate) format: Option<FileFormat>,
    /// The separator of fields; detected if none.
    pub(crate) delimiter: Option<u8>,
    /// The number of lines before the first row; detected if none.
    pub(crate) skip_rows: Option<usize>,
    /// True if numbers have a decimal comma; detected if none.
    pub(crate) decimal_comma: Option<bool>,
    /// True if the first row holds names; detected if none.
    pub(crate) header: Option<bool>,
    /// The column to predict, by name or by number from 1.
    pub(crate) target: Option<String>,
    /// True if there is no column to predict.
    pub(crate) no_target: bool,
    /// Columns to ignore.
    pub(crate) drop: Vec<String>,
    /// Columns that are kept as text beside predictions.
    pub(crate) keep: Vec<String>,
    /// The columns with the group of each row, for folds or for conformal predictions, each once;
    /// other formats than tables have files for them.
    pub(crate) groups: Vec<String>,
    /// Columns whose values are categories.
    pub(crate) category: Vec<String>,
    /// Words for a missing value, besides the known ones.
    pub(crate) missing: Vec<String>,
}

impl TableRequest {
    /// Returns the first given option about the columns of a table.
    pub(crate) fn of_columns(&self) -> Option<&'static str> {
        let given = [
            (self.target.is_some(), "--target"),
            (self.no_target, "--no-target"),
            (!self.drop.is_empty(), "--drop"),
            (!self.keep.is_empty(), "--id"),
            (!self.category.is_empty(), "--category"),
            (!self.missing.is_empty(), "--missing"),
        ];
        given.into_iter().find(|given| given.0).map(|given| given.1)
    }

    /// Returns the first given option about the fields of text.
    pub(crate) fn of_text(&self) -> Option<&'static str> {
        let given = [
            (self.delimiter.is_some(), "--delimiter"),
            (self.header.is_some(), "--header"),
            (self.skip_rows.is_some(), "--skip-rows"),
            (self.decimal_comma.is_some(), "--decimal"),
        ];
        given.into_iter().find(|given| given.0).map(|given| given.1)
    }

    /// Returns the first given option that applies to tables only.
    pub(crate) fn of_tables(&self) -> Option<&'static str> {
        self.of_columns().or_else(|| self.of_text())
    }
}
