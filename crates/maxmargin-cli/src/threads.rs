//! The one pool of threads.

use crate::failure::Failure;
use maxmargin::data::Par;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;

/// The pool that everything runs on; none for one thread.
pub(crate) struct Threads {
    pool: Option<ThreadPool>,
    count: usize,
}

impl Threads {
    /// As many threads as asked for, or as there are processors.
    pub(crate) fn new(wanted: Option<usize>) -> Result<Self, Failure> {
        let count = wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get));
        let pool = (count > 1).then(|| ThreadPoolBuilder::new().num_threads(count).build()).transpose();
        let pool = pool.map_err(|e| Failure::Usage(format!("--threads {count}: {e}; use fewer threads")))?;
        Ok(Self { pool, count })
    }

    pub(crate) fn par(&self) -> Par<'_> {
        self.pool.as_ref().map_or(Par::Seq, Par::Pool)
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }
}
