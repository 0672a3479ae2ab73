//! Work that runs while R listens to its user.

use crate::value::Value;
use maxmargin::background::{self, Channel, Failure};
use maxmargin::kernel::fallbacks;
use savvy::{Sexp, savvy, savvy_err};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Work that runs on the threads of this process. Dropped by R, it is cancelled.
///
/// @noRd
#[savvy]
pub struct Job {
    job: background::Job<Value>,
    result: Option<Value>,
}

impl Job {
    /// Starts `work`.
    pub(crate) fn start(work: impl FnOnce(&Channel) -> Result<Value, Failure> + Send + 'static) -> savvy::Result<Self> {
        Ok(Self { job: background::Job::start(work)?, result: None })
    }
}

#[savvy]
impl Job {
    /// Waits at most this long, and returns whether the work has ended.
    pub fn wait(&mut self, milliseconds: i32) -> savvy::Result<Sexp> {
        if self.result.is_none() {
            let most = Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
            self.result = self.job.wait(most).transpose()?;
        }
        self.result.is_some().try_into()
    }

    /// Returns the result of work that has ended.
    pub fn take(&mut self) -> savvy::Result<Sexp> {
        self.result.take().ok_or_else(|| savvy_err!("the work has not ended"))?.into_sexp()
    }

    /// Ends the work at its next check.
    pub fn cancel(&self) -> savvy::Result<()> {
        self.job.cancel();
        Ok(())
    }
}

/// Returns the number of threads of this process.
///
/// @noRd
#[savvy]
pub fn native_threads() -> savvy::Result<Sexp> {
    (background::threads()? as i32).try_into()
}

/// Sets the number of threads of this process.
///
/// @noRd
#[savvy]
pub fn native_set_threads(count: i32) -> savvy::Result<()> {
    Ok(background::set_threads(count.into())?)
}

/// Returns a message for each kernel implementation that gave wrong values and that another
/// replaces, once in a process.
///
/// @noRd
#[savvy]
pub fn native_fallbacks() -> savvy::Result<Sexp> {
    static REPORTED: AtomicUsize = AtomicUsize::new(0);
    let all = fallbacks();
    let new = all.iter().skip(REPORTED.swap(all.len(), Ordering::Relaxed));
    Value::Texts(new.map(ToString::to_string).collect()).into_sexp()
}
