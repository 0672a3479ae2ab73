//! Options of tables: files of comma- or tab-separated values, and files of Parquet and Arrow.

use crate::console::name_list::{NameList, names};
use crate::files::input::request::{FileFormat, TableRequest};
use clap::{Args, ValueEnum};

/// The format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// label index:value …
    Libsvm,
    /// fields separated by commas, semicolons, bars or tabs (detected)
    Csv,
    /// fields separated by tabs
    Tsv,
    /// Apache Parquet, in builds with the feature parquet
    Parquet,
    /// Apache Arrow (Feather, IPC), in builds with the feature arrow
    Arrow,
}

/// The header option of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeaderName {
    Yes,
    No,
}

/// The decimal separator of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecimalName {
    #[value(alias = ",")]
    Comma,
    #[value(alias = ".")]
    Point,
}

/// Options of reading tables.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableArgs {
    /// Format of the file [default: detected from its first lines and its name]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Separator of the fields of a table: one character, tab, or space for any number of blanks
    /// [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Lines before the first row, such as titles [default: comments and plain titles are detected]
    #[arg(long, value_name = "N")]
    pub(crate) skip_rows: Option<usize>,
    /// Decimal separator of numbers [default: a comma where it is plain, or else the point]
    #[arg(long, value_enum, value_name = "MARK")]
    pub(crate) decimal: Option<DecimalName>,
    /// First row holds names [default: detected]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) header: Option<HeaderName>,
    /// Column to predict, by name or by number from 1 [default: one called target, label, class or
    /// y, or the last; with a model its own]
    #[arg(long, value_name = "NAME", conflicts_with = "no_target")]
    pub(crate) target: Option<String>,
    /// No column to predict: all are features (as with --formulation one-class); in predict, labels
    /// are not compared
    #[arg(long)]
    pub(crate) no_target: bool,
    /// Columns to ignore, by name or number, comma-separated or repeated; a name with a comma is
    /// quoted as in CSV: --drop '"a,b",c'
    #[arg(long, value_name = "NAMES")]
    pub(crate) drop: Vec<NameList>,
    /// Columns whose values are categories, including numbers and words such as NA: one feature per
    /// distinct value; for the target: classes
    #[arg(long, value_name = "NAMES")]
    pub(crate) category: Vec<NameList>,
    /// More words for a missing value, comma-separated, besides the known ones (NA, N/A, NaN, None,
    /// null, ?, …); a number matches every spelling of its value
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) missing: Vec<NameList>,
}

impl TableArgs {
    pub(crate) fn request(&self) -> TableRequest {
        let format = self.format.map(|format| match format {
            FormatName::Libsvm => FileFormat::Libsvm,
            FormatName::Csv => FileFormat::Csv,
            FormatName::Tsv => FileFormat::Tsv,
            FormatName::Parquet => FileFormat::Parquet,
            FormatName::Arrow => FileFormat::Arrow,
        });
        TableRequest {
            format,
            delimiter: self.delimiter,
            skip_rows: self.skip_rows,
            decimal_comma: self.decimal.map(|mark| mark == DecimalName::Comma),
            header: self.header.map(|header| header == HeaderName::Yes),
            target: self.target.clone(),
            no_target: self.no_target,
            drop: names(&self.drop),
            keep: Vec::new(),
            groups: Vec::new(),
            category: names(&self.category),
            missing: names(&self.missing),
        }
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        [byte] if !(byte.is_ascii_alphanumeric() || matches!(byte, b'"' | b'\r' | b'\n')) => Ok(*byte),
        _ => Err("one character that is no letter, digit or quote, or tab, or space".to_owned()),
    }
}
