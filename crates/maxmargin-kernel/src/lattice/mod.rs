//! Sums of Gaussians over samples of few features, by series in the cells of a lattice.
//!
//! ```text
//!   1  cells of side ½ / √γ or slightly less;  in each, its samples have coordinates t in [−1, 1]
//!   2  moments of a cell:  M_l ← Σ_j c_j T_l(t_j),  of the samples j in it
//!   3  series of a cell:   S_k ← Σ_cells Σ_l G_kl M_l,  over the cells that are near
//!   4  Σ_j c_j K_ij ← Σ_k S_k T_k(t_i)
//! ```
//!
//! `T_k` are Chebyshev polynomials of degrees below 16, with one index for each feature, and `G`
//! are the coefficients of `exp(−γ (x − y)²)` for x and y in two cells. The exponential of a
//! distance is a product over features, so that step 3 is done for one feature after the other.
//!
//! The derivatives of a Gaussian are bounded (Cramér): `|dᵖ/dzᵖ exp(−z²)| ≤ 1.09 √(2ᵖ p!)`.
//! Interpolation of degree 15 on a cell is off by at most 4.4·10⁻¹⁹ therefore, and that of all
//! features of both samples, with Lebesgue constants of 2.8, by at most 1.1·10⁻¹⁶ for three
//! features. Cells that are 14 apart in a feature have values below 5·10⁻¹⁹, and are left out. Both
//! are below the rounding of a sum in double precision, as certificates count it.
//!
//! Fast Gauss transforms are due to Greengard and Strain (SIAM J. Sci. Stat. Comput. 1991), series
//! by interpolation to Fong and Darve (J. Comput. Phys. 2009).

mod chebyshev;

use chebyshev::{TERMS, Translation, add_translated, polynomials, translation};
use maxmargin_data::{Cancelled, Par, RunControl};
use std::ops::Range;

/// The largest side of a cell times √γ.
const SIDE: f64 = 0.5;

/// The most cells between zero and a sample: the middles of farther cells would be rounded.
const FARTHEST: f64 = (1_u64 << 39) as f64;

/// The most cells by which two cells with values that are not negligible are apart in a feature.
const REACH: usize = 13;

/// The largest number of features: a series has a term for each combination of degrees.
const MOST_FEATURES: usize = 3;

/// The largest number of coefficients of the series of all cells: 32 MiB.
const MOST_TERMS: usize = 1 << 22;

/// Fewest samples.
const FEWEST: usize = 4096;

/// The nanoseconds of a term of a series, in moments, translations and sums, and of a sample.
const TERM_COST: f64 = 0.5;
const SAMPLE_COST: f64 = 40.0;

/// The samples whose moments are summed before they are added to those of the cell: sums of sums
/// have less rounding.
const TOGETHER: usize = 64;

/// The columns whose sums are one task, and the tasks of a thread between two checks for
/// cancellation.
const COLUMNS: usize = 1024;
const TASKS: usize = 16;

/// Moments or a series of each cell, if it has any.
type CellSeries = Vec<Option<Vec<f64>>>;

/// Samples of up to three features in the cells of a lattice, for sums of Gaussians.
#[derive(Clone, Debug)]
pub struct GaussianLattice {
    /// Number of features that are not the same in all samples.
    width: usize,
    /// Cells along each feature.
    counts: Vec<usize>,
    /// The cell of each sample.
    cells: Vec<u32>,
    /// The coordinates of each sample in its cell, sample by sample.
    places: Vec<f64>,
    /// `G` from source to target, for targets from [`REACH`] cells below the source to as many
    /// above: row `l` has the coefficients of `T_l` of the source.
    translations: Vec<Translation>,
}

impl GaussianLattice {
    /// The lattice of samples with `width` values each, whose kernel is `exp(−γ ‖x − z‖²)`; none
    /// for few samples, many features, or samples over too many cells.
    pub(crate) fn new(values: &[f64], width: usize, gamma: f64) -> Option<Self> {
        let n = values.len() / width.max(1);
        if n < FEWEST || u32::try_from(n).is_err() {
            return None;
        }
        let side = cell_side(gamma);
        if !side.is_finite() {
            return None;
        }
        // Features that are the same in all samples change no distance.
        let (mut axes, mut counts, mut cell_count) = (Vec::new(), Vec::new(), 1.0);
        for feature in 0..width {
            let of_feature = || values.iter().skip(feature).step_by(width).copied();
            let (low, high) = (of_feature().fold(f64::INFINITY, f64::min), of_feature().fold(f64::NEG_INFINITY, f64::max));
            if low < high {
                let (first, last) = ((low / side).floor(), (high / side).floor());
                if first.abs().max(last.abs()) > FARTHEST {
                    return None;
                }
                axes.push((feature, first));
                cell_count *= last - first + 1.0;
                counts.push((last - first) as usize + 1);
            }
        }
        let is_few = (1..=MOST_FEATURES).contains(&axes.len());
        if !is_few || cell_count > (MOST_TERMS / TERMS.pow(axes.len() as u32)) as f64 {
            return None;
        }
        let (mut cells, mut places) = (Vec::with_capacity(n), Vec::with_capacity(n * axes.len()));
        for sample in values.chunks_exact(width) {
            let mut cell = 0;
            for (&(feature, first), count) in axes.iter().zip(&counts) {
                let (value, index) = (sample[feature], (sample[feature] / side).floor());
                let middle = (index + 0.5) * side;
                places.push(((value - middle) * (2.0 / side)).clamp(-1.0, 1.0));
                cell = cell * count + (index - first) as usize;
            }
            cells.push(cell as u32);
        }
        let translations = (0..=2 * REACH).map(|at| translation(at as f64 - REACH as f64, side * gamma.sqrt())).collect();
        Some(Self { width: axes.len(), counts, cells, places, translations })
    }

    /// Bytes of the lattice.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.cells) + size_of_val(&*self.places) + size_of_val(&*self.translations)
    }

    /// Terms of the series of a cell.
    fn terms(&self) -> usize {
        TERMS.pow(self.width as u32)
    }

    /// The nanoseconds of `h` sums over `samples` samples at each of `columns` others.
    fn cost(&self, samples: usize, columns: usize, h: usize) -> f64 {
        let terms = self.terms() as f64 * TERM_COST;
        let cells = self.counts.iter().product::<usize>() as f64;
        let translated: usize = self.counts.iter().map(|count| (*count).min(2 * REACH + 1)).sum();
        h as f64 * ((samples + columns) as f64 * (terms + SAMPLE_COST) + cells * translated as f64 * TERMS as f64 * terms)
    }

    /// Returns whether the sums take less than half the time of so many kernel values of
    /// `value_cost` nanoseconds.
    pub(crate) fn is_cheaper(&self, samples: usize, columns: usize, h: usize, value_cost: f64) -> bool {
        2.0 * self.cost(samples, columns, h) < value_cost * samples as f64 * columns as f64
    }

    /// Computes `h` sums for each column of `runs`, row-major: of the samples and coefficients that
    /// `terms` returns for each right-hand side. The bits do not depend on `par`.
    ///
    /// # Errors
    ///
    /// When `control` ends the run between two groups of columns.
    pub(crate) fn sums(
        &self,
        terms: impl Fn(usize) -> Vec<(usize, f64)>,
        h: usize,
        runs: &[Range<usize>],
        par: Par,
        control: &RunControl,
    ) -> Result<Vec<f64>, Cancelled> {
        let columns: Vec<usize> = runs.iter().cloned().flatten().collect();
        let mut result = vec![0.0; columns.len() * h];
        for p in 0..h {
            let series = self.series(self.moments(terms(p), par), par, control)?;
            let together = COLUMNS * TASKS * par.threads();
            for (columns, result) in columns.chunks(together).zip(result.chunks_mut(together * h)) {
                control.check(operations(columns.len() * self.terms()))?;
                par.for_chunks(result, COLUMNS * h, |chunk, sums| {
                    let mut scratch = Vec::new();
                    for (sum, &column) in sums.iter_mut().skip(p).step_by(h).zip(&columns[chunk * COLUMNS..]) {
                        *sum = self.value(&series, column, &mut scratch);
                    }
                });
            }
        }
        Ok(result)
    }

    /// The moments of each cell (step 2); none for cells without terms.
    fn moments(&self, terms: Vec<(usize, f64)>, par: Par) -> CellSeries {
        let mut terms: Vec<(u32, usize, f64)> = terms.into_iter().map(|(id, c)| (self.cells[id], id, c)).collect();
        terms.sort_unstable_by_key(|&(cell, id, _)| (cell, id));
        let cells: Vec<&[(u32, usize, f64)]> = terms.chunk_by(|a, b| a.0 == b.0).collect();
        let found = par.map(cells.len(), |at| {
            let (mut moments, mut part) = (vec![0.0; self.terms()], vec![0.0; self.terms()]);
            for terms in cells[at].chunks(TOGETHER) {
                part.fill(0.0);
                terms.iter().for_each(|&(_, id, c)| self.add_moments(id, c, &mut part));
                moments.iter_mut().zip(&part).for_each(|(moment, part)| *moment += part);
            }
            moments
        });
        let mut moments = vec![None; self.counts.iter().product()];
        for (terms, of_cell) in cells.iter().zip(found) {
            moments[terms[0].0 as usize] = Some(of_cell);
        }
        moments
    }

    /// Adds the moments of one sample.
    fn add_moments(&self, id: usize, coef: f64, moments: &mut [f64]) {
        let place = &self.places[id * self.width..(id + 1) * self.width];
        let last = polynomials(place[self.width - 1]);
        // The products of the polynomials of all features but the last, times the coefficient.
        let mut factors = [0.0; TERMS * TERMS];
        factors[0] = coef;
        let mut count = 1;
        for &t in &place[..self.width - 1] {
            let polynomials = polynomials(t);
            for at in (0..count).rev() {
                let factor = factors[at];
                for (out, polynomial) in factors[at * TERMS..(at + 1) * TERMS].iter_mut().zip(&polynomials) {
                    *out = factor * polynomial;
                }
            }
            count *= TERMS;
        }
        for (moments, factor) in moments.as_chunks_mut::<TERMS>().0.iter_mut().zip(&factors[..count]) {
            moments.iter_mut().zip(&last).for_each(|(moment, polynomial)| *moment += factor * polynomial);
        }
    }

    /// The series of each cell (step 3), for one feature after the other. The index of that feature
    /// is the slowest before and the fastest after it.
    fn series(&self, moments: CellSeries, par: Par, control: &RunControl) -> Result<CellSeries, Cancelled> {
        let mut series = moments;
        for feature in 0..self.width {
            let (count, stride) = (self.counts[feature], self.counts[feature + 1..].iter().product::<usize>());
            control.check(operations(series.len() * count.min(2 * REACH + 1) * TERMS * self.terms()))?;
            series = par.map(series.len(), |cell| {
                let at = cell / stride % count;
                let mut out = None;
                for source in at.saturating_sub(REACH)..count.min(at + REACH + 1) {
                    if let Some(moments) = &series[cell + source * stride - at * stride] {
                        let out = out.get_or_insert_with(|| vec![0.0; self.terms()]);
                        add_translated(moments, &self.translations[REACH + at - source], out);
                    }
                }
                out
            });
        }
        Ok(series)
    }

    /// The value of the series at a sample (step 4).
    fn value(&self, series: &[Option<Vec<f64>>], column: usize, scratch: &mut Vec<f64>) -> f64 {
        let Some(series) = &series[self.cells[column] as usize] else { return 0.0 };
        let place = &self.places[column * self.width..(column + 1) * self.width];
        // One feature after the other is summed over, the slowest index first.
        scratch.clear();
        scratch.resize(series.len() / TERMS, 0.0);
        add_parts(&polynomials(place[0]), series, scratch);
        let mut len = scratch.len();
        for &t in &place[1..] {
            let (first, others) = scratch[..len].split_at_mut(len / TERMS);
            add_parts(&polynomials(t)[1..], others, first);
            len /= TERMS;
        }
        scratch[0]
    }
}

/// Adds the parts of `terms`, each as long as `sums`, times their factors.
fn add_parts(factors: &[f64], terms: &[f64], sums: &mut [f64]) {
    for (terms, factor) in terms.chunks_exact(sums.len()).zip(factors) {
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += factor * term);
    }
}

/// The side of a cell: `½ / √γ`, with few enough digits that the middles of cells are exact. The
/// distance of two samples in different cells then has no more rounding than their difference.
fn cell_side(gamma: f64) -> f64 {
    let side = SIDE / gamma.sqrt();
    f64::from_bits(side.to_bits() & !((1 << 40) - 1))
}

/// The operations that [`RunControl`] counts for so many terms.
fn operations(terms: usize) -> u64 {
    (8.0 * TERM_COST * terms as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::GaussianLattice;
    use maxmargin_data::{Par, RunControl};
    use proptest::prelude::*;

    /// Samples of so many features between 0 and `extent`, some of them equal, some at the borders
    /// of cells.
    fn rows(n: usize, width: usize, extent: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut value = || match draw() {
            chance if chance < 0.05 => 0.0,
            chance if chance < 0.1 => extent,
            chance if chance < 0.2 => (draw() * extent).floor(),
            _ => draw() * extent,
        };
        (0..n).map(|_| (0..width).map(|_| value()).collect()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Sums are those of all values, to the rounding that certificates count, and their bits do
        /// not depend on the threads.
        #[test]
        fn sums_are_those_of_all_values(
            width in 1_usize..=3,
            extent in prop_oneof![Just(0.3), Just(3.0), Just(20.0)],
            gamma in prop_oneof![Just(0.01), Just(0.7), Just(4.0)],
            h in 1_usize..=2,
            seed in any::<u64>(),
        ) {
            let n = 4500;
            // A feature that is the same everywhere, and values far from zero.
            let mut rows = rows(n, width, extent, seed);
            rows.iter_mut().for_each(|row| {
                row.push(7.3);
                row[0] += 100.0;
            });
            let values: Vec<f64> = rows.iter().flatten().copied().collect();
            let ids: Vec<usize> = (0..n).filter(|i| i % 9 != 0).collect();
            let coef: Vec<f64> = (0..ids.len() * h).map(|k| if k % 7 == 0 { 0.0 } else { (k * 37 % 101) as f64 - 60.3 }).collect();
            let control = RunControl::unlimited();
            let Some(lattice) = GaussianLattice::new(&values, width + 1, gamma) else {
                prop_assert!(width > 1 && extent * gamma.sqrt() > 4.0, "{} features over few cells", width);
                return Ok(());
            };
            let terms = |p: usize| -> Vec<(usize, f64)> { ids.iter().enumerate().map(|(k, &id)| (id, coef[k * h + p])).collect() };
            let runs = [7..800, 4000..n];
            let found = lattice.sums(terms, h, &runs, Par::Seq, &control).expect("unlimited");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
            prop_assert_eq!(&found, &pool.install(|| lattice.sums(terms, h, &runs, Par::Pool, &control).expect("unlimited")));
            let mass: f64 = coef.iter().map(|c| c.abs()).sum();
            for (at, column) in runs.iter().cloned().flatten().enumerate() {
                if at % 40 != 0 {
                    continue;
                }
                let value = |id: usize| {
                    let square: f64 = rows[id].iter().zip(&rows[column]).map(|(a, b)| (a - b).powi(2)).sum();
                    (-gamma * square).exp()
                };
                for p in 0..h {
                    let terms: Vec<f64> = ids.iter().enumerate().map(|(k, &id)| coef[k * h + p] * value(id)).collect();
                    let sum: f64 = terms.chunks(64).map(|terms| terms.iter().sum::<f64>()).sum();
                    let off = (found[at * h + p] - sum).abs();
                    prop_assert!(off <= 8.0 * f64::EPSILON * mass, "{} of {}", off, mass);
                }
            }
        }
    }
}
