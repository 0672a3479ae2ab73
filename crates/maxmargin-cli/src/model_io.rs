//! Model files in and out.

use crate::failure::Failure;
use crate::input::read_bytes;
use crate::output::Output;
use maxmargin::model::{self, Model, MulticlassModel, Stored};
use std::path::Path;

/// Reads a model file, native or LIBSVM's.
pub(crate) fn load(path: &Path) -> Result<Model, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(&name)?;
    decode(&name, &bytes)
}

/// Reads a model file of any number of classes.
pub(crate) fn load_any(path: &Path) -> Result<Stored, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(&name)?;
    decode_any(&name, &bytes)
}

/// The model of two classes in `bytes`.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Result<Model, Failure> {
    decode_any(name, bytes)?.two().map_err(|e| Failure::input(name, e))
}

/// The model in `bytes`.
pub(crate) fn decode_any(name: &str, bytes: &[u8]) -> Result<Stored, Failure> {
    model::read_any(bytes).map_err(|error| match error {
        model::ModelError::Line { line, reason } => Failure::input(format!("{name}:{line}"), reason),
        other => Failure::input(name, other),
    })
}

/// Whether the bytes begin like a model file.
pub(crate) fn looks_like_model(bytes: &[u8]) -> bool {
    bytes.starts_with(model::file::MAGIC.as_bytes()) || model::libsvm::looks_like_model(bytes)
}

/// Writes a model in the native format.
pub(crate) fn save(model: &Model, output: Output) -> Result<(), Failure> {
    let bytes = model::encode(model).map_err(|e| Failure::input(output.name(), e))?;
    output.write(|out| out.write_all(&bytes))
}

/// Writes a multi-class model in the native format.
pub(crate) fn save_multiclass(model: &MulticlassModel, output: Output) -> Result<(), Failure> {
    let bytes = model::encode_multiclass(model).map_err(|e| Failure::input(output.name(), e))?;
    output.write(|out| out.write_all(&bytes))
}
