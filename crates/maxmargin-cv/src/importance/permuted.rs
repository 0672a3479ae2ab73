//! Rows in which some features are those of other rows.

use maxmargin_data::{Samples, SamplesError, Storage};

/// Some rows of prepared samples, to be changed in some features.
pub(super) struct PermutedRows<'a> {
    samples: &'a Samples,
    rows: &'a [usize],
    /// The rows as dense values, unless the samples are sparse.
    dense: Option<Vec<f64>>,
}

impl<'a> PermutedRows<'a> {
    pub(super) fn new(samples: &'a Samples, rows: &'a [usize]) -> Self {
        let width = samples.features();
        let dense = (!matches!(samples.storage(), Storage::Sparse(_))).then(|| {
            let mut values = vec![0.0; rows.len() * width];
            for (own, &row) in values.chunks_exact_mut(width.max(1)).zip(rows) {
                samples.row(row).for_each(|j, value| own[j] = value);
            }
            values
        });
        Self { samples, rows, dense }
    }

    /// Returns the rows with `features`, ascending, of the rows `donors`.
    pub(super) fn with(&self, features: &[u32], donors: &[usize]) -> Result<Samples, SamplesError> {
        let width = self.samples.features();
        let is_moved = |j: usize| features.binary_search(&(j as u32)).is_ok();
        if let Some(dense) = &self.dense {
            let mut values = dense.clone();
            for (own, &donor) in values.chunks_exact_mut(width.max(1)).zip(donors) {
                features.iter().filter(|j| (**j as usize) < width).for_each(|&j| own[j as usize] = 0.0);
                self.samples.row(donor).for_each(|j, value| {
                    if is_moved(j) {
                        own[j] = value;
                    }
                });
            }
            return Samples::from_dense(self.rows.len(), width, values);
        }
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for (&row, &donor) in self.rows.iter().zip(donors) {
            let begin = entries.len();
            self.samples.row(row).for_each(|j, value| entries.extend((!is_moved(j)).then_some((j as u32, value))));
            self.samples.row(donor).for_each(|j, value| entries.extend(is_moved(j).then_some((j as u32, value))));
            entries[begin..].sort_unstable_by_key(|entry| entry.0);
            offsets.push(entries.len());
        }
        let (indices, values) = entries.into_iter().unzip();
        Samples::from_sparse(width, offsets, indices, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_come_from_the_donors() {
        let dense = Samples::from_dense(3, 3, vec![1.0, 2.0, 0.0, 4.0, 0.0, 6.0, 0.0, 8.0, 9.0]).expect("rows");
        let offsets = vec![0, 2, 4, 6];
        let sparse = Samples::from_sparse(3, offsets, vec![0, 1, 0, 2, 1, 2], vec![1.0, 2.0, 4.0, 6.0, 8.0, 9.0]).expect("rows");
        for samples in [dense, sparse] {
            let rows = PermutedRows::new(&samples, &[0, 2]);
            let found = rows.with(&[1, 2], &[1, 0]).expect("rows");
            assert_eq!(found.row(0).entries(), [(0, 1.0), (2, 6.0)]);
            assert_eq!(found.row(1).entries(), [(1, 2.0)]);
        }
    }
}
