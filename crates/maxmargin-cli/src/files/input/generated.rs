//! Generated data sets, and the refusal of names that are none.

use super::request::{FileFormat, ReadRequest};
use super::{Input, Requirements, table};
use crate::console::failure::Failure;
use crate::console::notes::Notes;
use maxmargin::data::{Dataset, Generator, generate};
use std::time::Instant;
use std::{fs, io};

/// Default number of generated rows.
const ROWS: usize = 1000;

/// The name of the generated table.
pub(super) const PENGUINS: &str = "penguins";

/// Generates a table with words and missing values.
pub(super) fn penguins(args: &ReadRequest, begun: Instant, wanted: &Requirements, notes: &mut Notes) -> Result<Input, Failure> {
    if args.features.is_some() {
        return Err(Failure::Usage(format!("--features: {PENGUINS} is a table with columns of its own; leave it out")));
    }
    let text = generate::penguins(args.rows.unwrap_or(generate::PENGUIN_ROWS), args.seed);
    let read = table::read(PENGUINS, text.as_bytes(), FileFormat::Csv, args, None, wanted, notes)?;
    Ok(read.input(PENGUINS.to_owned(), begun))
}

pub(super) fn data(generator: Generator, args: &ReadRequest) -> Result<Dataset, Failure> {
    let data = generator.generate(args.rows.unwrap_or(ROWS), args.features, args.seed);
    data.map_err(|e| Failure::Usage(e.to_string()))
}

pub(super) fn refuse_options(source: &str, args: &ReadRequest) -> Result<(), Failure> {
    if args.rows.is_none() && args.features.is_none() {
        return Ok(());
    }
    let names = generator_names();
    Err(Failure::Usage(format!("--rows and --features are for generators ({names}), and DATA is {source}; leave them out")))
}

/// The names of all generated data sets.
fn generator_names() -> String {
    let names: Vec<&str> = std::iter::once(PENGUINS).chain(Generator::ALL.map(Generator::name)).collect();
    names.join(", ")
}

/// Refuses a source that is neither a file nor a generator.
pub(super) fn refuse_unknown_name(source: &str) -> Result<(), Failure> {
    if source == "-" || !fs::metadata(source).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    let names = generator_names();
    Err(Failure::input(source, format!("no such file, and no generator of this name ({names}); check the path")))
}
