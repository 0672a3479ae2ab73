//! Fold plans: the training set and the test set of each fold.

mod cut;
mod error;
#[cfg(test)]
mod tests;
mod text;
mod time;

pub use error::PlanError;

/// A training set and a test set of samples for each fold, as a value that can be stored and read.
///
/// Usually the test sets are a partition of the samples, and each training set is the rest. Other
/// plans are possible: samples may be tested several times or never, and a fold may leave out
/// samples that it does not test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldPlan {
    samples: usize,
    /// The samples that each fold tests, ascending.
    test: Lists,
    /// The samples that each fold neither tests nor trains on, ascending.
    aside: Lists,
    /// The round of each fold. Folds of one round have no test sample in common.
    round: Vec<u32>,
}

/// A list of samples for each fold, stored in one vector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lists {
    rows: Vec<usize>,
    ends: Vec<usize>,
}

impl Lists {
    fn push(&mut self, rows: impl IntoIterator<Item = usize>) {
        let start = self.rows.len();
        self.rows.extend(rows);
        self.rows[start..].sort_unstable();
        self.ends.push(self.rows.len());
    }

    fn of(&self, fold: usize) -> &[usize] {
        let start = fold.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start..self.ends[fold]]
    }
}

impl FoldPlan {
    /// A plan from the test samples and the set-aside samples of each fold. A fold trains on all
    /// samples that it neither tests nor sets aside.
    ///
    /// ```
    /// use maxmargin_cv::FoldPlan;
    ///
    /// // Tested on the last of four, trained on the first two.
    /// let plan = FoldPlan::from_tests(4, [(vec![3], vec![2])])?;
    /// assert_eq!((plan.train(0), plan.test(0)), (vec![0, 1], &[3][..]));
    /// # Ok::<(), maxmargin_cv::PlanError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no fold; when a fold tests nothing, trains on nothing, or names a sample twice
    /// or a sample that does not exist.
    pub fn from_tests<T, A>(samples: usize, folds: impl IntoIterator<Item = (T, A)>) -> Result<Self, PlanError>
    where
        T: IntoIterator<Item = usize>,
        A: IntoIterator<Item = usize>,
    {
        let mut plan = Self { samples, test: Lists::default(), aside: Lists::default(), round: Vec::new() };
        // For each sample, the last fold that names it, and the last round that tests it; from 1.
        let (mut named, mut tested) = (vec![0_usize; samples], vec![0_u32; samples]);
        let mut rounds = 1;
        for (fold, (test, aside)) in folds.into_iter().enumerate() {
            plan.test.push(test);
            plan.aside.push(aside);
            let (test, aside) = (plan.test.of(fold), plan.aside.of(fold));
            for &sample in test.iter().chain(aside) {
                let last = named.get_mut(sample).ok_or(PlanError::NoSample { fold, sample, samples })?;
                if std::mem::replace(last, fold + 1) == fold + 1 {
                    return Err(PlanError::Twice { fold, sample });
                }
            }
            if test.is_empty() {
                return Err(PlanError::TestsNothing { fold });
            }
            if test.len() + aside.len() == samples {
                return Err(PlanError::TrainsOnNothing { fold });
            }
            rounds += u32::from(test.iter().any(|&sample| tested[sample] == rounds));
            test.iter().for_each(|&sample| tested[sample] = rounds);
            plan.round.push(rounds - 1);
        }
        if plan.round.is_empty() { Err(PlanError::TooFew(0)) } else { Ok(plan) }
    }

    /// A plan from the training set and the test set of each fold.
    ///
    /// # Errors
    ///
    /// As [`FoldPlan::from_tests`]; also when a fold both trains on and tests a sample.
    pub fn from_splits(samples: usize, splits: &[(Vec<usize>, Vec<usize>)]) -> Result<Self, PlanError> {
        let mut folds = Vec::with_capacity(splits.len());
        for (fold, (train, test)) in splits.iter().enumerate() {
            let mut open = vec![true; samples];
            for &sample in train.iter().chain(test) {
                let open = open.get_mut(sample).ok_or(PlanError::NoSample { fold, sample, samples })?;
                if !std::mem::replace(open, false) {
                    return Err(PlanError::Twice { fold, sample });
                }
            }
            let aside: Vec<usize> = (0..samples).filter(|&sample| open[sample]).collect();
            folds.push((test.iter().copied(), aside));
        }
        Self::from_tests(samples, folds)
    }

    /// A partition: the fold, from 0, that tests each sample and trains on those of all other
    /// folds.
    ///
    /// ```
    /// use maxmargin_cv::FoldPlan;
    ///
    /// assert_eq!(FoldPlan::from_folds(&[0, 0, 1, 1])?, FoldPlan::contiguous(4, 2)?);
    /// # Ok::<(), maxmargin_cv::PlanError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there are fewer than two folds, more folds than samples, or a fold below the greatest
    /// number has no sample.
    pub fn from_folds(fold_of: &[u32]) -> Result<Self, PlanError> {
        let folds = fold_of.iter().max().map_or(0, |&f| f as usize + 1);
        cut::check(folds, fold_of.len())?;
        let plan = Self::partition(fold_of, folds);
        match (0..folds).find(|&fold| plan.test(fold).is_empty()) {
            Some(fold) => Err(PlanError::EmptyFold { fold, greatest: folds - 1 }),
            None => Ok(plan),
        }
    }

    /// A plan that tests every sample in one of `folds` folds.
    fn partition(fold_of: &[u32], folds: usize) -> Self {
        let mut next = vec![0; folds + 1];
        fold_of.iter().for_each(|&fold| next[fold as usize + 1] += 1);
        (0..folds).for_each(|fold| next[fold + 1] += next[fold]);
        let ends = next[1..].to_vec();
        let mut rows = vec![0; fold_of.len()];
        for (sample, &fold) in fold_of.iter().enumerate() {
            rows[next[fold as usize]] = sample;
            next[fold as usize] += 1;
        }
        let aside = Lists { rows: Vec::new(), ends: vec![0; folds] };
        Self { samples: fold_of.len(), test: Lists { rows, ends }, aside, round: vec![0; folds] }
    }

    /// Joins the folds of several plans. Plans shuffled by different seeds give repeated
    /// cross-validation.
    ///
    /// # Errors
    ///
    /// When there is no plan, or the plans have different numbers of samples.
    pub fn joined(plans: &[Self]) -> Result<Self, PlanError> {
        let mut all = plans.first().ok_or(PlanError::TooFew(0))?.clone();
        for (at, plan) in plans.iter().enumerate().skip(1) {
            if plan.samples != all.samples {
                return Err(PlanError::Joined { plan: at, found: plan.samples, samples: all.samples });
            }
            let before = all.rounds() as u32;
            for fold in 0..plan.folds() {
                all.test.push(plan.test(fold).iter().copied());
                all.aside.push(plan.aside.of(fold).iter().copied());
                all.round.push(before + plan.round[fold]);
            }
        }
        Ok(all)
    }

    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.round.len()
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.samples
    }

    /// Returns false: a plan has at least two samples.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// The samples that a fold tests, ascending.
    ///
    /// # Panics
    ///
    /// When there is no such fold.
    pub fn test(&self, fold: usize) -> &[usize] {
        self.test.of(fold)
    }

    /// The samples that a fold trains on, ascending.
    ///
    /// # Panics
    ///
    /// When there is no such fold.
    pub fn train(&self, fold: usize) -> Vec<usize> {
        let mut left = self.left_out(fold).peekable();
        (0..self.samples).filter(|sample| left.next_if_eq(sample).is_none()).collect()
    }

    /// The number of samples that a fold trains on.
    ///
    /// # Panics
    ///
    /// When there is no such fold.
    pub fn trained(&self, fold: usize) -> usize {
        self.samples - self.test.of(fold).len() - self.aside.of(fold).len()
    }

    /// The samples that a fold does not train on, ascending: its test samples and its set-aside
    /// samples.
    ///
    /// # Panics
    ///
    /// When there is no such fold.
    pub fn left_out(&self, fold: usize) -> impl Iterator<Item = usize> + '_ {
        let (mut test, mut aside) = (self.test.of(fold), self.aside.of(fold));
        std::iter::from_fn(move || {
            let from = match (test, aside) {
                ([first, ..], [other, ..]) if first < other => &mut test,
                (_, [_, ..]) => &mut aside,
                _ => &mut test,
            };
            from.split_off_first().copied()
        })
    }

    /// The number of rounds: at least the maximum number of tests of a sample. Folds of one round
    /// have no test sample in common. Repeated folds have a round for each repeat, a partition has
    /// one.
    pub fn rounds(&self) -> usize {
        self.round.last().map_or(0, |last| *last as usize + 1)
    }

    /// The round of a fold, from 0. Rounds ascend with the folds.
    ///
    /// # Panics
    ///
    /// When there is no such fold.
    pub fn round(&self, fold: usize) -> usize {
        self.round[fold] as usize
    }

    /// The number of samples that some fold tests.
    pub fn tested(&self) -> usize {
        let mut tested = vec![false; self.samples];
        self.test.rows.iter().for_each(|&sample| tested[sample] = true);
        tested.iter().filter(|tested| **tested).count()
    }

    /// The same folds restricted to some of the samples, given ascending.
    ///
    /// # Errors
    ///
    /// When rows do not ascend or do not exist, and when a fold tests none or trains on none of
    /// these samples.
    pub fn among(&self, rows: &[usize]) -> Result<Self, PlanError> {
        if let Some(pair) = rows.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(PlanError::RowOrder { previous: pair[0], row: pair[1] });
        }
        if let Some(&row) = rows.last().filter(|row| **row >= self.samples) {
            return Err(PlanError::NoRow { row, samples: self.samples });
        }
        let places =
            |part: &[usize]| -> Vec<usize> { part.iter().filter_map(|sample| rows.binary_search(sample).ok()).collect() };
        Self::from_tests(rows.len(), (0..self.folds()).map(|fold| (places(self.test.of(fold)), places(self.aside.of(fold)))))
    }

    /// The same folds, which set aside the samples that `counts` rejects instead of testing them.
    /// Folds that would test none are left out.
    ///
    /// # Errors
    ///
    /// When no fold is left.
    pub(crate) fn testing(&self, counts: impl Fn(usize) -> bool) -> Result<Self, PlanError> {
        let part = |fold: usize| self.test(fold).iter().copied().partition::<Vec<usize>, _>(|&sample| counts(sample));
        let parts = (0..self.folds()).map(|fold| (fold, part(fold))).filter(|(_, (tested, _))| !tested.is_empty());
        let folds = parts.map(|(fold, (tested, others))| {
            let aside: Vec<usize> = others.into_iter().chain(self.aside.of(fold).iter().copied()).collect();
            (tested, aside)
        });
        Self::from_tests(self.samples, folds)
    }

    /// A plan for all samples from one for some of them, given ascending. The others are trained on
    /// and never tested.
    ///
    /// # Errors
    ///
    /// When the plan is for another number of samples than there are rows.
    pub(crate) fn spread_to(&self, rows: &[usize], samples: usize) -> Result<Self, PlanError> {
        if self.samples != rows.len() {
            return Err(PlanError::Samples { plan: self.samples, samples: rows.len() });
        }
        let places = |part: &[usize]| -> Vec<usize> { part.iter().map(|&place| rows[place]).collect() };
        Self::from_tests(samples, (0..self.folds()).map(|fold| (places(self.test.of(fold)), places(self.aside.of(fold)))))
    }

    /// The fold that tests each sample, if the test sets are a partition of the samples and each
    /// training set is the rest.
    pub fn fold_of(&self) -> Option<Vec<u32>> {
        if self.test.rows.len() != self.samples || self.rounds() != 1 || !self.aside.rows.is_empty() {
            return None;
        }
        let mut fold_of = vec![0; self.samples];
        for fold in 0..self.folds() {
            self.test(fold).iter().for_each(|&sample| fold_of[sample] = fold as u32);
        }
        Some(fold_of)
    }

    /// Sorts samples so that training sets are few runs: by the folds that leave them out, then by
    /// the key `then`, then by index. Returns the order, and for each sample the number of its set
    /// of folds.
    pub(crate) fn sorted_by<K: Ord>(&self, then: impl Fn(usize) -> K) -> (Vec<usize>, Vec<u32>) {
        let mut out = vec![Vec::new(); self.samples];
        for fold in 0..self.folds() {
            self.left_out(fold).for_each(|sample| out[sample].push(fold as u32));
        }
        let mut order: Vec<usize> = (0..self.samples).collect();
        order.sort_by(|&a, &b| out[a].cmp(&out[b]).then_with(|| then(a).cmp(&then(b))));
        let mut sets = 0;
        let number = |at: usize| {
            sets += u32::from(at > 0 && out[order[at]] != out[order[at - 1]]);
            sets
        };
        let numbers = (0..order.len()).map(number).collect();
        (order, numbers)
    }
}
