//! Factors of C for classes that are computed from a training set.

use serde::{Deserialize, Serialize};

/// A rule for factors of C of classes, computed from a training set. They multiply the given
/// factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassWeights {
    /// No factors besides the given ones.
    #[default]
    Given,
    /// Equal weight for all classes: `rows / (classes · rows of the class)`, counted in the
    /// training set. In a cross-validation every fold has its own factors.
    Balanced,
    /// As `Balanced`, with every row counted by its own weight.
    BalancedByWeight,
}

impl ClassWeights {
    /// The factor of each of `count` classes in the training set of `rows`, whose classes are
    /// `of[row]`. A class without a row there, or without weight, has the factor 1.
    ///
    /// # Panics
    ///
    /// When a row has no class below `count`, or, where rows count by weight, no weight.
    pub fn factors(
        self,
        of: &[u32],
        count: usize,
        sample_weights: Option<&[f64]>,
        rows: impl Iterator<Item = usize>,
    ) -> Vec<f64> {
        let by_weight = sample_weights.filter(|_| self == Self::BalancedByWeight);
        if self == Self::Given {
            return vec![1.0; count];
        }
        let (mut present, mut mass) = (vec![false; count], vec![0.0; count]);
        for row in rows {
            let class = of[row] as usize;
            present[class] = true;
            mass[class] += by_weight.map_or(1.0, |weights| weights[row]);
        }
        let even = mass.iter().sum::<f64>() / present.iter().filter(|present| **present).count() as f64;
        mass.iter().map(|mass| if *mass > 0.0 { even / mass } else { 1.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_training_set_has_factors_of_its_own() {
        let classes = [0, 1, 1, 1, 2];
        let weights = [1.0, 0.5, 0.5, 2.0, 0.0];
        let of = |mode: ClassWeights, rows: &[usize]| mode.factors(&classes, 3, Some(&weights), rows.iter().copied());
        assert_eq!(of(ClassWeights::Given, &[0, 1]), [1.0; 3]);
        assert_eq!(of(ClassWeights::Balanced, &[0, 1, 2, 3, 4]), [5.0 / 3.0, 5.0 / 9.0, 5.0 / 3.0]);
        // A class without rows is not counted.
        assert_eq!(of(ClassWeights::Balanced, &[0, 1, 2]), [1.5, 0.75, 1.0]);
        // A class with rows but without weight is counted, as in scikit-learn.
        assert_eq!(of(ClassWeights::BalancedByWeight, &[0, 1, 2, 4]), [2.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(ClassWeights::BalancedByWeight.factors(&classes, 3, None, 0..3), [1.5, 0.75, 1.0]);
    }
}
