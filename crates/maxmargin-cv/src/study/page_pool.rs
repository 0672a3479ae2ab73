//! Memory for kernel values, reused by matrices, machines and studies.

use maxmargin_kernel::Pages;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Memory for kernel values that matrices and machines use one after the other: each takes memory
/// that an earlier one returned. The first touch of new memory costs more than most values.
///
/// A process that trains again and again on some thousand samples would pay it each time, so a
/// little of it remains for the next study.
#[derive(Clone)]
pub(crate) struct PagePool(Arc<Pool>);

struct Pool {
    /// For the rows of a machine.
    rows: Idle,
    /// For the exact values of a matrix.
    exact: Idle,
    /// The memory that earlier pools left.
    left: &'static Idle,
}

type Idle = Mutex<Vec<Pages>>;

/// The most bytes that remain after a study: a matrix of 5,700 samples.
const MOST_LEFT: u64 = 128 << 20;

/// The memory that remained after the studies of this process.
static LEFT: Idle = Mutex::new(Vec::new());

impl Default for PagePool {
    fn default() -> Self {
        Self::beside(&LEFT)
    }
}

impl PagePool {
    fn beside(left: &'static Idle) -> Self {
        Self(Arc::new(Pool { rows: Idle::default(), exact: Idle::default(), left }))
    }

    /// Calls `each` with memory for rows that no other thread uses meanwhile.
    pub(crate) fn with<T>(&self, each: impl FnOnce(Pages) -> T) -> T {
        let idle = || self.0.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let own = idle().pop();
        // The lock is not waited for: a forked process may have it locked for ever.
        let left_over = || self.0.left.try_lock().ok()?.pop();
        let pages = own.or_else(left_over).unwrap_or_default();
        let result = each(pages.clone());
        idle().push(pages);
        result
    }
}

/// The memory of a kernel matrix: that of its rows, and that of its exact values.
#[derive(Default)]
pub(crate) struct MatrixMemory {
    pool: PagePool,
    exact: OnceLock<Pages>,
}

impl MatrixMemory {
    pub(crate) fn of(pool: &PagePool) -> Self {
        Self { pool: pool.clone(), exact: OnceLock::new() }
    }

    /// The memory for the rows of machines.
    pub(crate) fn pool(&self) -> &PagePool {
        &self.pool
    }

    /// The memory for exact values, which returns to the pool with this matrix. Matrices that exist
    /// at the same time have memory of their own: a mapping is used again only when no piece of it
    /// is in use.
    pub(crate) fn exact(&self) -> &Pages {
        let idle = || self.pool.0.exact.lock().unwrap_or_else(PoisonError::into_inner).pop();
        self.exact.get_or_init(|| idle().unwrap_or_default())
    }
}

impl Drop for MatrixMemory {
    fn drop(&mut self) {
        let idle = || self.pool.0.exact.lock().unwrap_or_else(PoisonError::into_inner);
        self.exact.take().into_iter().for_each(|pages| idle().push(pages));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let idle = |list: &mut Idle| std::mem::take(list.get_mut().unwrap_or_else(PoisonError::into_inner));
        let (rows, exact) = (idle(&mut self.rows), idle(&mut self.exact));
        let Ok(mut left) = self.left.try_lock() else { return };
        let mut bytes: u64 = left.iter().map(Pages::bytes).sum();
        for pages in rows.into_iter().chain(exact) {
            let more = pages.bytes();
            if more > 0 && bytes + more <= MOST_LEFT {
                bytes += more;
                left.push(pages);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_uses_the_memory_of_the_last_one() {
        static OWN: Idle = Mutex::new(Vec::new());
        let used = |bytes: usize| {
            let pool = PagePool::beside(&OWN);
            pool.with(|pages| (pages.take(bytes).as_ptr() as usize, pages.bytes()))
        };
        let left = || OWN.lock().expect("no panic").iter().map(Pages::bytes).sum::<u64>();
        let first = used(1 << 20);
        assert_eq!((left(), used(1 << 20)), (first.1, first));
        // More than may remain is given back.
        assert!(used(usize::try_from(2 * MOST_LEFT).expect("a small number")).1 > MOST_LEFT);
        assert_eq!(left(), 0);
    }
}
