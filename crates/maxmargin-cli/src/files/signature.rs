//! The first bytes of model files.

use maxmargin::model;

/// Returns whether the bytes begin like a native model file of any version.
pub(crate) fn is_native_model(bytes: &[u8]) -> bool {
    bytes.starts_with(model::file::MAGIC.as_bytes())
}

/// Returns whether the bytes begin like a model file, native or LIBSVM's.
pub(crate) fn looks_like_model(bytes: &[u8]) -> bool {
    is_native_model(bytes) || (model::libsvm::looks_like_model(bytes) && !is_table_of_labels(bytes))
}

/// Returns whether the first line is the header `label` of a table. A model has labels after the
/// word, with blanks between them.
fn is_table_of_labels(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    line == b"label" || line.starts_with(b"label\t")
}
