//! What every document ends with.

use crate::memory;
use crate::notes::Notes;
use crate::threads::Threads;
use serde::Serialize;

/// The means that a run had, and what it warned of.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct End {
    pub(crate) peak_rss_bytes: u64,
    pub(crate) threads: usize,
    version: &'static str,
    warnings: Vec<String>,
}

impl End {
    /// As things are at the end of a run.
    pub(crate) fn now(threads: &Threads, notes: &Notes) -> Self {
        Self {
            peak_rss_bytes: memory::peak(),
            threads: threads.count(),
            version: env!("CARGO_PKG_VERSION"),
            warnings: notes.warnings().to_vec(),
        }
    }
}
