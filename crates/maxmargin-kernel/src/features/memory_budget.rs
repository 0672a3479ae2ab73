//! The memory budget for the data that linear solvers hold in addition to the features.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A reservation may take this fraction (one quarter) of the budget. Concurrent folds share one
/// matrix, and a reservation must not depend on the order of the folds.
const SHARE: u64 = 4;

/// A budget in bytes, the reserved bytes, and their maximum so far.
#[derive(Debug)]
pub struct MemoryBudget {
    budget: u64,
    reserved: AtomicU64,
    peak: AtomicU64,
}

/// Reserved bytes of a [`MemoryBudget`]. Dropping the value releases them.
#[derive(Debug)]
#[must_use = "the bytes are reserved as long as this value exists"]
pub struct Reservation<'b> {
    memory_budget: &'b MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// A budget of `budget` bytes without reservations.
    pub fn new(budget: u64) -> Self {
        Self { budget, reserved: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Reserves `bytes` as long as the result exists; none where that is more than one reservation
    /// may take.
    pub fn reserve(&self, bytes: u64) -> Option<Reservation<'_>> {
        if bytes > self.budget / SHARE {
            return None;
        }
        let reserved = self.reserved.fetch_add(bytes, Relaxed) + bytes;
        self.peak.fetch_max(reserved, Relaxed);
        Some(Reservation { memory_budget: self, bytes })
    }

    /// The most bytes that were reserved at any time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Relaxed)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.memory_budget.reserved.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropping_a_reservation_releases_it_and_keeps_the_peak() {
        let memory_budget = MemoryBudget::new(400);
        let one = memory_budget.reserve(100).expect("a quarter");
        let two = memory_budget.reserve(60).expect("less");
        assert!(memory_budget.reserve(101).is_none(), "more than a quarter");
        drop(one);
        let three = memory_budget.reserve(90).expect("free again");
        assert_eq!(memory_budget.peak(), 160);
        drop((two, three));
        assert_eq!(memory_budget.reserved.load(Relaxed), 0);
    }
}
