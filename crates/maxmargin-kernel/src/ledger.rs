//! Bytes that solvers over features hold beside them, within a budget.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One holder may take this part of a budget: folds that run side by side share one matrix, and who
/// has room must not depend on who came first.
const SHARE: u64 = 4;

/// What is held, and the most that ever was.
#[derive(Debug)]
pub struct MemoryBudget {
    budget: u64,
    held: AtomicU64,
    peak: AtomicU64,
}

/// Bytes that somebody holds; dropped, they are free again.
#[derive(Debug)]
#[must_use = "the bytes count as long as this is kept"]
pub struct Holding<'l> {
    ledger: &'l MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// Nothing is held of `budget` bytes.
    pub fn new(budget: u64) -> Self {
        Self { budget, held: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Notes that `bytes` are held as long as what is returned is kept; nothing where that is more
    /// than one holder may have.
    pub fn hold(&self, bytes: u64) -> Option<Holding<'_>> {
        if bytes > self.budget / SHARE {
            return None;
        }
        let held = self.held.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(held, Relaxed);
        Some(Holding { ledger: self, bytes })
    }

    /// The most bytes that were held at any time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.ledger.held.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_free_again_and_the_peak_stays() {
        let ledger = MemoryBudget::new(400);
        let one = ledger.hold(100).expect("a quarter");
        let two = ledger.hold(60).expect("less");
        assert!(ledger.hold(101).is_none(), "more than a quarter, whatever is free");
        drop(one);
        let three = ledger.hold(90).expect("free again");
        assert_eq!(ledger.peak(), 160);
        drop((two, three));
        assert_eq!(ledger.held.load(Relaxed), 0);
    }
}
