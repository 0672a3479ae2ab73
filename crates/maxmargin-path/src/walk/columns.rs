//! Columns of the kernel matrix over the members, in `f64`, within a memory budget.

use crate::pool::Pool;
use maxmargin_core::dense::sum_columns;
use maxmargin_data::{Cancelled, RunControl};
use std::sync::Arc;

/// The marker of a pool id without a slot.
pub(crate) const NONE: usize = usize::MAX;
/// The largest number of columns computed in one call of the kernel.
const BATCH: usize = 32;
/// The number of columns summed at once. Groups are multiples of it, whichever columns are stored,
/// so the bits do not depend on that.
const SUMMED: usize = 8;
/// The largest gap of other samples inside a run of members. They are computed too, so that there
/// are few runs.
const GAP: usize = 64;

/// The slot of each pool id, and the reverse.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seats {
    /// The pool id of each slot ([`NONE`] if vacant).
    pub(crate) id: Vec<usize>,
    /// The slot of each pool id, or [`NONE`].
    pub(crate) slot: Vec<usize>,
}

/// Columns `K[:, s]` of some slots `s`: `rows` entries each, in slot order. Vacant rows hold
/// arbitrary finite numbers.
///
/// Clones of a state share the columns; they are copied only when rows are added. A column without
/// room in the budget is computed for every use.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    held: Vec<Option<Arc<Vec<f64>>>>,
    used_at: Vec<u64>,
    clock: u64,
    bytes: u64,
    /// The bytes of the factor, which has priority.
    taken: u64,
    budget: u64,
    /// The largest number of bytes of columns and factor so far.
    peak: u64,
    /// The ridge on the diagonal.
    ridge: f64,
    /// The number of columns computed so far.
    pub(crate) computed: u64,
}

impl Columns {
    pub(crate) fn new(budget: u64, ridge: f64) -> Self {
        let (held, used_at) = (Vec::new(), Vec::new());
        Self { held, used_at, clock: 0, bytes: 0, taken: 0, budget, peak: 0, ridge, computed: 0 }
    }

    /// Returns the bytes of one column.
    fn size(&self) -> u64 {
        8 * self.held.len() as u64
    }

    /// Returns the number of columns computed at once.
    fn batch(&self) -> usize {
        (self.budget / 8 / self.size().max(1)).clamp(1, BATCH as u64) as usize
    }

    /// Extends all columns to `slots` rows.
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
            self.bytes -= self.size();
        }
    }

    pub(crate) fn ridge(&self) -> f64 {
        self.ridge
    }

    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Returns the largest number of bytes of columns and factor so far.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    fn holds(&self, slot: usize) -> bool {
        self.held[slot].is_some()
    }

    /// Records the size of the factor. Columns longest unused make room for it; those selected by
    /// `keep` go last.
    pub(crate) fn take(&mut self, bytes: u64, keep: impl Fn(usize) -> bool) {
        self.taken = bytes;
        if !self.make_room(0, &keep) {
            self.clock += 1;
            self.make_room(0, &|_| false);
        }
        self.note(0);
    }

    fn note(&mut self, passing: u64) {
        self.peak = self.peak.max(self.bytes + self.taken + passing);
    }

    /// Drops the columns longest unused until `more` bytes fit, or only kept ones are left. Returns
    /// true if the bytes fit.
    fn make_room(&mut self, more: u64, keep: &impl Fn(usize) -> bool) -> bool {
        let wanted = |this: &Self| this.bytes + this.taken + more;
        if wanted(self) <= self.budget {
            return true;
        }
        let now = self.clock;
        let mut old: Vec<usize> = (0..self.held.len()).filter(|&s| self.holds(s) && self.used_at[s] < now && !keep(s)).collect();
        old.sort_by_key(|&s| (self.used_at[s], s));
        for slot in old {
            if wanted(self) <= self.budget {
                break;
            }
            self.drop_column(slot);
        }
        wanted(self) <= self.budget
    }

    /// Stores a computed column if there is room.
    fn hold(&mut self, slot: usize, column: Arc<Vec<f64>>, keep: &impl Fn(usize) -> bool) {
        if self.make_room(self.size(), keep) {
            self.bytes += self.size();
            self.used_at[slot] = self.clock;
            self.held[slot] = Some(column);
            self.note(0);
        }
    }

    /// Calls `each` with every column of `slots` and its index among them, in order. Missing
    /// columns are computed in batches and stored if there is room; columns selected by `keep` are
    /// not dropped for them.
    pub(crate) fn visit(
        &mut self,
        pool: Pool,
        seats: &Seats,
        slots: &[usize],
        keep: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, &[f64]),
    ) -> Result<(), Cancelled> {
        self.clock += 1;
        for &slot in slots {
            self.used_at[slot] = self.clock;
        }
        let batch = self.batch();
        for (b, slots) in slots.chunks(batch).enumerate() {
            let missing: Vec<usize> = slots.iter().copied().filter(|&slot| !self.holds(slot)).collect();
            let mut fresh = self.compute(pool, seats, &missing)?.into_iter();
            for (at, &slot) in slots.iter().enumerate() {
                if let Some(column) = &self.held[slot] {
                    each(b * batch + at, column);
                } else {
                    let column = Arc::new(fresh.next().expect("one for each that was missing"));
                    each(b * batch + at, &column);
                    self.hold(slot, column, &keep);
                }
            }
        }
        Ok(())
    }

    /// Returns column `slot`.
    pub(crate) fn column(
        &mut self,
        pool: Pool,
        seats: &Seats,
        slot: usize,
        keep: impl Fn(usize) -> bool,
    ) -> Result<Arc<Vec<f64>>, Cancelled> {
        self.clock += 1;
        self.used_at[slot] = self.clock;
        if let Some(column) = &self.held[slot] {
            return Ok(Arc::clone(column));
        }
        let column = Arc::new(self.compute(pool, seats, &[slot])?.remove(0));
        self.hold(slot, Arc::clone(&column), &keep);
        Ok(column)
    }

    /// Returns the exact columns of `slots`, each with one entry per slot.
    fn compute(&mut self, pool: Pool, seats: &Seats, slots: &[usize]) -> Result<Vec<Vec<f64>>, Cancelled> {
        if slots.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<usize> = slots.iter().map(|&s| seats.id[s]).collect();
        let mut columns = vec![vec![0.0; self.held.len()]; slots.len()];
        self.note(self.size() * slots.len() as u64);
        let per_value = pool.gram.value_operations();
        let most = (RunControl::operations_between_checks() / (per_value * ids.len() as u64)).max(1) as usize;
        let mut buffer = Vec::new();
        for (begin, end) in runs(&seats.slot) {
            for from in (begin..end).step_by(most) {
                let to = end.min(from + most);
                let width = to - from;
                pool.control.check(per_value * (ids.len() * width) as u64)?;
                buffer.resize(ids.len() * width, 0.0);
                pool.gram.fill_exact(&ids, from..to, &mut buffer[..ids.len() * width]);
                for (column, values) in columns.iter_mut().zip(buffer.chunks_exact(width)) {
                    for (value, &slot) in values.iter().zip(&seats.slot[from..to]) {
                        if slot != NONE {
                            column[slot] = *value;
                        }
                    }
                }
            }
        }
        for (column, &slot) in columns.iter_mut().zip(slots) {
            column[slot] += self.ridge;
        }
        self.computed += slots.len() as u64;
        Ok(columns)
    }

    /// Computes the columns of new slots, enters their values into every stored column, and calls
    /// `each` with them.
    pub(crate) fn admit(
        &mut self,
        pool: Pool,
        seats: &Seats,
        fresh: &[usize],
        keep: impl Fn(usize) -> bool,
        mut each: impl FnMut(usize, &[f64]),
    ) -> Result<(), Cancelled> {
        self.clock += 1;
        // Only columns from before need the new rows; those of new slots are complete.
        let mut old: Vec<usize> = (0..self.held.len()).filter(|&s| self.holds(s)).collect();
        for batch in fresh.chunks(self.batch()) {
            let columns = self.compute(pool, seats, batch)?;
            old.retain(|&slot| self.holds(slot));
            for &other in &old {
                let Some(column) = &mut self.held[other] else { continue };
                let values = Arc::make_mut(column);
                for (&slot, column) in batch.iter().zip(&columns) {
                    values[slot] = column[other];
                }
            }
            pool.control.check((old.len() * batch.len()) as u64)?;
            for (&slot, column) in batch.iter().zip(columns) {
                each(slot, &column);
                self.hold(slot, Arc::new(column), &keep);
            }
        }
        Ok(())
    }

    /// Adds `Σ coef·K[:, slot]` to `out`, with the same bits for any stored columns. Missing
    /// columns are computed in batches and stored only if the budget has room.
    pub(crate) fn accumulate(
        &mut self,
        pool: Pool,
        seats: &Seats,
        terms: &[(usize, f64)],
        out: &mut [f64],
    ) -> Result<(), Cancelled> {
        let mut sum = vec![0.0; out.len()];
        for group in terms.chunks((self.batch() / SUMMED * SUMMED).max(SUMMED)) {
            pool.control.check((group.len() * out.len()) as u64)?;
            let missing: Vec<usize> = group.iter().map(|term| term.0).filter(|&slot| !self.holds(slot)).collect();
            let fresh = self.compute(pool, seats, &missing)?;
            let column = |k: usize| {
                let slot = group[k].0;
                let held = self.held[slot].as_ref().map(|column| &column[..]);
                held.unwrap_or_else(|| &fresh[missing.iter().position(|&s| s == slot).unwrap_or(0)])
            };
            sum_columns(group.len(), |k| group[k].1, column, &mut sum);
            for (slot, column) in missing.into_iter().zip(fresh) {
                if self.bytes + self.taken + self.size() <= self.budget {
                    self.bytes += self.size();
                    self.used_at[slot] = self.clock;
                    self.held[slot] = Some(Arc::new(column));
                }
            }
            self.note(0);
        }
        out.iter_mut().zip(&sum).for_each(|(o, s)| *o += s);
        Ok(())
    }
}

/// Returns the ranges of pool ids that cover all members, with gaps of at most [`GAP`] other
/// samples inside.
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
