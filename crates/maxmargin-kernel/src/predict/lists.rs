//! Decision values of sparse queries: products by inverted lists of the support vectors.

use crate::predict::coefficients::{Coefficients, EMPTY, Layout};
use crate::predict::columns::Columns;
use crate::predict::far;
use crate::store::distances::needs_differences;
use crate::store::slice_kernel::SliceKernel;
use crate::{Kernel, KernelError};
use maxmargin_data::{Row, Samples};

/// Support vectors by feature, and their coefficients.
#[derive(Debug)]
pub(super) struct Lists {
    kernel: Kernel,
    columns: Columns,
    layout: Layout,
    coefficients: Vec<Coefficients>,
    biases: Vec<f64>,
    /// The support vectors at their places.
    rows: Samples,
    /// The position at which the list of each feature begins, and the end of the last one.
    begins: Vec<usize>,
    /// Place and value of each entry of the lists.
    entries: Vec<(u32, f64)>,
    norms: Vec<f64>,
    max_norm: f64,
    function: SliceKernel,
}

/// Buffers of a task.
#[derive(Debug, Default)]
pub(super) struct ListScratch {
    dots: Vec<f64>,
    values: Vec<f64>,
    parts: Vec<f64>,
}

impl Lists {
    pub(super) fn new(kernel: &Kernel, support: &Samples, columns: Columns, layout: Layout, biases: Vec<f64>) -> Self {
        let mut begins = vec![0; support.features() + 1];
        let used = || layout.order.iter().zip(0_u32..).filter(|(k, _)| **k != EMPTY);
        used().for_each(|(&k, _)| support.row(k as usize).for_each(|j, _| begins[j + 1] += 1));
        (1..begins.len()).for_each(|j| begins[j] += begins[j - 1]);
        let mut next = begins.clone();
        let mut entries = vec![(0, 0.0); begins[support.features()]];
        let mut norms = vec![0.0; layout.order.len()];
        for (&k, place) in used() {
            support.row(k as usize).for_each(|j, v| {
                entries[next[j]] = (place, v);
                next[j] += 1;
                norms[place as usize] += v * v;
            });
        }
        let max_norm = norms.iter().copied().fold(0.0, f64::max);
        let function = SliceKernel::new(kernel, max_norm);
        let coefficients = layout.coefficients();
        let (kernel, rows) = (kernel.clone(), support.clone());
        Self { kernel, columns, layout, coefficients, biases, rows, begins, entries, norms, max_norm, function }
    }

    /// Bytes of the lists and the rows.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.entries.as_slice()) + size_of_val(self.begins.as_slice()) + self.rows.bytes()
    }

    /// Computes the kernel values of a query and all places.
    fn values(&self, query: usize, row: Row<'_>, scratch: &mut ListScratch) -> Result<(), KernelError> {
        let ListScratch { dots, values, .. } = scratch;
        dots.clear();
        dots.resize(self.layout.order.len(), 0.0);
        values.resize(dots.len(), 0.0);
        let mut norm = 0.0;
        let other = self.columns.for_each(row, |k, v| {
            norm += v * v;
            for &(place, w) in &self.entries[self.begins[k]..self.begins[k + 1]] {
                dots[place as usize] += v * w;
            }
        });
        norm += other;
        if let Some(gamma) = far::gamma_if_far(&self.kernel, norm) {
            far::values(gamma, &self.rows, &self.layout.order, &self.columns, row, values);
            return Ok(());
        }
        self.kernel.check_norm(query, norm)?;
        let gamma = self.kernel.gamma().filter(|_| self.kernel.is_distance());
        if gamma.is_some_and(|gamma| needs_differences(gamma, norm.max(self.max_norm))) {
            self.differences(row, dots);
            let zeros = vec![0.0; dots.len()];
            self.function.fill64(0.0, &zeros, dots, values);
        } else {
            self.function.fill64(norm, &self.norms, dots, values);
        }
        Ok(())
    }

    /// Writes −½ times the squared distances, as sums of squared differences.
    fn differences(&self, row: Row<'_>, dots: &mut [f64]) {
        let mut own = Vec::new();
        let other = self.columns.for_each(row, |k, v| own.push((k as u32, v)));
        let (features, entries): (Vec<u32>, Vec<f64>) = own.into_iter().unzip();
        for (&k, dot) in self.layout.order.iter().zip(dots).filter(|(k, _)| **k != EMPTY) {
            let mut sum = other;
            let pairs = Row::Sparse(&features, &entries);
            pairs.for_each_pair(self.rows.row(k as usize), |_, x, z| sum += (x - z) * (x - z));
            *dot = -0.5 * sum;
        }
    }

    /// Computes the decision values of a query.
    pub(super) fn decide(
        &self,
        query: usize,
        row: Row<'_>,
        out: &mut [f64],
        scratch: &mut ListScratch,
    ) -> Result<(), KernelError> {
        self.values(query, row, scratch)?;
        out.fill(0.0);
        for (places, coefficients) in self.layout.chunks.iter().zip(&self.coefficients) {
            coefficients.add(&scratch.values[places.clone()], 1, &mut scratch.parts, out);
        }
        out.iter_mut().zip(&self.biases).for_each(|(value, bias)| *value += bias);
        Ok(())
    }

    /// The kernel values of some support vectors with all: (vector, vector, value).
    pub(super) fn sample_values(&self, support: &Samples, vectors: &[usize]) -> Result<Vec<(usize, usize, f64)>, KernelError> {
        let mut scratch = ListScratch::default();
        let mut found = Vec::new();
        for &id in vectors {
            self.values(id, support.row(id), &mut scratch)?;
            let places = self.layout.order.iter().zip(&scratch.values).filter(|(k, _)| **k != EMPTY);
            found.extend(places.map(|(&k, &value)| (id, k as usize, value)));
        }
        Ok(found)
    }
}
