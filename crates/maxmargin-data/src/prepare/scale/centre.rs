//! Centring of features that lie far from 0, for linear kernels.
//!
//! Inner products of such rows cancel: with values near 2³¹ an entry of the kernel matrix is
//! rounded by more than the difference of two rows. A free bias makes the problem independent of a
//! shift, and the differences from a number between the values are exact (Sterbenz' lemma).

use super::{Column, ScaleMethod, Scaler};
use crate::samples::Samples;

/// A feature is far from 0 if its distance from 0 is this many times its range. It is a power of
/// two, and large enough for Sterbenz' lemma.
const FAR: f64 = 1024.0;

/// The range of a feature that has a value in every row so far.
struct Range {
    feature: usize,
    min: f64,
    max: f64,
    /// The last row with a value.
    row: usize,
}

impl Range {
    /// The value of the smallest magnitude; 0 if the range contains 0.
    fn nearest(&self) -> f64 {
        if self.min > 0.0 {
            self.min
        } else if self.max < 0.0 {
            -self.max
        } else {
            0.0
        }
    }

    fn is_far(&self) -> bool {
        self.nearest() > FAR * (self.max - self.min)
    }

    fn middle(&self) -> f64 {
        self.min + (self.max - self.min) / 2.0
    }
}

impl Scaler {
    /// Returns the scaler that subtracts from each feature far from 0 a number between its values,
    /// and keeps the others. The differences of the rows of `samples` are exact. `None` if
    /// products of the rows as they are lose no more than 20 bits.
    pub fn centre(samples: &Samples) -> Option<Self> {
        if let Some((packed, features)) = samples.packed() {
            let Self { columns, .. } = Self::centre(&packed)?;
            let columns =
                columns.into_iter().map(|column| Column { feature: features[column.feature as usize], ..column }).collect();
            return Some(Self { method: ScaleMethod::Centre, features: samples.features(), columns, target: None });
        }
        let far = far_features(samples);
        let largest = far.iter().map(Range::nearest).fold(0.0, f64::max);
        if largest == 0.0 {
            return None;
        }
        // The ranges of all features, whose zeros need not be stored.
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY, 0_usize); samples.features()];
        for i in 0..samples.len() {
            samples.row(i).for_each(|j, value| {
                let (min, max, count) = &mut ranges[j];
                (*min, *max, *count) = (min.min(value), max.max(value), *count + 1);
            });
        }
        let width = |&(min, max, count): &(f64, f64, usize)| {
            if count == samples.len() { max - min } else { max.max(0.0) - min.min(0.0) }
        };
        let spread = ranges.iter().map(width).fold(0.0, f64::hypot);
        if largest <= FAR * spread {
            return None;
        }
        let mut columns: Vec<Column> = (0_u32..)
            .zip(&ranges)
            .filter(|(_, range)| range.2 > 0)
            .map(|(feature, _)| Column { feature, low: 0.0, high: 1.0 })
            .collect();
        for range in &far {
            // Features of `far` have values, so they are among the columns.
            if let Ok(at) = columns.binary_search_by_key(&range.feature, |column| column.feature as usize) {
                columns[at].low = range.middle();
            }
        }
        Some(Self { method: ScaleMethod::Centre, features: samples.features(), columns, target: None })
    }

    /// The features that are centred and the numbers that are subtracted from them, if the scaler
    /// does nothing else.
    pub fn centred_at(&self) -> Option<Vec<(usize, f64)>> {
        let centred = self.columns.iter().filter(|column| column.low != 0.0);
        (self.method == ScaleMethod::Centre).then(|| centred.map(|column| (column.feature as usize, column.low)).collect())
    }
}

/// The features far from 0. Most data has none, which the first rows show.
fn far_features(samples: &Samples) -> Vec<Range> {
    let mut far = Vec::new();
    if samples.len() < 2 {
        return far;
    }
    samples.row(0).for_each(|feature, value| far.push(Range { feature, min: value, max: value, row: 0 }));
    for i in 1..samples.len() {
        let mut at = 0;
        samples.row(i).for_each(|j, value| {
            while far.get(at).is_some_and(|range| range.feature < j) {
                at += 1;
            }
            if let Some(range) = far.get_mut(at).filter(|range| range.feature == j) {
                (range.min, range.max, range.row) = (range.min.min(value), range.max.max(value), i);
            }
        });
        far.retain(|range| range.row == i && range.is_far());
        if far.is_empty() {
            return far;
        }
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(rows: &[[f64; 3]]) -> Samples {
        Samples::from_dense(rows.len(), 3, rows.concat()).expect("finite")
    }

    #[test]
    fn far_features_are_centred_exactly() {
        let big = 2_147_483_647.0;
        let rows = samples(&[[big, 1.0, -5e9], [big + 3.0, 0.0, -5e9 - 2.0], [big + 1.0, 2.0, -5e9 - 1.0]]);
        let scaler = Scaler::centre(&rows).expect("far");
        let far = scaler.centred_at().expect("a shift");
        assert_eq!(far.iter().map(|far| far.0).collect::<Vec<_>>(), [0, 2]);
        let at = [far[0].1, 0.0, far[1].1];
        let centred = scaler.apply(&rows).expect("finite").dense_rows(0..3);
        for (k, (value, raw)) in centred.iter().zip(rows.dense_rows(0..3)).enumerate() {
            assert!(value.abs() <= 3.0, "{value}");
            assert_eq!(value + at[k % 3], raw);
        }
    }

    #[test]
    fn a_feature_of_any_number_is_centred_in_the_memory_of_the_entries() {
        let (last, big) = (4_000_000_000, 2_147_483_647.0);
        let rows = |far: f64| {
            let (indices, values) = (vec![5, last as u32, 5, last as u32], vec![0.25, far, 0.5, far + 1.0]);
            Samples::from_sparse(last + 1, vec![0, 2, 4], indices, values).expect("rows")
        };
        let scaler = Scaler::centre(&rows(big)).expect("far");
        assert_eq!(scaler.centred_at(), Some(vec![(last, big + 0.5)]));
        assert_eq!(scaler.apply(&rows(big)).expect("finite").row(1).entries(), [(5, 0.5), (last, 0.5)]);
        assert!(Scaler::centre(&rows(1.0)).is_none());
    }

    #[test]
    fn ordinary_data_is_left_alone() {
        for rows in [
            // A constant feature of ordinary size, a feature with a zero, a range as wide as the
            // distance, two groups, and a far feature that another one outweighs.
            samples(&[[1.0, 0.5, 2.0], [1.0, -0.5, 1.0]]),
            samples(&[[1e9, 0.5, 2.0], [0.0, -0.5, 1.0]]),
            samples(&[[1e9, 0.5, 2.0], [3e9, -0.5, 1.0]]),
            samples(&[[1e9, 1e9, 2.0], [1e9 + 1.0, 3e9, 1.0]]),
            samples(&[[1e9, 0.5, 2.0]]),
        ] {
            assert_eq!(Scaler::centre(&rows), None, "{rows:?}");
        }
        assert_eq!(Scaler::centre(&samples(&[])), None);
    }

    /// A sparse matrix has the same centre as a dense one, and a feature with a missing entry none.
    #[test]
    fn storage_does_not_matter() {
        let dense = samples(&[[1e9, 0.0, 7.0], [1e9 + 1.0, 0.0, 9.0]]);
        let values = vec![1e9, 7.0, 1e9 + 1.0, 9.0];
        let sparse = Samples::from_sparse(3, vec![0, 2, 4], vec![0, 2, 0, 2], values.clone()).expect("valid");
        let (of_dense, of_sparse) = (Scaler::centre(&dense), Scaler::centre(&sparse));
        assert!(of_dense.is_some());
        assert_eq!(of_dense.map(|s| s.apply(&dense)), of_sparse.map(|s| s.apply(&sparse)));
        let gap = Samples::from_sparse(3, vec![0, 2, 4], vec![0, 2, 1, 2], values).expect("valid");
        assert_eq!(Scaler::centre(&gap), None);
    }
}
