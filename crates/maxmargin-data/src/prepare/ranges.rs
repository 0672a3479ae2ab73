//! The range of each feature, and a warning about unscaled features.

use crate::samples::Samples;
use crate::text::number::format_g;

/// The smallest and greatest value of each feature, including zeros that are not stored. Empty when
/// there are no rows.
pub fn feature_ranges(samples: &Samples) -> Vec<(f64, f64)> {
    if samples.is_empty() {
        return Vec::new();
    }
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); samples.features()];
    let mut seen = vec![0_usize; samples.features()];
    for i in 0..samples.len() {
        samples.row(i).for_each(|j, value| {
            ranges[j] = (ranges[j].0.min(value), ranges[j].1.max(value));
            seen[j] += 1;
        });
    }
    for (range, seen) in ranges.iter_mut().zip(seen) {
        if seen < samples.len() {
            *range = (range.0.min(0.0), range.1.max(0.0));
        }
    }
    ranges
}

/// A summary of [`feature_ranges`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureRanges {
    /// Smallest value of all.
    pub min: f64,
    /// Greatest value of all.
    pub max: f64,
    /// Number of features with only one value.
    pub constant: usize,
    /// Median of `max − min` over the other features (0 when there are none).
    pub median_width: f64,
    /// The feature with the greatest width (the first of several); none when all are constant.
    pub widest: Option<Widest>,
}

/// The feature with the widest range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Widest {
    /// Column, from 0.
    pub feature: usize,
    /// Its smallest value.
    pub min: f64,
    /// Its greatest value.
    pub max: f64,
}

/// A feature whose width is this many times the median dominates distances: its square is 100 times
/// that of a typical feature.
const DOMINATING: f64 = 10.0;

/// A median width above which a kernel of distances is nearly the identity with customary
/// parameters.
const WIDE: f64 = 10.0;

/// Summarises the ranges of the features of `samples`.
pub fn inspect(samples: &Samples) -> FeatureRanges {
    if let Some((packed, columns)) = samples.packed() {
        let mut summary = inspect(&packed);
        // Columns that are not stored are 0.
        (summary.min, summary.max) = (summary.min.min(0.0), summary.max.max(0.0));
        summary.constant += samples.features() - packed.features();
        if let Some(widest) = &mut summary.widest {
            widest.feature = columns[widest.feature] as usize;
        }
        return summary;
    }
    let ranges = feature_ranges(samples);
    let mut summary = FeatureRanges { min: 0.0, max: 0.0, constant: 0, median_width: 0.0, widest: None };
    let mut widths = Vec::with_capacity(ranges.len());
    if let Some(&(min, max)) = ranges.first() {
        (summary.min, summary.max) = (min, max);
    }
    for (feature, &(min, max)) in ranges.iter().enumerate() {
        (summary.min, summary.max) = (summary.min.min(min), summary.max.max(max));
        if min == max {
            summary.constant += 1;
            continue;
        }
        widths.push(max - min);
        if summary.widest.is_none_or(|w| w.max - w.min < max - min) {
            summary.widest = Some(Widest { feature, min, max });
        }
    }
    widths.sort_by(f64::total_cmp);
    summary.median_width = widths.get(widths.len() / 2).copied().unwrap_or(0.0);
    summary
}

impl FeatureRanges {
    /// A warning about features with very different or very large ranges; none when they appear to
    /// be scaled.
    ///
    /// `name` returns the name of a feature, numbered from 0: `feature 3`, `column age`.
    pub fn warning(&self, name: impl Fn(usize) -> String) -> Option<String> {
        let widest = self.widest?;
        let (feature, width) = (name(widest.feature), widest.max - widest.min);
        if width >= DOMINATING * self.median_width && self.median_width > 0.0 {
            Some(format!(
                "the features have different scales: {feature} spans {} to {} and outweighs the others (median width {}); \
                 scale the features first",
                short(widest.min),
                short(widest.max),
                short(self.median_width)
            ))
        } else if self.median_width > WIDE {
            Some(format!(
                "the features are not scaled: they span up to {} ({feature}: {} to {}); \
                 scale them first, or choose gamma to match",
                short(width),
                short(widest.min),
                short(widest.max)
            ))
        } else {
            None
        }
    }
}

/// A number in six significant digits.
fn short(value: f64) -> String {
    format_g(value, 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_zeros_that_are_not_stored() {
        let sparse = Samples::from_sparse(4, vec![0, 2, 3], vec![0, 2, 2], vec![5.0, -3.0, -2.0]).expect("valid rows");
        let expected = [(0.0, 5.0), (0.0, 0.0), (-3.0, -2.0), (0.0, 0.0)];
        assert_eq!(feature_ranges(&sparse), expected);
        assert_eq!(feature_ranges(&sparse.clone().compact()), expected);
        let summary = inspect(&sparse);
        assert_eq!((summary.min, summary.max, summary.constant), (-3.0, 5.0, 2));
        assert_eq!(summary.widest, Some(Widest { feature: 0, min: 0.0, max: 5.0 }));
    }

    fn named(feature: usize) -> String {
        format!("feature {}", feature + 1)
    }

    #[test]
    fn one_wide_feature_is_named_with_its_numbers() {
        let values = vec![0.0, 126.0, 0.0, 1.0, 564.0, 3.0];
        let warning = inspect(&Samples::from_dense(2, 3, values).expect("valid")).warning(named).expect("a warning");
        assert!(warning.contains("feature 2 spans 126 to 564"), "{warning}");
        let pixels = Samples::from_dense(2, 2, vec![0.0, 255.0, 250.0, 0.0]).expect("valid");
        assert!(inspect(&pixels).warning(named).expect("a warning").contains("feature 2: 0 to 255"));
        let far = Samples::from_dense(2, 2, vec![0.0, 1e25, 2.5e24, 0.0]).expect("valid");
        assert!(inspect(&far).warning(named).is_some_and(|warning| warning.contains("span up to 1e+25 (feature 2: 0 to 1e+25)")));
        let scaled = Samples::from_dense(2, 2, vec![-1.0, 1.0, 1.0, -0.5]).expect("valid");
        assert_eq!(inspect(&scaled).warning(named), None);
        assert_eq!(inspect(&Samples::from_dense(0, 3, vec![]).expect("valid")).warning(named), None);
    }
}
