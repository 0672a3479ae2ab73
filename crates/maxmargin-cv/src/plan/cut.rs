//! Partitions of samples into folds. Each sample is tested once, by a machine of all other folds.

use super::{FoldPlan, PlanError};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

pub(super) fn check(folds: usize, samples: usize) -> Result<(), PlanError> {
    match folds {
        0 | 1 => Err(PlanError::TooFew(folds)),
        _ if folds > samples => Err(PlanError::TooMany { folds, samples }),
        _ => Ok(()),
    }
}

/// The classes of labels, ascending.
fn classes_of(labels: &[f64]) -> Result<Vec<f64>, PlanError> {
    if let Some(row) = labels.iter().position(|label| !label.is_finite()) {
        return Err(PlanError::Label { row, value: labels[row].to_string() });
    }
    let mut classes = labels.to_vec();
    classes.sort_by(f64::total_cmp);
    classes.dedup();
    Ok(classes)
}

/// The folds of contiguous samples. Fold sizes differ by one at most.
fn runs(samples: usize, folds: usize) -> Result<Vec<u32>, PlanError> {
    check(folds, samples)?;
    let mut fold_of = vec![0; samples];
    for h in 0..folds {
        let (start, end) = (h as u128 * samples as u128, (h as u128 + 1) * samples as u128);
        fold_of[(start / folds as u128) as usize..(end / folds as u128) as usize].fill(h as u32);
    }
    Ok(fold_of)
}

impl FoldPlan {
    /// Fold `h` holds the samples `h·n/k … (h+1)·n/k` in the order of the data.
    ///
    /// # Errors
    ///
    /// When `folds < 2` or `folds > samples`.
    pub fn contiguous(samples: usize, folds: usize) -> Result<Self, PlanError> {
        Ok(Self::partition(&runs(samples, folds)?, folds))
    }

    /// Contiguous folds of a seeded shuffle.
    ///
    /// # Errors
    ///
    /// When `folds < 2` or `folds > samples`.
    pub fn shuffled(samples: usize, folds: usize, seed: u64) -> Result<Self, PlanError> {
        let plain = runs(samples, folds)?;
        let mut order: Vec<usize> = (0..samples).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut fold_of = vec![0; samples];
        order.iter().zip(plain).for_each(|(&i, fold)| fold_of[i] = fold);
        Ok(Self::partition(&fold_of, folds))
    }

    /// Stratified folds: each class is shuffled and dealt to the folds in turn, and the next class
    /// continues at the next fold. Fold sizes and class counts differ by at most one. A class with
    /// fewer members than folds is missing in the test sets of some folds.
    ///
    /// # Errors
    ///
    /// When `folds < 2`, `folds > samples`, a label is not finite, or every class has fewer members
    /// than folds.
    pub fn stratified(labels: &[f64], folds: usize, seed: u64) -> Result<Self, PlanError> {
        check(folds, labels.len())?;
        let classes = classes_of(labels)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut fold_of = vec![0; labels.len()];
        let (mut next, mut most) = (0, 0);
        for class in classes {
            let mut members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
            most = most.max(members.len());
            members.shuffle(&mut rng);
            for i in members {
                fold_of[i] = next as u32;
                next = (next + 1) % folds;
            }
        }
        if most < folds {
            return Err(PlanError::SmallClasses { most, folds });
        }
        Ok(Self::partition(&fold_of, folds))
    }

    /// Folds that never split a group. Groups are dealt from the largest to the smallest, each to
    /// the smallest fold so far (ties: the lowest fold).
    ///
    /// # Errors
    ///
    /// When `folds < 2`, or there are more folds than groups.
    pub fn groups(groups: &[u64], folds: usize) -> Result<Self, PlanError> {
        check(folds, groups.len())?;
        let mut sizes = std::collections::BTreeMap::<u64, usize>::new();
        groups.iter().for_each(|g| *sizes.entry(*g).or_default() += 1);
        if folds > sizes.len() {
            return Err(PlanError::TooManyForGroups { folds, groups: sizes.len() });
        }
        let mut by_size: Vec<(u64, usize)> = sizes.iter().map(|(g, s)| (*g, *s)).collect();
        by_size.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut load = vec![0_usize; folds];
        let mut fold_of_group = std::collections::BTreeMap::new();
        for (group, size) in by_size {
            let smallest = (0..folds).min_by_key(|&h| load[h]).unwrap_or(0);
            load[smallest] += size;
            fold_of_group.insert(group, smallest as u32);
        }
        let fold_of: Vec<u32> = groups.iter().map(|g| fold_of_group[g]).collect();
        Ok(Self::partition(&fold_of, folds))
    }

    /// Folds that never split a group, and spread every class as evenly as the groups allow. Groups
    /// are dealt from the largest to the smallest, each to the fold where the sum of squares of
    /// `samples of a class in the fold / samples of the class` grows least (ties: the smallest
    /// fold, then the lowest).
    ///
    /// # Errors
    ///
    /// As [`FoldPlan::groups`]; when labels and groups have different lengths, or a label is not
    /// finite.
    pub fn stratified_groups(labels: &[f64], groups: &[u64], folds: usize) -> Result<Self, PlanError> {
        if labels.len() != groups.len() {
            return Err(PlanError::Groups { groups: groups.len(), labels: labels.len() });
        }
        check(folds, groups.len())?;
        let classes = classes_of(labels)?;
        let mut members = std::collections::BTreeMap::<u64, Vec<usize>>::new();
        groups.iter().enumerate().for_each(|(i, group)| members.entry(*group).or_default().push(i));
        if folds > members.len() {
            return Err(PlanError::TooManyForGroups { folds, groups: members.len() });
        }
        let counts = |rows: &[usize]| -> Vec<f64> {
            classes.iter().map(|class| rows.iter().filter(|&&i| labels[i] == *class).count() as f64).collect()
        };
        let all = counts(&(0..labels.len()).collect::<Vec<_>>());
        let mut by_size: Vec<&Vec<usize>> = members.values().collect();
        // The sort is stable: of equal groups, the lowest number comes first.
        by_size.sort_by_key(|rows| std::cmp::Reverse(rows.len()));
        let (mut held, mut load) = (vec![vec![0.0; classes.len()]; folds], vec![0_usize; folds]);
        let mut fold_of = vec![0; labels.len()];
        for rows in by_size {
            let own = counts(rows);
            let growth = |h: usize| -> f64 {
                let classes = held[h].iter().zip(&own).zip(&all);
                classes.map(|((held, own), all)| own * (own + 2.0 * held) / (all * all)).sum()
            };
            let best = (0..folds).min_by(|&a, &b| growth(a).total_cmp(&growth(b)).then(load[a].cmp(&load[b]))).unwrap_or(0);
            held[best].iter_mut().zip(&own).for_each(|(held, own)| *held += own);
            load[best] += rows.len();
            rows.iter().for_each(|&i| fold_of[i] = best as u32);
        }
        Ok(Self::partition(&fold_of, folds))
    }

    /// One fold for each group, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// When there are fewer than two groups.
    pub fn leave_one_group_out(groups: &[u64]) -> Result<Self, PlanError> {
        let mut numbers = groups.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        check(numbers.len(), groups.len())?;
        let fold_of: Vec<u32> = groups.iter().map(|group| numbers.partition_point(|known| known < group) as u32).collect();
        Ok(Self::partition(&fold_of, numbers.len()))
    }

    /// One sample per fold.
    ///
    /// # Errors
    ///
    /// When there are fewer than two samples.
    pub fn leave_one_out(samples: usize) -> Result<Self, PlanError> {
        Self::contiguous(samples, samples)
    }
}
