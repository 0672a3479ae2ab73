//! Decision values in `f32` with bounds of their errors: docs/math/prediction.md.

use crate::Kernel;
use crate::function::Fault;
use crate::predict::coefficients::{Bounded, CHUNK};
use crate::predict::integers::{self, Multiples};
use crate::predict::panels::{Panels, Scratch};
use crate::predict::reals::{Groups, norms};
use maxmargin_data::Samples;
use maxmargin_simd::exp::Gaussian;
use maxmargin_simd::products::Real;

/// Queries in a panel.
const LANES: usize = <f32 as Real>::PANEL;

/// Number of queries whose values in `f32` are compared with `f64` before any label.
const CHECKED: usize = 4;

/// The rounding unit of `f32`, 2⁻²⁴.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Largest error of an exponent for which values in `f32` are worth computing.
const WORTH: f64 = 0.05;

/// The range of gamma for which underflow is negligible, even on threads on which another library
/// lets subnormal numbers be 0: `γ 2⁻¹²⁶` for each of up to 2¹⁷ products is below [`UNIT`], and the
/// second part of gamma is a normal number or negligible.
const GAMMAS: std::ops::Range<f64> = 1e-25..1e25;

/// The error of the decision values in `f64`, in parts of the sum of the magnitudes of all terms,
/// for each term and in all.
const EXACT: [f64; 2] = [f64::EPSILON, 4e-9];

/// Kernel values below 2⁻¹²⁵ are 0, and products of up to 2²⁸ terms lose what is below 2⁻¹²⁶ of the
/// largest coefficient: the error for each unit of the sum of the magnitudes of coefficients.
const FLUSHED: f64 = 1.0 / (1_u128 << 96) as f64;

/// Prepared coefficients and vectors in `f32` for an RBF kernel.
#[derive(Debug)]
pub(super) struct Singles {
    /// The sum of the magnitudes of each expansion's coefficients.
    masses: Vec<f64>,
    tables: Vec<Bounded>,
    terms: usize,
    /// The vectors; none where products of small integers are exact.
    reals: Option<Vectors>,
}

/// The support vectors in `f32`.
#[derive(Debug)]
struct Vectors {
    groups: Groups<f32>,
    norms: Vec<f32>,
    max_norm: f64,
    gaussian: Gaussian,
    /// The error of an exponent for each unit of squared norms.
    error: f64,
}

/// Buffers of a task.
#[derive(Debug, Default)]
pub(super) struct SingleScratch {
    pub(super) scratch: Scratch,
    panel: Vec<f32>,
    norms: Vec<f32>,
    dots: Vec<f32>,
    values: Vec<f32>,
    parts: Vec<f32>,
    sums: Vec<f64>,
    sizes: Vec<f64>,
}

impl SingleScratch {
    fn begin(&mut self, expansions: usize) {
        self.values.resize(CHUNK * LANES, 0.0);
        for totals in [&mut self.sums, &mut self.sizes] {
            totals.clear();
            totals.resize(expansions * LANES, 0.0);
        }
    }
}

/// The relative error of a value in `f32` whose exponent has this error.
fn value_error(exponent: f64) -> f64 {
    if exponent <= 0.5 { exponent * (1.0 + exponent) * (1.0 + 4.0 * UNIT) + 2.1 * UNIT } else { f64::INFINITY }
}

impl Singles {
    /// Values in `f32` for these panels; none where they would decide hardly anything.
    pub(super) fn new(panels: &Panels, masses: &[f64]) -> Option<Self> {
        let Kernel::Rbf { gamma } = panels.kernel else { return None };
        if !panels.layout.are_tables || !GAMMAS.contains(&gamma) {
            return None;
        }
        let reals = if let Some(multiples) = &panels.multiples {
            if !multiples.has_singles() || !GAMMAS.contains(&(gamma * multiples.unit * multiples.unit)) {
                return None;
            }
            None
        } else {
            let of = panels.reals();
            let error = gamma * (panels.columns.depth + 12) as f64 * UNIT * 1.02;
            let is_small = 2.0 * error * of.max_norm <= WORTH && 8.0 * of.max_norm < f64::from(f32::MAX);
            if !is_small || of.needs_differences(0.0) {
                return None;
            }
            let groups = of.groups.rounded();
            let norms = groups.norms().iter().map(|&norm| norm as f32).collect();
            Some(Vectors { groups, norms, max_norm: of.max_norm, gaussian: Gaussian::new(gamma), error })
        };
        let terms = panels.layout.order.len();
        Some(Self { masses: masses.to_vec(), tables: panels.layout.bounded(), terms, reals })
    }

    /// Computes decision values of the queries `ids` and bounds of their differences from the
    /// values in `f64`, row-major `ids × expansions`. A bound is infinite where nothing is known.
    pub(super) fn decide(
        &self,
        panels: &Panels,
        queries: &Samples,
        ids: &[usize],
        [values, bounds]: [&mut [f64]; 2],
        scratch: &mut SingleScratch,
    ) {
        bounds.fill(f64::INFINITY);
        let numbered: Vec<(usize, usize)> = ids.iter().copied().enumerate().collect();
        for block in numbered.chunks(LANES) {
            let errors = match (&panels.multiples, &self.reals) {
                (Some(multiples), _) => self.integers(panels, multiples, queries, block, scratch),
                (None, Some(vectors)) => self.reals(panels, vectors, queries, block, scratch),
                (None, None) => return,
            };
            self.write(panels, block, &errors, [&mut *values, &mut *bounds], scratch);
        }
    }

    /// The first value of a few queries whose difference from its value in `f64` is beyond its
    /// bound.
    pub(super) fn fault(&self, panels: &Panels, queries: &Samples) -> Option<Fault> {
        let (count, ids) = (panels.biases.len(), (0..CHECKED.min(queries.len())).collect::<Vec<_>>());
        let [mut values, mut bounds, mut exact] = [(); 3].map(|()| vec![0.0; ids.len() * count]);
        self.decide(panels, queries, &ids, [&mut values, &mut bounds], &mut SingleScratch::default());
        panels.decide(queries, &ids, &mut exact, &mut Scratch::default()).ok()?;
        let is_wrong = |at: &usize| bounds[*at].is_finite() && (values[*at] - exact[*at]).abs() > bounds[*at];
        let at = (0..exact.len()).find(is_wrong)?;
        let form = "of a prediction, summed in single precision,";
        Some(Fault { form, place: (at / count, at % count), found: values[at], expected: exact[at] })
    }

    /// Adds the sums of small integers, and returns the relative error of the kernel values of each
    /// query.
    fn integers(
        &self,
        panels: &Panels,
        multiples: &Multiples,
        queries: &Samples,
        block: &[(usize, usize)],
        scratch: &mut SingleScratch,
    ) -> Vec<f64> {
        // A query that is refused has no label; the error is that of the values in f64.
        let fits = panels.load_integers(multiples, queries, block, integers::PANEL, &mut scratch.scratch);
        let Ok(fits) = fits else { return vec![f64::INFINITY; block.len()] };
        scratch.begin(panels.biases.len());
        for (places, table) in panels.layout.chunks.iter().zip(&self.tables) {
            let size = places.len() * LANES;
            scratch.scratch.sums.resize(CHUNK * LANES, 0);
            let (sums, values) = (&mut scratch.scratch.sums[..size], &mut scratch.values[..size]);
            multiples.products(places, &scratch.scratch.integers, sums);
            multiples.values32(places, &scratch.scratch.integers, sums, values);
            table.add(values, LANES, &mut scratch.parts, &mut scratch.sums, &mut scratch.sizes);
        }
        // An integer distance is rounded once; exponents beyond 87 have the value 0.
        fits.iter().map(|&fits| if fits { value_error(88.0 * UNIT) } else { f64::INFINITY }).collect()
    }

    /// Adds the sums of real numbers, and returns the relative error of the kernel values of each
    /// query.
    fn reals(
        &self,
        panels: &Panels,
        vectors: &Vectors,
        queries: &Samples,
        block: &[(usize, usize)],
        scratch: &mut SingleScratch,
    ) -> Vec<f64> {
        let reals = panels.reals();
        let rows = block.iter().map(|&(_, id)| queries.row(id));
        let wide = &mut scratch.scratch.panel;
        let others = reals.load(&panels.columns, rows, LANES, wide);
        scratch.panel.clear();
        scratch.panel.extend(wide.values.iter().map(|&x| x as f32));
        let mut own = [0.0; LANES];
        norms(&scratch.panel, LANES, &mut own);
        scratch.norms.clear();
        scratch.norms.extend(own.iter().zip(&others).map(|(norm, other)| (norm + other) as f32));
        scratch.begin(panels.biases.len());
        scratch.dots.resize(CHUNK * LANES, 0.0);
        for (places, table) in panels.layout.chunks.iter().zip(&self.tables) {
            let size = places.len() * LANES;
            let (dots, values) = (&mut scratch.dots[..size], &mut scratch.values[..size]);
            vectors.groups.products(places, &scratch.panel, LANES, dots);
            vectors.gaussian.rows32(&vectors.norms[places.clone()], &scratch.norms, dots, values);
            table.add(values, LANES, &mut scratch.parts, &mut scratch.sums, &mut scratch.sizes);
        }
        let wide = &scratch.scratch.panel.norms;
        let error = |&norm: &f64| {
            let fits = 8.0 * norm < f64::from(f32::MAX) && !reals.needs_differences(norm);
            if fits { value_error(vectors.error * (norm + vectors.max_norm) + UNIT) } else { f64::INFINITY }
        };
        wide.iter().take(block.len()).map(error).collect()
    }

    /// Writes the values and bounds of a panel.
    fn write(
        &self,
        panels: &Panels,
        block: &[(usize, usize)],
        errors: &[f64],
        [values, bounds]: [&mut [f64]; 2],
        scratch: &SingleScratch,
    ) {
        let count = panels.biases.len();
        for (lane, (&(at, _), error)) in block.iter().zip(errors).enumerate().filter(|(_, (_, error))| error.is_finite()) {
            let share = 1.01 * (error + (CHUNK + 4) as f64 * UNIT) + EXACT[0] * self.terms as f64 + EXACT[1];
            let row = values[at * count..][..count].iter_mut().zip(&mut bounds[at * count..][..count]);
            for (p, (value, bound)) in row.enumerate() {
                let (sum, size, bias) = (scratch.sums[p * LANES + lane], scratch.sizes[p * LANES + lane], panels.biases[p]);
                *value = sum + bias;
                // Terms in `f64` may underflow or overflow as well.
                let smallest = self.terms as f64 * f64::MIN_POSITIVE;
                let most = share * size + FLUSHED * self.masses[p] + 4.0 * f64::EPSILON * (size + bias.abs()) + smallest;
                *bound = if most.is_finite() { most } else { f64::INFINITY };
            }
        }
    }
}
