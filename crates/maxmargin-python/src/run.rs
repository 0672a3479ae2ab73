//! Background work without the interpreter lock: other Python threads run, signals are handled, and
//! progress is reported.

use crate::message::message;
use maxmargin::background::{self, Job, JobError, ThreadsError, at_once};
pub(crate) use maxmargin::background::{Channel, Failure};
use maxmargin::cv::{Progress, Stage};
use maxmargin::data::{Dataset, Par};
use maxmargin::kernel::fallbacks;
use pyo3::exceptions::{PyRuntimeError, PyRuntimeWarning, PyValueError};
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time between two checks of Python's signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// The time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Runs `work` on the pool without the interpreter lock and waits for it. A signal whose handler
/// raises (Ctrl-C) ends the wait at once. The [`Channel`] then cancels `work`, which ends at its
/// next check, and its result is dropped.
///
/// `report` is called about once a second with (stage, done, total, iterations, violation,
/// tolerance, duality gap or `None`).
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Channel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_beside(py, report, || Ok(()), work)
}

/// The largest number of products of work on the calling thread: another thread would take as long
/// to wake up.
const FEW_PRODUCTS: usize = 1 << 20;

/// Returns the approximate number of products of a training: those of all samples with each other.
pub(crate) fn training_products(data: &Dataset) -> usize {
    data.samples.len().saturating_mul(data.samples.bytes() / size_of::<f64>())
}

/// Runs work of about so many `products` without the interpreter lock: as [`run`], or, if these are
/// few, on the calling thread ([`Par::Seq`]). If that has not ended at the first check of Python's
/// signals, it is cut and begins again as [`run`].
pub(crate) fn run_sized<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    products: usize,
    work: impl Fn(&Channel, Par) -> Result<T, Failure> + Send + Sync + 'static,
) -> PyResult<T> {
    // A number of threads that is no number is an error, even where one thread is enough.
    background::check_threads().map_err(no_threads)?;
    if products <= FEW_PRODUCTS
        && let Some(result) = py.detach(|| at_once(SIGNAL_INTERVAL, |channel| work(channel, Par::Seq)))
    {
        return value(py, result);
    }
    run(py, report, move |channel| work(channel, Par::Pool))
}

/// Runs as [`run`], and calls `meanwhile` on the calling thread at every check of Python's signals.
/// An error of `meanwhile` also ends the wait.
pub(crate) fn run_beside<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    meanwhile: impl Fn() -> PyResult<()>,
    work: impl FnOnce(&Channel) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let job = Job::start(work).map_err(no_threads)?;
    let mut last_report = Instant::now();
    loop {
        if let Some(result) = py.detach(|| job.wait(SIGNAL_INTERVAL)) {
            return value(py, result);
        }
        // An error drops the job, which cancels it.
        py.check_signals().and_then(|()| meanwhile()).and_then(|()| match report {
            Some(report) if last_report.elapsed() >= REPORT_INTERVAL => {
                last_report = Instant::now();
                report_progress(report, job.progress())
            }
            _ => Ok(()),
        })?;
    }
}

/// Returns the result of a job that has ended, or its error as an exception.
fn value<T>(py: Python<'_>, result: Result<T, JobError>) -> PyResult<T> {
    let result = match result {
        Err(error @ JobError::Panicked) => return Err(PyRuntimeError::new_err(error.to_string())),
        Err(JobError::Failed(error)) => Err(PyValueError::new_err(message(&*error))),
        Ok(value) => Ok(value),
    };
    warn_of_fallbacks(py)?;
    result
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
    let Progress { done, total, iterations, violation, tol, gap, .. } = progress;
    report.call1((stage, done, total, iterations, violation, tol, gap))?;
    Ok(())
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
    background::threads().map_err(no_threads)
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
    background::set_threads(count).map_err(no_threads)
}

fn no_threads(error: ThreadsError) -> PyErr {
    match error {
        ThreadsError::Start { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
