//! Binary forms: encoded values, sealed files, the cache of parsed data, compressed input.

pub mod cache;
pub mod codec;
pub mod compress;
pub mod sealed;
mod zstd;
