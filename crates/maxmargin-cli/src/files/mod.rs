//! Files: data and models in, outputs that are written completely or not at all.

pub(crate) mod atomic_write;
pub(crate) mod input;
pub(crate) mod lock;
pub(crate) mod model_file;
pub(crate) mod output;
pub(crate) mod output_paths;
pub(crate) mod picture;
pub(crate) mod range_file;
pub(crate) mod signature;
