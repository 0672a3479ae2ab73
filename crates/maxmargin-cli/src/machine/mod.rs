//! The machine: its memory, threads and SIMD level, and the version of the program on it.

pub(crate) mod memory;
pub(crate) mod simd_level;
pub(crate) mod threads;
pub(crate) mod version;
