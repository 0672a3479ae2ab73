//! Options of tables: files of comma- or tab-separated values, and files of Parquet and Arrow.

use clap::{Args, ValueEnum};

/// What a data file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// label index:value …
    Libsvm,
    /// fields between commas, semicolons, bars or tabs, whichever the file has
    Csv,
    /// fields between tabs
    Tsv,
    /// columns of Apache Parquet, in programs that were built with the feature parquet
    Parquet,
    /// columns of Apache Arrow (Feather, IPC), in programs that were built with the feature arrow
    Arrow,
}

/// Whether a table has a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderName {
    Yes,
    No,
}

/// How tables are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableArgs {
    /// What the file is [default: what its first lines and its name look like]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// What separates the fields of a table: one character, or tab [default: found]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Whether the first row of a table holds names [default: found]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) header: Option<HeaderName>,
    /// The column that is to be predicted, by name or by number from 1 [default: one called target,
    /// label, class or y, or the last; a model's own]
    #[arg(long, value_name = "NAME", conflicts_with = "no_target")]
    pub(crate) target: Option<String>,
    /// No column is to be predicted: all are features (as with --formulation one-class); in
    /// predict: labels are not compared
    #[arg(long)]
    pub(crate) no_target: bool,
    /// Columns to leave out, by name or number, with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Columns whose values are categories as they stand there, numbers and words such as NA among
    /// them: one feature for each different value; of the target: classes
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) category: Vec<String>,
    /// Words that stand for a missing value, with commas between, besides the known ones (NA, N/A,
    /// NaN, None, null, ?, …); a number stands for all of its value
    #[arg(long, value_name = "WORDS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
}

impl TableArgs {
    /// The first option that says what a table's columns are, where one is given.
    pub(crate) fn of_columns(&self) -> Option<&'static str> {
        let given = [
            (self.target.is_some(), "--target"),
            (self.no_target, "--no-target"),
            (!self.drop.is_empty(), "--drop"),
            (!self.category.is_empty(), "--category"),
            (!self.missing.is_empty(), "--missing"),
        ];
        given.into_iter().find(|given| given.0).map(|given| given.1)
    }

    /// The first option that says how text is cut into fields, where one is given.
    pub(crate) fn of_text(&self) -> Option<&'static str> {
        let given = [(self.delimiter.is_some(), "--delimiter"), (self.header.is_some(), "--header")];
        given.into_iter().find(|given| given.0).map(|given| given.1)
    }

    /// The first option that is for tables alone, where one is given.
    pub(crate) fn of_tables(&self) -> Option<&'static str> {
        self.of_columns().or_else(|| self.of_text())
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if !(byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\r' | b'\n')) => Ok(*byte),
        _ => Err("one character that is no letter, digit or quote, or tab".to_owned()),
    }
}
