//! The Gram matrix of a sample matrix and a kernel.

mod kept;
mod neighbours;
mod search;
mod value_errors;

use crate::checks::{Backend, SpotChecks, first_right, some_pairs};
use crate::function::Fault;
use crate::gram::{ComputeExact, ExactValues, indefiniteness};
use crate::store::distances::{needs_differences, with_distances32};
use crate::store::slice_kernel::SliceKernel;
use crate::store::{Store, width};
use crate::{Distinct, GaussianLattice, Gram, KeptValues, Kernel, KernelError, Mark, Neighbours, Tile};
use maxmargin_data::{Cancelled, Par, RunControl, Samples};
use maxmargin_simd::row::CodeTable;
use once_cell::sync::OnceCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use value_errors::ValueErrors;

/// The Gram matrix `K_ij = k(x_i, x_j)` of samples and a [`Kernel`].
///
/// The data determine the method for dot products: matrix multiplication in `f32` if it is accurate
/// to 10⁻⁶ in the exponent of an RBF kernel, otherwise in `f64`; exact byte arithmetic for small
/// integers; inverted lists for sparse data. Exact blocks use `f64` only, with centred data for RBF
/// kernels.
///
/// Before the first use, some entries are compared with plain arithmetic on the samples. If they
/// differ, the matrix falls back to fewer vector instructions or to plain lists
/// ([`crate::fallbacks`]). The cause can be the processor, the compiler or a defect of this crate.
#[derive(Clone, Debug)]
pub struct KernelGram {
    kernel: Kernel,
    function: SliceKernel,
    store: Arc<Store>,
    diagonal: Vec<f64>,
    /// Distances are computed as sums of squared differences, because norms and dot products would
    /// lose digits that the kernel needs.
    differences: bool,
    errors: ValueErrors,
    /// The cached result of [`Gram::indefiniteness`].
    indefiniteness: OnceLock<f64>,
    /// The cached result of [`Gram::distinct`].
    distinct: Arc<OnceCell<Option<Arc<Distinct>>>>,
    /// A mark of each sample; empty if the classes and folds are unknown.
    marks: Arc<[Mark]>,
    /// Some entries by plain arithmetic.
    spot_checks: Arc<SpotChecks>,
    /// The exact values that are kept, if any are.
    exact: Arc<OnceCell<ExactValues>>,
    /// See [`Gram::has_small_sums`].
    small_sums: bool,
    /// The result of [`Gram::find_neighbours`].
    neighbours: Arc<OnceCell<Option<Neighbours>>>,
    /// The cached result of [`Gram::lattice`].
    lattice: Arc<OnceCell<Option<GaussianLattice>>>,
}

/// Number of random pairs of samples that decide whether a constant is subtracted from values in
/// `f32`.
const PAIRS: usize = 64;
/// Seed of these pairs.
const SEED: u64 = 1;

/// A constant is subtracted if values differ from it by at most this share of it on average. Then
/// at least two binary digits are gained.
const NEAR: f64 = 0.125;

/// Features from which on a dot product takes longer than the kernel function.
const LONG: usize = 32;

impl KernelGram {
    /// Prepares the samples; the result keeps its own copy of their values.
    ///
    /// # Errors
    ///
    /// When a parameter is invalid, a kernel value does not fit in `f32`, a precomputed matrix is
    /// malformed, or all backends compute wrong values. [`KernelError::Cancelled`] when `control`
    /// ends the run between two parts of the samples.
    pub fn new(samples: &Samples, kernel: Kernel, control: &RunControl) -> Result<Self, KernelError> {
        Self::prepared(samples, kernel, Par::Seq, control)
    }

    /// [`KernelGram::new`] on the threads of `par`.
    ///
    /// # Errors
    ///
    /// As [`KernelGram::new`].
    pub fn prepared(samples: &Samples, kernel: Kernel, par: Par, control: &RunControl) -> Result<Self, KernelError> {
        let kernel = kernel.checked()?;
        let spot_checks = Arc::new(SpotChecks::of(samples, &kernel));
        let packed = if kernel.is_of_products() { samples.packed() } else { None };
        let samples = packed.as_ref().map_or(samples, |(packed, _)| packed);
        let make = |backend: Backend| {
            let store = Arc::new(Store::new(samples, &kernel, backend.plain, par, control)?);
            Self::over(store, kernel.clone(), Arc::clone(&spot_checks))
        };
        first_right(true, make, Self::fault)
    }

    /// The matrix of the same samples and kernel with another gamma. Both share the prepared
    /// samples.
    ///
    /// # Errors
    ///
    /// When `gamma` is invalid, the kernel has none, a kernel value does not fit in `f32`, or all
    /// backends compute wrong values.
    pub fn with_gamma(&self, gamma: f64) -> Result<Self, KernelError> {
        if self.kernel.gamma().is_none() {
            return Err(KernelError::Samples(format!("a {} kernel has no gamma that can be changed", self.kernel.name())));
        }
        let kernel = self.kernel.clone().with_gamma(gamma).checked()?;
        let make = |_: Backend| Self::over(Arc::clone(&self.store), kernel.clone(), Arc::clone(&self.spot_checks));
        let other = first_right(false, make, Self::fault)?;
        Ok(Self { distinct: Arc::clone(&self.distinct), marks: Arc::clone(&self.marks), ..other })
    }

    /// Sets the class and the fold of each sample, which determine the order of equal samples
    /// ([`Distinct`]).
    ///
    /// # Panics
    ///
    /// When the number of marks differs from the number of samples.
    #[must_use]
    pub fn marked(self, marks: Vec<Mark>) -> Self {
        assert_eq!(marks.len(), self.len(), "a mark for each sample");
        Self { marks: marks.into(), distinct: Arc::default(), ..self }
    }

    /// The matrix over prepared samples.
    fn over(store: Arc<Store>, kernel: Kernel, spot_checks: Arc<SpotChecks>) -> Result<Self, KernelError> {
        let inner = store.kernel(&kernel);
        let of_norms = |norms: &[f64]| norms.iter().map(|&norm| inner.of_dot(norm, norm, norm)).collect();
        let (diagonal, norms): (Vec<f64>, _) = match &*store {
            Store::Precomputed(matrix) => (matrix.diagonal().to_vec(), [].as_slice()),
            Store::Pairwise(pairs) => (pairs.diagonal().to_vec(), pairs.diagonal()),
            Store::Integers(_) | Store::Dense(_) | Store::Sparse(_) => (of_norms(store.norms()), store.norms()),
        };
        norms.iter().enumerate().try_for_each(|(i, &norm)| inner.check_norm(i, norm))?;
        let norm = norms.iter().copied().fold(0.0, f64::max);
        let function = SliceKernel::new(&inner, norm);
        let differences = !store.is_exact() && width(&kernel).is_some_and(|gamma| needs_differences(gamma, norm));
        let errors = ValueErrors::of(&inner, &store, norm, differences, &diagonal);
        let (distinct, marks, indefiniteness, exact, small_sums, neighbours, lattice) = Default::default();
        let gram = Self {
            kernel,
            function,
            store,
            diagonal,
            differences,
            errors,
            indefiniteness,
            distinct,
            marks,
            spot_checks,
            exact,
            small_sums,
            neighbours,
            lattice,
        };
        Ok(gram.with_base())
    }

    /// The matrix with the same kernel over other samples, of which nothing is known yet.
    fn with_store(&self, store: Arc<Store>, diagonal: Vec<f64>) -> Self {
        let (distinct, marks, spot_checks, indefiniteness, exact, neighbours, lattice) = Default::default();
        Self {
            kernel: self.kernel.clone(),
            function: self.function.clone(),
            store,
            diagonal,
            differences: self.differences,
            errors: self.errors,
            indefiniteness,
            distinct,
            marks,
            spot_checks,
            exact,
            small_sums: false,
            neighbours,
            lattice,
        }
    }

    /// The first spot check that fails.
    fn fault(&self) -> Option<Fault> {
        self.spot_checks.fault(self, &self.kernel)
    }

    /// Subtracts a constant from values in `f32`, if nearly all of them are close to it.
    fn with_base(mut self) -> Self {
        if self.len() < 2 || matches!(*self.store, Store::Precomputed(_) | Store::Pairwise(_)) {
            return self;
        }
        let mut value = [0.0];
        let values = some_pairs(self.len(), PAIRS, SEED).map(|(i, j)| {
            self.fill_exact(&[i], j..j + 1, &mut value);
            value[0]
        });
        let values: Vec<f64> = values.collect();
        let mean = |of: &dyn Fn(f64) -> f64| values.iter().map(|v| of(*v)).sum::<f64>() / values.len() as f64;
        // Values of a kernel of distances approach 1, the value of equal samples.
        let base = if self.kernel.is_distance() { 1.0 } else { f64::from(mean(&|v| v) as f32) };
        let spread = mean(&|v| (v - base).abs());
        if base != 0.0 && base.is_finite() && spread <= NEAR * base.abs() {
            self.function = self.function.minus_base(&self.store.kernel(&self.kernel), base, spread);
        }
        self
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Bytes of the products of all pairs of samples, if [`KernelGram::keep_products`] would keep
    /// them.
    pub fn products_bytes(&self) -> Option<u64> {
        match &*self.store {
            // Distances by differences need no products.
            Store::Sparse(sparse) if !self.differences => Some(sparse.products_bytes()),
            _ => None,
        }
    }

    /// Computes the dot products of all pairs of sparse samples once, for all kernel values of this
    /// matrix and of those with another gamma. Kernel values have the same bits. It is worth its
    /// memory ([`KernelGram::products_bytes`]) where values are needed several times: for machines
    /// of pairs of classes. Other samples are not changed by it.
    ///
    /// # Errors
    ///
    /// When `control` cancels the computation.
    pub fn keep_products(&self, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        match &*self.store {
            Store::Sparse(sparse) if !self.differences => sparse.keep_products(par, control),
            _ => Ok(()),
        }
    }

    /// Bytes of the prepared samples, which matrices from [`KernelGram::with_gamma`] share.
    pub fn bytes(&self) -> usize {
        let store = match &*self.store {
            Store::Integers(integers) => integers.bytes(),
            Store::Dense(dense) => dense.bytes(),
            Store::Sparse(sparse) => sparse.bytes(),
            Store::Precomputed(matrix) => matrix.bytes(),
            Store::Pairwise(pairs) => pairs.bytes(),
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
        self.function.base()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        let mut slices: Vec<&mut [f32]> = out.chunks_mut(columns.len().max(1)).collect();
        self.fill_rows(rows, columns, &mut slices);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        if !self.kept_exact().is_some_and(|kept| kept.copy(rows, columns.clone(), out)) {
            self.compute_exact(rows, columns, out);
        }
    }

    fn has_small_sums(&self) -> bool {
        self.small_sums
    }

    fn kept_exact(&self) -> Option<KeptValues<'_>> {
        self.exact.get().map(|values| KeptValues::new(values, self))
    }

    fn fill_rows(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [f32]]) {
        if columns.is_empty() {
            return;
        }
        if self.differences {
            let each = with_distances32(&self.function, &columns, out);
            return self.store.distances(rows, &columns, each);
        }
        match &*self.store {
            Store::Integers(integers) => integers.fill(&self.function, rows, &columns, out),
            Store::Dense(dense) => dense.fill(&self.function, width(&self.kernel), rows, &columns, out),
            Store::Sparse(sparse) => sparse.fill(&self.function, rows, &columns, out),
            Store::Precomputed(matrix) => matrix.fill(rows, &columns, out),
            Store::Pairwise(pairs) => pairs.fill(rows, &columns, out),
        }
    }

    fn table(&self) -> Option<CodeTable> {
        match &*self.store {
            Store::Integers(integers) => integers.table(&self.function),
            _ => None,
        }
    }

    fn fill_codes(&self, rows: &[usize], columns: Range<usize>, out: &mut [&mut [u8]]) {
        if let (Store::Integers(integers), false) = (&*self.store, columns.is_empty()) {
            integers.fill_codes(&self.function, rows, &columns, out);
        }
    }

    fn part(&self, ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        self.of_samples(ids).map(|part| Box::new(part) as Box<dyn Gram + Send>)
    }

    fn find_neighbours(&self, bytes: u64, par: Par, control: &RunControl) -> Result<(), Cancelled> {
        self.search(bytes, par, control)
    }

    fn neighbours(&self) -> Option<&Neighbours> {
        self.neighbours.get()?.as_ref()
    }

    fn lattice(&self) -> Option<&GaussianLattice> {
        self.lattice.get_or_init(|| self.new_lattice()).as_ref()
    }

    fn distinct(&self, control: &RunControl) -> Result<Option<Arc<Distinct>>, Cancelled> {
        let mark = |i: usize| self.marks.get(i).copied().unwrap_or(Mark { class: i as u32, fold: 0 });
        let find = || match &*self.store {
            // Samples that differ by rounding are not merged: their large coefficients may cancel.
            Store::Integers(integers) if integers.merges_values() => Ok(None),
            Store::Integers(integers) => Distinct::of(self.len(), |i, words| integers.content(i, words), mark, control),
            Store::Dense(dense) => Distinct::of(self.len(), |i, words| dense.content(i, words), mark, control),
            Store::Sparse(sparse) => Distinct::of(self.len(), |i, words| sparse.content(i, words), mark, control),
            Store::Precomputed(_) | Store::Pairwise(_) => Ok(None),
        };
        self.distinct.get_or_try_init(|| Ok(find()?.map(Arc::new))).cloned()
    }

    fn relative_error(&self, i: usize) -> f64 {
        self.errors.of_sample(self.store.norms().get(i).copied().unwrap_or(0.0))
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
        // Other functions are evaluated one value at a time by the system's library.
        let function = if matches!(self.function, SliceKernel::Other(_) | SliceKernel::OtherMinus(..)) { 10.0 } else { 0.5 };
        match &*self.store {
            Store::Integers(integers) => function + integers.product_cost(),
            Store::Dense(dense) => function + dense.width() as f64 / 40.0,
            Store::Sparse(sparse) => function + 1.0 + 2.0 * sparse.common(),
            // Parts of a precomputed matrix are views with scattered columns.
            Store::Precomputed(_) => 10.0,
            Store::Pairwise(_) => 100.0,
        }
    }

    fn tile(&self) -> Tile {
        match &*self.store {
            // The sums of one row wait for each other, those of four do not: with few features the
            // kernel function takes longer.
            Store::Dense(dense) if dense.width() >= LONG => Tile { rows: 240, columns: 2048, together: 4 },
            Store::Integers(_) | Store::Dense(_) => Tile { rows: 240, columns: 2048, together: 1 },
            Store::Sparse(_) | Store::Pairwise(_) => Tile { rows: 16, columns: usize::MAX, together: 1 },
            Store::Precomputed(_) => Tile { rows: 64, columns: usize::MAX, together: 1 },
        }
    }
}

#[cfg(test)]
mod tests;
