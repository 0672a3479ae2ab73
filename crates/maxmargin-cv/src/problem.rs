//! The training problems of a cross-validation, in the order of the folds.

use crate::plan::FoldPlan;
use maxmargin_core::{Dual, DualError};
use maxmargin_data::ClassLabels;
use maxmargin_kernel::Rows;
use maxmargin_path::Path;
use std::ops::Range;

/// Samples sorted by fold and, inside a fold, by class: a training set is then at most two contiguous ranges of a kernel row.
#[derive(Clone, Debug)]
pub struct Order {
    /// Position in the data of each sorted sample.
    original: Vec<usize>,
    /// Range of each fold in the sorted order.
    folds: Vec<Range<usize>>,
}

impl Order {
    /// Sorts the samples of `plan`; inside a fold negatives come first, otherwise the order of the data is kept.
    pub fn new(plan: &FoldPlan, signs: &[f64]) -> Self {
        Self::sorted(plan, |i| u32::from(signs[i] > 0.0))
    }

    /// Sorts the samples of `plan`; inside a fold classes come in the order of their labels.
    pub fn by_class(plan: &FoldPlan, labels: &ClassLabels) -> Self {
        Self::sorted(plan, |i| labels.of()[i])
    }

    fn sorted(plan: &FoldPlan, class: impl Fn(usize) -> u32) -> Self {
        let mut original: Vec<usize> = (0..plan.len()).collect();
        original.sort_by_key(|&i| (plan.fold_of()[i], class(i)));
        let mut folds = Vec::with_capacity(plan.folds());
        let mut start = 0;
        for h in 0..plan.folds() {
            let size = original[start..].iter().take_while(|&&i| plan.fold_of()[i] as usize == h).count();
            folds.push(start..start + size);
            start += size;
        }
        Self { original, folds }
    }

    /// Position in the data of each sorted sample.
    pub fn original(&self) -> &[usize] {
        &self.original
    }

    /// Sorted positions of the test samples of fold `h`.
    pub fn fold(&self, h: usize) -> Range<usize> {
        self.folds[h].clone()
    }

    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// Brings one value per sorted sample back into the order of the data.
    pub fn restore<T: Clone + Default>(&self, sorted: &[T]) -> Vec<T> {
        let mut restored = vec![T::default(); sorted.len()];
        self.original.iter().zip(sorted).for_each(|(&i, value)| restored[i] = value.clone());
        restored
    }

    /// One value per sample of the data, in sorted order.
    pub fn sort<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.original.iter().map(|&i| values[i].clone()).collect()
    }
}

/// Labels and upper bounds of all samples, in sorted order.
#[derive(Clone, Debug)]
pub struct Pool {
    /// ±1 per sample.
    pub labels: Vec<f64>,
    /// `C` per sample.
    pub upper: Vec<f64>,
}

impl Pool {
    /// Whether both classes remain when `hidden` is taken away.
    ///
    /// # Errors
    ///
    /// [`DualError::OneClass`] when only one class remains.
    pub fn check(&self, hidden: Range<usize>) -> Result<(), DualError> {
        let has = |sign: f64| {
            let seen = (0..hidden.start).chain(hidden.end..self.labels.len());
            seen.into_iter().any(|i| self.labels[i] == sign && self.upper[i] > 0.0)
        };
        if has(1.0) && has(-1.0) { Ok(()) } else { Err(DualError::OneClass) }
    }

    /// The C-SVC on all samples but those of `hidden`.
    ///
    /// # Errors
    ///
    /// When what remains has only one class.
    pub fn dual(&self, hidden: Range<usize>) -> Result<Dual, DualError> {
        let seen = |i: &usize| !hidden.contains(i);
        let ids: Vec<usize> = (0..self.labels.len()).filter(seen).collect();
        let labels = ids.iter().map(|&i| self.labels[i]).collect();
        let upper = ids.iter().map(|&i| self.upper[i]).collect();
        Dual::c_svc(ids, labels, upper)
    }
}

/// A trained point spread over all samples: what seeds start from.
#[derive(Clone, Debug)]
pub struct Trained<'g> {
    /// α of every sample, 0 outside the training set.
    pub alpha: Vec<f64>,
    /// `Σ_j y_j α_j K_ij` of every sample `i`, inside the training set or not.
    pub sums: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// Samples that were not in the training set.
    pub hidden: Range<usize>,
    /// `Σ_j K_ij` over the free `j` (`0 < α_j < C_j`), where a seeding asks for it.
    pub free_sums: Option<Vec<f64>>,
    /// The same solution made exact and ready to move, where a seeding asks for it.
    pub path: Option<Path<'g>>,
}

impl Trained<'_> {
    /// Whether a sample of `range` carries α.
    pub fn touches(&self, range: &Range<usize>) -> bool {
        self.alpha[range.clone()].iter().any(|a| *a > 0.0)
    }
}

/// The training problem of one fold, as seeds see it.
#[derive(Clone, Copy)]
pub struct Fold<'a> {
    /// The problem.
    pub dual: &'a Dual,
    /// Samples that are not in the training set.
    pub hidden: &'a Range<usize>,
    /// Labels and bounds of all samples.
    pub pool: &'a Pool,
    /// Rows of the kernel.
    pub rows: &'a Rows<'a>,
    /// Where the solver will stop.
    pub tol: f64,
    /// Whether long work is still wanted.
    pub go_on: &'a dyn Fn() -> bool,
}
