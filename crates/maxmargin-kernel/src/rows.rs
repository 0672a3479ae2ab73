//! The row store: rows of `K` in `f32`, computed once, shared by all threads, within a memory budget.

use crate::Gram;
use maxmargin_data::Par;
use std::ops::Deref;
use std::sync::Arc;

/// A row of `K`, all `n` columns in `f32`. Holding it keeps it in memory.
#[derive(Clone, Debug)]
pub struct RowRef {
    // Placeholder: the helper for this crate replaces the inside.
    row: Arc<Vec<f32>>,
}

impl Deref for RowRef {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.row
    }
}

/// Work that a row store has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowWork {
    /// Rows computed.
    pub computed: u64,
    /// Requests answered from memory.
    pub hits: u64,
    /// Bytes of kernel values held now.
    pub bytes: u64,
    /// The most bytes held at any time.
    pub peak_bytes: u64,
}

/// Rows of a Gram matrix, shared by every solver that runs on it.
pub struct Rows<'g> {
    gram: &'g dyn Gram,
    par: Par<'g>,
}

impl<'g> Rows<'g> {
    /// A store that keeps at most `budget` bytes of kernel values (at least a few rows) and computes blocks of rows on `par`.
    pub fn new(gram: &'g dyn Gram, budget: u64, par: Par<'g>) -> Self {
        let _ = budget;
        Self { gram, par }
    }

    /// The matrix behind the rows.
    pub fn gram(&self) -> &'g dyn Gram {
        self.gram
    }

    /// The parallelism that blocks of rows are computed with.
    pub fn par(&self) -> Par<'g> {
        self.par
    }

    /// Row `i`, from memory or computed now.
    pub fn row(&self, i: usize) -> RowRef {
        let mut row = vec![0.0; self.gram.len()];
        self.gram.fill(&[i], 0..self.gram.len(), &mut row);
        RowRef { row: Arc::new(row) }
    }

    /// Whether row `i` is in memory.
    pub fn contains(&self, i: usize) -> bool {
        let _ = i;
        false
    }

    /// Computes those of `wanted` that are not in memory, in one block (as many as the budget can hold).
    pub fn fetch(&self, wanted: &[usize]) {
        let _ = wanted;
    }

    /// Whether the budget holds the whole matrix.
    pub fn holds_all(&self) -> bool {
        false
    }

    /// Computes every row that is missing, if the budget holds them all; symmetric halves are computed once.
    pub fn complete(&self) {}

    /// What has been done so far.
    pub fn work(&self) -> RowWork {
        RowWork::default()
    }
}
