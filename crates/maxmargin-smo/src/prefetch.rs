//! Prefetch of rows: a block of rows costs little more than the one that is missing, so likely next
//! rows are computed with it.

use crate::passes::state::State;
use maxmargin_data::{Cancelled, RunControl};
use maxmargin_kernel::Rows;
use maxmargin_simd::passes::Extremes;

/// The largest number of rows computed together.
const MOST: usize = 32;

/// Misses between two updates of the depth.
const WINDOW: usize = 16;

/// Guesses the rows that are needed next, and adapts the number of guesses.
///
/// On some data the run needs a third of the rows in the end, and the worst violators soon. On
/// other data it needs almost none of them. The depth doubles when more than half of the earlier
/// guesses were used, and halves otherwise.
pub(crate) struct Prefetch {
    depth: usize,
    /// The smallest number of rows computed together: one takes about as long.
    least: usize,
    /// The share of all rows after which the whole matrix is computed, in large blocks and one
    /// symmetric half only. That is cheaper than the remaining rows one by one.
    whole: f64,
    /// The rows that were guessed and not requested since, by place.
    guessed: Vec<bool>,
    misses: usize,
    made: usize,
    used: usize,
    /// The number of rows computed for this solver.
    pub(crate) computed: u64,
}

impl Prefetch {
    /// A prefetch that begins with `least` rows at a time.
    pub(crate) fn new(places: usize, whole: f64, least: usize) -> Self {
        Self { depth: least, least, whole, guessed: vec![false; places], misses: 0, made: 0, used: 0, computed: 0 }
    }

    /// Records that the row at `place` was requested.
    pub(crate) fn note(&mut self, place: usize) {
        if std::mem::take(&mut self.guessed[place]) {
            self.used += 1;
        }
    }

    /// Computes the missing row at `needed` and, in the same block, missing rows of the worst
    /// violators.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn fetch(
        &mut self,
        state: &State,
        rows: &Rows,
        needed: usize,
        extremes: &Extremes,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        self.misses += 1;
        state.rest();
        if rows.holds_all() && rows.held() as f64 >= self.whole * rows.gram().len() as f64 {
            let before = rows.work().computed;
            let done = rows.complete(control);
            self.computed += rows.work().computed - before;
            return done;
        }
        if self.misses.is_multiple_of(WINDOW) {
            let paid = 2 * self.used > self.made || self.depth == 1;
            self.depth = if paid { (2 * self.depth).min(MOST) } else { (self.depth / 2).max(self.least) };
            (self.made, self.used) = (0, 0);
        }
        let mut places = self.violators(state, rows, needed, extremes);
        for &place in &places {
            self.guessed[place] = true;
        }
        self.made += places.len();
        places.push(needed);
        let mut block: Vec<usize> = places.into_iter().map(|place| state.layout.id(place)).collect();
        block.sort_unstable();
        // The two variables of a regression sample share one row.
        block.dedup();
        self.computed += block.len() as u64;
        rows.fetch(&block, control)
    }

    /// Returns the places of at most `depth − 1` of the worst violators whose rows are missing.
    /// Each violates at least half as much as the worst.
    fn violators(&self, state: &State, rows: &Rows, needed: usize, extremes: &Extremes) -> Vec<usize> {
        let count = self.depth - 1;
        if count == 0 {
            return vec![];
        }
        let middle = f64::midpoint(extremes.min_up, extremes.max_low);
        let least = 0.25 * (extremes.max_low - extremes.min_up);
        let mut violators: Vec<(f64, usize)> = Vec::new();
        state.violators(needed, middle, least, |place, away| violators.push((away, place)));
        violators.retain(|&(_, place)| place != needed && !rows.contains(state.layout.id(place)));
        if violators.len() > count {
            // Descending by violation, ties by place: the block does not depend on the order of the
            // selection.
            violators.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            violators.truncate(count);
        }
        violators.into_iter().map(|(_, place)| place).collect()
    }
}
