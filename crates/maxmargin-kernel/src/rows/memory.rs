//! Work counts of a row store, and reservations of solvers within its memory budget.

use super::distinct_rows::DistinctRows;
use super::{Cache, Rows, lock};
use maxmargin_data::Par;
use maxmargin_simd::pages::Pages;
use std::ops::Deref;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Work of a row store since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowWork {
    /// Rows computed.
    pub computed: u64,
    /// Requests answered from memory.
    pub hits: u64,
    /// Bytes of kernel values that are held now.
    pub bytes: u64,
    /// The most bytes held at any time, including the reservations of solvers ([`Rows::reserve`]).
    pub peak_bytes: u64,
    /// Time that callers waited for rows to be computed, summed over callers.
    pub time: Duration,
}

impl RowWork {
    /// The work since `before`; byte counts are the current ones.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let (computed, hits) = (self.computed - before.computed, self.hits - before.hits);
        Self { computed, hits, time: self.time.saturating_sub(before.time), ..*self }
    }
}

/// Bytes that a solver holds in addition to the rows. Dropping the value releases them.
#[must_use = "the bytes are reserved as long as this value exists"]
pub struct RowReservation<'r> {
    rows: &'r Rows<'r>,
    bytes: u64,
}

impl Drop for RowReservation<'_> {
    fn drop(&mut self) {
        self.rows.reserved.fetch_sub(self.bytes, Relaxed);
        self.rows.fit();
    }
}

/// Pages that are kept between two solvers may take this fraction (one eighth) of the spare bytes,
/// because no reservation counts them.
const KEPT: u64 = 8;

/// Memory for one solver's stores of parts of the matrix. Dropping the value passes it to the next
/// solver.
pub struct PartPages<'r> {
    rows: &'r Rows<'r>,
    pages: Pages,
}

impl Deref for PartPages<'_> {
    type Target = Pages;

    fn deref(&self) -> &Pages {
        &self.pages
    }
}

impl Drop for PartPages<'_> {
    fn drop(&mut self) {
        if self.pages.bytes() <= self.rows.spare() / KEPT {
            self.rows.parts.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.pages));
        }
    }
}

impl Rows<'_> {
    /// Memory for a solver's stores of parts of the matrix ([`Rows::in_pages`]).
    ///
    /// It reuses the memory of an earlier solver, whose pages need no first touch. Memory that is
    /// large compared with the spare bytes is returned to the system instead.
    pub fn part_pages(&self) -> PartPages<'_> {
        let pages = self.parts.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        PartPages { rows: self, pages }
    }

    /// Reserves `bytes` for a solver's own data (factors, matrices of working sets) as long as the
    /// result exists. Where not all rows fit, the least recently used ones make room.
    pub fn reserve(&self, bytes: u64) -> RowReservation<'_> {
        let reserved = self.reserved.fetch_add(bytes, Relaxed) + bytes;
        self.fit();
        self.peak.fetch_max(reserved + self.bytes.load(Relaxed), Relaxed);
        RowReservation { rows: self, bytes }
    }

    /// Bytes that a solver may reserve: the part of the budget that all rows leave, or half of the
    /// budget where they do not fit.
    pub fn room(&self) -> u64 {
        let n = self.gram().len() as u64;
        let merged = self.merged.get().and_then(Option::as_deref).map_or(0, DistinctRows::bytes);
        if self.holds_all() { self.budget.saturating_sub(n * self.row_bytes() + merged) } else { self.budget / 2 }
    }

    /// Bytes that one thread may reserve now: its share of the free bytes, or of a quarter of the
    /// budget where rows can make room.
    pub fn spare(&self) -> u64 {
        let free = self.budget.saturating_sub(self.bytes.load(Relaxed) + self.reserved.load(Relaxed));
        let least = if self.holds_all() { 0 } else { self.budget / 4 };
        free.max(least) / self.par.threads() as u64
    }

    /// Drops rows until the rest and the reservations fit the budget.
    pub(super) fn fit(&self) {
        let Cache::Recent(lru) = &self.cache else { return };
        let n = self.gram().len();
        let most = self.budget.saturating_sub(self.reserved.load(Relaxed)) / self.row_bytes().max(1);
        let mut list = lock(lru);
        list.resize(Self::capacity(most as usize, n, self.par));
        self.set_bytes(self.row_bytes() * list.count() as u64);
    }

    /// The capacity of a store whose budget holds `most` of `n` rows: at least a few rows.
    pub(super) fn capacity(most: usize, n: usize, par: Par) -> usize {
        most.max(4 * par.threads()).min(n)
    }

    /// The memory budget in bytes.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    pub(super) fn count_bytes(&self, more: u64) {
        let bytes = self.bytes.fetch_add(more, Relaxed) + more;
        self.peak.fetch_max(bytes + self.reserved.load(Relaxed), Relaxed);
    }

    pub(super) fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Relaxed);
        self.peak.fetch_max(bytes + self.reserved.load(Relaxed), Relaxed);
    }
}
