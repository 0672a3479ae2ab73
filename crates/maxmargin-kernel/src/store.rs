//! The forms in which samples are held for kernels.

use crate::dense::Dense;
use crate::integers::Integers;
use crate::precomputed::Precomputed;
use crate::sparse::Sparse;
use crate::survey::survey;
use crate::user::Pairs;
use crate::{Kernel, KernelError};
use maxmargin_data::{Asking, Samples};
use std::ops::Range;

/// Dense panels of sparse data may take this much memory.
const DENSE_BYTES: usize = 1 << 30;

/// The samples in the form that the dot products are computed from.
#[derive(Debug)]
pub(crate) enum Store {
    Integers(Integers),
    Dense(Dense),
    Sparse(Sparse),
    Precomputed(Precomputed),
    User(Pairs),
}

impl Store {
    /// `samples` in the form that is best for them, or in `plain` lists.
    pub(crate) fn new(samples: &Samples, kernel: &Kernel, plain: bool, asking: &Asking) -> Result<Self, KernelError> {
        if *kernel == Kernel::Precomputed {
            return Ok(Self::Precomputed(Precomputed::new(samples, asking)?));
        }
        if let Kernel::User(function) = kernel {
            return Ok(Self::User(Pairs::new(samples, function, asking)?));
        }
        if plain {
            return Ok(Self::Sparse(Sparse::new(samples, asking)?));
        }
        let survey = survey(samples, asking)?;
        let bytes = if survey.single { 4 } else { 12 };
        // The same on every machine: what is held in codes decides how solvers go.
        if Integers::suits(samples, &survey, kernel) {
            if survey.prefers_dense(samples, DENSE_BYTES, 1, Integers::rate(&survey)) {
                return Ok(Self::Integers(Integers::new(samples, &survey, asking)?));
            }
        } else if survey.prefers_dense(samples, DENSE_BYTES, bytes, 80.0) {
            return Ok(Self::Dense(Dense::new(samples, &survey, width(kernel), asking)?));
        }
        Ok(Self::Sparse(Sparse::new(samples, asking)?))
    }

    /// Squared norms; of integers in their units. None where there are no features.
    pub(crate) fn norms(&self) -> &[f64] {
        match self {
            Store::Integers(integers) => integers.norms(),
            Store::Dense(dense) => dense.norms(),
            Store::Sparse(sparse) => sparse.norms(),
            Store::Precomputed(_) | Store::User(_) => &[],
        }
    }

    /// Whether products and norms in `f64` are exact.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Store::Integers(_) => true,
            Store::Dense(dense) => dense.is_exact(),
            Store::Sparse(_) | Store::Precomputed(_) | Store::User(_) => false,
        }
    }

    /// Whether the values were rounded to multiples of a unit.
    pub(crate) fn are_multiples(&self) -> bool {
        matches!(self, Store::Integers(integers) if !integers.are_whole())
    }

    /// Calls `each(r, part, distances)` with the squared distances of `rows[r]` and the samples of
    /// `part`, for parts of `columns`.
    pub(crate) fn distances(&self, rows: &[usize], columns: &Range<usize>, each: impl FnMut(usize, Range<usize>, &[f64])) {
        match self {
            Store::Dense(dense) => dense.distances(rows, columns, each),
            Store::Sparse(sparse) => sparse.distances(rows, columns, each),
            Store::Integers(_) | Store::Precomputed(_) | Store::User(_) => {
                unreachable!("distances of what is exact or no kernel of them")
            }
        }
    }

    /// `kernel` as a function of the dot products and norms that are computed here.
    pub(crate) fn kernel(&self, kernel: &Kernel) -> Kernel {
        match self {
            Store::Integers(integers) => integers.in_units(kernel),
            _ => kernel.clone(),
        }
    }
}

/// gamma, for a kernel that depends on distances only.
pub(crate) fn width(kernel: &Kernel) -> Option<f64> {
    kernel.gamma().filter(|_| kernel.is_distance())
}
