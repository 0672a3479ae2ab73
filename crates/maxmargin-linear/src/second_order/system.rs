//! Newton systems `(I + Σ h_k x_k x_kᵀ) d = r`, with or without an unregularised bias.

use crate::second_order::conjugate::solve_in_place;
use crate::second_order::orthogonal;
use crate::second_order::products::{BLOCK, PARTS, row_products, weighted_gram, weighted_products};
use crate::second_order::stiff::{FIRST, WideSolution, WideSystem};
use faer::Mat;
use maxmargin_core::{Cancelled, Dual, RunControl, cholesky, twins};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_kernel::features::combine;
use maxmargin_kernel::{MemoryBudget, Reservation};
use maxmargin_simd::sums::dot;

/// The largest number of unknowns of a system that is factored.
pub(crate) const DIRECT: usize = 1500;

/// The largest number of samples with many features whose products of all pairs are kept, and how
/// large its square may be for each entry of a row: a factor of all of them then takes about as
/// long as a hundred iterations over their entries.
const KEPT: (usize, usize) = (4096, 7200);

/// Products of rows that serve more than one Newton step, and the size of the last preconditioner.
pub(crate) struct Curvature<'m> {
    /// The lower triangle of `Σ x_k x_kᵀ` over the members, of which few change between steps.
    sum: Option<Mat<f64>>,
    /// The products `x_a · x_b` of all pairs of few samples with many features, `b ≥ a` in column
    /// `a`.
    pairs: Option<(Vec<f64>, Reservation<'m>)>,
    /// The members, ascending, and their weights relative to the scale.
    members: Vec<(usize, f64)>,
    /// The stiff rows that the last system with many features needed.
    stiff: usize,
}

impl Curvature<'_> {
    pub(crate) fn new() -> Self {
        Self { sum: None, pairs: None, members: Vec::new(), stiff: FIRST }
    }

    /// Drops the sum, and with it the rounding errors of earlier updates.
    pub(crate) fn clear(&mut self) {
        self.sum = None;
        self.members.clear();
    }

    /// Adds new members and subtracts former ones, or computes the sum anew if that is less work.
    fn follow<R: FeatureRows>(&mut self, system: &System<R>, control: &RunControl) -> Result<&Mat<f64>, Cancelled> {
        let wanted: Vec<(usize, f64)> = system.free.iter().zip(system.weights).map(|(&k, &h)| (k, h / system.scale)).collect();
        let mut changes = Vec::new();
        let (mut old, mut new) = (self.members.iter().peekable(), wanted.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) if a.0 == b.0 => {
                    if a.1 != b.1 {
                        changes.push((a.0, b.1 - a.1));
                    }
                    old.next();
                    new.next();
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    changes.push((a.0, -a.1));
                    old.next();
                }
                (_, Some(b)) => {
                    changes.push(**b);
                    new.next();
                }
                (Some(_), None) => unreachable!("taken by the arm above"),
            }
        }
        if self.sum.is_none() || 2 * changes.len() > wanted.len() {
            self.sum = Some(system.products(&wanted, control)?);
        } else if !changes.is_empty()
            && let Some(sum) = &mut self.sum
        {
            *sum += system.products(&changes, control)?;
        }
        self.members = wanted;
        Ok(self.sum.as_ref().expect("made above"))
    }
}

/// One Newton system.
pub(crate) struct System<'s, 'm, R> {
    pub(crate) rows: &'s R,
    pub(crate) memory: &'m MemoryBudget,
    pub(crate) dual: &'s Dual,
    /// The typical weight.
    pub(crate) scale: f64,
    /// The variables in the Hessian, and their weights.
    pub(crate) free: &'s [usize],
    pub(crate) weights: &'s [f64],
    /// The largest `‖x_k‖²`.
    pub(crate) largest: f64,
    pub(crate) par: Par,
}

/// The largest `h ‖x‖²` beside which sums of products keep the digits of `I` and of small features.
const STEEP: f64 = 1e10;

impl<'m, R: FeatureRows> System<'_, 'm, R> {
    /// Returns the Newton direction of `w` and of the bias for these gradients, and the iterations.
    /// An iterative solution has the relative `accuracy`.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn solve(
        &self,
        gradient: &[f64],
        bias_gradient: Option<f64>,
        accuracy: f64,
        curvature: &mut Curvature<'m>,
        control: &RunControl,
    ) -> Result<(Vec<f64>, f64, u64), Cancelled> {
        let down: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let ids: Vec<usize> = self.free.iter().map(|&k| self.dual.ids()[k]).collect();
        if let Some((direction, bias)) = self.by_rows(&ids, &down, bias_gradient, control)? {
            return Ok((direction, bias, 0));
        }
        let mut inverse = self.inverse(&ids, curvature, control)?;
        let (mut direction, mut iterations) = inverse.apply(&down, accuracy, control)?;
        let Some(bias_gradient) = bias_gradient else {
            curvature.stiff = inverse.stiff().unwrap_or(curvature.stiff);
            return Ok((direction, 0.0, iterations));
        };
        if ids.is_empty() {
            // No variable holds the bias: the line search decides the length of its step.
            return Ok((direction, -bias_gradient / self.scale.max(1.0), iterations));
        }
        // Block elimination of the bias: its column is q = Σ h_k x_k, its diagonal Σ h_k.
        let column = combine(self.rows, &ids, self.weights, self.par);
        let (response, more) = inverse.apply(&column, accuracy.min(1e-4), control)?;
        iterations += more;
        curvature.stiff = inverse.stiff().unwrap_or(curvature.stiff);
        let diagonal: f64 = self.weights.iter().sum();
        let pivot = (diagonal - dot(&column, &response)).max(1e-12 * diagonal);
        let bias = (-bias_gradient - dot(&column, &direction)) / pivot;
        direction.iter_mut().zip(&response).for_each(|(d, r)| *d -= bias * r);
        Ok((direction, bias, iterations))
    }

    /// Returns the Newton direction by the factor of the rows ([`orthogonal`]), if there are few
    /// features and the sum of products would lose the digits of `I`.
    fn by_rows(
        &self,
        ids: &[usize],
        down: &[f64],
        bias_gradient: Option<f64>,
        control: &RunControl,
    ) -> Result<Option<(Vec<f64>, f64)>, Cancelled> {
        let steepest = self.largest * self.weights.iter().fold(0.0, |most: f64, h| most.max(*h));
        let unknowns = down.len() + usize::from(bias_gradient.is_some());
        if steepest <= STEEP || down.len() > DIRECT {
            return Ok(None);
        }
        let Some(_held) = self.memory.reserve(orthogonal::bytes(unknowns)) else { return Ok(None) };
        let factor = orthogonal::factor(self.rows, ids, self.weights, bias_gradient.is_some(), control)?;
        if (0..unknowns).any(|at| factor[(at, at)] <= 0.0 || !factor[(at, at)].is_finite()) {
            return Ok(None);
        }
        let mut x: Vec<f64> = down.iter().copied().chain(bias_gradient.map(|gradient| -gradient)).collect();
        solve_in_place(&factor, &mut x);
        let bias = if bias_gradient.is_some() { x.pop().unwrap_or(0.0) } else { 0.0 };
        Ok(Some((x, bias)))
    }

    fn inverse<'s>(
        &'s self,
        ids: &'s [usize],
        curvature: &mut Curvature<'m>,
        control: &RunControl,
    ) -> Result<Inverse<'s, R>, Cancelled> {
        let (width, m) = (self.rows.width(), ids.len());
        let base = Base { rows: self.rows, ids, weights: self.weights, par: self.par };
        if m == 0 {
            return Ok(Inverse { base, factor: Factor::Identity });
        }
        let direct = if width > DIRECT {
            self.by_pairs(curvature, control)?
        } else if width <= 2 * m {
            // Memory for the sum that changes little, the parts added to it, and the factor.
            let bytes = 8 * (width * width * (2 + PARTS) + 2 * width * BLOCK * self.par.threads()) as u64;
            match self.memory.reserve(bytes) {
                Some(held) => {
                    let mut hessian = self.hessian(curvature, control)?;
                    cholesky(hessian.as_mut(), self.par, control)?.then_some(Factor::Primal(hessian, held))
                }
                None => None,
            }
        } else {
            match self.memory.reserve(16 * (m * m) as u64) {
                Some(held) => {
                    let mut gram = weighted_gram(base.rows, ids, None, base.weights.iter().copied(), base.par, control)?;
                    cholesky(gram.as_mut(), self.par, control)?.then_some(Factor::Dual(gram, held))
                }
                None => None,
            }
        };
        let factor = if let Some(factor) = direct {
            factor
        } else {
            let stiff = curvature.stiff;
            Factor::Iterated(Box::new(WideSystem::new(self.rows, self.memory, ids, self.weights, stiff, self.par, control)?))
        };
        Ok(Inverse { base, factor })
    }

    /// Returns the factor of `diag(1/h) + X Xᵀ` from kept products of all pairs of samples, if
    /// there are few of them. Where rows have nearly all features and much in common, as
    /// expressions of genes have, conjugate gradients take hundreds of iterations over rows of
    /// thousands.
    fn by_pairs(&self, curvature: &mut Curvature<'m>, control: &RunControl) -> Result<Option<Factor<'m>>, Cancelled> {
        let n = twins(self.dual).unwrap_or(self.dual.len());
        let samples = &self.dual.ids()[..n];
        let entries = || samples.iter().map(|&id| self.rows.entries_of(id)).sum::<usize>();
        if n > KEPT.0 || n * n * n > KEPT.1 * entries() {
            return Ok(None);
        }
        if curvature.pairs.is_none() {
            let Some(held) = self.memory.reserve(8 * (n * n) as u64) else { return Ok(None) };
            curvature.pairs = Some((row_products(self.rows, samples, None, self.par, control)?, held));
        }
        let (pairs, _) = curvature.pairs.as_ref().expect("made above");
        let m = self.free.len();
        let Some(held) = self.memory.reserve(16 * (m * m) as u64) else { return Ok(None) };
        let mut gram = Mat::from_fn(m, m, |i, j| {
            let (a, b) = (self.free[i] % n, self.free[j] % n);
            pairs[a.min(b) * n + a.max(b)] + if i == j { 1.0 / self.weights[i] } else { 0.0 }
        });
        Ok(cholesky(gram.as_mut(), self.par, control)?.then_some(Factor::Dual(gram, held)))
    }

    /// Returns `Σ factor x_k x_kᵀ` over `(variable, factor)`, lower triangle.
    fn products(&self, of: &[(usize, f64)], control: &RunControl) -> Result<Mat<f64>, Cancelled> {
        let of: Vec<(usize, f64)> = of.iter().map(|&(k, factor)| (self.dual.ids()[k], factor)).collect();
        weighted_products(self.rows, &of, self.par, control)
    }

    /// Returns `I + Σ h_k x_k x_kᵀ`, lower triangle.
    fn hessian(&self, curvature: &mut Curvature<'m>, control: &RunControl) -> Result<Mat<f64>, Cancelled> {
        let mut h = curvature.follow(self, control)?.clone();
        for j in 0..h.ncols() {
            h.col_as_slice_mut(j)[j..].iter_mut().for_each(|v| *v *= self.scale);
            h[(j, j)] += 1.0;
        }
        Ok(h)
    }
}

struct Base<'s, R> {
    rows: &'s R,
    ids: &'s [usize],
    weights: &'s [f64],
    par: Par,
}

enum Factor<'s> {
    /// No row is in the Hessian.
    Identity,
    /// The factor of `I + Σ h x xᵀ`.
    Primal(Mat<f64>, #[expect(dead_code, reason = "holds the memory of the factor")] Reservation<'s>),
    /// The factor of `diag(1/h) + X Xᵀ` (Woodbury's identity).
    Dual(Mat<f64>, #[expect(dead_code, reason = "holds the memory of the factor")] Reservation<'s>),
    /// Conjugate gradients.
    Iterated(Box<WideSystem<'s>>),
}

struct Inverse<'s, R> {
    base: Base<'s, R>,
    factor: Factor<'s>,
}

impl<R: FeatureRows> Inverse<'_, R> {
    /// Returns the solution for the right-hand side `r`, and its iterations.
    fn apply(&mut self, r: &[f64], accuracy: f64, control: &RunControl) -> Result<(Vec<f64>, u64), Cancelled> {
        let base = &self.base;
        Ok(match &mut self.factor {
            Factor::Identity => (r.to_vec(), 0),
            Factor::Primal(factor, _) => {
                let mut x = r.to_vec();
                solve_in_place(factor, &mut x);
                (x, 0)
            }
            Factor::Dual(factor, _) => {
                let mut y: Vec<f64> = base.ids.iter().map(|&id| base.rows.dot(id, r)).collect();
                solve_in_place(factor, &mut y);
                let back = combine(base.rows, base.ids, &y, base.par);
                (r.iter().zip(&back).map(|(r, b)| r - b).collect(), 0)
            }
            Factor::Iterated(system) => {
                let WideSolution { x, iterations } = system.solve(r, accuracy, control)?;
                (x, iterations)
            }
        })
    }

    /// Returns the stiff rows for the next system, if conjugate gradients solve this one.
    fn stiff(&self) -> Option<usize> {
        match &self.factor {
            Factor::Iterated(system) => Some(system.next()),
            _ => None,
        }
    }
}
