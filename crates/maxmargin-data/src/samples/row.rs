//! One row of a sample matrix in any storage form.

/// One row of [`Samples`](super::Samples), borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    /// All features of the row.
    Dense32(&'a [f32]),
    /// All features of the row.
    Dense64(&'a [f64]),
    /// The stored entries: ascending column indices and their values.
    Sparse(&'a [u32], &'a [f64]),
}

impl Row<'_> {
    /// Calls `each(column, value)` for every stored non-zero entry, columns ascending.
    pub fn for_each(self, mut each: impl FnMut(usize, f64)) {
        match self {
            Row::Dense32(values) => {
                values.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(j, v)| each(j, f64::from(*v)));
            }
            Row::Dense64(values) => {
                values.iter().enumerate().filter(|(_, v)| **v != 0.0).for_each(|(j, v)| each(j, *v));
            }
            Row::Sparse(indices, values) => {
                indices.iter().zip(values).filter(|(_, v)| **v != 0.0).for_each(|(j, v)| each(*j as usize, *v));
            }
        }
    }

    /// The number of stored values, including zeros.
    pub fn stored_values(self) -> usize {
        match self {
            Row::Dense32(values) => values.len(),
            Row::Dense64(values) => values.len(),
            Row::Sparse(indices, _) => indices.len(),
        }
    }

    /// The non-zero entries as `(column, value)`, columns ascending.
    pub fn entries(self) -> Vec<(usize, f64)> {
        let mut entries = Vec::new();
        self.for_each(|j, v| entries.push((j, v)));
        entries
    }

    /// Calls `each(column, x, z)` for every column in which this row's value `x` or the other row's
    /// value `z` is not 0, columns ascending.
    ///
    /// The rows may have different forms and widths; missing values are 0.
    ///
    /// ```
    /// use maxmargin_data::Row;
    ///
    /// let mut distance = 0.0;
    /// Row::Dense64(&[1.0, 0.0, 2.5]).for_each_pair(Row::Sparse(&[0, 7], &[3.0, -1.0]), |_, x, z| distance += f64::abs(x - z));
    /// assert_eq!(distance, 2.0 + 2.5 + 1.0);
    /// ```
    pub fn for_each_pair(self, other: Row<'_>, mut each: impl FnMut(usize, f64, f64)) {
        let (mut at, mut to) = (0, 0);
        loop {
            let (x, z) = (self.stored(at), other.stored(to));
            let end = usize::MAX;
            let column = x.map_or(end, |x| x.0).min(z.map_or(end, |z| z.0));
            if column == end {
                return;
            }
            let take = |entry: Option<(usize, f64)>, place: &mut usize| match entry {
                Some((j, value)) if j == column => {
                    *place += 1;
                    value
                }
                _ => 0.0,
            };
            let (x, z) = (take(x, &mut at), take(z, &mut to));
            if x != 0.0 || z != 0.0 {
                each(column, x, z);
            }
        }
    }

    /// The dot product `xᵀz` with another row of any form and width, columns ascending.
    pub fn dot(self, other: Row<'_>) -> f64 {
        let mut sum = 0.0;
        self.for_each_pair(other, |_, x, z| sum += x * z);
        sum
    }

    /// The stored entry at position `at`, zeros included.
    fn stored(self, at: usize) -> Option<(usize, f64)> {
        match self {
            Row::Dense32(values) => values.get(at).map(|&v| (at, f64::from(v))),
            Row::Dense64(values) => values.get(at).map(|&v| (at, v)),
            Row::Sparse(indices, values) => indices.get(at).map(|&j| (j as usize, values[at])),
        }
    }
}
