//! Data in: files, standard input, generators.

mod faults;
mod generated;
mod max_size;
mod names;
mod place;
mod read_columns;
pub(crate) mod request;
mod table;
mod unnamed;

use crate::console::failure::{Failure, reason};
use crate::console::format;
use crate::console::notes::Notes;
use crate::files::atomic_write::sweep;
use crate::files::output::write_whole;
use crate::files::signature::is_native_model;
pub(crate) use max_size::MaxSize;
use maxmargin::data::libsvm::{self, IndexBase, LineProblem, ReadError, ReadOptions};
use maxmargin::data::scale::ScaleError;
use maxmargin::data::table::LikelierTarget;
use maxmargin::data::{Columns, Dataset, Generator, Impute, Par, RunControl, cache, compress};
use maxmargin::model::Model;
pub(crate) use names::column_name;
use request::{DataRequest, FileFormat, ReadRequest};
use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
pub(crate) use table::WrittenTable;

/// A data set and its source.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its name in messages and reports.
    pub(crate) name: String,
    pub(crate) data: Dataset,
    /// Time to read or generate it.
    pub(crate) seconds: f64,
    /// True if there are labels: a table to predict may have none.
    pub(crate) is_labelled: bool,
    /// The line on which each row of a table begins.
    pub(crate) lines: Vec<u64>,
    /// The number of rows to predict without a label; their label is NaN.
    pub(crate) unlabelled: usize,
    /// The parts of a table that its predictions are written with; None for other formats.
    pub(crate) written: Option<WrittenTable>,
    /// A column of a table that looks more like the target than the one that was taken.
    pub(crate) likelier_target: Option<LikelierTarget>,
}

impl Input {
    /// Returns the name of a feature, numbered from 0, in messages: `feature 3`, `column age`.
    pub(crate) fn feature_name(&self, feature: usize) -> String {
        match self.data.columns.as_ref().and_then(|columns| columns.feature_name(feature)) {
            Some(name) => column_name(&name),
            None => format!("feature {}", feature + self.data.index_base as usize),
        }
    }
}

/// The treatment of missing values in a table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum GapRule {
    /// Errors, unless a model fills them in.
    #[default]
    Refused,
    /// Filled in by this rule, if there is one.
    Imputed(Option<Impute>),
    /// Counted.
    Described,
}

/// The requirements of a command on the data that it reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Requirements<'a> {
    /// The model that the data is for, which determines the index base or the columns.
    pub(crate) model: Option<&'a Model>,
    /// True if all labels must be known to the model.
    pub(crate) known_labels: bool,
    pub(crate) gaps: GapRule,
    /// True if all columns are features unless one is named as the target, as for one class.
    pub(crate) one_class: bool,
}

impl<'a> Requirements<'a> {
    /// For data that `model` predicts.
    pub(crate) fn by(model: &'a Model) -> Self {
        Self { model: Some(model), ..Self::default() }
    }

    /// For the training data of `model`.
    pub(crate) fn training(model: &'a Model) -> Self {
        Self { known_labels: true, ..Self::by(model) }
    }

    fn columns(&self) -> Option<&'a Columns> {
        self.model.and_then(Model::columns)
    }

    /// Returns whether missing values are accepted.
    fn missing(&self) -> bool {
        let of_model = || self.model.and_then(|model| model.parts().encoder.as_ref()?.impute());
        match self.gaps {
            GapRule::Refused => of_model().is_some(),
            GapRule::Imputed(how) => how.or_else(of_model).is_some(),
            GapRule::Described => true,
        }
    }
}

/// Reads or generates the data of a command.
pub(crate) fn load(args: &DataRequest, wanted: &Requirements, par: Par, notes: &mut Notes) -> Result<Input, Failure> {
    load_from(&args.source, &args.options, wanted, par, notes)
}

/// Reads or generates the data of `source`.
pub(crate) fn load_from(
    source: &str,
    args: &ReadRequest,
    wanted: &Requirements,
    par: Par,
    notes: &mut Notes,
) -> Result<Input, Failure> {
    load_until(None, source, args, wanted, par, notes)
}

/// Reads or generates the data of `source`, with an error at the time `until`.
pub(crate) fn load_until(
    until: Option<Instant>,
    source: &str,
    args: &ReadRequest,
    wanted: &Requirements,
    par: Par,
    notes: &mut Notes,
) -> Result<Input, Failure> {
    let begun = Instant::now();
    let found = place::find(source, notes);
    let source = &found[..];
    let is_file = source != "-" && Path::new(source).exists();
    let base = wanted.model.map(|model| model.parts().index_base);
    if source == generated::PENGUINS && !is_file {
        return generated::penguins(args, begun, wanted, notes);
    }
    let read = match source.parse::<Generator>() {
        Ok(generator) if !is_file => {
            table::check_options(FileFormat::Libsvm, wanted, &args.table)?;
            let mut data = generated::data(generator, args)?;
            args.warn_of_unused_cache(source, "generated", notes);
            as_of_columns(&mut data, source, wanted, notes);
            table::TableInput::of(data)
        }
        named => {
            if named.is_ok() {
                notes.note(&format!("{source}: reading the file of this name, not the generator"));
            }
            generated::refuse_options(source, args)?;
            generated::refuse_unknown_name(source)?;
            let reading = notes.phase(format!("reading {}", display_name(source)));
            let bytes = match &args.content {
                Some(content) => Cow::Borrowed(&content[..]),
                None => Cow::Owned(read_until(until, source, MaxSize::of(args.max_size))?),
            };
            let name = display_name(source);
            if is_native_model(&bytes) {
                let what =
                    "this is a model file in the place of the data: predict takes DATA MODEL, verify and explain MODEL DATA";
                return Err(Failure::input(name, what));
            }
            let format = table::format_of(source, &bytes, &args.table, notes);
            table::check_options(format, wanted, &args.table)?;
            let read = if format == FileFormat::Libsvm {
                let mut data = parse(&name, &bytes, args, base, until, par, notes)?;
                as_of_columns(&mut data, &name, wanted, notes);
                table::TableInput::of(data)
            } else {
                table::read(&name, &bytes, format, args, until, wanted, notes)?
            };
            drop(reading);
            read
        }
    };
    let name = display_name(source);
    if read.data.index_base == 0 && base.is_none() && !args.zero_based {
        notes.note(&format!("{name}: index 0 occurs, so features are numbered from 0"));
    }
    Ok(read.input(name, begun))
}

/// Gives data without column names the columns of the model, in their order.
fn as_of_columns(data: &mut Dataset, name: &str, wanted: &Requirements, notes: &Notes) {
    let Some(columns) = wanted.columns() else { return };
    notes.note(&format!(
        "{name}: the model was trained on a table and this file is none: feature 1 is taken for {}, and so on",
        columns.feature_name(0).unwrap_or_default()
    ));
    // The features of the columns are followed by the markers of missing values.
    let (features, width) = (data.samples.features(), columns.width());
    let most = width + columns.features().len();
    if features > most {
        notes.note(&format!("{name}: it has {features} features, the columns of the model {width}: the others are ignored"));
    }
    let wanted = features.clamp(width, most);
    if features != wanted {
        data.samples = data.samples.clone().with_features(wanted);
    }
    data.columns = Some(Arc::new(columns.clone()));
}

/// Returns the name of a source in messages.
pub(crate) fn display_name(source: &str) -> String {
    if source == "-" { "standard input".to_owned() } else { source.to_owned() }
}

/// Reads the text of a file that is not data: folds, ranges, numbers.
///
/// # Errors
///
/// The reason, worded to follow the name of the file.
pub(crate) fn read_text(path: &Path, most: MaxSize) -> Result<String, String> {
    let mut text = String::new();
    let mut file = File::open(path).map_err(|e| reason(&e))?.take(most.bytes.saturating_add(1));
    file.read_to_string(&mut text).map_err(|e| reason(&e))?;
    if text.len() as u64 > most.bytes {
        return Err(most.in_words());
    }
    // The mark of UTF-8 that some editors write is no part of the first line.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A reader that fails after a time limit.
struct DeadlineReader<R>(R, Option<Instant>);

impl<R: Read> Read for DeadlineReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.is_some_and(|until| Instant::now() >= until) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.read(buffer)
    }
}

fn time_limit_failure(name: &str) -> Failure {
    Failure::input(name, "the time limit came while it was read; raise --time-limit")
}

/// Reads all bytes of a file or of standard input (`-`), unpacked.
pub(crate) fn read_bytes(source: &str, most: MaxSize) -> Result<Vec<u8>, Failure> {
    read_until(None, source, most)
}

fn read_until(until: Option<Instant>, source: &str, most: MaxSize) -> Result<Vec<u8>, Failure> {
    let name = display_name(source);
    let failed = |error: &io::Error| match error.kind() {
        io::ErrorKind::TimedOut => time_limit_failure(&name),
        io::ErrorKind::FileTooLarge => most.exceeded(&name),
        _ => Failure::input(&name, reason(error)),
    };
    if source == "-" {
        return compress::read_all(DeadlineReader(io::stdin().lock(), until), most.bytes).map_err(|e| failed(&e));
    }
    let opened = match fs::metadata(source) {
        Ok(found) if found.is_dir() => return Err(Failure::input(name, "this is a directory; name a file in it")),
        Ok(found) if found.len() > most.bytes => return Err(most.exceeded(&name)),
        Ok(_) => File::open(source),
        Err(error) => Err(error),
    };
    let file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::input(&name, "no such file; check the path"),
        _ => Failure::input(&name, format!("cannot read: {}", reason(&error))),
    })?;
    compress::read_all(DeadlineReader(file, until), most.bytes).map_err(|e| failed(&e))
}

/// Parses the text, or reads it from the cache.
fn parse(
    name: &str,
    bytes: &[u8],
    args: &ReadRequest,
    base: Option<u32>,
    until: Option<Instant>,
    par: Par,
    notes: &mut Notes,
) -> Result<Dataset, Failure> {
    let index_base = match base {
        _ if args.zero_based => IndexBase::Zero,
        Some(0) => IndexBase::Zero,
        Some(_) => IndexBase::One,
        None => IndexBase::Auto,
    };
    let options = ReadOptions { index_base, sort: args.sort, ..ReadOptions::default() };
    let key = args.cache.as_ref().map(|folder| (folder, cache::key(bytes, &options)));
    args.cache.iter().for_each(|folder| sweep(folder));
    if let Some((folder, key)) = &key
        && let Ok(stored) = fs::read(cache_file(folder, key))
        && let Ok(data) = cache::decode_dataset(&stored, key)
    {
        return Ok(data);
    }
    let control = RunControl::unlimited().limit_time(until.map(|until| until.saturating_duration_since(Instant::now())));
    let data = libsvm::parse(bytes, &options, par, &control).map_err(|e| read_failure(name, &e))?;
    if let Some((folder, key)) = &key
        && let Err(error) = store(folder, key, &data)
    {
        notes.warn(format!("{}: cannot cache the parsed file here: {error}", folder.display()));
    }
    Ok(data)
}

fn cache_file(folder: &Path, key: &[u8; 32]) -> std::path::PathBuf {
    folder.join(crate::console::format::hex(key)).with_extension("mmdata")
}

fn store(folder: &Path, key: &[u8; 32], data: &Dataset) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| reason(&e))?;
    let bytes = cache::encode_dataset(data, key).map_err(|e| e.to_string())?;
    write_whole(&cache_file(folder, key), None, |out| out.write_all(&bytes)).map_err(|e| reason(&e))
}

/// Returns the failure of scaling, with the position of the value that overflows.
pub(crate) fn scale_failure(input: &Input, error: &ScaleError) -> Failure {
    let ScaleError::Overflow { row, feature, value, by } = error else { return Failure::input(&input.name, error) };
    let short = format::short(*value);
    let what = |feature: &str| {
        format!("{feature}: {short} overflows when it is scaled {by}; multiply this feature by a power of ten first")
    };
    if let (Some(columns), Some(line)) = (&input.data.columns, input.lines.get(*row)) {
        let column = columns.feature_name(*feature).unwrap_or_default();
        return Failure::input(format!("{}:{line}", input.name), what(&format!("column {column}")));
    }
    // The text is no longer in memory, so the file is read again to find the line.
    let text = fs::File::open(&input.name).and_then(|file| compress::read_all(file, u64::MAX)).unwrap_or_default();
    let place = match libsvm::line_of_row(&text, *row) {
        Some(line) => format!("{}:{line}", input.name),
        None => format!("{}: row {}", input.name, row + 1),
    };
    let index = *feature as u64 + u64::from(input.data.index_base);
    Failure::input(place, what(&format!("feature {index}")))
}

/// `FILE:LINE:COLUMN: what; what to do`
fn read_failure(name: &str, error: &ReadError) -> Failure {
    match error {
        ReadError::Cancelled => time_limit_failure(name),
        ReadError::Line { line, column, text, problem } if text.is_empty() => {
            Failure::input(format!("{name}:{line}:{column}"), problem)
        }
        ReadError::Line { line, column, text, problem } => {
            let what = match problem {
                LineProblem::Unsorted { previous } => {
                    format!("comes after index {previous}; indices must ascend in a row: sort the row or pass --sort")
                }
                LineProblem::ZeroIndex => "has index 0, but the features are numbered from 1 here; pass --zero-based".to_owned(),
                other => other.to_string(),
            };
            Failure::input(format!("{name}:{line}:{column}"), format!("`{text}` {what}"))
        }
        ReadError::Binary { line, column } => Failure::input(
            format!("{name}:{line}:{column}"),
            "this is a binary file or UTF-16 text, not LIBSVM-format text; pass the text file itself, in UTF-8",
        ),
        other => Failure::input(name, other),
    }
}

#[cfg(test)]
mod tests;
