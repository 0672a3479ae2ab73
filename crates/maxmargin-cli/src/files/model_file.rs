//! Model files in and out.

use crate::console::failure::Failure;
use crate::console::label_names;
use crate::files::input::{MaxSize, read_bytes};
use crate::files::output::Output;
use maxmargin::model::{self, Model};
use std::path::Path;

/// Reads a model file, native or LIBSVM's.
pub(crate) fn load(path: &Path, most: MaxSize) -> Result<Model, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(&name, most)?;
    decode(&name, &bytes)
}

/// Decodes the model in `bytes`.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Model, Failure> {
    let model = model::read(bytes).map_err(|error| match error {
        model::ModelError::Line { line, reason } => Failure::input(format!("{name}:{line}"), reason),
        other => Failure::input(name, other),
    })?;
    if !model.classes().is_empty() {
        model.columns().into_iter().for_each(label_names::remember);
    }
    Ok(model)
}

/// Returns the message of a model error in one line.
pub(crate) fn reason_of(error: &model::ModelError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes a model in the native format.
pub(crate) fn save(model: &Model, output: Output) -> Result<(), Failure> {
    let bytes = model::encode(model).map_err(|e| Failure::input(output.name(), e))?;
    output.write(|out| out.write_all(&bytes))
}
