//! The running state: α and the optimality indicator of every variable.

use maxmargin_core::{Cancelled, Dual, RunControl, exact_sums};
use maxmargin_data::Par;
use maxmargin_kernel::Rows;

/// The variables of one piece of the update, the unit of parallel work. Their part of `f` stays in
/// the first-level cache while the rows are added.
const PIECE: usize = 2048;

/// The rows that are kept while `f` is updated.
const GROUP: usize = 128;

/// The point and `f_k = s_k (Qα + linear_term)_k`. It is optimal within ε when `max f` over the
/// variables that may fall is at most `min f + ε` over those that may rise.
pub(crate) struct State<'a> {
    pub(crate) dual: &'a Dual,
    pub(crate) alpha: Vec<f64>,
    pub(crate) f: Vec<f64>,
    pub(crate) par: Par,
}

/// The extremes of `f` over the variables whose `s α` may rise, and over those whose `s α` may
/// fall.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extremes {
    pub(crate) min_up: f64,
    pub(crate) max_low: f64,
    pub(crate) up: usize,
    pub(crate) low: usize,
}

impl Extremes {
    pub(crate) fn violation(&self) -> f64 {
        self.max_low - self.min_up
    }
}

impl<'a> State<'a> {
    pub(crate) fn new(dual: &'a Dual, alpha: Vec<f64>, gradient: &[f64], par: Par) -> Self {
        let mut state = Self { dual, alpha, f: Vec::new(), par };
        state.refresh(gradient);
        state
    }

    /// Replaces the gradient by a more exact one.
    pub(crate) fn refresh(&mut self, gradient: &[f64]) {
        self.f.clear();
        self.f.extend(self.dual.sign().iter().zip(gradient).map(|(s, g)| s * g));
    }

    /// Returns `Qα + lin`.
    pub(crate) fn gradient(&self) -> Vec<f64> {
        self.dual.sign().iter().zip(&self.f).map(|(s, f)| s * f).collect()
    }

    /// Returns whether `s α` of a variable may rise, and whether it may fall.
    pub(crate) fn moves(&self, k: usize) -> (bool, bool) {
        let (below, above) = (self.alpha[k] < self.dual.upper()[k], self.alpha[k] > 0.0);
        if self.dual.sign()[k] > 0.0 { (below, above) } else { (above, below) }
    }

    /// Returns true if a variable is between its bounds.
    pub(crate) fn is_free(&self, k: usize) -> bool {
        self.alpha[k] > 0.0 && self.alpha[k] < self.dual.upper()[k]
    }

    pub(crate) fn extremes(&self) -> Extremes {
        let mut found = Extremes { min_up: f64::INFINITY, max_low: f64::NEG_INFINITY, up: usize::MAX, low: usize::MAX };
        for (k, &f) in self.f.iter().enumerate() {
            let (rises, falls) = self.moves(k);
            if rises && f < found.min_up {
                (found.min_up, found.up) = (f, k);
            }
            if falls && f > found.max_low {
                (found.max_low, found.low) = (f, k);
            }
        }
        found
    }

    /// Returns `√Σα²`.
    pub(crate) fn norm(&self) -> f64 {
        self.alpha.iter().map(|a| a * a).sum::<f64>().sqrt()
    }

    /// Updates `f` for changes of `β = s α`, from rows in `f32`.
    pub(crate) fn update(&mut self, rows: &Rows, changes: &[(usize, f64)]) {
        let dual = self.dual;
        let segments = dual.segments();
        for group in changes.chunks(GROUP) {
            let held: Vec<_> = group.iter().map(|&(k, change)| (rows.row(dual.ids()[k]), change)).collect();
            self.par.for_chunks(&mut self.f, PIECE, |piece, f| {
                let (from, to) = (piece * PIECE, piece * PIECE + f.len());
                let first = segments.partition_point(|s| s.at + s.ids.len() <= from);
                for segment in segments[first..].iter().take_while(|s| s.at < to) {
                    let (begin, end) = (from.max(segment.at), to.min(segment.at + segment.ids.len()));
                    let column = |k: usize| segment.ids.start + (k - segment.at);
                    for (row, change) in &held {
                        row.entries().part(column(begin)..column(end)).add_to(&mut f[begin - from..end - from], *change);
                    }
                }
            });
        }
        self.add_ridges(changes);
    }

    /// Updates `f` as [`State::update`] does, from exact kernel values.
    ///
    /// # Errors
    ///
    /// When the run is cancelled; `f` is then unchanged.
    pub(crate) fn update_exactly(
        &mut self,
        rows: &Rows,
        changes: &[(usize, f64)],
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let ids: Vec<usize> = changes.iter().map(|c| self.dual.ids()[c.0]).collect();
        let coef: Vec<f64> = changes.iter().map(|c| c.1).collect();
        let sums = exact_sums(self.dual, rows.gram(), &ids, &coef, self.par, control)?;
        self.f.iter_mut().zip(sums).for_each(|(f, sum)| *f += sum);
        self.add_ridges(changes);
        Ok(())
    }

    fn add_ridges(&mut self, changes: &[(usize, f64)]) {
        changes.iter().for_each(|&(k, change)| self.f[k] += self.dual.ridge_of(k) * change);
    }
}
