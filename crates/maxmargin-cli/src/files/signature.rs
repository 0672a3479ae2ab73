//! The first bytes of model files.

use maxmargin::model;

/// Returns whether the bytes begin like a native model file of any version.
pub(crate) fn is_native_model(bytes: &[u8]) -> bool {
    bytes.starts_with(model::file::MAGIC.as_bytes())
}

/// Returns whether the bytes begin like a model file, native or LIBSVM's.
pub(crate) fn looks_like_model(bytes: &[u8]) -> bool {
    is_native_model(bytes) || model::libsvm::looks_like_model(bytes)
}
