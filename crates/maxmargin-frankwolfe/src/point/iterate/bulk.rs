//! Changes of many α at once, and gradients of many vertices.

use super::Iterate;
use maxmargin_core::{Cancelled, RunControl};
use maxmargin_kernel::RowRef;

/// Elements of the gradient that stay in the first-level cache while many rows are added to them.
const CHUNK: usize = 2048;

impl Iterate<'_, '_> {
    /// Replaces the gradient, and with it `αᵀQα`, by more exact values.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) {
        self.multiply_out();
        for (k, g) in gradient.iter().enumerate() {
            self.h[k] = self.dual.sign()[k] * g;
        }
        self.full = true;
        self.resquare();
        self.scan();
    }

    /// Recomputes `αᵀQα` from α and the gradient, which removes the error of the recurrences.
    fn resquare(&mut self) {
        self.square = self.support.iter().map(|&k| self.alpha(k as usize) * self.gradient(k as usize)).sum();
    }

    /// Restores `Σ α = 1` after the rounding of many steps: α and gradient are divided by the sum,
    /// the largest α takes the last bits. A point whose sum is exactly 1 stays as it is.
    pub(crate) fn normalise(&mut self) {
        self.multiply_out();
        let total: f64 = self.beta.iter().sum();
        if total == 1.0 {
            return;
        }
        self.beta.iter_mut().chain(&mut self.h).for_each(|v| *v /= total);
        self.square /= total * total;
        let rest = 1.0 - self.beta.iter().sum::<f64>();
        if let Some(largest) = self.beta.iter_mut().max_by(|a, b| a.total_cmp(b)) {
            *largest += rest;
        }
    }

    /// Computes the gradient at every vertex from kernel rows, and keeps it from then on. After a
    /// cancellation it is kept where it was before.
    pub(crate) fn complete(&mut self, control: &RunControl) -> Result<(), Cancelled> {
        if self.full {
            return Ok(());
        }
        self.full = true;
        let done = self.recompute(control);
        self.full = done.is_ok();
        done
    }

    /// Recomputes the gradient from kernel rows, at every vertex or on the support.
    pub(super) fn recompute(&mut self, control: &RunControl) -> Result<(), Cancelled> {
        self.multiply_out();
        let known = self.h.clone();
        self.h.fill(0.0);
        let changes: Vec<(usize, f64)> = self.support.iter().map(|&k| (k as usize, self.beta[k as usize])).collect();
        if let Err(halted) = self.accumulate(&changes, control) {
            self.h = known;
            return Err(halted);
        }
        if self.full {
            self.scan();
        }
        self.resquare();
        Ok(())
    }

    /// Updates the gradient for many changes of α, given as (vertex, increase). α and `αᵀQα` are
    /// the caller's, and after a cancellation the gradient too.
    fn accumulate(&mut self, changes: &[(usize, f64)], control: &RunControl) -> Result<(), Cancelled> {
        let ridge = self.dual.ridge();
        for &(k, change) in changes {
            self.h[k] += self.dual.sign()[k] * ridge * change / self.scale;
        }
        let vertices: Vec<usize> = changes.iter().map(|(k, _)| *k).collect();
        // A small row store holds few rows at once.
        for (vertices, changes) in vertices.chunks(512).zip(changes.chunks(512)) {
            self.fetch(vertices, control)?;
            let held: Vec<(RowRef, f64)> =
                changes.iter().map(|&(k, c)| (self.row(k), self.dual.sign()[k] * c / self.scale)).collect();
            if self.full {
                self.add_everywhere(&held);
            } else {
                for &k in &self.support {
                    let id = self.dual.ids()[k as usize];
                    self.h[k as usize] += held.iter().map(|(row, c)| c * row.at(id)).sum::<f64>();
                }
            }
        }
        Ok(())
    }

    /// Adds `Σ c_r row_r` to `h`; each chunk of `h` stays in cache for all rows.
    fn add_everywhere(&mut self, held: &[(RowRef, f64)]) {
        let (first, ids) = (self.first, self.dual.ids());
        self.par.for_chunks(&mut self.h, CHUNK, |t, h| {
            let places = t * CHUNK..t * CHUNK + h.len();
            for (row, c) in held {
                match first {
                    Some(first) => row.entries().part(first + places.start..first + places.end).add_to(h, *c),
                    None => h.iter_mut().zip(&ids[places.clone()]).for_each(|(h, &id)| *h += c * row.at(id)),
                }
            }
        });
    }

    /// Replaces α and the gradient.
    pub(crate) fn replace(&mut self, alpha: &[f64], gradient: &[f64]) {
        self.scale = 1.0;
        for (k, &a) in alpha.iter().enumerate() {
            self.place_at(k, a);
        }
        self.refresh(gradient);
    }

    /// Counts kernel rows that were computed and not kept.
    pub(crate) fn count_computed(&mut self, rows: usize) {
        self.rows_computed += rows as u64;
    }

    /// Takes α of a few vertices from a solver of their problem; the full gradient is updated.
    /// After a cancellation the point is unchanged.
    pub(crate) fn adopt(
        &mut self,
        vertices: &[usize],
        alpha: &[f64],
        square: f64,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        self.multiply_out();
        let changes: Vec<(usize, f64)> =
            vertices.iter().zip(alpha).map(|(&k, a)| (k, a - self.beta[k])).filter(|(_, change)| *change != 0.0).collect();
        if self.full {
            let known = self.h.clone();
            if let Err(halted) = self.accumulate(&changes, control) {
                self.h = known;
                return Err(halted);
            }
        }
        for (&k, &a) in vertices.iter().zip(alpha) {
            self.place_at(k, a);
        }
        if self.full {
            self.scan();
        }
        self.square = square;
        Ok(())
    }

    /// Sets the gradient of a vertex of the support.
    pub(crate) fn set_gradient(&mut self, k: usize, gradient: f64) {
        self.h[k] = self.dual.sign()[k] * gradient / self.scale;
    }

    /// Computes `(Qα)_k` of these vertices: looked up where it is kept, otherwise from the rows of
    /// the support.
    pub(crate) fn evaluate(&mut self, vertices: &[usize], out: &mut Vec<f64>) {
        out.clear();
        if self.full {
            out.extend(vertices.iter().map(|&k| self.gradient(k)));
            return;
        }
        out.resize(vertices.len(), 0.0);
        for at in 0..self.support.len() {
            let k = self.support[at] as usize;
            let c = self.dual.sign()[k] * self.beta[k];
            let id = self.dual.ids()[k];
            let held;
            let row = if let Some(row) = self.rows.resident(id) {
                row
            } else {
                held = self.rows.row(id);
                held.entries()
            };
            for (sum, &v) in out.iter_mut().zip(vertices) {
                *sum += c * row.at(self.dual.ids()[v]);
            }
        }
        for (sum, &v) in out.iter_mut().zip(vertices) {
            *sum = if self.is_used(v) { self.gradient(v) } else { self.scale * self.dual.sign()[v] * *sum };
        }
    }
}
