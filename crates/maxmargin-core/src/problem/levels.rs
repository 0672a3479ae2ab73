//! Several levels τ of quantiles or expectiles: one machine for each, and predictions that do not
//! cross.
//!
//! Machines of different levels are trained independently, so that the value of a lower level can
//! be above that of a higher one. Sorting the values of a row repairs that, and brings them no
//! farther from the true levels (Chernozhukov, Fernández-Val, Galichon, *Quantile and probability
//! curves without crossing*, 2010).

/// Returns the index of the level nearest to 0.5, the lower one of equals; 0 for no levels.
pub fn central(levels: &[f64]) -> usize {
    let distance = |at: &usize| (levels[*at] - 0.5).abs();
    (0..levels.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Returns true if the values of a row, in ascending order of their levels, cross.
pub fn cross(values: &[f64]) -> bool {
    values.windows(2).any(|pair| pair[0] > pair[1])
}

/// Returns the values of a row in ascending order: those of its levels without crossings.
pub fn rearranged(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns the prediction of a regression: its only value, or the rearranged one of the central
/// level.
pub fn central_value(levels: &[f64], decisions: &[f64]) -> f64 {
    if levels.is_empty() { decisions[0] } else { rearranged(decisions)[central(levels)] }
}

/// Checks that levels ascend between 0 and 1, and that there is none or more than one.
///
/// # Errors
///
/// A message, when they do not.
pub fn check(levels: &[f64]) -> Result<(), String> {
    if let Some(level) = levels.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
        return Err(format!("the level {level} is not between 0 and 1"));
    }
    if levels.len() == 1 {
        return Err("one level alone is that of the formulation".to_owned());
    }
    match levels.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(format!("levels must ascend, and {} is followed by {}", pair[0], pair[1])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_central_level_is_nearest_to_the_median() {
        assert_eq!(central(&[0.1, 0.5, 0.9]), 1);
        assert_eq!(central(&[0.1, 0.25, 0.75]), 1);
        assert_eq!(central(&[0.9, 0.95]), 0);
        assert_eq!((central(&[]), central_value(&[], &[7.0])), (0, 7.0));
    }

    #[test]
    fn crossings_are_found_and_repaired() {
        assert!(cross(&[1.0, 3.0, 2.0]) && !cross(&[1.0, 1.0, 2.0]));
        assert_eq!(rearranged(&[1.0, 3.0, 2.0]), [1.0, 2.0, 3.0]);
        assert_eq!(central_value(&[0.1, 0.5, 0.9], &[1.0, 3.0, 2.0]), 2.0);
    }

    #[test]
    fn levels_ascend_between_0_and_1() {
        assert!(check(&[]).is_ok() && check(&[0.1, 0.9]).is_ok());
        for wrong in [&[0.5][..], &[0.5, 0.5], &[0.9, 0.1], &[0.0, 0.5], &[0.5, 1.0], &[f64::NAN, 0.5]] {
            assert!(check(wrong).is_err(), "{wrong:?}");
        }
    }
}
