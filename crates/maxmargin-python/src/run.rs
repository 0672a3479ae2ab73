//! Background work without the interpreter lock: other Python threads run, signals are handled, and
//! progress is reported.

use crate::message::message;
use maxmargin::cv::{Progress, RunControl, Stage};
use maxmargin::data::MOST_THREADS;
use maxmargin::kernel::fallbacks;
use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::CString;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time between two checks of Python's signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// The time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// An error of the library, with a message for users.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The channel between a run and its caller: cancellation and progress.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    cancelled: AtomicBool,
    progress: Mutex<Progress>,
}

impl Channel {
    /// Returns true if the caller does not wait any more.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Returns `Break` if the caller does not wait any more.
    pub(crate) fn check(&self) -> ControlFlow<()> {
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Channel {
    /// Returns the control of the run: it stores progress, and ends with the wait of the caller.
    pub(crate) fn control(&self) -> RunControl<'_> {
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

/// The slot for the result of a worker.
struct ResultSlot<T> {
    result: Mutex<Option<std::thread::Result<Result<T, Failure>>>>,
    filled: Condvar,
}

/// Runs `work` on the pool without the interpreter lock and waits for it. A signal whose handler
/// raises (Ctrl-C) ends the wait at once. The [`Channel`] then cancels `work`, which ends at its
/// next check, and its result is dropped.
///
/// `report` is called about once a second with (stage, done, total, iterations, violation,
/// tolerance).
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Channel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_beside(py, report, || Ok(()), work)
}

/// Runs a few microseconds of `work` on the calling thread, without the interpreter lock.
pub(crate) fn at_once<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Failure> + Send) -> PyResult<T> {
    let result = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    warn_of_fallbacks(py)?;
    let result = result.map_err(|_| PyRuntimeError::new_err("internal error of maxmargin; standard error has the details"))?;
    result.map_err(|error| PyValueError::new_err(message(&*error)))
}

/// Runs as [`run`], and calls `meanwhile` on the calling thread at every check of Python's signals.
/// An error of `meanwhile` also ends the wait.
pub(crate) fn run_beside<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    meanwhile: impl Fn() -> PyResult<()>,
    work: impl FnOnce(&Channel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let channel = Arc::new(Channel::default());
    let slot = Arc::new(ResultSlot { result: Mutex::new(None), filled: Condvar::new() });
    let (worker_channel, worker_slot) = (Arc::clone(&channel), Arc::clone(&slot));
    // A thread of its own would take longer to start than a training of some hundred samples.
    pool.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| work(&worker_channel)));
        *lock(&worker_slot.result) = Some(result);
        worker_slot.filled.notify_one();
    });
    let mut last_report = Instant::now();
    loop {
        let result = py.detach(|| {
            let empty = |result: &mut Option<_>| result.is_none();
            let waited = slot.filled.wait_timeout_while(lock(&slot.result), SIGNAL_INTERVAL, empty);
            waited.unwrap_or_else(PoisonError::into_inner).0.take()
        });
        match result {
            Some(Ok(result)) => {
                warn_of_fallbacks(py)?;
                return result.map_err(|error| PyValueError::new_err(message(&*error)));
            }
            Some(Err(_)) => return Err(PyRuntimeError::new_err("internal error of maxmargin; standard error has the details")),
            None => {}
        }
        let signals = py.check_signals().and_then(|()| meanwhile()).and_then(|()| match report {
            Some(report) if last_report.elapsed() >= REPORT_INTERVAL => {
                last_report = Instant::now();
                report_progress(report, *lock(&channel.progress))
            }
            _ => Ok(()),
        });
        if let Err(error) = signals {
            channel.cancelled.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// Warns once in a process if a kernel implementation gave wrong values and another replaces it.
fn warn_of_fallbacks(py: Python<'_>) -> PyResult<()> {
    static REPORTED: AtomicUsize = AtomicUsize::new(0);
    let all = fallbacks();
    for fallback in all.iter().skip(REPORTED.swap(all.len(), Ordering::Relaxed)) {
        let text = CString::new(fallback.to_string())?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 2)?;
    }
    Ok(())
}

fn report_progress(report: &Bound<'_, PyAny>, progress: Progress) -> PyResult<()> {
    let stage = match progress.stage {
        Stage::Full => "train",
        Stage::Fold(_) => "fold",
        Stage::Machine(_) => "machine",
        Stage::Certify { .. } => "certify",
    };
    let Progress { done, total, iterations, violation, tol, .. } = progress;
    report.call1((stage, done, total, iterations, violation, tol))?;
    Ok(())
}

/// The pool of this process.
struct Pool {
    process: u32,
    threads: usize,
    own: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Returns the pool of this process. Threads do not survive a fork, so that a child makes its own
/// pool.
fn pool() -> PyResult<Arc<ThreadPool>> {
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

fn new_pool(threads: usize) -> PyResult<Pool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("maxmargin {at}")).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}")))?;
    Ok(Pool { process: std::process::id(), threads, own: Arc::new(pool) })
}

/// Returns the number of threads from the environment (joblib sets `OMP_NUM_THREADS` for its
/// workers), else the number of processors that this process can use.
///
/// # Errors
///
/// When `MAXMARGIN_NUM_THREADS` is not a valid number of threads. Invalid values of other programs'
/// variables are ignored.
fn default_threads() -> PyResult<usize> {
    const OWN: &str = "MAXMARGIN_NUM_THREADS";
    if let Some(value) = std::env::var_os(OWN).filter(|value| !value.is_empty()) {
        let value = value.to_string_lossy();
        let threads = value.trim().parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
        let what = || format!("{OWN} is {value:?}: it must be a whole number from 1 to {MOST_THREADS}, or unset");
        return threads.ok_or_else(|| PyValueError::new_err(what()));
    }
    let from_environment = |name: &str| std::env::var(name).ok()?.trim().parse().ok().filter(|threads| *threads > 0);
    let from_environment = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"].into_iter().find_map(from_environment);
    let threads = from_environment.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    Ok(threads.min(MOST_THREADS))
}

/// Returns the number of threads for trainings and predictions of this process.
///
/// Examples
/// --------
/// >>> import maxmargin
/// >>> maxmargin.threads() >= 1
/// True
#[pyfunction]
pub(crate) fn threads() -> PyResult<usize> {
    pool()?;
    Ok(lock(&POOL).as_ref().map_or(1, |known| known.threads))
}

/// Sets the number of threads. Current runs keep their threads. Results do not depend on the
/// number.
///
/// Parameters
/// ----------
/// count : int
///     From 1 to 512.
///
/// Examples
/// --------
/// >>> import maxmargin
/// >>> before = maxmargin.threads()
/// >>> maxmargin.set_threads(1)
/// >>> maxmargin.threads()
/// 1
/// >>> maxmargin.set_threads(before)
#[pyfunction]
pub(crate) fn set_threads(count: i64) -> PyResult<()> {
    let threads = usize::try_from(count).ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    let made = new_pool(threads.ok_or_else(|| PyValueError::new_err(format!("{count} threads: use 1 to {MOST_THREADS}")))?)?;
    let before = lock(&POOL).replace(made);
    if let Some(before) = before.filter(|before| before.process != std::process::id()) {
        std::mem::forget(before);
    }
    Ok(())
}
