//! Work on threads of its own, while Python goes on: other threads run, signals are heard, progress
//! is told.

use crate::message::message;
use maxmargin::cv::{CvProgress, CvWatch, Stage};
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

/// Between two looks at Python's signals.
const LISTEN: Duration = Duration::from_millis(20);

/// Between two reports of progress.
const TELL: Duration = Duration::from_secs(1);

/// Why work failed: an error of the library, whose words are for users.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a run and its caller tell each other.
#[derive(Debug, Default)]
pub(crate) struct Line {
    over: AtomicBool,
    progress: Mutex<CvProgress>,
}

impl Line {
    /// Whether the caller is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// `Break` once the caller is gone.
    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl CvWatch for Line {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        *held(&self.progress) = *progress;
        self.go_on()
    }
}

/// What a lock guards; nobody leaves it half-written.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a result is laid down.
struct Place<T> {
    result: Mutex<Option<std::thread::Result<Result<T, Failure>>>>,
    filled: Condvar,
}

/// Does `work` on the pool without the interpreter and waits for it. A signal whose handler raises
/// (Ctrl-C) ends the wait at once: `work` is told by its [`Line`], ends as soon as it looks there,
/// and what it finds is dropped.
///
/// `report` is called about once a second with (stage, done, total, iterations, violation,
/// tolerance).
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Line) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    run_beside(py, report, || Ok(()), work)
}

/// [`run`], and the calling thread does `meanwhile` at every look at Python's signals; its error
/// ends the wait like theirs.
pub(crate) fn run_beside<T: Send + 'static>(
    py: Python<'_>,
    report: Option<&Bound<'_, PyAny>>,
    meanwhile: impl Fn() -> PyResult<()>,
    work: impl FnOnce(&Line) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let line = Arc::new(Line::default());
    let place = Arc::new(Place { result: Mutex::new(None), filled: Condvar::new() });
    let (theirs, there) = (Arc::clone(&line), Arc::clone(&place));
    let worker = move || {
        let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&theirs))));
        *held(&there.result) = Some(result);
        there.filled.notify_one();
    };
    std::thread::Builder::new().name("maxmargin".to_owned()).spawn(worker)?;
    let mut told = Instant::now();
    loop {
        let result = py.detach(|| {
            let empty = |result: &mut Option<_>| result.is_none();
            let waited = place.filled.wait_timeout_while(held(&place.result), LISTEN, empty);
            waited.unwrap_or_else(PoisonError::into_inner).0.take()
        });
        match result {
            Some(Ok(result)) => {
                warn_of_fallbacks(py)?;
                return result.map_err(|error| PyValueError::new_err(message(&*error)));
            }
            Some(Err(_)) => return Err(PyRuntimeError::new_err("a fault inside maxmargin; its words are on the standard error")),
            None => {}
        }
        let heard = py.check_signals().and_then(|()| meanwhile()).and_then(|()| match report {
            Some(report) if told.elapsed() >= TELL => {
                told = Instant::now();
                tell(report, *held(&line.progress))
            }
            _ => Ok(()),
        });
        if let Err(error) = heard {
            line.over.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

/// Says once in a process when kernel values were wrong and how they are computed instead.
fn warn_of_fallbacks(py: Python<'_>) -> PyResult<()> {
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    let all = fallbacks();
    for fallback in all.iter().skip(TOLD.swap(all.len(), Ordering::Relaxed)) {
        let text = CString::new(fallback.to_string())?;
        PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 2)?;
    }
    Ok(())
}

fn tell(report: &Bound<'_, PyAny>, progress: CvProgress) -> PyResult<()> {
    let stage = match progress.stage {
        Stage::Full => "train",
        Stage::Fold(_) => "fold",
        Stage::Machine(_) => "machine",
        Stage::Certify { .. } => "certify",
    };
    let solver = progress.solver;
    report.call1((stage, progress.done, progress.total, solver.iterations, solver.violation, solver.tol))?;
    Ok(())
}

/// The pool of this process.
struct Pool {
    process: u32,
    threads: usize,
    own: Arc<ThreadPool>,
}

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Threads of a process that forked stay behind: the child makes its own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut current = held(&POOL);
    let process = std::process::id();
    if let Some(known) = current.take() {
        if known.process == process {
            let pool = Arc::clone(&known.own);
            *current = Some(known);
            return Ok(pool);
        }
        // Its threads are the parent's; to drop it would be to wait for them.
        std::mem::forget(known);
    }
    let made = made(usual()?)?;
    let pool = Arc::clone(&made.own);
    *current = Some(made);
    Ok(pool)
}

fn made(threads: usize) -> PyResult<Pool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|at| format!("maxmargin {at}")).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start {threads} threads: {error}")))?;
    Ok(Pool { process: std::process::id(), threads, own: Arc::new(pool) })
}

/// As many as the environment says (joblib's workers are told by `OMP_NUM_THREADS`), otherwise as
/// this process may use.
///
/// # Errors
///
/// When `MAXMARGIN_NUM_THREADS` is no number of threads. What others read in their variables, they
/// judge: it counts where it is one.
fn usual() -> PyResult<usize> {
    const OWN: &str = "MAXMARGIN_NUM_THREADS";
    if let Some(value) = std::env::var_os(OWN).filter(|value| !value.is_empty()) {
        let value = value.to_string_lossy();
        let threads = value.trim().parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
        let what = || format!("{OWN} is {value:?}: it must be a whole number from 1 to {MOST_THREADS}, or unset");
        return threads.ok_or_else(|| PyValueError::new_err(what()));
    }
    let said = |name: &str| std::env::var(name).ok()?.trim().parse().ok().filter(|threads| *threads > 0);
    let said = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS"].into_iter().find_map(said);
    let threads = said.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    Ok(threads.min(MOST_THREADS))
}

/// Threads that trainings and predictions of this process use.
#[pyfunction]
pub(crate) fn threads() -> PyResult<usize> {
    pool()?;
    Ok(held(&POOL).as_ref().map_or(1, |known| known.threads))
}

/// Sets the number of threads; those that run go on with what they have. Results do not depend on
/// it.
#[pyfunction]
pub(crate) fn set_threads(count: i64) -> PyResult<()> {
    let threads = usize::try_from(count).ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    let made = made(threads.ok_or_else(|| PyValueError::new_err(format!("{count} threads: use 1 to {MOST_THREADS}")))?)?;
    let before = held(&POOL).replace(made);
    if let Some(before) = before.filter(|before| before.process != std::process::id()) {
        std::mem::forget(before);
    }
    Ok(())
}
