//! What errors of regressions and decision values of one class are like, by LIBSVM's rules.

use super::MARKS;

/// Standard deviations beyond which an error is not counted.
const OUTLIER: f64 = 5.0;

/// The scale of a Laplace distribution of these errors.
pub(super) fn scale(errors: &[f64]) -> f64 {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    // The deviation of a Laplace distribution is √2 times its scale.
    let most = OUTLIER * 2.0_f64.sqrt() * mean(&sizes);
    // Never empty: some are at most the mean.
    mean(&sizes.into_iter().filter(|size| *size <= most).collect::<Vec<_>>())
}

/// The middles between the edges of five runs of as many values below 0 and five of those from 0
/// on.
pub(super) fn marks(decisions: &[f64]) -> Option<Vec<f64>> {
    let mut sorted = decisions.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = MARKS / 2;
    let below = sorted.iter().filter(|f| **f < 0.0).count();
    let above = sorted.len() - below;
    if below < half || above < half {
        return None;
    }
    let edge = |i: usize| match i {
        _ if i < half => sorted[i * below / half],
        _ if i == half => 0.0,
        _ => sorted[below - 1 + (i - half) * above / half],
    };
    Some((0..MARKS).map(|i| 0.5 * edge(i) + 0.5 * edge(i + 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_count() {
        assert_eq!(scale(&[1.0, -3.0, 2.0]), 2.0);
        // 99 errors of 1 and one of 900: the mean is 9.99, five deviations are 70.6.
        let mut errors = vec![-1.0; 99];
        errors.push(900.0);
        assert_eq!(scale(&errors), 1.0);
    }

    #[test]
    fn marks_are_between_fifths() {
        // −10 … −1 and 0 … 9: edges −10, −8, −6, −4, −2, 0, 1, 3, 5, 7, 9.
        let decisions: Vec<f64> = (0..20).rev().map(|i| f64::from(i) - 10.0).collect();
        assert_eq!(marks(&decisions), Some(vec![-9.0, -7.0, -5.0, -3.0, -1.0, 0.5, 2.0, 4.0, 6.0, 8.0]));
        assert_eq!(marks(&decisions[..14]), None);
        assert_eq!(marks(&decisions[6..]), None);
    }
}
