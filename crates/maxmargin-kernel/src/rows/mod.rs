//! The row store: rows of `K`, computed once, shared by all threads, within a memory budget.

mod block;
mod distinct_rows;
mod entries;
mod fetch;
mod fill;
mod lru;
mod memory;
mod row;

pub use distinct_rows::DistinctRows;
pub use entries::Entries;
pub use memory::{PartPages, RowReservation, RowWork};
pub use row::RowRef;

use crate::Gram;
use crate::gram::GramRef;
use block::BlockFormat;
use lru::Lru;
use maxmargin_data::{Cancelled, Par, RunControl};
use maxmargin_simd::pages::Pages;
use once_cell::sync::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A cache of the rows of a Gram matrix, shared by all solvers of problems over this matrix.
///
/// If the budget holds all rows, none is ever dropped. Otherwise the least recently used rows make
/// room. Two threads that need the same missing row at the same time may both compute it, with the
/// same bits.
pub struct Rows<'g> {
    gram: GramRef<'g>,
    par: Par,
    cache: Cache,
    format: BlockFormat,
    /// Memory for stores of parts of the matrix that no solver uses at the moment.
    parts: Mutex<Vec<Pages>>,
    /// The rows of the distinct samples, computed by the first call of [`Rows::merged`].
    merged: OnceCell<Option<Box<DistinctRows>>>,
    computed: AtomicU64,
    hits: AtomicU64,
    bytes: AtomicU64,
    /// Bytes that solvers have reserved in addition to the rows.
    reserved: AtomicU64,
    peak: AtomicU64,
    budget: u64,
    nanoseconds: AtomicU64,
}

/// The rows in memory.
enum Cache {
    /// A place for every row; `claimed` marks rows that a thread is computing in a block.
    All { rows: Vec<OnceLock<RowRef>>, claimed: Vec<AtomicBool> },
    /// The most recently used rows.
    Recent(Mutex<Lru>),
}

/// Locks the list. A panic of another thread leaves it consistent: no code between the updates of
/// its integer links can panic.
fn lock(lru: &Mutex<Lru>) -> MutexGuard<'_, Lru> {
    lru.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'g> Rows<'g> {
    /// A store of at most `budget` bytes of kernel values, but at least a few rows. It computes
    /// blocks of rows with the parallelism `par`.
    pub fn new(gram: &'g dyn Gram, budget: u64, par: Par) -> Self {
        Self::in_pages(gram, budget, par, Pages::new())
    }

    /// [`Rows::new`] with memory from `pages`, which reuses the memory of earlier stores.
    pub fn in_pages(gram: &'g dyn Gram, budget: u64, par: Par, pages: Pages) -> Self {
        Self::of(GramRef::Borrowed(gram), budget, par, BlockFormat::new(pages, gram))
    }

    fn of(gram: GramRef<'g>, budget: u64, par: Par, format: BlockFormat) -> Self {
        let n = gram.get().len();
        let capacity = (budget / (format.width() * n).max(1) as u64) as usize;
        let cache = if capacity >= n {
            let rows = (0..n).map(|_| OnceLock::new()).collect();
            Cache::All { rows, claimed: (0..n).map(|_| AtomicBool::new(false)).collect() }
        } else {
            Cache::Recent(Mutex::new(Lru::new(n, Self::capacity(capacity, n, par))))
        };
        let zero = || AtomicU64::new(0);
        Self {
            gram,
            par,
            cache,
            format,
            parts: Mutex::default(),
            merged: OnceCell::default(),
            computed: zero(),
            hits: zero(),
            bytes: zero(),
            reserved: zero(),
            peak: zero(),
            budget,
            nanoseconds: zero(),
        }
    }

    /// The rows of the distinct samples, if enough samples are equal and the budget has room. All
    /// problems over this store share them.
    ///
    /// # Errors
    ///
    /// When `control` cancels the search for equal samples.
    pub fn merged(&self, control: &RunControl) -> Result<Option<&DistinctRows>, Cancelled> {
        let made = self.merged.get_or_try_init(|| match &self.gram {
            GramRef::Borrowed(gram) => DistinctRows::new(self, *gram, control),
            // A part consists of distinct samples already.
            GramRef::Owned(_) => Ok(None),
        });
        made.map(Option::as_deref)
    }

    /// Searches for the neighbours of all samples, or of the distinct ones if they have rows of
    /// their own, where the matrix may be mostly zero ([`Gram::find_neighbours`]). They take at
    /// most a quarter of the budget. Certificates and solvers use what was found, so the search
    /// comes before all of them.
    ///
    /// # Errors
    ///
    /// When `control` cancels the search.
    pub fn find_neighbours(&self, control: &RunControl) -> Result<(), Cancelled> {
        let gram = self.merged(control)?.map_or(self.gram(), |merged| merged.rows().gram());
        let known = gram.neighbours().is_some();
        gram.find_neighbours(self.budget / 4, self.par, control)?;
        if let (false, Some(neighbours)) = (known, gram.neighbours()) {
            // The reservation lasts as long as this store.
            std::mem::forget(self.reserve(neighbours.bytes()));
        }
        Ok(())
    }

    /// The result of [`Rows::merged`], if it was called before.
    pub fn merged_so_far(&self) -> Option<&DistinctRows> {
        self.merged.get()?.as_deref()
    }

    /// A store for a part of the matrix, within the memory that this one leaves, and its bytes.
    /// None where this store holds all of its rows and leaves too little.
    fn for_part(&self, part: Box<dyn Gram + Send>) -> Option<(Rows<'static>, u64)> {
        let all = |n: usize| (n * n * self.format.width()) as u64;
        let (own, wanted) = (all(self.gram().len()), all(part.len()));
        let budget = if self.holds_all() { self.budget.saturating_sub(own) } else { wanted.min(self.budget / 4 * 3) };
        if self.holds_all() && budget < wanted {
            return None;
        }
        // The reservation lasts as long as this store.
        let bytes = budget.min(wanted);
        std::mem::forget(self.reserve(bytes));
        let format = BlockFormat::new(self.format.pages(), &*part);
        Some((Rows::of(GramRef::Owned(part), budget, self.par, format), bytes))
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> u64 {
        (self.format.width() * self.gram().len()) as u64
    }

    /// The matrix behind the rows.
    pub fn gram(&self) -> &dyn Gram {
        self.gram.get()
    }

    /// The parallelism for blocks of rows.
    pub fn par(&self) -> Par {
        self.par
    }

    /// Row `i` by reference, if it is in memory permanently: the budget holds all rows, and this
    /// row was computed.
    #[inline]
    pub fn resident(&self, i: usize) -> Option<Entries<'_>> {
        match &self.cache {
            Cache::All { rows, .. } => rows[i].get().map(RowRef::entries),
            Cache::Recent(_) => None,
        }
    }

    /// Returns whether row `i` is in memory.
    pub fn contains(&self, i: usize) -> bool {
        match &self.cache {
            Cache::All { rows, .. } => rows[i].get().is_some(),
            Cache::Recent(lru) => lock(lru).contains(i),
        }
    }

    /// Returns whether the budget holds the whole matrix.
    pub fn holds_all(&self) -> bool {
        matches!(self.cache, Cache::All { .. })
    }

    /// The number of rows in memory.
    pub fn held(&self) -> usize {
        (self.bytes.load(Relaxed) / self.row_bytes().max(1)) as usize
    }

    /// The work so far, including the rows of distinct samples.
    pub fn work(&self) -> RowWork {
        let own = RowWork {
            computed: self.computed.load(Relaxed),
            hits: self.hits.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            peak_bytes: self.peak.load(Relaxed),
            time: Duration::from_nanos(self.nanoseconds.load(Relaxed)),
        };
        let Some(Some(merged)) = self.merged.get() else { return own };
        let (distinct, reserved) = (merged.rows().work(), merged.bytes());
        RowWork {
            computed: own.computed + distinct.computed,
            hits: own.hits + distinct.hits,
            bytes: own.bytes + distinct.bytes,
            // The reservation for the distinct rows is part of this store's own peak.
            peak_bytes: (own.peak_bytes + distinct.peak_bytes).saturating_sub(reserved).max(own.bytes + distinct.bytes),
            time: own.time + distinct.time,
        }
    }

    /// Counts kernel values that a solver computed outside of this store, in rows.
    pub fn count_elsewhere(&self, rows: u64, time: Duration) {
        self.computed.fetch_add(rows, Relaxed);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    fn count_time(&self, begun: Instant) {
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
    }

    fn count_computed(&self, rows: usize) {
        self.computed.fetch_add(rows as u64, Relaxed);
    }
}
