//! The values from which the spaces of a study's machines are made: a kernel matrix, or features.

use crate::study::layout::{MachineLayout, MachineSamples};
use crate::study::page_pool::{MatrixMemory, PagePool};
use maxmargin_data::{Cancelled, Par, Preparation, RunControl, Samples};
use maxmargin_kernel::{Gram, Kernel, KernelError, KernelGram, LARGEST_SQUARE, Matrix, OffsetGram, RowWork, Rows, Space, Subset};
use std::borrow::Cow;

/// Prepared samples, and the kernel with its width for them.
pub(crate) struct Prepared<'s> {
    pub(crate) preparation: Preparation,
    pub(crate) samples: Cow<'s, Samples>,
    pub(crate) kernel: Kernel,
}

/// The values from which machines' spaces are made, in the order of a layout.
pub(crate) enum SpaceSource<'s> {
    /// A kernel matrix, and its memory.
    Gram(KernelGram, MatrixMemory),
    /// Features, from which no kernel value is computed.
    Features(Cow<'s, Samples>),
}

/// Largest number of samples of a machine whose exact values may be kept: 8 MiB.
const SMALL: usize = 1024;

/// Largest number of samples of a study whose machines are small: 512 MiB of exact values.
const FEW: usize = 8192;

/// Checks that linear machines can compute with every row ([`Matrix::check`]).
fn check_lengths(samples: &Samples) -> Result<(), KernelError> {
    for at in 0..samples.len() {
        let mut square = 0.0;
        samples.row(at).for_each(|_, value| square += value * value);
        if square.is_nan() || square > LARGEST_SQUARE {
            return Err(KernelError::Length { row: at + 1, value: square });
        }
    }
    Ok(())
}

impl<'s> SpaceSource<'s> {
    /// Features, or values of the prepared kernel, of the samples in the order of `layout`.
    pub(crate) fn of(
        prepared: &Prepared<'s>,
        layout: &MachineLayout,
        features: bool,
        par: Par,
        control: &RunControl,
    ) -> Result<Self, KernelError> {
        if features {
            let samples = sorted(prepared, layout, control)?;
            check_lengths(&samples).map_err(|error| error.in_order(&layout.data_row))?;
            return Ok(Self::Features(samples));
        }
        Self::at(prepared, &prepared.kernel, layout, par, control)
    }

    /// Values of another kernel than the prepared one.
    pub(crate) fn at(
        prepared: &Prepared,
        kernel: &Kernel,
        layout: &MachineLayout,
        par: Par,
        control: &RunControl,
    ) -> Result<Self, KernelError> {
        let gram = KernelGram::prepared(&*sorted(prepared, layout, control)?, kernel.clone(), par, control);
        let gram = gram.map_err(|error| error.in_order(&layout.data_row))?;
        Ok(Self::Gram(gram.marked(layout.marks()), MatrixMemory::default()))
    }

    /// Uses the memory of a pool.
    pub(crate) fn in_pool(self, pool: &PagePool) -> Self {
        match self {
            Self::Gram(gram, _) => Self::Gram(gram, MatrixMemory::of(pool)),
            Self::Features(samples) => Self::Features(samples),
        }
    }

    /// Prepares for several machines with several solutions each, if there are few samples.
    pub(crate) fn for_small_machines(self, layout: &MachineLayout) -> Self {
        match self {
            Self::Gram(gram, own) if layout.machines.len() > 1 && gram.len() <= FEW => Self::Gram(gram.with_small_sums(), own),
            other => other,
        }
    }

    /// Keeps what the machines of a layout would compute again: the dot products of all pairs of
    /// sparse samples, or the exact values that small machines need. They take no more than a part
    /// of `memory`, which changes no bit of a result.
    pub(crate) fn keep_values(
        &self,
        layout: &MachineLayout,
        memory: u64,
        par: Par,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let Self::Gram(gram, own) = self else { return Ok(()) };
        match gram.products_bytes() {
            Some(bytes) if layout.machines.len() > 1 && bytes <= memory / 2 => return gram.keep_products(par, control),
            _ => {}
        }
        if gram.has_small_sums() && KernelGram::exact_bytes(gram.len()) <= memory / 4 {
            gram.keep_exact(own.exact());
        }
        Ok(())
    }

    /// Searches once for the neighbours of all samples, of which machines of some samples take
    /// their part. Machines of all samples search in their own space, where equal samples are one.
    pub(crate) fn find_neighbours(
        &self,
        layout: &MachineLayout,
        memory: u64,
        par: Par,
        control: &RunControl,
    ) -> Result<(), Cancelled> {
        let Self::Gram(gram, _) = self else { return Ok(()) };
        if layout.machines.iter().all(|machine| machine.rows.len() == gram.len()) {
            return Ok(());
        }
        // Machines whose equal samples are one have other matrices.
        let merges = gram.distinct(control)?.is_some_and(|distinct| distinct.saves_rows());
        if merges { Ok(()) } else { gram.find_neighbours(memory / 4, par, control) }
    }

    /// Bytes of the values that are kept ([`SpaceSource::keep_values`]).
    pub(crate) fn kept_bytes(&self) -> u64 {
        match self {
            Self::Gram(gram, _) => gram.kept_bytes(),
            Self::Features(_) => 0,
        }
    }

    /// Calls `each` with the space of a machine; returns its result and the work on kernel rows.
    /// `memory` is the number of bytes for kernel rows. With `keep_exact`, the exact values of a
    /// small machine are kept, unless those of all samples are.
    pub(crate) fn with_space<T>(
        &self,
        machine: &MachineSamples,
        feature: Option<f64>,
        memory: u64,
        par: Par,
        keep_exact: bool,
        each: impl FnOnce(Space) -> T,
    ) -> (T, RowWork) {
        match self {
            SpaceSource::Gram(all, own) => {
                // A machine of all samples uses the whole matrix. A bias feature adds a constant to
                // the kernel.
                let keep_exact = keep_exact && machine.rows.len() <= SMALL && all.kept_exact().is_none();
                let subset = (keep_exact || machine.rows.len() < all.len()).then(|| {
                    let subset = Subset::new(all, machine.rows.clone());
                    if keep_exact { subset.keeping_exact_values() } else { subset }
                });
                let plain = subset.as_ref().map_or(all as &dyn Gram, |subset| subset);
                let with = feature.map(|value| OffsetGram::new(plain, value * value));
                own.pool().with(|pages| {
                    let rows = Rows::in_pages(with.as_ref().map_or(plain, |with| with), memory, par, pages);
                    let result = each(Space::Kernel(&rows));
                    (result, rows.work())
                })
            }
            SpaceSource::Features(all) => {
                let subset = (machine.rows.len() < all.len()).then(|| all.select(&machine.rows));
                let matrix = Matrix::new(subset.as_ref().unwrap_or(all), feature, par).with_budget(memory);
                let result = each(Space::Features(&matrix));
                (result, Space::Features(&matrix).work())
            }
        }
    }
}

/// Samples in the order of a layout.
fn sorted<'s>(prepared: &Prepared<'s>, layout: &MachineLayout, control: &RunControl) -> Result<Cow<'s, Samples>, Cancelled> {
    if layout.is_identity() {
        return Ok(prepared.samples.clone());
    }
    prepared.samples.try_select(&layout.data_row, control).map(Cow::Owned)
}
