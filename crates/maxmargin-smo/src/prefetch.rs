//! Which rows to compute together with one that is missing: a block of rows costs little more than
//! one, if the others are used.

use crate::state::State;
use maxmargin_data::{Asking, Halted};
use maxmargin_kernel::Rows;
use maxmargin_simd::passes::Extremes;

/// Most rows computed together.
const MOST: usize = 32;

/// Misses between two looks at how well the guesses did.
const WINDOW: usize = 16;

/// Guesses the rows that will be needed next, and how many guesses pay.
///
/// On some data a third of the rows is needed in the end and the worst violators soon are; on
/// others almost none of them. The depth of the guess follows what came of the earlier ones:
/// doubled when more than half were used, halved otherwise.
pub(crate) struct Prefetch {
    depth: usize,
    /// Once this share of all rows was needed most of them will be, and the whole matrix is cheaper
    /// than the rest row by row: it is computed in large blocks, symmetric halves once.
    whole: f64,
    /// Rows guessed and not asked for since, by place.
    guessed: Vec<bool>,
    misses: usize,
    made: usize,
    used: usize,
    /// Rows computed for this solver.
    pub(crate) computed: u64,
}

impl Prefetch {
    pub(crate) fn new(places: usize, whole: f64) -> Self {
        Self { depth: 1, whole, guessed: vec![false; places], misses: 0, made: 0, used: 0, computed: 0 }
    }

    /// Notes that the row at `place` was asked for.
    pub(crate) fn note(&mut self, place: usize) {
        if std::mem::take(&mut self.guessed[place]) {
            self.used += 1;
        }
    }

    /// Computes the missing row at `wanted` and, in the same block, the missing rows of the worst
    /// violators.
    ///
    /// # Errors
    ///
    /// When it was called off.
    pub(crate) fn fetch(
        &mut self,
        state: &State,
        rows: &Rows,
        wanted: usize,
        extremes: &Extremes,
        asking: &Asking,
    ) -> Result<(), Halted> {
        self.misses += 1;
        state.rest();
        let held = rows.work().computed;
        if rows.holds_all() && held as f64 >= self.whole * rows.gram().len() as f64 {
            let done = rows.complete(asking);
            self.computed += rows.work().computed - held;
            return done;
        }
        if self.misses.is_multiple_of(WINDOW) {
            let paid = 2 * self.used > self.made || self.depth == 1;
            self.depth = if paid { (2 * self.depth).min(MOST) } else { (self.depth / 2).max(1) };
            (self.made, self.used) = (0, 0);
        }
        let mut places = self.violators(state, rows, wanted, extremes);
        for &place in &places {
            self.guessed[place] = true;
        }
        self.made += places.len();
        places.push(wanted);
        let mut block: Vec<usize> = places.into_iter().map(|place| state.layout.id(place)).collect();
        block.sort_unstable();
        // The two variables of a sample of regression have one row.
        block.dedup();
        self.computed += block.len() as u64;
        rows.fetch_asking(&block, asking)
    }

    /// The places of the `depth − 1` worst violators whose rows are missing; only those at least
    /// half as bad as the worst count.
    fn violators(&self, state: &State, rows: &Rows, wanted: usize, extremes: &Extremes) -> Vec<usize> {
        let count = self.depth - 1;
        if count == 0 {
            return vec![];
        }
        let middle = f64::midpoint(extremes.min_up, extremes.max_low);
        let least = 0.25 * (extremes.max_low - extremes.min_up);
        let mut violators: Vec<(f64, usize)> = Vec::new();
        state.violators(wanted, middle, least, |place, away| violators.push((away, place)));
        violators.retain(|&(_, place)| place != wanted && !rows.contains(state.layout.id(place)));
        if violators.len() > count {
            // Descending by violation, ties by place: the same block whatever the order of the
            // sort.
            violators.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            violators.truncate(count);
        }
        violators.into_iter().map(|(_, place)| place).collect()
    }
}
