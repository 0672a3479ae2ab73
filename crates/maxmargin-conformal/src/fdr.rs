//! False discoveries among many p-values (Benjamini and Hochberg 1995).

/// Returns for each p-value whether it is a discovery. The expected share of false ones among the
/// discoveries is at most `rate`.
///
/// p-values that share calibration scores depend on each other positively, for which the bound
/// holds too (Bates et al. 2023).
pub fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    adjusted(p_values).iter().map(|p| *p <= rate).collect()
}

/// Returns the adjusted p-values: the least rate at which each one is a discovery.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut least) = (vec![0.0; p_values.len()], 1.0_f64);
    for (rank, &at) in order.iter().enumerate().rev() {
        least = least.min(p_values[at] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[at] = least;
    }
    adjusted
}
