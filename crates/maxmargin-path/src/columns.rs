//! Columns of the kernel matrix over the members, in `f64`, kept within a memory budget.

use maxmargin_core::dense::add_columns;
use maxmargin_kernel::Gram;
use std::sync::Arc;

/// Marks a pool id without a slot.
pub(crate) const NONE: usize = usize::MAX;
/// Columns computed in one call of the kernel.
const BATCH: usize = 32;
/// Gaps of up to this many strangers are computed along, so that members make few runs.
const GAP: usize = 64;

/// Which pool id sits in which slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seats {
    /// Pool id of each slot ([`NONE`] when vacant).
    pub(crate) id: Vec<usize>,
    /// Slot of each pool id, or [`NONE`].
    pub(crate) slot: Vec<usize>,
}

/// `K[:, s]` for some slots `s`: `rows` entries each, in slot order. Vacant rows hold any finite number.
///
/// Columns are shared between clones of a state; they are copied only when rows are added.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    held: Vec<Option<Arc<Vec<f64>>>>,
    used_at: Vec<u64>,
    clock: u64,
    bytes: u64,
    budget: u64,
    /// Added to the diagonal.
    ridge: f64,
    /// Columns computed so far.
    pub(crate) computed: u64,
}

impl Columns {
    pub(crate) fn new(budget: u64, ridge: f64) -> Self {
        Self { held: Vec::new(), used_at: Vec::new(), clock: 0, bytes: 0, budget, ridge, computed: 0 }
    }

    /// Makes room for `slots` rows and as many columns.
    pub(crate) fn grow(&mut self, slots: usize) {
        self.held.resize(slots, None);
        self.used_at.resize(slots, 0);
        self.bytes = 0;
        for column in self.held.iter_mut().flatten() {
            Arc::make_mut(column).resize(slots, 0.0);
            self.bytes += 8 * slots as u64;
        }
    }

    pub(crate) fn drop_column(&mut self, slot: usize) {
        if self.held[slot].take().is_some() {
            self.bytes -= 8 * self.held.len() as u64;
        }
    }

    pub(crate) fn ridge(&self) -> f64 {
        self.ridge
    }

    pub(crate) fn holds(&self, slot: usize) -> bool {
        self.held[slot].is_some()
    }

    /// Column `slot`, which must have been fetched.
    pub(crate) fn column(&self, slot: usize) -> &[f64] {
        self.held[slot].as_ref().expect("columns are fetched before they are used")
    }

    /// Computes those of `slots` that are missing; `keep` says which columns must not be given up for them.
    pub(crate) fn fetch(&mut self, gram: &dyn Gram, seats: &Seats, slots: &[usize], keep: impl Fn(usize) -> bool) {
        self.clock += 1;
        let mut missing = Vec::new();
        for &slot in slots {
            self.used_at[slot] = self.clock;
            if !self.holds(slot) {
                missing.push(slot);
            }
        }
        if missing.is_empty() {
            return;
        }
        let size = 8 * self.held.len() as u64;
        self.make_room(size * missing.len() as u64, &keep);
        for batch in missing.chunks(BATCH) {
            for (&slot, column) in batch.iter().zip(self.compute(gram, seats, batch)) {
                self.held[slot] = Some(Arc::new(column));
                self.bytes += size;
            }
        }
    }

    /// Gives up the columns longest unused until `more` bytes fit or only kept ones are left.
    fn make_room(&mut self, more: u64, keep: &impl Fn(usize) -> bool) {
        if self.bytes + more <= self.budget {
            return;
        }
        let now = self.clock;
        let mut old: Vec<usize> = (0..self.held.len()).filter(|&s| self.holds(s) && self.used_at[s] < now && !keep(s)).collect();
        old.sort_by_key(|&s| (self.used_at[s], s));
        for slot in old {
            if self.bytes + more <= self.budget {
                break;
            }
            self.drop_column(slot);
        }
    }

    /// Exact columns of `slots`, each with one entry per slot.
    fn compute(&mut self, gram: &dyn Gram, seats: &Seats, slots: &[usize]) -> Vec<Vec<f64>> {
        let ids: Vec<usize> = slots.iter().map(|&s| seats.id[s]).collect();
        let mut columns = vec![vec![0.0; self.held.len()]; slots.len()];
        let mut buffer = Vec::new();
        for (from, to) in runs(&seats.slot) {
            let width = to - from;
            buffer.resize(ids.len() * width, 0.0);
            gram.fill_exact(&ids, from..to, &mut buffer[..ids.len() * width]);
            for (column, values) in columns.iter_mut().zip(buffer.chunks_exact(width)) {
                for (value, &slot) in values.iter().zip(&seats.slot[from..to]) {
                    if slot != NONE {
                        column[slot] = *value;
                    }
                }
            }
        }
        for (column, &slot) in columns.iter_mut().zip(slots) {
            column[slot] += self.ridge;
        }
        self.computed += slots.len() as u64;
        columns
    }

    /// Fetches the columns of slots that have just been taken and enters their values into every column that is held.
    pub(crate) fn admit(&mut self, gram: &dyn Gram, seats: &Seats, fresh: &[usize], keep: impl Fn(usize) -> bool) {
        self.fetch(gram, seats, fresh, keep);
        for other in 0..self.held.len() {
            let Some(mut column) = self.held[other].take() else { continue };
            if seats.id[other] != NONE && !fresh.contains(&other) {
                let values = Arc::make_mut(&mut column);
                for &slot in fresh {
                    values[slot] = self.column(slot)[other];
                }
            }
            self.held[other] = Some(column);
        }
    }

    /// `out += Σ coef·K[:, slot]`. Missing columns are computed in batches and kept only where the budget has room for them.
    pub(crate) fn accumulate(&mut self, gram: &dyn Gram, seats: &Seats, terms: &[(usize, f64)], out: &mut [f64]) {
        let (known, missing): (Vec<_>, Vec<(usize, f64)>) = terms.iter().copied().partition(|(s, _)| self.holds(*s));
        add_columns(known.len(), |k| known[k].1, |k| self.column(known[k].0), out);
        let size = 8 * self.held.len() as u64;
        for batch in missing.chunks(BATCH) {
            let slots: Vec<usize> = batch.iter().map(|(s, _)| *s).collect();
            let columns = self.compute(gram, seats, &slots);
            add_columns(batch.len(), |k| batch[k].1, |k| &columns[k], out);
            for (slot, column) in slots.into_iter().zip(columns) {
                if self.bytes + size <= self.budget {
                    self.bytes += size;
                    self.used_at[slot] = self.clock;
                    self.held[slot] = Some(Arc::new(column));
                }
            }
        }
    }
}

/// The ranges of pool ids that cover all members, with gaps of at most [`GAP`] strangers inside.
fn runs(slot_of: &[usize]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for id in (0..slot_of.len()).filter(|&id| slot_of[id] != NONE) {
        match runs.last_mut() {
            Some(last) if id - last.1 <= GAP => last.1 = id + 1,
            _ => runs.push((id, id + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_bridge_small_gaps_only() {
        let mut slots = vec![NONE; 300];
        for id in [3, 4, 10, 200] {
            slots[id] = 0;
        }
        assert_eq!(runs(&slots), [(3, 11), (200, 201)]);
    }
}
