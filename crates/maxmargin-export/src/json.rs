//! Programs as JSON.

use crate::error::ExportError;
use crate::program::Program;

/// Returns the program as one JSON document (docs/guide/src/export.md).
///
/// # Errors
///
/// When it cannot be written as JSON.
pub fn json(program: &Program) -> Result<String, ExportError> {
    Ok(serde_json::to_string(program)? + "\n")
}
