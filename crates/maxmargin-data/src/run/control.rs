//! Control of a run: long work in pieces, with a check between them whether to continue.

use std::cell::{Cell, RefCell};

/// Operations between two checks, about: some hundredths of a second at most, on any machine.
const BETWEEN: u64 = 1 << 24;

/// The run was cancelled: the work under way has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was cancelled before it was done")]
pub struct Cancelled;

/// The control of a run: long work calls [`RunControl::check`], which calls back now and then.
///
/// Work is counted in operations, not in time, so that the same run checks at the same places.
///
/// ```
/// use maxmargin_data::RunControl;
///
/// let mut left = 3;
/// let mut may_continue = || { left -= 1; left > 0 };
/// let control = RunControl::new(&mut may_continue);
/// let done = (0..100).take_while(|_| control.check(1 << 24).is_ok()).count();
/// assert_eq!(done, 2);
/// ```
pub struct RunControl<'a> {
    may_continue: Option<RefCell<&'a mut dyn FnMut() -> bool>>,
    operations: Cell<u64>,
    cancelled: Cell<bool>,
}

impl<'a> RunControl<'a> {
    /// A run that continues until `may_continue` returns false, which is final.
    pub fn new(may_continue: &'a mut dyn FnMut() -> bool) -> Self {
        Self { may_continue: Some(RefCell::new(may_continue)), operations: Cell::new(0), cancelled: Cell::new(false) }
    }

    /// A run that is never cancelled.
    pub fn unlimited() -> Self {
        Self { may_continue: None, operations: Cell::new(0), cancelled: Cell::new(false) }
    }

    /// Counts `operations` of work, done or about to be done, and checks once many have come
    /// together.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    #[inline]
    pub fn check(&self, operations: u64) -> Result<(), Cancelled> {
        let counted = self.operations.get().saturating_add(operations);
        self.operations.set(counted);
        if counted >= BETWEEN { self.check_now() } else { self.state() }
    }

    /// Checks at once.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub fn check_now(&self) -> Result<(), Cancelled> {
        self.operations.set(0);
        if let Some(may_continue) = &self.may_continue
            && !self.cancelled.get()
        {
            // The callback does no work that checks: the borrow is exclusive.
            self.cancelled.set(!(may_continue.borrow_mut())());
        }
        self.state()
    }

    /// Operations between two checks: the size of a piece of work that cannot stop inside.
    pub const fn operations_between_checks() -> u64 {
        BETWEEN
    }

    fn state(&self) -> Result<(), Cancelled> {
        if self.cancelled.get() { Err(Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_stays_so_and_small_work_calls_nothing() {
        let mut calls = 0;
        let mut may_continue = || {
            calls += 1;
            calls == 1
        };
        let control = RunControl::new(&mut may_continue);
        assert!((0..100).all(|_| control.check(1).is_ok()));
        assert!(control.check(BETWEEN).is_ok() && control.check(BETWEEN - 1).is_ok());
        assert_eq!((control.check(1), control.check(1), control.check_now()), (Err(Cancelled), Err(Cancelled), Err(Cancelled)));
        assert_eq!(calls, 2);
        assert!((0..10).all(|_| RunControl::unlimited().check(u64::MAX).is_ok()));
    }
}
