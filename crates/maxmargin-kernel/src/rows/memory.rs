//! What a row store has done and holds, and what solvers hold beside it, within one budget.

use super::{Held, Rows, lock};
use crate::distinct::Merged;
use maxmargin_data::Par;
use maxmargin_simd::pages::Pages;
use std::ops::Deref;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Work that a row store has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowWork {
    /// Rows computed.
    pub computed: u64,
    /// Requests answered from memory.
    pub hits: u64,
    /// Bytes of kernel values held now.
    pub bytes: u64,
    /// The most bytes held at any time, with what solvers held beside the rows ([`Rows::lend`]).
    pub peak_bytes: u64,
    /// Time that callers waited for rows to be computed, summed over callers.
    pub time: Duration,
}

impl RowWork {
    /// What was done after `before`; bytes are those of now.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let (computed, hits) = (self.computed - before.computed, self.hits - before.hits);
        Self { computed, hits, time: self.time.saturating_sub(before.time), ..*self }
    }
}

/// Bytes that a solver holds beside the rows; dropped, they are free again.
#[must_use = "the bytes count as long as this is kept"]
pub struct Reservation<'r> {
    rows: &'r Rows<'r>,
    bytes: u64,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.rows.lent.fetch_sub(self.bytes, Relaxed);
        self.rows.fit();
    }
}

/// Of what may still be held, the part that one solver's pages may take between two solvers: nobody
/// counts them meanwhile.
const KEPT: u64 = 8;

/// Memory for stores of parts of the matrix, one solver's alone; dropped, it is the next solver's.
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
    /// Memory for a solver's stores of parts of the matrix ([`Rows::with_pages`]): that of the
    /// solver before it, whose pages need no first touch, if nobody has it. What is large beside
    /// the memory that is left goes back to the system.
    pub fn part_pages(&self) -> PartPages<'_> {
        let pages = self.parts.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        PartPages { rows: self, pages }
    }

    /// Notes that a solver holds `bytes` of its own beside the rows (factors, matrices of working
    /// sets) as long as it keeps what is returned. Where not all rows fit, some make room for it.
    pub fn lend(&self, bytes: u64) -> Reservation<'_> {
        let lent = self.lent.fetch_add(bytes, Relaxed) + bytes;
        self.fit();
        self.peak.fetch_max(lent + self.bytes.load(Relaxed), Relaxed);
        Reservation { rows: self, bytes }
    }

    /// Bytes that a solver may hold beside the rows: what all rows leave, or half where they do not
    /// fit.
    pub fn room(&self) -> u64 {
        let n = self.gram().len() as u64;
        let merged = self.merged.get().and_then(Option::as_deref).map_or(0, Merged::bytes);
        if self.holds_all() { self.budget.saturating_sub(n * self.row_bytes() + merged) } else { self.budget / 2 }
    }

    /// Bytes that one of the threads may hold beside the rows that are there now: what is free, and
    /// at least a quarter of the budget where rows make room for it.
    pub fn spare(&self) -> u64 {
        let free = self.budget.saturating_sub(self.bytes.load(Relaxed) + self.lent.load(Relaxed));
        let least = if self.holds_all() { 0 } else { self.budget / 4 };
        free.max(least) / self.par.threads() as u64
    }

    /// Holds as many rows as what is lent leaves room for.
    pub(super) fn fit(&self) {
        let Held::Recent(lru) = &self.held else { return };
        let n = self.gram().len();
        let most = self.budget.saturating_sub(self.lent.load(Relaxed)) / self.row_bytes().max(1);
        let mut list = lock(lru);
        list.resize(Self::capacity(most as usize, n, self.par));
        self.set_bytes(self.row_bytes() * list.count() as u64);
    }

    /// Rows of a store that may hold `most` of `n`: a few are needed in any case.
    pub(super) fn capacity(most: usize, n: usize, par: Par) -> usize {
        most.max(4 * par.threads()).min(n)
    }

    /// Bytes that may be held.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    pub(super) fn count_bytes(&self, more: u64) {
        let bytes = self.bytes.fetch_add(more, Relaxed) + more;
        self.peak.fetch_max(bytes + self.lent.load(Relaxed), Relaxed);
    }

    pub(super) fn set_bytes(&self, bytes: u64) {
        self.bytes.store(bytes, Relaxed);
        self.peak.fetch_max(bytes + self.lent.load(Relaxed), Relaxed);
    }
}
