//! Cancellation of long work, which asks a callback between its pieces.

use std::cell::{Cell, RefCell};

/// Approximate number of operations between two checks: some hundredths of a second at most on any
/// machine.
const BETWEEN: u64 = 1 << 24;

/// The caller has cancelled the work; it has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work was called off before it was done")]
pub struct Halted;

/// Asks a callback during long work whether to continue. Work is counted in operations, not in
/// time, so that repeated runs check at the same places.
///
/// ```
/// use maxmargin_data::Asking;
///
/// let mut patience = 3;
/// let mut go_on = || { patience -= 1; patience > 0 };
/// let asking = Asking::new(&mut go_on);
/// let done = (0..100).take_while(|_| asking.spend(1 << 24).is_ok()).count();
/// assert_eq!(done, 2);
/// ```
pub struct Asking<'a> {
    go_on: Option<RefCell<&'a mut dyn FnMut() -> bool>>,
    spent: Cell<u64>,
    halted: Cell<bool>,
}

impl<'a> Asking<'a> {
    /// Calls `go_on` at each check, until it returns `false`.
    pub fn new(go_on: &'a mut dyn FnMut() -> bool) -> Self {
        Self { go_on: Some(RefCell::new(go_on)), spent: Cell::new(0), halted: Cell::new(false) }
    }

    /// Never cancels.
    pub fn nobody() -> Self {
        Self { go_on: None, spent: Cell::new(0), halted: Cell::new(false) }
    }

    /// Counts `operations` that were done or follow next, and checks after many of them.
    ///
    /// # Errors
    ///
    /// When the work is cancelled.
    #[inline]
    pub fn spend(&self, operations: u64) -> Result<(), Halted> {
        let spent = self.spent.get().saturating_add(operations);
        self.spent.set(spent);
        if spent >= BETWEEN { self.ask() } else { self.answer() }
    }

    /// Checks now.
    ///
    /// # Errors
    ///
    /// When the work is cancelled.
    pub fn ask(&self) -> Result<(), Halted> {
        self.spent.set(0);
        if let Some(go_on) = &self.go_on
            && !self.halted.get()
        {
            // The callback must not use this value itself: `borrow_mut` would panic.
            self.halted.set(!(go_on.borrow_mut())());
        }
        self.answer()
    }

    /// The number of operations between two checks: the largest reasonable size of a piece of work
    /// that cannot stop inside.
    pub const fn piece() -> u64 {
        BETWEEN
    }

    fn answer(&self) -> Result<(), Halted> {
        if self.halted.get() { Err(Halted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_stays_a_no_and_small_work_asks_nobody() {
        let mut asked = 0;
        let mut go_on = || {
            asked += 1;
            asked == 1
        };
        let asking = Asking::new(&mut go_on);
        assert!((0..100).all(|_| asking.spend(1).is_ok()));
        assert!(asking.spend(BETWEEN).is_ok() && asking.spend(BETWEEN - 1).is_ok());
        assert_eq!((asking.spend(1), asking.spend(1), asking.ask()), (Err(Halted), Err(Halted), Err(Halted)));
        assert_eq!(asked, 2);
        assert!((0..10).all(|_| Asking::nobody().spend(u64::MAX).is_ok()));
    }
}
