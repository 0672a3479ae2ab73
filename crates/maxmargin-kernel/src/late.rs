//! A value that is found when it is first wanted, by work that can be called off.

use std::sync::{Mutex, OnceLock, PoisonError};

/// [`OnceLock`] for work that may fail: it is done by one thread at a time, and again after a
/// failure.
#[derive(Debug)]
pub(crate) struct Late<T> {
    found: OnceLock<T>,
    finding: Mutex<()>,
}

impl<T> Default for Late<T> {
    fn default() -> Self {
        Self { found: OnceLock::new(), finding: Mutex::default() }
    }
}

impl<T> Late<T> {
    /// The value, if it has been found.
    pub(crate) fn get(&self) -> Option<&T> {
        self.found.get()
    }

    /// The value, found by `find` unless it is there.
    ///
    /// # Errors
    ///
    /// What `find` ended with.
    pub(crate) fn get_or_find<E>(&self, find: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        // Nothing is half done where somebody panicked.
        let _alone = self.finding.lock().unwrap_or_else(PoisonError::into_inner);
        match self.found.get() {
            Some(found) => Ok(found),
            None => find().map(|found| self.found.get_or_init(|| found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Late;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn what_failed_is_tried_again_and_what_was_found_is_kept() {
        let late = Late::default();
        assert_eq!(late.get_or_find(|| Err("called off")), Err("called off"));
        assert_eq!(late.get(), None);
        let tries = AtomicUsize::new(0);
        let find = || -> Result<usize, &str> {
            std::thread::yield_now();
            Ok(tries.fetch_add(1, Relaxed))
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| late.get_or_find(find).copied()))));
        assert_eq!((late.get_or_find(|| Err("found already")), tries.into_inner()), (Ok(&0), 1));
    }
}
