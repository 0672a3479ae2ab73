//! Fold plans: which sample is tested in which fold.

use maxmargin_data::quote::quoted;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// An assignment of every sample to one of `k` folds. A plain value: build it, store it, read it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldPlan {
    fold_of: Vec<u32>,
    folds: usize,
}

/// Why samples cannot be cut into folds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Fewer than two folds.
    #[error("{0} folds: cross-validation needs at least 2")]
    TooFew(usize),
    /// More folds than samples.
    #[error("{folds} folds for {samples} samples: use at most one fold per sample (`loo` does leave-one-out)")]
    TooMany {
        /// Folds asked for.
        folds: usize,
        /// Samples there are.
        samples: usize,
    },
    /// More folds than groups.
    #[error("{folds} folds for {groups} groups: a group is never split, so use at most {groups} folds")]
    TooManyForGroups {
        /// Folds asked for.
        folds: usize,
        /// Groups there are.
        groups: usize,
    },
    /// A class has fewer members than there are folds.
    #[error(
        "class {label} has {members} samples, fewer than the {folds} folds: stratified folds cannot all hold one; \
         use at most {members} folds, or contiguous or shuffled folds"
    )]
    SmallClass {
        /// The class.
        label: String,
        /// Its size.
        members: usize,
        /// Folds asked for.
        folds: usize,
    },
    /// A line of a folds file is not a fold number.
    #[error("line {line}: '{found}' is not a fold number; a folds file holds one number (from 0) per sample")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The text.
        found: String,
    },
    /// A folds file has another number of lines than there are samples.
    #[error("{found} fold numbers for {samples} samples")]
    Length {
        /// Numbers in the file.
        found: usize,
        /// Samples there are.
        samples: usize,
    },
    /// A fold number between 0 and the greatest has no sample.
    #[error("fold {fold} has no sample (the greatest fold number is {greatest})")]
    EmptyFold {
        /// The fold.
        fold: usize,
        /// The greatest fold number.
        greatest: usize,
    },
}

fn check(folds: usize, samples: usize) -> Result<(), PlanError> {
    match folds {
        0 | 1 => Err(PlanError::TooFew(folds)),
        _ if folds > samples => Err(PlanError::TooMany { folds, samples }),
        _ => Ok(()),
    }
}

impl FoldPlan {
    /// Fold `h` holds the samples `h·n/k … (h+1)·n/k` in the order of the data.
    ///
    /// # Errors
    ///
    /// When `folds < 2` or `folds > samples`.
    pub fn contiguous(samples: usize, folds: usize) -> Result<Self, PlanError> {
        check(folds, samples)?;
        let mut fold_of = vec![0; samples];
        for h in 0..folds {
            let (start, end) = (h as u128 * samples as u128, (h as u128 + 1) * samples as u128);
            fold_of[(start / folds as u128) as usize..(end / folds as u128) as usize].fill(h as u32);
        }
        Ok(Self { fold_of, folds })
    }

    /// Contiguous folds of a seeded shuffle.
    ///
    /// # Errors
    ///
    /// When `folds < 2` or `folds > samples`.
    pub fn shuffled(samples: usize, folds: usize, seed: u64) -> Result<Self, PlanError> {
        let plain = Self::contiguous(samples, folds)?;
        let mut order: Vec<usize> = (0..samples).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut fold_of = vec![0; samples];
        order.iter().zip(plain.fold_of).for_each(|(&i, fold)| fold_of[i] = fold);
        Ok(Self { fold_of, folds })
    }

    /// Every class is spread evenly: each class is shuffled and dealt in turn, the next class continuing at the next fold, so that
    /// fold sizes and class counts differ by at most one.
    ///
    /// # Errors
    ///
    /// When `folds < 2`, `folds > samples`, or a class has fewer members than folds.
    pub fn stratified(labels: &[f64], folds: usize, seed: u64) -> Result<Self, PlanError> {
        check(folds, labels.len())?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut classes = labels.to_vec();
        classes.sort_by(f64::total_cmp);
        classes.dedup();
        let mut fold_of = vec![0; labels.len()];
        let mut next = 0;
        for class in classes {
            let mut members: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
            if members.len() < folds {
                return Err(PlanError::SmallClass { label: class.to_string(), members: members.len(), folds });
            }
            members.shuffle(&mut rng);
            for i in members {
                fold_of[i] = next as u32;
                next = (next + 1) % folds;
            }
        }
        Ok(Self { fold_of, folds })
    }

    /// Groups are never split: the largest group goes to the fold that is smallest so far (ties: the lowest fold).
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
        let fold_of = groups.iter().map(|g| fold_of_group[g]).collect();
        Ok(Self { fold_of, folds })
    }

    /// Groups are never split, and every class is spread as evenly as they allow: the largest group first, each to the fold that it leaves
    /// most even, which is the one where the squares of `samples of a class in the fold / samples of the class` grow least; of equals to the smallest fold, then the lowest.
    ///
    /// # Errors
    ///
    /// As [`FoldPlan::groups`].
    ///
    /// # Panics
    ///
    /// When there is not a label for each sample.
    pub fn stratified_groups(labels: &[f64], groups: &[u64], folds: usize) -> Result<Self, PlanError> {
        assert_eq!(labels.len(), groups.len(), "a label for each sample");
        check(folds, groups.len())?;
        let mut classes = labels.to_vec();
        classes.sort_by(f64::total_cmp);
        classes.dedup();
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
        // Of equals the group of the lowest number: sorting is stable.
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
        Ok(Self { fold_of, folds })
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
        let fold_of = groups.iter().map(|group| numbers.partition_point(|known| known < group) as u32).collect();
        Ok(Self { fold_of, folds: numbers.len() })
    }

    /// One sample per fold.
    ///
    /// # Errors
    ///
    /// When there are fewer than two samples.
    pub fn leave_one_out(samples: usize) -> Result<Self, PlanError> {
        Self::contiguous(samples, samples)
    }

    /// Reads what [`FoldPlan::to_text`] writes: one fold number per line, from 0, in the order of the samples. Lines that are empty
    /// or begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// When a line is not a number, the count is not `samples`, or a fold below the greatest number is empty.
    pub fn from_text(text: &str, samples: usize) -> Result<Self, PlanError> {
        let mut fold_of = Vec::with_capacity(samples);
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fold = line.parse::<u32>().ok().filter(|&f| (f as usize) < samples);
            fold_of.push(fold.ok_or_else(|| PlanError::Line { line: at + 1, found: quoted(line, 40) })?);
        }
        if fold_of.len() != samples {
            return Err(PlanError::Length { found: fold_of.len(), samples });
        }
        Self::from_folds(fold_of)
    }

    /// Any assignment: the fold, from 0, in which each sample is tested.
    ///
    /// ```
    /// use maxmargin_cv::FoldPlan;
    ///
    /// assert_eq!(FoldPlan::from_folds(vec![0, 0, 1, 1])?, FoldPlan::contiguous(4, 2)?);
    /// # Ok::<(), maxmargin_cv::PlanError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there are fewer than two folds, more of them than samples, or one below the greatest has no sample.
    pub fn from_folds(fold_of: Vec<u32>) -> Result<Self, PlanError> {
        let folds = fold_of.iter().max().map_or(0, |&f| f as usize + 1);
        check(folds, fold_of.len())?;
        let mut seen = vec![false; folds];
        fold_of.iter().for_each(|&f| seen[f as usize] = true);
        match seen.iter().position(|s| !s) {
            Some(fold) => Err(PlanError::EmptyFold { fold, greatest: folds - 1 }),
            None => Ok(Self { fold_of, folds }),
        }
    }

    /// One fold number per line, in the order of the samples.
    pub fn to_text(&self) -> String {
        self.fold_of.iter().fold(String::new(), |text, fold| text + &fold.to_string() + "\n")
    }

    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.fold_of.len()
    }

    /// Never true: a plan has at least two samples.
    pub fn is_empty(&self) -> bool {
        self.fold_of.is_empty()
    }

    /// The fold in which each sample is tested.
    pub fn fold_of(&self) -> &[u32] {
        &self.fold_of
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_folds_are_libsvms_boundaries() {
        let plan = FoldPlan::contiguous(10, 3).unwrap();
        assert_eq!(plan.fold_of(), [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn stratified_folds_balance_sizes_and_classes() {
        let labels: Vec<f64> = (0..103).map(|i| if i % 4 == 0 { 1.0 } else { -1.0 }).collect();
        let plan = FoldPlan::stratified(&labels, 5, 7).unwrap();
        for class in [1.0, -1.0] {
            let count = |h| (0..103).filter(|&i| plan.fold_of()[i] == h && labels[i] == class).count();
            let counts: Vec<usize> = (0..5).map(count).collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
        assert_eq!(plan, FoldPlan::stratified(&labels, 5, 7).unwrap());
        assert_ne!(plan, FoldPlan::stratified(&labels, 5, 8).unwrap());
    }

    #[test]
    fn groups_stay_together() {
        let groups: Vec<u64> = (0..50).map(|i| (i * i) % 11).collect();
        let plan = FoldPlan::groups(&groups, 3).unwrap();
        for (i, g) in groups.iter().enumerate() {
            let first = groups.iter().position(|x| x == g).unwrap();
            assert_eq!(plan.fold_of()[i], plan.fold_of()[first]);
        }
        assert!(matches!(FoldPlan::groups(&[1, 1, 2, 2], 3), Err(PlanError::TooManyForGroups { groups: 2, .. })));
    }

    #[test]
    fn stratified_groups_stay_together_and_spread_classes() {
        // Thirty groups of unequal size; every third is of the rare class alone.
        let groups: Vec<u64> = (0..300).map(|i| (i * i + 7 * i) % 30).collect();
        let labels: Vec<f64> = groups.iter().map(|g| if g % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let plan = FoldPlan::stratified_groups(&labels, &groups, 3).unwrap();
        for (i, g) in groups.iter().enumerate() {
            let first = groups.iter().position(|x| x == g).unwrap();
            assert_eq!(plan.fold_of()[i], plan.fold_of()[first]);
        }
        for class in [1.0, -1.0] {
            let count = |h: u32| (0..300).filter(|&i| plan.fold_of()[i] == h && labels[i] == class).count();
            let counts: Vec<usize> = (0..3).map(count).collect();
            // No more apart than the largest group.
            let largest = groups.iter().map(|g| groups.iter().filter(|x| *x == g).count()).max().unwrap();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= largest, "{counts:?}");
        }
        // No fold stays empty, however few groups there are.
        let plan = FoldPlan::stratified_groups(&[1.0, 1.0, 2.0, 2.0], &[9, 9, 4, 7], 3).unwrap();
        assert_eq!(plan.fold_of(), [0, 0, 1, 2]);
        assert!(FoldPlan::stratified_groups(&[1.0; 4], &[1, 1, 2, 2], 3).is_err());
    }

    #[test]
    fn every_group_is_left_out_once() {
        let plan = FoldPlan::leave_one_group_out(&[7, 3, 7, 12, 3]).unwrap();
        assert_eq!((plan.fold_of(), plan.folds()), (&[1, 0, 1, 2, 0][..], 3));
        assert_eq!(FoldPlan::leave_one_group_out(&[5, 5]), Err(PlanError::TooFew(1)));
    }

    #[test]
    fn text_round_trips_and_refuses() {
        let plan = FoldPlan::shuffled(20, 4, 1).unwrap();
        assert_eq!(FoldPlan::from_text(&plan.to_text(), 20).unwrap(), plan);
        assert_eq!(FoldPlan::from_text("0\nx\n", 2), Err(PlanError::Line { line: 2, found: "x".into() }));
        assert_eq!(FoldPlan::from_text("0\n1\n", 3), Err(PlanError::Length { found: 2, samples: 3 }));
        assert_eq!(FoldPlan::from_text("0\n2\n0\n", 3), Err(PlanError::EmptyFold { fold: 1, greatest: 2 }));
        assert_eq!(FoldPlan::from_text("0\n0\n", 2), Err(PlanError::TooFew(1)));
        assert_eq!(FoldPlan::from_folds(vec![1, 1, 2]), Err(PlanError::EmptyFold { fold: 0, greatest: 2 }));
        assert_eq!(FoldPlan::from_folds(vec![0, 9]), Err(PlanError::TooMany { folds: 10, samples: 2 }));
    }

    #[test]
    fn impossible_plans_are_refused() {
        assert_eq!(FoldPlan::contiguous(5, 1), Err(PlanError::TooFew(1)));
        assert_eq!(FoldPlan::contiguous(5, 6), Err(PlanError::TooMany { folds: 6, samples: 5 }));
        let labels = [1.0, 1.0, 1.0, -1.0];
        assert!(matches!(FoldPlan::stratified(&labels, 2, 0), Err(PlanError::SmallClass { members: 1, .. })));
    }
}
