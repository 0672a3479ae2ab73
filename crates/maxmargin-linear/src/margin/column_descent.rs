//! Coordinate descent on the quadratic model of a proximal Newton step, over columns.
//!
//! Rows with next to no curvature count on the diagonal alone: those that are classified well, most
//! of them at a large C. The columns are visited with adaptive frequencies
//! ([`crate::coordinate::avsf`]), or by [`Method::Descent`] in random order.

use crate::compressed::Compressed;
use crate::config::Method;
use crate::coordinate::avsf::Frequencies;
use crate::coordinate::order::shuffle;
use crate::margin::context::MarginRun;
use crate::margin::face::{ModelPoint, solve_with_ridge};
use crate::margin::model::{CoordinateStep, QuadraticModel, descends, simplification};
use crate::second_order::conjugate::{ConjugateGradients, divide};
use crate::second_order::products::weighted_products;
use maxmargin_core::Cancelled;
use maxmargin_kernel::features::FeatureRows;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The most sweeps on one model.
const MOST_SWEEPS: u32 = 500;

/// The curvature up to which a row counts on the diagonal alone, relative to the mean of all rows,
/// where the violation is 1 or more. Near the optimum a step needs the whole matrix.
const SLIGHT: f64 = 0.02;

/// The sweeps between two steps over the weights that are not 0.
const BETWEEN: u32 = 5;

/// The relative accuracy of such a step, and its most iterations.
const ROUGH: (f64, u64) = (0.1, 50);

/// The products of a factor that take as long as reading an entry.
const PRODUCTS: u64 = 16;

/// The curvature of a column.
#[derive(Clone, Copy, Default)]
struct Diagonal {
    /// `Σ h_i x_ij²`.
    whole: f64,
    /// The part of the rows that count on the diagonal alone.
    of_slight: f64,
}

impl Diagonal {
    fn add(&mut self, part: f64, is_slight: bool) {
        self.whole += part;
        if is_slight {
            self.of_slight += part;
        }
    }
}

struct ColumnDescent<'a> {
    model: &'a QuadraticModel<'a>,
    /// The columns times `√h_i`, over the rows with curvature.
    columns: Compressed,
    diagonal: Vec<Diagonal>,
    d: Vec<f64>,
    /// `√h_i x_i·d` of these rows.
    image: Vec<f64>,
    /// The entries that the run had read at the last factor, or at the beginning.
    factored_at: u64,
}

impl QuadraticModel<'_> {
    /// Returns a `d` at which the violation of the model is at most `tol`.
    ///
    /// # Errors
    ///
    /// When the run is cancelled.
    pub(crate) fn with_columns(&self, tol: f64, run: &mut MarginRun) -> Result<Vec<f64>, Cancelled> {
        let width = self.w.len();
        let slight =
            simplification(self.violation) * SLIGHT * self.weights.iter().sum::<f64>() / self.weights.len().max(1) as f64;
        let roots: Vec<f64> = self.weights.iter().map(|h| if *h > slight { h.sqrt() } else { 0.0 }).collect();
        let all = self.columns.columns();
        let columns = all.times(&roots);
        let mut diagonal = vec![Diagonal::default(); width];
        self.par.for_chunks(&mut diagonal, 256, |chunk, out| {
            for (at, out) in out.iter_mut().enumerate() {
                all.each(chunk * 256 + at, |i, v| out.add(self.weights[i] * v * v, roots[i] == 0.0));
            }
        });
        let image = vec![0.0; columns.width()];
        let mut descent =
            ColumnDescent { model: self, columns, diagonal, d: vec![0.0; width], image, factored_at: run.work.entries };
        let mut random = ChaCha8Rng::seed_from_u64(run.config.seed);
        if run.config.method == Method::Descent {
            descent.uniform(tol, &mut random, run)?;
        } else {
            descent.adaptive(tol, &mut random, run)?;
        }
        Ok(descent.d)
    }
}

impl ColumnDescent<'_> {
    fn step(&mut self, j: usize, run: &mut MarginRun) -> CoordinateStep {
        let step = self.model.coordinate(j, self.d[j], self.gradient(j), self.diagonal[j].whole);
        let entries = self.columns.entries_of(j) as u64;
        run.work.steps += 1;
        run.work.entries += if step.delta == 0.0 { entries } else { 2 * entries };
        if step.delta != 0.0 {
            self.d[j] += step.delta;
            self.columns.add(j, step.delta, &mut self.image);
        }
        step
    }

    /// Computes `H_AA p` for the columns A, through a number for each row.
    fn multiply(&self, columns: &[usize], p: &[f64], of_rows: &mut [f64], out: &mut [f64]) {
        of_rows.fill(0.0);
        columns.iter().zip(p).for_each(|(&j, p)| self.columns.add(j, *p, of_rows));
        for ((out, &j), p) in out.iter_mut().zip(columns).zip(p) {
            *out = self.columns.dot(j, of_rows) + self.diagonal[j].of_slight * p;
        }
    }

    /// Returns the direction of a step over these columns by a factor of their matrix; `None` if it
    /// is not definite or there is no memory for it.
    fn factored(&self, columns: &[usize], right: &[f64], run: &mut MarginRun) -> Result<Option<Vec<f64>>, Cancelled> {
        let m = columns.len();
        let Some(_held) = run.memory.reserve(8 * (6 * m * m) as u64) else { return Ok(None) };
        let rows = Compressed::columns_of(&self.columns, columns.iter().copied());
        let of: Vec<(usize, f64)> = (0..rows.len()).filter(|&i| rows.entries_of(i) > 0).map(|i| (i, 1.0)).collect();
        let mut h = weighted_products(&rows, &of, self.model.par, run.control.control())?;
        columns.iter().enumerate().for_each(|(k, &j)| h[(k, k)] += self.diagonal[j].of_slight);
        solve_with_ridge(h, right, self.model.par, run)
    }

    /// Sweeps in random order; columns with weight 0 far inside their bounds are set aside until
    /// the others are within the tolerance.
    fn uniform(&mut self, tol: f64, random: &mut ChaCha8Rng, run: &mut MarginRun) -> Result<(), Cancelled> {
        let width = self.d.len();
        let mut active: Vec<u32> = (0..width as u32).collect();
        let mut count = width;
        for _ in 0..MOST_SWEEPS {
            run.work.sweeps += 1;
            let before = run.work.entries;
            shuffle(&mut active[..count], random);
            let is_whole = count == width;
            let (mut largest, mut at) = (0.0_f64, 0);
            while at < count {
                let j = active[at] as usize;
                let step = self.step(j, run);
                largest = largest.max(step.violation);
                if step.violation == 0.0 && self.model.w[j] + self.d[j] == 0.0 {
                    count -= 1;
                    active.swap(at, count);
                } else {
                    at += 1;
                }
            }
            run.control.control().check(run.work.entries - before)?;
            if largest <= tol {
                if is_whole {
                    break;
                }
                count = width;
            }
        }
        Ok(())
    }

    /// Sweeps with adaptive frequencies, until one after a reset is within the tolerance.
    fn adaptive(&mut self, tol: f64, random: &mut ChaCha8Rng, run: &mut MarginRun) -> Result<(), Cancelled> {
        let mut frequencies = Frequencies::new(self.d.len(), false);
        let mut can_stop = false;
        for sweep in 1..=MOST_SWEEPS {
            run.work.sweeps += 1;
            let before = run.work.entries;
            let mut largest = 0.0_f64;
            for at in 0..frequencies.draw(random) {
                let j = frequencies.scheduled(at);
                let step = self.step(j, run);
                largest = largest.max(step.violation);
                frequencies.learn(j, step.gain);
            }
            frequencies.swept();
            run.control.control().check(run.work.entries - before)?;
            if largest <= tol {
                if can_stop {
                    break;
                }
                frequencies.reset();
            }
            can_stop = largest <= tol;
            if largest > tol && sweep % BETWEEN == 0 && !descends(run) {
                self.model.step_on_face(self, run)?;
            }
        }
        Ok(())
    }
}

impl ModelPoint for ColumnDescent<'_> {
    fn d(&self) -> &[f64] {
        &self.d
    }

    fn gradient(&self, j: usize) -> f64 {
        self.columns.dot(j, &self.image) + self.diagonal[j].of_slight * self.d[j] - self.model.u[j]
    }

    fn image(&self, columns: &[usize], p: &[f64]) -> Vec<f64> {
        let (mut of_rows, mut out) = (vec![0.0; self.image.len()], vec![0.0; p.len()]);
        self.multiply(columns, p, &mut of_rows, &mut out);
        out
    }

    fn direction(&mut self, columns: &[usize], right: Vec<f64>, run: &mut MarginRun) -> Result<Option<Vec<f64>>, Cancelled> {
        let diagonal: Vec<f64> = columns.iter().map(|&j| self.diagonal[j].whole).collect();
        if diagonal.iter().any(|h| *h <= 0.0) {
            return Ok(None);
        }
        let cost = 2 * columns.iter().map(|&j| self.columns.entries_of(j)).sum::<usize>() as u64;
        let mut of_rows = vec![0.0; self.image.len()];
        let image = |p: &[f64], out: &mut [f64]| {
            run.control.control().check(cost)?;
            self.multiply(columns, p, &mut of_rows, out);
            Ok(())
        };
        let mut cg = ConjugateGradients::new(right.clone(), ROUGH.0);
        let is_accurate = cg.run(ROUGH.1, image, |r, z| divide(r, &diagonal, z))?;
        run.work.gradients += cg.iterations;
        run.work.entries += cg.iterations * cost;
        // A factor as soon as steps without one have cost as much.
        let spent = run.work.entries - self.factored_at;
        if !is_accurate && PRODUCTS * spent >= (columns.len() as u64).pow(3) / 3 {
            self.factored_at = run.work.entries;
            if let Some(direction) = self.factored(columns, &right, run)? {
                return Ok(Some(direction));
            }
        }
        Ok(Some(cg.x))
    }

    fn set(&mut self, columns: &[usize], d: &[f64]) {
        for (&j, to) in columns.iter().zip(d) {
            self.columns.add(j, to - self.d[j], &mut self.image);
            self.d[j] = *to;
        }
    }
}
