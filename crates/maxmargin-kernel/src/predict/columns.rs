//! Rows of queries as columns of a panel.

use maxmargin_data::Row;

/// The features of the support vectors, as features of queries.
#[derive(Debug)]
pub(super) struct Columns {
    /// Number of features of the prepared support vectors.
    pub(super) depth: usize,
    /// The feature of each of them, where features without a value were left out.
    kept: Option<Vec<u32>>,
}

impl Columns {
    pub(super) fn new(depth: usize, kept: Option<Vec<u32>>) -> Self {
        Self { depth, kept }
    }

    /// Returns whether no feature was left out.
    pub(super) fn has_all(&self) -> bool {
        self.kept.is_none()
    }

    /// The feature of the support vectors that feature `k` of a query is.
    pub(super) fn place(&self, k: usize) -> Option<usize> {
        match &self.kept {
            None => (k < self.depth).then_some(k),
            Some(kept) => u32::try_from(k).ok().and_then(|k| kept.binary_search(&k).ok()),
        }
    }

    /// Calls `each(feature, value)` with the nonzero values of a query that belong to features of
    /// the support vectors. Returns the sum of the squares of all others.
    pub(super) fn for_each(&self, row: Row<'_>, mut each: impl FnMut(usize, f64)) -> f64 {
        let mut other = 0.0;
        row.for_each(|k, v| match self.place(k) {
            Some(k) => each(k, v),
            None => other += v * v,
        });
        other
    }

    /// Writes the values of a query minus `centre` (nothing if it is empty) to column `lane` of a
    /// panel of `lanes` samples. Returns the sum of the squares of its other values.
    pub(super) fn write(&self, row: Row<'_>, centre: &[f64], panel: &mut [f64], lane: usize, lanes: usize) -> f64 {
        let mut column = panel[lane..].iter_mut().step_by(lanes);
        match row {
            Row::Dense64(values) if self.kept.is_none() && values.len() == self.depth => {
                if centre.is_empty() {
                    column.zip(values).for_each(|(x, v)| *x = *v);
                } else {
                    column.zip(values.iter().zip(centre)).for_each(|(x, (v, c))| *x = v - c);
                }
                0.0
            }
            Row::Dense32(values) if self.kept.is_none() && values.len() == self.depth => {
                if centre.is_empty() {
                    column.zip(values).for_each(|(x, v)| *x = f64::from(*v));
                } else {
                    column.zip(values.iter().zip(centre)).for_each(|(x, (v, c))| *x = f64::from(*v) - c);
                }
                0.0
            }
            _ => {
                if centre.is_empty() {
                    column.for_each(|x| *x = 0.0);
                    return self.for_each(row, |k, v| panel[k * lanes + lane] = v);
                }
                column.by_ref().zip(centre).for_each(|(x, c)| *x = -c);
                self.for_each(row, |k, v| panel[k * lanes + lane] = v - centre[k])
            }
        }
    }
}
