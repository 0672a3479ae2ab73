//! The Gram matrix of a sample matrix and a kernel.

use crate::definite::indefiniteness;
use crate::diagnose::some_pairs;
use crate::distances::{needs_differences, with_distances32, with_distances64};
use crate::distinct::{Distinct, Mark};
use crate::entry::Entry;
use crate::fallback::{Way, first_right};
use crate::late::Late;
use crate::probes::{Fault, Probes};
use crate::store::{Store, width};
use crate::value_errors::ValueErrors;
use crate::{Gram, Kernel, KernelError, Tile};
use maxmargin_data::{Asking, Halted, Samples};
use maxmargin_simd::row::Table;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// `K_ij = k(x_i, x_j)` for the kernels of [`Kernel`].
///
/// How dot products are computed is decided from the data: matrix multiplication in `f32` where
/// that is accurate to 10⁻⁶ in the exponent of an RBF kernel, in `f64` where it is not, in exact
/// byte arithmetic for small integers, inverted lists for sparse data. Exact blocks are `f64`
/// throughout, with the data centred for RBF kernels.
///
/// Some entries are compared with plain arithmetic on the samples before anything is made of them.
/// Where they differ, which takes a processor or a compiler that is at fault, or a mistake here,
/// others are computed by fewer vector instructions or from plain lists ([`crate::fallbacks`]).
#[derive(Clone, Debug)]
pub struct KernelGram {
    kernel: Kernel,
    entry: Entry,
    store: Arc<Store>,
    diagonal: Vec<f64>,
    /// Distances are sums of squared differences: norms and products would lose what the kernel
    /// sees of them.
    differences: bool,
    errors: ValueErrors,
    /// Found when it is first asked for.
    indefiniteness: OnceLock<f64>,
    /// Which samples are equal, once somebody has asked.
    distinct: Arc<Late<Option<Arc<Distinct>>>>,
    /// A mark of each sample; empty: nothing is known.
    marks: Arc<[Mark]>,
    /// What some entries are by plain arithmetic.
    probes: Arc<Probes>,
}

/// Pairs of samples that are looked at to see whether values in `f32` are better without a
/// constant, and how they are drawn.
const PAIRS: usize = 64;
const SEED: u64 = 1;

/// A constant is left out where values differ from it by this share of it on average: two digits in
/// base 2 are gained at least, and where fewer are nothing changes.
const NEAR: f64 = 0.125;

impl KernelGram {
    /// Prepares the samples (the result keeps what it needs of them).
    ///
    /// # Errors
    ///
    /// When a parameter is invalid, a kernel value cannot be held in `f32`, a precomputed matrix is
    /// malformed, or values are wrong however they are computed.
    pub fn new(samples: &Samples, kernel: Kernel) -> Result<Self, KernelError> {
        Self::new_asking(samples, kernel, &Asking::nobody())
    }

    /// [`KernelGram::new`], asking between stretches of the samples whether to go on.
    ///
    /// # Errors
    ///
    /// As [`KernelGram::new`], and [`KernelError::Halted`] when it was called off.
    pub fn new_asking(samples: &Samples, kernel: Kernel, asking: &Asking) -> Result<Self, KernelError> {
        let kernel = kernel.checked()?;
        let probes = Arc::new(Probes::of(samples, &kernel));
        let packed = if kernel.is_of_products() { samples.packed() } else { None };
        let samples = packed.as_ref().map_or(samples, |(packed, _)| packed);
        let make = |way: Way| {
            let store = Arc::new(Store::new(samples, &kernel, way.plain, asking)?);
            Self::over(store, kernel.clone(), Arc::clone(&probes))
        };
        first_right(true, make, Self::fault)
    }

    /// The matrix of the same samples and kernel with another gamma; the samples are shared,
    /// nothing is prepared again.
    ///
    /// # Errors
    ///
    /// When `gamma` is invalid, the kernel has none, a kernel value cannot be held in `f32`, or
    /// values are wrong however they are computed.
    pub fn with_gamma(&self, gamma: f64) -> Result<Self, KernelError> {
        if self.kernel.gamma().is_none() {
            return Err(KernelError::Samples(format!("a {} kernel has no gamma that can be changed", self.kernel.name())));
        }
        let kernel = self.kernel.clone().with_gamma(gamma).checked()?;
        let make = |_: Way| Self::over(Arc::clone(&self.store), kernel.clone(), Arc::clone(&self.probes));
        let other = first_right(false, make, Self::fault)?;
        Ok(Self { distinct: Arc::clone(&self.distinct), marks: Arc::clone(&self.marks), ..other })
    }

    /// The same matrix with a mark of each sample, by which equal samples are put in order
    /// ([`Distinct`]).
    ///
    /// # Panics
    ///
    /// When there are not as many marks as samples.
    #[must_use]
    pub fn marked(self, marks: Vec<Mark>) -> Self {
        assert_eq!(marks.len(), self.len(), "a mark for each sample");
        Self { marks: marks.into(), distinct: Arc::default(), ..self }
    }

    fn over(store: Arc<Store>, kernel: Kernel, probes: Arc<Probes>) -> Result<Self, KernelError> {
        let inner = store.kernel(&kernel);
        let of_norms = |norms: &[f64]| norms.iter().map(|&norm| inner.of_dot(norm, norm, norm)).collect();
        let (diagonal, norms): (Vec<f64>, _) = match &*store {
            Store::Precomputed(matrix) => (matrix.diagonal().to_vec(), [].as_slice()),
            Store::User(pairs) => (pairs.diagonal().to_vec(), pairs.diagonal()),
            Store::Integers(_) | Store::Dense(_) | Store::Sparse(_) => (of_norms(store.norms()), store.norms()),
        };
        // Only a distance may be large: the kernel of it is at most 1.
        let largest = if kernel.is_distance() { f64::MAX } else { f64::from(f32::MAX) };
        for (i, &norm) in norms.iter().enumerate() {
            let value = inner.reach(norm);
            if value.is_nan() || value.abs() > largest {
                return Err(KernelError::TooLarge { row: i + 1, value });
            }
        }
        let norm = norms.iter().copied().fold(0.0, f64::max);
        let entry = Entry::new(&inner, norm);
        let differences = !store.is_exact() && width(&kernel).is_some_and(|gamma| needs_differences(gamma, norm));
        let errors = ValueErrors::of(&inner, &store, norm, differences, &diagonal);
        let (distinct, marks, indefiniteness) = Default::default();
        let gram = Self { kernel, entry, store, diagonal, differences, errors, indefiniteness, distinct, marks, probes };
        Ok(gram.near_one_value())
    }

    /// An entry that is wrong, if one of some is.
    fn fault(&self) -> Option<Fault> {
        self.probes.fault(self, &self.kernel)
    }

    /// The same matrix, with a constant left out of values in `f32` where nearly all of them are
    /// near it.
    fn near_one_value(mut self) -> Self {
        if self.len() < 2 || matches!(*self.store, Store::Precomputed(_) | Store::User(_)) {
            return self;
        }
        let mut value = [0.0];
        let values = some_pairs(self.len(), PAIRS, SEED).map(|(i, j)| {
            self.fill_exact(&[i], j..j + 1, &mut value);
            value[0]
        });
        let values: Vec<f64> = values.collect();
        let mean = |of: &dyn Fn(f64) -> f64| values.iter().map(|v| of(*v)).sum::<f64>() / values.len() as f64;
        // Of distances alone 1 is what values come near to, and equal samples are at it.
        let base = if self.kernel.is_distance() { 1.0 } else { f64::from(mean(&|v| v) as f32) };
        let spread = mean(&|v| (v - base).abs());
        if base != 0.0 && base.is_finite() && spread <= NEAR * base.abs() {
            self.entry = self.entry.less(&self.store.kernel(&self.kernel), base, spread);
        }
        self
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Bytes that the prepared samples take (shared by matrices made with
    /// [`KernelGram::with_gamma`]).
    pub fn bytes(&self) -> usize {
        let store = match &*self.store {
            Store::Integers(integers) => integers.bytes(),
            Store::Dense(dense) => dense.bytes(),
            Store::Sparse(sparse) => sparse.bytes(),
            Store::Precomputed(matrix) => matrix.bytes(),
            Store::User(pairs) => pairs.bytes(),
        };
        store + 8 * self.diagonal.len()
    }
}

impl Gram for KernelGram {
    fn len(&self) -> usize {
        self.diagonal.len()
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn base(&self) -> f64 {
        self.entry.base()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        let mut slices: Vec<&mut [f32]> = out.chunks_mut(columns.len().max(1)).collect();
        self.fill_rows(rows, columns, &mut slices);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        if self.differences {
            let each = with_distances64(&self.entry, &columns, out);
            return self.store.distances(rows, &columns, each);
        }
        match &*self.store {
            Store::Integers(integers) => integers.fill_exact(&self.entry, rows, &columns, out),
            Store::Dense(dense) => dense.fill_exact(&self.entry, rows, &columns, out),
            Store::Sparse(sparse) => sparse.fill_exact(&self.entry, rows, &columns, out),
            Store::Precomputed(matrix) => matrix.fill_exact(rows, &columns, out),
            Store::User(pairs) => pairs.fill_exact(rows, &columns, out),
        }
    }

    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        if columns.is_empty() {
            return;
        }
        if self.differences {
            let each = with_distances32(&self.entry, &columns, out);
            return self.store.distances(rows, &columns, each);
        }
        match &*self.store {
            Store::Integers(integers) => integers.fill(&self.entry, rows, &columns, out),
            Store::Dense(dense) => dense.fill(&self.entry, width(&self.kernel), rows, &columns, out),
            Store::Sparse(sparse) => sparse.fill(&self.entry, rows, &columns, out),
            Store::Precomputed(matrix) => matrix.fill(rows, &columns, out),
            Store::User(pairs) => pairs.fill(rows, &columns, out),
        }
    }

    fn table(&self) -> Option<Table> {
        match &*self.store {
            Store::Integers(integers) => integers.table(&self.entry),
            _ => None,
        }
    }

    fn fill_codes(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        if let (Store::Integers(integers), false) = (&*self.store, columns.is_empty()) {
            integers.fill_codes(&self.entry, rows, &columns, out);
        }
    }

    fn part(&self, ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        let store = match &*self.store {
            Store::Integers(integers) => Store::Integers(integers.select(ids)),
            Store::Dense(dense) => Store::Dense(dense.select(ids)),
            Store::Sparse(sparse) => Store::Sparse(sparse.select(ids)),
            Store::Precomputed(_) | Store::User(_) => return None,
        };
        let diagonal = ids.iter().map(|&i| self.diagonal[i]).collect();
        let (kernel, entry, differences, errors) = (self.kernel.clone(), self.entry.clone(), self.differences, self.errors);
        let (distinct, marks, probes, indefiniteness) = Default::default();
        let store = Arc::new(store);
        Some(Box::new(Self { kernel, entry, store, diagonal, differences, errors, indefiniteness, distinct, marks, probes }))
    }

    fn distinct(&self, asking: &Asking) -> Result<Option<Arc<Distinct>>, Halted> {
        let mark = |i: usize| self.marks.get(i).copied().unwrap_or(Mark { class: i as u32, fold: 0 });
        let find = || match &*self.store {
            // Samples that differ by rounding are not joined: large coefficients of theirs may
            // cancel.
            Store::Integers(integers) if integers.joins() => Ok(None),
            Store::Integers(integers) => Distinct::of(self.len(), |i, words| integers.content(i, words), mark, asking),
            Store::Dense(dense) => Distinct::of(self.len(), |i, words| dense.content(i, words), mark, asking),
            Store::Sparse(sparse) => Distinct::of(self.len(), |i, words| sparse.content(i, words), mark, asking),
            Store::Precomputed(_) | Store::User(_) => Ok(None),
        };
        self.distinct.get_or_find(|| Ok(find()?.map(Arc::new))).cloned()
    }

    fn relative_error(&self, i: usize) -> f64 {
        self.errors.part(self.store.norms().get(i).copied().unwrap_or(0.0))
    }

    fn largest(&self) -> Option<f64> {
        self.errors.largest
    }

    fn indefiniteness(&self) -> f64 {
        if self.kernel.is_semidefinite() {
            return 0.0;
        }
        *self.indefiniteness.get_or_init(|| indefiniteness(self))
    }

    fn value_cost(&self) -> f64 {
        // A kernel function of one value at a time calls the system's library.
        let function = if matches!(self.entry, Entry::Other(_) | Entry::OtherLess(..)) { 10.0 } else { 0.5 };
        match &*self.store {
            Store::Integers(integers) => function + integers.product_cost(),
            Store::Dense(dense) => function + dense.width() as f64 / 40.0,
            Store::Sparse(sparse) => function + 1.0 + 2.0 * sparse.common(),
            // Parts of it are views, column by column.
            Store::Precomputed(_) => 10.0,
            Store::User(_) => 100.0,
        }
    }

    fn tile(&self) -> Tile {
        match &*self.store {
            Store::Integers(_) | Store::Dense(_) => Tile { rows: 240, columns: 2048 },
            Store::Sparse(_) | Store::User(_) => Tile { rows: 16, columns: usize::MAX },
            Store::Precomputed(_) => Tile { rows: 64, columns: usize::MAX },
        }
    }
}

#[cfg(test)]
#[path = "kernel_gram_tests.rs"]
mod tests;
