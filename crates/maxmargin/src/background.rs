//! Work in the background of an interpreter: it runs on the threads of the process, while the
//! interpreter's thread listens to its user and can cancel it.
//!
//! ```
//! use maxmargin::background::Job;
//! use maxmargin::prelude::*;
//! use std::time::Duration;
//!
//! let job = Job::start(|channel| {
//!     let data = Generator::TwoGaussians.generate(60, None, 1)?;
//!     Ok(Svm::rbf(0.5).fit_with(&data, &channel.control())?)
//! })?;
//! let fitted = loop {
//!     if let Some(result) = job.wait(Duration::from_millis(20)) {
//!         break result?; // until then, the caller may ask for interrupts and call `job.cancel()`
//!     }
//! };
//! assert!(fitted.certificate.holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parts;
mod threads;

pub use parts::{in_parts, products};
pub use threads::{ThreadsError, check_threads, set_threads, threads};

use maxmargin_data::{Progress, RunControl};
use std::error::Error;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An error of the library, with a message for users.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The channel between a job and its caller: cancellation and progress.
#[derive(Debug, Default)]
pub struct Channel {
    cancelled: AtomicBool,
    /// The time at which the caller stops waiting.
    deadline: Option<Instant>,
    progress: Mutex<Progress>,
}

impl Channel {
    /// Returns true if the caller does not wait any more.
    pub fn is_cancelled(&self) -> bool {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns `Break` if the caller does not wait any more.
    pub fn check(&self) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Returns the control of the job's runs. It stores progress, and ends with the wait of the
    /// caller.
    pub fn control(&self) -> RunControl<'_> {
        RunControl::new(|progress| {
            *lock(&self.progress) = *progress;
            self.check()
        })
    }
}

/// Locks a mutex. Poisoning is ignored, because no writer can leave a partial value.
fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The work failed.
    #[error("{0}")]
    Failed(Failure),
    /// The work panicked; the message is on standard error.
    #[error("internal error of maxmargin; standard error has the details")]
    Panicked,
}

/// Runs `work` on the calling thread, which saves the time that another thread takes to wake up.
/// Returns `None` if the work was cut because it had not ended after `most`: a [`Job`] does it
/// then.
pub fn at_once<T>(most: Duration, work: impl FnOnce(&Channel) -> Result<T, Failure>) -> Option<Result<T, JobError>> {
    let channel = Channel { deadline: Some(Instant::now() + most), ..Channel::default() };
    let result = catch_unwind(AssertUnwindSafe(|| work(&channel)));
    let is_cut = channel.cancelled.load(Ordering::Relaxed);
    (!is_cut).then(|| job_result(result))
}

fn job_result<T>(result: std::thread::Result<Result<T, Failure>>) -> Result<T, JobError> {
    result.map_err(|_| JobError::Panicked).and_then(|result| result.map_err(JobError::Failed))
}

/// The slot for the result of a job.
#[derive(Debug)]
struct ResultSlot<T> {
    result: Mutex<Option<std::thread::Result<Result<T, Failure>>>>,
    filled: Condvar,
}

/// Work that runs on the pool of this process. It is cancelled when the job is dropped.
#[derive(Debug)]
pub struct Job<T> {
    channel: Arc<Channel>,
    slot: Arc<ResultSlot<T>>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts `work` on the pool.
    ///
    /// # Errors
    ///
    /// As [`check_threads`], and when threads cannot be started.
    pub fn start(work: impl FnOnce(&Channel) -> Result<T, Failure> + Send + 'static) -> Result<Self, ThreadsError> {
        let pool = threads::pool()?;
        let channel = Arc::new(Channel::default());
        let slot = Arc::new(ResultSlot { result: Mutex::new(None), filled: Condvar::new() });
        let (worker_channel, worker_slot) = (Arc::clone(&channel), Arc::clone(&slot));
        // A thread of its own would take longer to start than a training of some hundred samples.
        pool.spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| work(&worker_channel)));
            *lock(&worker_slot.result) = Some(result);
            worker_slot.filled.notify_one();
        });
        Ok(Self { channel, slot })
    }

    /// Waits at most this long, and takes the result if it is there.
    pub fn wait(&self, most: Duration) -> Option<Result<T, JobError>> {
        let empty = |result: &mut Option<_>| result.is_none();
        let waited = self.slot.filled.wait_timeout_while(lock(&self.slot.result), most, empty);
        let result = waited.unwrap_or_else(PoisonError::into_inner).0.take()?;
        Some(job_result(result))
    }
}

impl<T> Job<T> {
    /// Ends the work at its next check. Its result is dropped.
    pub fn cancel(&self) {
        self.channel.cancelled.store(true, Ordering::Relaxed);
    }

    /// The last progress of the work.
    pub fn progress(&self) -> Progress {
        *lock(&self.channel.progress)
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_ends_at_its_next_check_when_it_is_dropped() {
        let (send, receive) = std::sync::mpsc::channel();
        let job = Job::start(move |channel| {
            while !channel.is_cancelled() {
                std::thread::yield_now();
            }
            Ok(send.send(())?)
        });
        let job = job.expect("threads");
        assert!(job.wait(Duration::from_millis(1)).is_none());
        drop(job);
        assert_eq!(receive.recv(), Ok(()));
    }

    #[test]
    fn work_at_once_ends_or_is_cut() {
        let minute = Duration::from_mins(1);
        assert_eq!(at_once(minute, |_| Ok(3)).expect("an end").expect("a result"), 3);
        assert!(matches!(at_once::<()>(minute, |_| panic!("for a test")), Some(Err(JobError::Panicked))));
        let told = at_once::<()>(minute, |_| Err("no rows".into())).expect("an end").expect_err("it fails");
        assert_eq!(told.to_string(), "no rows");
        let cut = at_once(Duration::ZERO, |channel| {
            while channel.check().is_continue() {
                std::thread::yield_now();
            }
            Ok(())
        });
        assert!(cut.is_none());
    }

    #[test]
    fn errors_and_panics_of_the_work_are_errors_of_the_job() {
        let failed = Job::<()>::start(|_| Err("no rows".into())).expect("threads");
        let told = failed.wait(Duration::from_mins(1)).expect("an end").expect_err("it fails");
        assert_eq!(told.to_string(), "no rows");
        let panicked = Job::<()>::start(|_| panic!("for a test")).expect("threads");
        let told = panicked.wait(Duration::from_mins(1)).expect("an end");
        assert!(matches!(told, Err(JobError::Panicked)), "{told:?}");
    }
}
