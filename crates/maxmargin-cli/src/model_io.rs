//! Model files in and out.

use crate::failure::Failure;
use crate::input::{MaxSize, read_bytes};
use crate::names;
use crate::output::Output;
use maxmargin::model::{self, Model};
use std::path::Path;

/// Reads a model file, native or LIBSVM's.
pub(crate) fn load(path: &Path, most: MaxSize) -> Result<Model, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(&name, most)?;
    decode(&name, &bytes)
}

/// The model in `bytes`.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Model, Failure> {
    let model = model::read(bytes).map_err(|error| match error {
        model::ModelError::Line { line, reason } => Failure::input(format!("{name}:{line}"), reason),
        other => Failure::input(name, other),
    })?;
    if !model.classes().is_empty() {
        model.columns().into_iter().for_each(names::know);
    }
    Ok(model)
}

/// What is wrong with a model file, in one line.
pub(crate) fn reason_of(error: &model::ModelError) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the bytes begin like a model file of ours, of whatever format.
pub(crate) fn is_native_model(bytes: &[u8]) -> bool {
    bytes.starts_with(model::file::MAGIC.as_bytes())
}

/// Whether the bytes begin like a model file.
pub(crate) fn looks_like_model(bytes: &[u8]) -> bool {
    is_native_model(bytes) || model::libsvm::looks_like_model(bytes)
}

/// Writes a model in the native format.
pub(crate) fn save(model: &Model, output: Output) -> Result<(), Failure> {
    let bytes = model::encode(model).map_err(|e| Failure::input(output.name(), e))?;
    output.write(|out| out.write_all(&bytes))
}
