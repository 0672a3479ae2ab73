//! The threads of jobs: one pool for a process.

use super::lock;
use maxmargin_data::MOST_THREADS;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex};

/// The pool of this process.
struct Pool {
    process: u32,
    threads: usize,
    own: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Returns the pool of this process. Threads do not survive a fork, so that a child makes its own
/// pool.
pub(super) fn pool() -> Result<Arc<ThreadPool>, ThreadsError> {
    let mut current = lock(&POOL);
    let process = std::process::id();
    if let Some(known) = current.take() {
        if known.process == process {
            let pool = Arc::clone(&known.own);
            *current = Some(known);
            return Ok(pool);
        }
        // The threads belong to the parent, and a drop would wait for them.
        std::mem::forget(known);
    }
    let made = new_pool(default_threads()?)?;
    let pool = Arc::clone(&made.own);
    *current = Some(made);
    Ok(pool)
}

fn new_pool(threads: usize) -> Result<Pool, ThreadsError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("maxmargin {at}")).build();
    let pool = pool.map_err(|error| ThreadsError::Start { threads, reason: error.to_string() })?;
    Ok(Pool { process: std::process::id(), threads, own: Arc::new(pool) })
}

/// The environment variable with the number of threads.
const OWN: &str = "MAXMARGIN_NUM_THREADS";

/// The reason why there are no threads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadsError {
    /// The environment has no valid number.
    #[error("{OWN} is {value:?}: it must be a whole number from 1 to {MOST_THREADS}, or unset")]
    Environment {
        /// The value of the variable.
        value: String,
    },
    /// The caller has no valid number.
    #[error("{count} threads: use 1 to {MOST_THREADS}")]
    Count {
        /// The number.
        count: i64,
    },
    /// The system does not start them.
    #[error("cannot start {threads} threads: {reason}")]
    Start {
        /// The number of threads.
        threads: usize,
        /// The error of the system.
        reason: String,
    },
}

/// Returns the number of threads that the environment sets by our own variable.
fn own_threads() -> Result<Option<usize>, ThreadsError> {
    let Some(value) = std::env::var_os(OWN).filter(|value| !value.is_empty()) else { return Ok(None) };
    let value = value.to_string_lossy();
    let threads = value.trim().parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    threads.ok_or_else(|| ThreadsError::Environment { value: value.into_owned() }).map(Some)
}

/// Returns the number of threads from the environment (joblib sets `OMP_NUM_THREADS` for its
/// workers), else the number of processors that this process can use. Invalid values of other
/// programs' variables are ignored.
fn default_threads() -> Result<usize, ThreadsError> {
    if let Some(threads) = own_threads()? {
        return Ok(threads);
    }
    let from_environment = |name: &str| std::env::var(name).ok()?.trim().parse().ok().filter(|threads| *threads > 0);
    let from_environment = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"].into_iter().find_map(from_environment);
    let threads = from_environment.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    Ok(threads.min(MOST_THREADS))
}

/// Checks that the environment has a valid number of threads, without starting any: for work that
/// runs [`at_once`](super::at_once).
///
/// # Errors
///
/// When `MAXMARGIN_NUM_THREADS` is not a valid number of threads.
pub fn check_threads() -> Result<(), ThreadsError> {
    own_threads().map(drop)
}

/// Returns the number of threads for the jobs of this process. The first job starts them.
///
/// # Errors
///
/// As [`check_threads`].
pub fn threads() -> Result<usize, ThreadsError> {
    let process = std::process::id();
    let known = lock(&POOL).as_ref().filter(|known| known.process == process).map(|known| known.threads);
    known.map_or_else(default_threads, Ok)
}

/// Sets the number of threads. Current jobs keep their threads. Results do not depend on the
/// number.
///
/// # Errors
///
/// When the number is not from 1 to [`MOST_THREADS`], or threads cannot be started.
pub fn set_threads(count: i64) -> Result<(), ThreadsError> {
    let threads = usize::try_from(count).ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    let made = new_pool(threads.ok_or(ThreadsError::Count { count })?)?;
    let before = lock(&POOL).replace(made);
    if let Some(before) = before.filter(|before| before.process != std::process::id()) {
        std::mem::forget(before);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_threads_is_positive() {
        assert_eq!(set_threads(0), Err(ThreadsError::Count { count: 0 }));
        assert_eq!(check_threads(), Ok(()));
        let known = threads().expect("threads");
        assert!(known >= 1);
        assert_eq!(pool().expect("threads").current_num_threads(), known);
    }
}
