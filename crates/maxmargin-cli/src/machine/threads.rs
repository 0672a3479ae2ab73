//! The global thread pool of rayon.

use crate::console::failure::Failure;
use maxmargin::data::Par;
use rayon::ThreadPoolBuilder;
use std::num::NonZero;

/// The number of threads of the program.
pub(crate) struct Threads {
    count: usize,
}

impl Threads {
    /// Starts `wanted` threads, or one per processor.
    pub(crate) fn new(wanted: Option<usize>) -> Result<Self, Failure> {
        let count = wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get));
        if count > 1 {
            let built = ThreadPoolBuilder::new().num_threads(count).build_global();
            built.map_err(|e| Failure::Usage(format!("--threads {count}: {e}; use fewer threads")))?;
        }
        Ok(Self { count })
    }

    pub(crate) fn par(&self) -> Par {
        if self.count > 1 { Par::Pool } else { Par::Seq }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// `1 thread`, `2 threads`
    pub(crate) fn text(&self) -> String {
        text(self.count)
    }
}

/// `1 thread`, `2 threads`
pub(crate) fn text(count: usize) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}
