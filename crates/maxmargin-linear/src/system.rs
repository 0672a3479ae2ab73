//! Newton systems `(I + Σ h_k x_k x_kᵀ) d = r`, with or without a bias that is not regularised.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat};
use maxmargin_core::{Asking, Dual, Halted, cholesky};
use maxmargin_data::Par;
use maxmargin_kernel::features::FeatureRows;
use maxmargin_kernel::features::{combine, products};
use maxmargin_kernel::{MemoryBudget, Reservation};
use maxmargin_simd::sums::dot;

/// Systems of at most this many unknowns are factored.
pub(crate) const DIRECT: usize = 1500;

/// Rows of a Gram matrix that is factored when conjugate gradients do not do.
const MOST: usize = 6000;

/// Rows per block of a dense product.
const BLOCK: usize = 256;

/// Partial sums of the matrix.
const PARTS: usize = 4;

/// Iterations of conjugate gradients at most.
const GRADIENTS: u64 = 2000;

/// `Σ x_k x_kᵀ` over a set of variables that changes little from one Newton step to the next, lower
/// triangle.
#[derive(Default)]
pub(crate) struct Curvature {
    sum: Option<Mat<f64>>,
    /// Its members, ascending, and their weights relative to the scale.
    members: Vec<(usize, f64)>,
}

impl Curvature {
    /// Forgets the sum, and with it the rounding errors of what was added and taken away.
    pub(crate) fn clear(&mut self) {
        self.sum = None;
        self.members.clear();
    }

    /// Adds who is new and takes away who has left; anew where that is less work.
    fn follow<R: FeatureRows>(&mut self, system: &System<R>, asking: &Asking) -> Result<&Mat<f64>, Halted> {
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
            self.sum = Some(system.products(&wanted, asking)?);
        } else if !changes.is_empty()
            && let Some(sum) = &mut self.sum
        {
            *sum += system.products(&changes, asking)?;
        }
        self.members = wanted;
        Ok(self.sum.as_ref().expect("made above"))
    }
}

/// One system.
pub(crate) struct System<'a, R> {
    pub(crate) rows: &'a R,
    pub(crate) ledger: &'a MemoryBudget,
    pub(crate) dual: &'a Dual,
    /// Typical weight.
    pub(crate) scale: f64,
    /// Variables that count in the Hessian, and their weights.
    pub(crate) free: &'a [usize],
    pub(crate) weights: &'a [f64],
    pub(crate) par: Par,
}

impl<R: FeatureRows> System<'_, R> {
    /// The Newton direction of `w` and of the bias for these gradients, to the relative `accuracy`
    /// where it is iterated; and the iterations.
    ///
    /// # Errors
    ///
    /// When it was called off.
    pub(crate) fn solve(
        &self,
        gradient: &[f64],
        bias_gradient: Option<f64>,
        accuracy: f64,
        curvature: &mut Curvature,
        asking: &Asking,
    ) -> Result<(Vec<f64>, f64, u64), Halted> {
        let down: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let ids: Vec<usize> = self.free.iter().map(|&k| self.dual.ids()[k]).collect();
        let mut inverse = self.inverse(&ids, curvature, asking)?;
        let (mut direction, mut iterations) = inverse.apply(&down, accuracy, asking)?;
        let Some(bias_gradient) = bias_gradient else { return Ok((direction, 0.0, iterations)) };
        if ids.is_empty() {
            // Nothing holds the bias: a step whose length the search decides.
            return Ok((direction, -bias_gradient / self.scale.max(1.0), iterations));
        }
        // Block elimination of the bias: its column is q = Σ h_k x_k, its diagonal Σ h_k.
        let column = combine(self.rows, &ids, self.weights, self.par);
        let (response, more) = inverse.apply(&column, accuracy.min(1e-4), asking)?;
        iterations += more;
        let diagonal: f64 = self.weights.iter().sum();
        let pivot = (diagonal - dot(&column, &response)).max(1e-12 * diagonal);
        let bias = (-bias_gradient - dot(&column, &direction)) / pivot;
        direction.iter_mut().zip(&response).for_each(|(d, r)| *d -= bias * r);
        Ok((direction, bias, iterations))
    }

    fn inverse<'s>(&'s self, ids: &'s [usize], curvature: &mut Curvature, asking: &Asking) -> Result<Inverse<'s, R>, Halted> {
        let (width, m) = (self.rows.width(), ids.len());
        let base = Base { rows: self.rows, ledger: self.ledger, ids, weights: self.weights, par: self.par };
        // The sum that changes little, what is added to it in parts, and the factor; where there is
        // no room for them, conjugate gradients do.
        let primal = 8 * (width * width * (2 + PARTS) + 2 * width * BLOCK * self.par.threads()) as u64;
        let held = if width <= DIRECT && m > 0 && width <= 2 * m { self.ledger.reserve(primal) } else { None };
        let factor = if width > DIRECT || m == 0 {
            None
        } else if width <= 2 * m {
            if held.is_none() {
                return Ok(Inverse { base, factor: None, held });
            }
            let mut hessian = self.hessian(curvature, asking)?;
            cholesky(hessian.as_mut(), self.par, asking)?.then_some(Factor::Primal(hessian))
        } else {
            let (factor, held) = base.dual_factor(asking)?;
            return Ok(Inverse { base, factor, held });
        };
        Ok(Inverse { base, factor, held })
    }

    /// `I + Σ h_k x_k x_kᵀ`, lower triangle.
    fn hessian(&self, curvature: &mut Curvature, asking: &Asking) -> Result<Mat<f64>, Halted> {
        let mut h = curvature.follow(self, asking)?.clone();
        for j in 0..h.ncols() {
            h.col_as_slice_mut(j)[j..].iter_mut().for_each(|v| *v *= self.scale);
            h[(j, j)] += 1.0;
        }
        Ok(h)
    }

    /// `Σ factor x_k x_kᵀ` over `(k, factor)`, lower triangle.
    fn products(&self, of: &[(usize, f64)], asking: &Asking) -> Result<Mat<f64>, Halted> {
        let (width, m) = (self.rows.width(), of.len());
        let id = |at: usize| self.dual.ids()[of[at].0];
        let entries = (0..m).map(|at| self.rows.entries_of(id(at))).sum::<usize>() / m.max(1);
        // Scattering takes about as long for one product as a blocked dense product for 40; a dense
        // block needs a sign.
        let dense = 40 * entries * entries > width * width && m >= BLOCK;
        let parts = (m * entries * entries / (width * width)).clamp(1, PARTS);
        let size = m.div_ceil(parts).max(1);
        let mut sums: Vec<Mat<f64>> = (0..m.div_ceil(size)).map(|_| Mat::zeros(width, width)).collect();
        // Every part in stretches of whole blocks, so that the sums are the same wherever they are
        // cut.
        let cost = if dense { width * width / 8 } else { entries * entries };
        let stretch = (Asking::piece() as usize / cost.max(1)).max(1).next_multiple_of(BLOCK);
        for from in (0..size).step_by(stretch) {
            asking.spend((stretch.min(size) * cost) as u64)?;
            self.par.for_chunks(&mut sums, 1, |part, sum| {
                let (begin, end) = (part * size + from, part * size + size.min(from + stretch));
                let of = &of[begin.min(m)..end.min(m)];
                if dense { self.dense_part(of, &mut sum[0]) } else { self.scattered_part(of, &mut sum[0]) }
            });
        }
        let mut sums = sums.into_iter();
        let mut h = sums.next().unwrap_or_else(|| Mat::zeros(width, width));
        for part in sums {
            h += part;
        }
        Ok(h)
    }

    fn scattered_part(&self, of: &[(usize, f64)], h: &mut Mat<f64>) {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for &(k, factor) in of {
            columns.clear();
            values.clear();
            self.rows.each(self.dual.ids()[k], |j, v| {
                columns.push(j);
                values.push(v);
            });
            for (a, &j) in columns.iter().enumerate() {
                let column = h.col_as_slice_mut(j);
                let factor = factor * values[a];
                for (&i, &v) in columns[a..].iter().zip(&values[a..]) {
                    column[i] += factor * v;
                }
            }
        }
    }

    fn dense_part(&self, of: &[(usize, f64)], h: &mut Mat<f64>) {
        let width = self.rows.width();
        let (mut left, mut right) = (Mat::zeros(width, BLOCK), Mat::zeros(width, BLOCK));
        for of in of.chunks(BLOCK) {
            for (at, &(k, factor)) in of.iter().enumerate() {
                let (left, right) = (left.col_as_slice_mut(at), right.col_as_slice_mut(at));
                left.fill(0.0);
                right.fill(0.0);
                self.rows.each(self.dual.ids()[k], |j, v| {
                    left[j] = factor * v;
                    right[j] = v;
                });
            }
            triangular::matmul(
                h.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                left.subcols(0, of.len()),
                BlockStructure::Rectangular,
                right.subcols(0, of.len()).transpose(),
                BlockStructure::Rectangular,
                1.0,
                faer::Par::Seq,
            );
        }
    }
}

struct Base<'s, R> {
    rows: &'s R,
    ledger: &'s MemoryBudget,
    ids: &'s [usize],
    weights: &'s [f64],
    par: Par,
}

enum Factor {
    /// Of `I + Σ h x xᵀ`.
    Primal(Mat<f64>),
    /// Of `diag(1/h) + X Xᵀ` (Woodbury's identity).
    Dual(Mat<f64>),
}

/// Solves `L Lᵀ x = x`.
fn solve_in_place(factor: &Mat<f64>, x: &mut Mat<f64>) {
    solve_lower_triangular_in_place(factor.as_ref(), x.as_mut(), faer::Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), x.as_mut(), faer::Par::Seq);
}

struct Inverse<'s, R> {
    base: Base<'s, R>,
    factor: Option<Factor>,
    held: Option<Reservation<'s>>,
}

impl<R: FeatureRows> Inverse<'_, R> {
    /// The solution for the right-hand side `r`, and the iterations it took.
    fn apply(&mut self, r: &[f64], accuracy: f64, asking: &Asking) -> Result<(Vec<f64>, u64), Halted> {
        let base = &self.base;
        Ok(match &self.factor {
            _ if base.ids.is_empty() => (r.to_vec(), 0),
            Some(Factor::Primal(factor)) => {
                let mut x = Mat::from_fn(r.len(), 1, |i, _| r[i]);
                solve_in_place(factor, &mut x);
                (x.col_as_slice(0).to_vec(), 0)
            }
            Some(Factor::Dual(factor)) => {
                let mut y = Mat::from_fn(base.ids.len(), 1, |i, _| base.rows.dot(base.ids[i], r));
                solve_in_place(factor, &mut y);
                let back = combine(base.rows, base.ids, y.col_as_slice(0), base.par);
                (r.iter().zip(&back).map(|(r, b)| r - b).collect(), 0)
            }
            None => return self.iterated(r, accuracy, asking),
        })
    }
}

impl<R: FeatureRows> Inverse<'_, R> {
    /// Conjugate gradients as long as they are cheaper than a factor.
    fn iterated(&mut self, r: &[f64], accuracy: f64, asking: &Asking) -> Result<(Vec<f64>, u64), Halted> {
        let base = &self.base;
        let m = base.ids.len();
        let entries = base.ids.iter().map(|&id| base.rows.entries_of(id)).sum::<usize>() as f64;
        let most = if m <= MOST {
            // Arithmetic of the factor against that of an iteration; blocked arithmetic is ten
            // times as fast as scattered.
            let m = m as f64;
            let factor = 0.5 * m * entries + m * m * m / 60.0;
            ((factor / (2.0 * entries + base.rows.width() as f64)) as u64).clamp(10, GRADIENTS)
        } else {
            GRADIENTS
        };
        let (x, iterations, reached) = base.conjugate_gradients(r, accuracy, most, asking)?;
        if reached || m > MOST {
            return Ok((x, iterations));
        }
        (self.factor, self.held) = base.dual_factor(asking)?;
        Ok(if self.factor.is_some() { (self.apply(r, accuracy, asking)?.0, iterations) } else { (x, iterations) })
    }
}

impl<'s, R: FeatureRows> Base<'s, R> {
    /// The factor and what it holds, where there is room for it and its copy.
    fn dual_factor(&self, asking: &Asking) -> Result<(Option<Factor>, Option<Reservation<'s>>), Halted> {
        let m = self.ids.len() as u64;
        let Some(held) = self.ledger.reserve(16 * m * m) else { return Ok((None, None)) };
        let mut gram = self.gram(asking)?;
        let factored = cholesky(gram.as_mut(), self.par, asking)?;
        Ok((factored.then_some(Factor::Dual(gram)), factored.then_some(held)))
    }

    /// `diag(1/h) + X Xᵀ`, lower triangle.
    fn gram(&self, asking: &Asking) -> Result<Mat<f64>, Halted> {
        let m = self.ids.len();
        let mut values = vec![0.0; m * m];
        let entries = self.ids.iter().map(|&id| self.rows.entries_of(id)).sum::<usize>() as u64;
        // Column a holds the products of row a with the rows after it.
        let stretch = 8 * self.par.threads();
        for (s, columns) in values.chunks_mut((stretch * m).max(1)).enumerate() {
            asking.spend(8 * entries)?;
            self.par.for_chunks(columns, 8 * m, |chunk, columns| {
                let mut spread = vec![0.0; self.rows.width()];
                for (at, column) in columns.chunks_mut(m).enumerate() {
                    let a = s * stretch + chunk * 8 + at;
                    self.rows.add(self.ids[a], 1.0, &mut spread);
                    for (b, value) in column.iter_mut().enumerate().skip(a) {
                        *value = self.rows.dot(self.ids[b], &spread);
                    }
                    column[a] += 1.0 / self.weights[a];
                    self.rows.each(self.ids[a], |j, _| spread[j] = 0.0);
                }
            });
        }
        Ok(Mat::from_fn(m, m, |i, j| values[j * m + i]))
    }

    /// Conjugate gradients with the diagonal as preconditioner.
    fn conjugate_gradients(&self, r: &[f64], accuracy: f64, most: u64, asking: &Asking) -> Result<(Vec<f64>, u64, bool), Halted> {
        let width = self.rows.width();
        let mut diagonal = vec![1.0; width];
        for (&id, h) in self.ids.iter().zip(self.weights) {
            self.rows.each(id, |j, v| diagonal[j] += h * v * v);
        }
        let mut x = vec![0.0; width];
        let mut residual = r.to_vec();
        let mut z: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
        let mut direction = z.clone();
        let mut rz = dot(&residual, &z);
        let goal = accuracy * accuracy * dot(r, r);
        let mut coef = vec![0.0; self.ids.len()];
        let mut iterations = 0;
        let entries = self.ids.iter().map(|&id| self.rows.entries_of(id)).sum::<usize>() as u64;
        while dot(&residual, &residual) > goal && iterations < most {
            asking.spend(4 * entries + width as u64)?;
            iterations += 1;
            products(self.rows, self.ids, &direction, &mut coef, self.par);
            coef.iter_mut().zip(self.weights).for_each(|(c, h)| *c *= h);
            let mut image = combine(self.rows, self.ids, &coef, self.par);
            image.iter_mut().zip(&direction).for_each(|(i, d)| *i += d);
            let step = rz / dot(&direction, &image);
            for j in 0..width {
                x[j] += step * direction[j];
                residual[j] -= step * image[j];
                z[j] = residual[j] / diagonal[j];
            }
            let new = dot(&residual, &z);
            let ratio = new / rz;
            rz = new;
            direction.iter_mut().zip(&z).for_each(|(d, z)| *d = z + ratio * *d);
        }
        Ok((x, iterations, dot(&residual, &residual) <= goal))
    }
}
