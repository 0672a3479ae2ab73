//! The row store: rows of `K`, computed once, shared by all threads, within a memory budget.

mod fill;
mod memory;

pub use memory::{PartPages, Reservation, RowWork};

use crate::Gram;
use crate::block::{Block, Form};
use crate::distinct::Merged;
use crate::entries::Entries;
use crate::late::Late;
use crate::lru::Lru;
use maxmargin_data::{Asking, Halted, Par};
use maxmargin_simd::pages::Pages;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Rows that [`Rows::complete`] computes at once.
const BLOCK_ROWS: usize = 512;

/// A row of `K`, all `n` columns. Holding it keeps it in memory.
#[derive(Clone, Debug)]
pub struct RowRef {
    block: Arc<Block>,
    start: usize,
    len: usize,
}

impl RowRef {
    /// The values.
    #[inline]
    pub fn entries(&self) -> Entries<'_> {
        self.block.row(self.start..self.start + self.len)
    }

    /// `K_ij` of this row and column `j`.
    ///
    /// # Panics
    ///
    /// When there is no such column.
    #[inline]
    pub fn at(&self, j: usize) -> f64 {
        self.entries().at(j)
    }
}

/// Rows of a Gram matrix, shared by every solver that runs on it.
///
/// When the budget holds all rows none is ever dropped; otherwise the least recently used rows make
/// room. Two threads that miss the same row at the same time may both compute it; they get the same
/// bits.
pub struct Rows<'g> {
    gram: Whose<'g>,
    par: Par,
    held: Held,
    form: Form,
    /// Memory of parts of the matrix that nobody has now.
    parts: Mutex<Vec<Pages>>,
    /// The rows of the different samples, once somebody has asked for them.
    merged: Late<Option<Box<Merged>>>,
    computed: AtomicU64,
    hits: AtomicU64,
    bytes: AtomicU64,
    /// What is lent beside the rows.
    lent: AtomicU64,
    peak: AtomicU64,
    budget: u64,
    nanoseconds: AtomicU64,
}

/// The matrix behind the rows.
enum Whose<'g> {
    Reservation(&'g dyn Gram),
    Own(Box<dyn Gram + Send>),
}

/// The rows in memory.
enum Held {
    /// Every row has its place; `claimed` marks those that some thread computes in a block.
    All { rows: Vec<OnceLock<RowRef>>, claimed: Vec<AtomicBool> },
    /// Some rows.
    Recent(Mutex<Lru>),
}

/// A panic elsewhere cannot leave the list half-linked for long enough to matter: links are plain
/// integers.
fn lock(lru: &Mutex<Lru>) -> MutexGuard<'_, Lru> {
    lru.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Whose<'_> {
    fn get(&self) -> &dyn Gram {
        match self {
            Self::Reservation(gram) => *gram,
            Self::Own(gram) => &**gram,
        }
    }
}

impl<'g> Rows<'g> {
    /// A store that keeps at most `budget` bytes of kernel values (at least a few rows) and
    /// computes blocks of rows on `par`.
    pub fn new(gram: &'g dyn Gram, budget: u64, par: Par) -> Self {
        Self::in_pages(gram, budget, par, Pages::new())
    }

    /// The same, with memory from `pages`: what other stores have left there is used again.
    pub fn in_pages(gram: &'g dyn Gram, budget: u64, par: Par, pages: Pages) -> Self {
        Self::of(Whose::Reservation(gram), budget, par, Form::new(pages, gram))
    }

    /// The same, with memory from `pages`: what other stores have left is used again, and its pages
    /// are not touched anew. Values are held as they are where other stores hold codes, if the
    /// budget has room for all: memory that is there costs nothing, and passes over them take less.
    /// The bits are the same.
    pub fn with_pages(gram: &'g dyn Gram, budget: u64, par: Par, pages: Pages) -> Self {
        let form = if 4 * (gram.len() as u64).pow(2) <= budget { Form::of_values } else { Form::new };
        Self::of(Whose::Reservation(gram), budget, par, form(pages, gram))
    }

    fn of(gram: Whose<'g>, budget: u64, par: Par, form: Form) -> Self {
        let n = gram.get().len();
        let capacity = (budget / (form.width() * n).max(1) as u64) as usize;
        let held = if capacity >= n {
            let rows = (0..n).map(|_| OnceLock::new()).collect();
            Held::All { rows, claimed: (0..n).map(|_| AtomicBool::new(false)).collect() }
        } else {
            Held::Recent(Mutex::new(Lru::new(n, Self::capacity(capacity, n, par))))
        };
        let zero = || AtomicU64::new(0);
        Self {
            gram,
            par,
            held,
            form,
            parts: Mutex::default(),
            merged: Late::default(),
            computed: zero(),
            hits: zero(),
            bytes: zero(),
            lent: zero(),
            peak: zero(),
            budget,
            nanoseconds: zero(),
        }
    }

    /// The rows of the different samples alone, where that saves much and memory holds them beside
    /// these; for everybody who solves problems over these rows.
    ///
    /// # Errors
    ///
    /// When it was called off.
    pub fn merged(&self, asking: &Asking) -> Result<Option<&Merged>, Halted> {
        let made = self.merged.get_or_find(|| match &self.gram {
            Whose::Reservation(gram) => Merged::new(self, *gram, asking),
            // Those of a part have no copies.
            Whose::Own(_) => Ok(None),
        });
        made.map(Option::as_deref)
    }

    /// [`Rows::merged`], if somebody has asked for it before.
    pub fn merged_so_far(&self) -> Option<&Merged> {
        self.merged.get()?.as_deref()
    }

    /// A store for a part of the matrix, in the memory that this one leaves; nothing where this one
    /// holds all of its rows and leaves too little.
    pub(crate) fn beside(&self, part: Box<dyn Gram + Send>) -> Option<(Rows<'static>, u64)> {
        let all = |n: usize| (n * n * self.form.width()) as u64;
        let (own, wanted) = (all(self.gram().len()), all(part.len()));
        let budget = if self.holds_all() { self.budget.saturating_sub(own) } else { wanted.min(self.budget / 4 * 3) };
        if self.holds_all() && budget < wanted {
            return None;
        }
        // Kept as long as the store.
        let bytes = budget.min(wanted);
        std::mem::forget(self.lend(bytes));
        let form = Form::new(self.form.pages(), &*part);
        Some((Rows::of(Whose::Own(part), budget, self.par, form), bytes))
    }

    /// Bytes of a row.
    fn row_bytes(&self) -> u64 {
        (self.form.width() * self.gram().len()) as u64
    }

    /// The matrix behind the rows.
    pub fn gram(&self) -> &dyn Gram {
        self.gram.get()
    }

    /// The parallelism that blocks of rows are computed with.
    pub fn par(&self) -> Par {
        self.par
    }

    /// Row `i`, from memory or computed now.
    ///
    /// # Panics
    ///
    /// When `i` is not a row.
    pub fn row(&self, i: usize) -> RowRef {
        let n = self.gram().len();
        match &self.held {
            Held::All { rows, claimed } => {
                if let Some(row) = rows[i].get() {
                    self.hits.fetch_add(1, Relaxed);
                    return row.clone();
                }
                claimed[i].store(true, Relaxed);
                let mut block = self.form.block(n);
                self.fill(i, &mut block);
                let row = RowRef { block: Arc::new(block), start: 0, len: n };
                self.count_computed(1);
                if rows[i].set(row.clone()).is_ok() {
                    self.count_bytes(self.row_bytes());
                }
                rows[i].get().cloned().unwrap_or(row)
            }
            Held::Recent(lru) => {
                let mut list = lock(lru);
                if let Some(block) = list.touch(i) {
                    self.hits.fetch_add(1, Relaxed);
                    return RowRef { block, start: 0, len: n };
                }
                let spare = list.buffer();
                drop(list);
                let mut block = spare.unwrap_or_else(|| self.form.block(n));
                self.fill(i, &mut block);
                self.count_computed(1);
                let mut list = lock(lru);
                let block = list.insert(i, block);
                self.set_bytes(self.row_bytes() * list.count() as u64);
                RowRef { block, start: 0, len: n }
            }
        }
    }

    /// Row `i` without holding it, when it is in memory for good (the budget holds all rows and
    /// this one was computed).
    #[inline]
    pub fn resident(&self, i: usize) -> Option<Entries<'_>> {
        match &self.held {
            Held::All { rows, .. } => rows[i].get().map(RowRef::entries),
            Held::Recent(_) => None,
        }
    }

    /// Whether row `i` is in memory.
    pub fn contains(&self, i: usize) -> bool {
        match &self.held {
            Held::All { rows, .. } => rows[i].get().is_some(),
            Held::Recent(lru) => lock(lru).contains(i),
        }
    }

    /// Computes those of `wanted` that are not in memory, in one block (as many as the budget can
    /// hold).
    ///
    /// Rows that another thread is computing in a block of its own are left to it.
    pub fn fetch(&self, wanted: &[usize]) {
        // Nobody calls it off.
        let _ = self.fetch_asking(wanted, &Asking::nobody());
    }

    /// [`Rows::fetch`], asking now and then whether to go on.
    ///
    /// # Errors
    ///
    /// When it was called off; rows that were not done are then missing as before.
    pub fn fetch_asking(&self, wanted: &[usize], asking: &Asking) -> Result<(), Halted> {
        let n = self.gram().len();
        match &self.held {
            Held::All { rows, claimed } => {
                let claim = |&&i: &&usize| rows[i].get().is_none() && !claimed[i].swap(true, Relaxed);
                let ids: Vec<usize> = wanted.iter().filter(claim).copied().collect();
                self.fetch_claimed(&ids, false, asking)
            }
            Held::Recent(lru) => {
                let mut list = lock(lru);
                let mut seen = HashSet::new();
                let mut ids: Vec<usize> = wanted.iter().copied().filter(|&i| seen.insert(i)).take(list.capacity()).collect();
                ids.retain(|&i| list.touch(i).is_none());
                // What is on its way is out of the list: leave most of it to the other threads.
                let most = (list.capacity() / 4).clamp(1, BLOCK_ROWS);
                drop(list);
                for ids in ids.chunks(most) {
                    let mut blocks: Vec<Block> = ids
                        .iter()
                        .map(|_| {
                            let spare = lock(lru).buffer();
                            spare.unwrap_or_else(|| self.form.block(n))
                        })
                        .collect();
                    let done = self.compute(ids, blocks.iter_mut().map(Block::fill), false, asking);
                    let mut list = lock(lru);
                    if let Err(halted) = done {
                        blocks.into_iter().for_each(|block| list.give_back(block));
                        return Err(halted);
                    }
                    self.count_computed(ids.len());
                    for (&i, block) in ids.iter().zip(blocks) {
                        list.insert(i, block);
                    }
                    self.set_bytes(self.row_bytes() * list.count() as u64);
                }
                Ok(())
            }
        }
    }

    /// Computes rows that this thread has claimed, in blocks; those that are not done are nobody's
    /// again.
    fn fetch_claimed(&self, ids: &[usize], mirror: bool, asking: &Asking) -> Result<(), Halted> {
        let Held::All { claimed, .. } = &self.held else { return Ok(()) };
        for (b, block) in ids.chunks(BLOCK_ROWS).enumerate() {
            if let Err(halted) = self.fetch_block(block, mirror, asking) {
                ids[b * BLOCK_ROWS..].iter().for_each(|&i| claimed[i].store(false, Relaxed));
                return Err(halted);
            }
        }
        Ok(())
    }

    /// Whether the budget holds the whole matrix.
    pub fn holds_all(&self) -> bool {
        matches!(self.held, Held::All { .. })
    }

    /// Computes every row that is missing, if the budget holds them all; symmetric halves are
    /// computed once.
    ///
    /// # Errors
    ///
    /// When it was called off; rows that were not done are then missing as before.
    pub fn complete(&self, asking: &Asking) -> Result<(), Halted> {
        let Held::All { rows, claimed } = &self.held else { return Ok(()) };
        let missing = |&i: &usize| rows[i].get().is_none() && !claimed[i].swap(true, Relaxed);
        let ids: Vec<usize> = (0..rows.len()).filter(missing).collect();
        self.fetch_claimed(&ids, true, asking)
    }

    /// What has been done so far.
    pub fn work(&self) -> RowWork {
        let own = RowWork {
            computed: self.computed.load(Relaxed),
            hits: self.hits.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            peak_bytes: self.peak.load(Relaxed),
            time: Duration::from_nanos(self.nanoseconds.load(Relaxed)),
        };
        let Some(Some(merged)) = self.merged.get() else { return own };
        let (beside, lent) = (merged.rows().work(), merged.bytes());
        RowWork {
            computed: own.computed + beside.computed,
            hits: own.hits + beside.hits,
            bytes: own.bytes + beside.bytes,
            // What was lent for them, but for what they did not take.
            peak_bytes: (own.peak_bytes + beside.peak_bytes).saturating_sub(lent).max(own.bytes + beside.bytes),
            time: own.time + beside.time,
        }
    }

    /// Counts work that was done for a solver beside this store, in rows of as many values.
    pub fn count_elsewhere(&self, rows: u64, time: Duration) {
        self.computed.fetch_add(rows, Relaxed);
        self.nanoseconds.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Computes claimed rows into one block and puts them in their places.
    fn fetch_block(&self, ids: &[usize], mirror: bool, asking: &Asking) -> Result<(), Halted> {
        let Held::All { rows, .. } = &self.held else { return Ok(()) };
        let n = self.gram().len();
        if ids.is_empty() {
            return Ok(());
        }
        let mut block = self.form.block(ids.len() * n);
        self.compute(ids, std::iter::once(block.fill()), mirror, asking)?;
        self.count_computed(ids.len());
        self.count_bytes(self.row_bytes() * ids.len() as u64);
        let block = Arc::new(block);
        for (r, &i) in ids.iter().enumerate() {
            // A row that was also missed by `row` meanwhile keeps its first copy; both hold the
            // same bits.
            let _ = rows[i].set(RowRef { block: Arc::clone(&block), start: r * n, len: n });
        }
        Ok(())
    }

    fn count_time(&self, begun: Instant) {
        self.nanoseconds.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
    }

    fn count_computed(&self, rows: usize) {
        self.computed.fetch_add(rows as u64, Relaxed);
    }
}
