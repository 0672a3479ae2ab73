//! The running point: α on the simplex, its gradient, and the steps that move both.

use maxmargin_core::{Cancelled, Dual, RunControl, SolverControl, Status};
use maxmargin_data::Par;
use maxmargin_kernel::{RowRef, RowSlice, Rows};
use maxmargin_simd::passes::{Extremes, add_and_scan};

mod bulk;

/// The place of a vertex outside the support.
const NOWHERE: u32 = u32::MAX;

/// The limits of the common factor of α and gradient; beyond them both are multiplied by it.
const SMALLEST: f64 = 1e-100;
const LARGEST: f64 = 1e100;

/// The share of all rows after which the whole matrix is computed: in large blocks, and one
/// symmetric half only.
const WHOLE: f64 = 0.15;

/// With a larger support than one vertex in this many, a vector pass over all vertices finds the
/// nearest point.
const SPARSE: usize = 12;

/// A vertex and its gradient `g = (Qα)_k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vertex {
    pub(crate) k: usize,
    pub(crate) gradient: f64,
}

/// The vectors α and `s_k (Qα)_k` up to a common factor, and `αᵀQα`. A Frank-Wolfe step scales
/// every α by one factor, which costs nothing in this form.
///
/// The gradient is kept at every vertex, or (`full == false`) on the support only.
pub(crate) struct Iterate<'a, 'g> {
    dual: &'a Dual,
    rows: &'a Rows<'g>,
    par: Par,
    /// The first row, if the ids are consecutive: rows are then read in place, otherwise through a
    /// gathered copy.
    first: Option<usize>,
    gathered: Vec<f32>,
    scale: f64,
    beta: Vec<f64>,
    h: Vec<f64>,
    /// The diagonal `Q_kk`.
    pub(crate) diagonal: Vec<f64>,
    /// The quadratic form `αᵀQα`.
    pub(crate) square: f64,
    pub(crate) full: bool,
    pub(crate) support: Vec<u32>,
    place: Vec<u32>,
    plus: Vec<u8>,
    minus: Vec<u8>,
    plus_used: Vec<u8>,
    minus_used: Vec<u8>,
    nothing: Vec<f32>,
    extremes: Extremes,
    pub(crate) rows_requested: u64,
    pub(crate) rows_computed: u64,
}

fn set(bits: &mut [u8], k: usize, on: bool) {
    if on {
        bits[k / 8] |= 1 << (k % 8);
    } else {
        bits[k / 8] &= !(1 << (k % 8));
    }
}

impl<'a, 'g> Iterate<'a, 'g> {
    /// Creates the point `alpha`, with the gradient at every vertex if `full`: either `gradient`,
    /// or computed from kernel rows.
    pub(crate) fn new(
        dual: &'a Dual,
        rows: &'a Rows<'g>,
        par: Par,
        alpha: &[f64],
        gradient: Option<&[f64]>,
        full: bool,
        control: &RunControl,
    ) -> Result<Self, Cancelled> {
        let n = dual.len();
        let mut plus = vec![0; n.div_ceil(8)];
        let mut minus = plus.clone();
        for (k, s) in dual.sign().iter().enumerate() {
            set(if *s > 0.0 { &mut plus } else { &mut minus }, k, true);
        }
        let consecutive = dual.segments().len() == 1;
        let own = rows.gram().diagonal();
        let mut iterate = Self {
            dual,
            rows,
            par,
            first: consecutive.then(|| dual.ids()[0]),
            gathered: if consecutive { vec![] } else { vec![0.0; n] },
            scale: 1.0,
            beta: vec![0.0; n],
            h: vec![0.0; n],
            diagonal: dual.ids().iter().map(|&id| own[id] + dual.ridge()).collect(),
            square: 0.0,
            full,
            support: vec![],
            place: vec![NOWHERE; n],
            plus_used: vec![0; plus.len()],
            minus_used: vec![0; plus.len()],
            plus,
            minus,
            nothing: vec![0.0; n],
            extremes: Extremes::NONE,
            rows_requested: 0,
            rows_computed: 0,
        };
        for (k, &a) in alpha.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            iterate.place_at(k, a);
        }
        match gradient {
            Some(gradient) if full => iterate.refresh(gradient),
            _ => iterate.recompute(control)?,
        }
        Ok(iterate)
    }

    /// Returns the number of vertices.
    pub(crate) fn len(&self) -> usize {
        self.beta.len()
    }

    pub(crate) fn alpha(&self, k: usize) -> f64 {
        self.scale * self.beta[k]
    }

    pub(crate) fn alphas(&self) -> Vec<f64> {
        self.beta.iter().map(|b| self.scale * b).collect()
    }

    /// Returns `(Qα)_k`, if it is kept.
    pub(crate) fn gradient(&self, k: usize) -> f64 {
        self.scale * self.dual.sign()[k] * self.h[k]
    }

    pub(crate) fn gradients(&self) -> Vec<f64> {
        (0..self.len()).map(|k| self.gradient(k)).collect()
    }

    /// Returns `K_kk`, without the ridge.
    pub(crate) fn own(&self, k: usize) -> f64 {
        self.rows.gram().diagonal()[self.dual.ids()[k]]
    }

    pub(crate) fn sign(&self, k: usize) -> f64 {
        self.dual.sign()[k]
    }

    pub(crate) fn id(&self, k: usize) -> usize {
        self.dual.ids()[k]
    }

    pub(crate) fn is_used(&self, k: usize) -> bool {
        self.place[k] != NOWHERE
    }

    /// Prepares the store so that the next row of a vertex costs one row at most. The control may
    /// cancel it.
    pub(crate) fn ready(&mut self, k: usize, measure: f64, control: &mut SolverControl) -> Result<(), Status> {
        let held = self.rows.work().computed;
        let whole = self.rows.holds_all() && held as f64 >= WHOLE * self.rows.gram().len() as f64;
        if whole && !self.rows.contains(self.dual.ids()[k]) {
            let done = control.run(measure, |control| self.rows.complete(control));
            self.rows_computed += self.rows.work().computed - held;
            done?;
        }
        Ok(())
    }

    /// Returns the kernel row of a vertex.
    pub(crate) fn row(&mut self, k: usize) -> RowRef {
        self.rows_requested += 1;
        let id = self.dual.ids()[k];
        if !self.rows.contains(id) {
            let held = self.rows.work().computed;
            if self.rows.holds_all() && held as f64 >= WHOLE * self.rows.gram().len() as f64 {
                // Callers that can be cancelled have done this before ([`Iterate::ready`]).
                let _ = self.rows.complete(&RunControl::unlimited());
            }
            let row = self.rows.row(id);
            self.rows_computed += self.rows.work().computed - held;
            return row;
        }
        self.rows.row(id)
    }

    /// Computes the missing rows of these vertices in blocks, unless the run is cancelled.
    pub(crate) fn fetch(&mut self, vertices: &[usize], control: &RunControl) -> Result<(), Cancelled> {
        let mut ids: Vec<usize> = vertices.iter().map(|&k| self.dual.ids()[k]).filter(|&id| !self.rows.contains(id)).collect();
        ids.sort_unstable();
        ids.dedup();
        let held = self.rows.work().computed;
        let done = if self.rows.holds_all() && (held as usize + ids.len()) as f64 >= 2.0 * WHOLE * self.rows.gram().len() as f64 {
            self.rows.complete(control)
        } else {
            self.rows.fetch(&ids, control)
        };
        self.rows_computed += self.rows.work().computed - held;
        done
    }

    /// Sets α of a vertex; 0 takes it out of the support.
    fn place_at(&mut self, k: usize, alpha: f64) {
        let (used, was) = (alpha > 0.0, self.is_used(k));
        self.beta[k] = alpha / self.scale;
        if used == was {
            return;
        }
        if used {
            self.place[k] = self.support.len() as u32;
            self.support.push(k as u32);
        } else {
            let at = self.place[k] as usize;
            self.support.swap_remove(at);
            self.place[k] = NOWHERE;
            self.beta[k] = 0.0;
            if let Some(&moved) = self.support.get(at) {
                self.place[moved as usize] = at as u32;
            }
        }
        let bits = if self.dual.sign()[k] > 0.0 { &mut self.plus_used } else { &mut self.minus_used };
        set(bits, k, used);
    }

    fn multiply_out(&mut self) {
        let scale = std::mem::replace(&mut self.scale, 1.0);
        self.beta.iter_mut().chain(&mut self.h).for_each(|v| *v *= scale);
    }

    /// Updates the extremes of the gradient.
    fn scan(&mut self) {
        self.extremes = add_and_scan(&mut self.h, RowSlice::Values(&self.nothing), 0.0, &self.plus, &self.minus);
    }

    /// Returns the vertex of least gradient: the furthest point. Requires the full gradient.
    pub(crate) fn furthest(&self) -> Vertex {
        let e = &self.extremes;
        // For a positive sample h is its gradient, for a negative one its negative.
        let k = if e.min_up < -e.max_low || (e.min_up == -e.max_low && e.argmin_up < e.argmax_low) {
            e.argmin_up
        } else {
            e.argmax_low
        };
        if k == usize::MAX {
            return Vertex { k: 0, gradient: f64::NAN }; // all gradients are NaN
        }
        Vertex { k, gradient: self.gradient(k) }
    }

    /// Returns the vertex of the support with the largest gradient: the nearest point. Its index is
    /// `usize::MAX` if all gradients are NaN.
    pub(crate) fn nearest(&mut self) -> Vertex {
        if self.full && self.support.len() * SPARSE > self.len() {
            let e = add_and_scan(&mut self.h, RowSlice::Values(&self.nothing), 0.0, &self.minus_used, &self.plus_used);
            let positive = e.max_low > -e.min_up || (e.max_low == -e.min_up && e.argmax_low < e.argmin_up);
            let k = if positive { e.argmax_low } else { e.argmin_up };
            let gradient = if k == usize::MAX { f64::NAN } else { self.gradient(k) };
            return Vertex { k, gradient };
        }
        let mut best = Vertex { k: usize::MAX, gradient: f64::NEG_INFINITY };
        for &k in &self.support {
            let (k, gradient) = (k as usize, self.gradient(k as usize));
            if gradient > best.gradient || (gradient == best.gradient && k < best.k) {
                best = Vertex { k, gradient };
            }
        }
        best
    }

    /// Adds `factor · row` to `h` wherever the gradient is kept.
    fn add(&mut self, row: &RowRef, factor: f64) {
        if !self.full {
            for &k in &self.support {
                self.h[k as usize] += factor * row.at(self.dual.ids()[k as usize]);
            }
            return;
        }
        row.entries().add_base(&mut self.h, factor);
        let held = row.entries().held();
        let values = if let Some(first) = self.first {
            held.part(first..first + self.beta.len())
        } else {
            self.gathered.iter_mut().zip(self.dual.ids()).for_each(|(v, &id)| *v = held.at(id));
            RowSlice::Values(&self.gathered)
        };
        self.extremes = add_and_scan(&mut self.h, values, factor, &self.plus, &self.minus);
    }

    /// Sets `α ← (1 − λ) α + λ e_k`. A negative λ moves away from the vertex, and empties it if
    /// `to_bound`.
    pub(crate) fn toward(&mut self, vertex: Vertex, lambda: f64, to_bound: bool, row: &RowRef) {
        let Vertex { k, gradient } = vertex;
        let keep = 1.0 - lambda;
        if keep <= 0.0 {
            return self.jump(k, row);
        }
        self.square = keep * keep * self.square + lambda * (2.0 * keep * gradient + lambda * self.diagonal[k]);
        if !self.is_used(k) {
            // Where the gradient is kept on the support only, the new vertex brings its own.
            self.h[k] = self.dual.sign()[k] * gradient / self.scale;
        }
        self.scale *= keep;
        let alpha = if to_bound { 0.0 } else { self.alpha(k) + lambda };
        let factor = self.dual.sign()[k] * lambda / self.scale;
        self.place_at(k, alpha);
        self.h[k] += factor * self.dual.ridge();
        if (SMALLEST..LARGEST).contains(&self.scale) {
            self.add(row, factor);
        } else {
            let factor = factor * self.scale;
            self.multiply_out();
            self.add(row, factor);
        }
    }

    /// Sets `α = e_k`.
    fn jump(&mut self, k: usize, row: &RowRef) {
        for k in std::mem::take(&mut self.support) {
            self.place[k as usize] = NOWHERE;
            self.beta[k as usize] = 0.0;
        }
        self.plus_used.fill(0);
        self.minus_used.fill(0);
        self.scale = 1.0;
        self.h.fill(0.0);
        self.place_at(k, 1.0);
        self.square = self.diagonal[k];
        self.h[k] = self.dual.sign()[k] * self.dual.ridge();
        self.add(row, self.dual.sign()[k]);
    }

    /// Sets `α ← α + λ (e_i − e_j)`; `to_bound` empties `j`.
    pub(crate) fn swap(&mut self, i: Vertex, j: Vertex, lambda: f64, to_bound: bool, row_i: &RowRef, row_j: &RowRef) {
        let (si, sj, ridge) = (self.sign(i.k), self.sign(j.k), self.dual.ridge());
        let curvature = self.curvature(i.k, j.k, row_i);
        self.square += lambda * (2.0 * (i.gradient - j.gradient) + lambda * curvature);
        if !self.is_used(i.k) {
            self.h[i.k] = si * i.gradient / self.scale;
        }
        let (up, down) = (self.alpha(i.k) + lambda, if to_bound { 0.0 } else { self.alpha(j.k) - lambda });
        self.place_at(i.k, up);
        self.place_at(j.k, down.max(0.0));
        let step = lambda / self.scale;
        self.h[i.k] += si * ridge * step;
        self.h[j.k] -= sj * ridge * step;
        self.add(row_j, -sj * step);
        self.add(row_i, si * step);
    }

    /// Returns `(e_i − e_j)ᵀ Q (e_i − e_j)`.
    pub(crate) fn curvature(&self, i: usize, j: usize, row_i: &RowRef) -> f64 {
        let q = self.sign(i) * self.sign(j) * row_i.at(self.id(j));
        self.diagonal[i] + self.diagonal[j] - 2.0 * q
    }
}

#[cfg(test)]
#[path = "iterate_tests.rs"]
mod tests;
