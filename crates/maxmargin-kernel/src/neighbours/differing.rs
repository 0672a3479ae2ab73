//! Pairs of samples of zeros and ones that differ in few features.
//!
//! With the features of each sample in one order, samples that differ in at most D features have a
//! common one among the first D + 1 of each, or they have no more than D ones together (the prefix
//! filter of set joins: Bayardo, Ma and Srikant 2007). The order puts rare features first, so that
//! few samples share one.

use maxmargin_simd::bits;

/// Samples of zeros and ones, as bits.
pub(crate) struct BitRows {
    /// Number of words of a sample.
    pub(crate) words: usize,
    /// The words of the samples, one sample after the other.
    pub(crate) rows: Vec<u64>,
}

/// Samples with few differences, in the order of their number of ones.
pub(crate) struct Differing {
    /// The samples, by their place in the order.
    pub(crate) order: Vec<usize>,
    /// The words by place.
    rows: BitRows,
    /// The number of ones by place, ascending.
    ones: Vec<u32>,
    /// The largest number of differences.
    most: u32,
    /// The first features by place, as ranks, and where those of each place begin.
    prefixes: Vec<u32>,
    begins: Vec<usize>,
    /// The places that have each rank among their first features, ascending.
    holders: Vec<Vec<u32>>,
    /// The number of samples with at most `most` ones.
    small: usize,
}

/// The memory of a search: the places that were met, and how they differ.
pub(crate) struct Scratch {
    met: Vec<u32>,
    places: Vec<u32>,
    differences: Vec<u32>,
}

impl BitRows {
    fn row(&self, i: usize) -> &[u64] {
        &self.rows[i * self.words..(i + 1) * self.words]
    }

    /// The features of a sample.
    fn features(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(i).iter().enumerate().flat_map(|(k, &word)| {
            let rest = |word: u64| (word != 0).then_some(word);
            std::iter::successors(rest(word), move |word| rest(word & (word - 1)))
                .map(move |word| 64 * k + word.trailing_zeros() as usize)
        })
    }

    /// Number of samples.
    fn len(&self) -> usize {
        self.rows.len() / self.words.max(1)
    }

    /// The same samples in another order.
    fn ordered(&self, order: &[usize]) -> Self {
        Self { words: self.words, rows: order.iter().flat_map(|&i| self.row(i)).copied().collect() }
    }
}

impl Differing {
    /// Prepares for pairs that differ in at most `most` features.
    pub(crate) fn new(samples: &BitRows, most: u32) -> Self {
        let (n, features) = (samples.len(), 64 * samples.words);
        let count = |i: usize| samples.row(i).iter().map(|word| word.count_ones()).sum::<u32>();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_cached_key(|&i| (count(i), i));
        let rows = samples.ordered(&order);
        let mut counts = vec![0_u32; features];
        (0..n).for_each(|at| rows.features(at).for_each(|k| counts[k] += 1));
        let mut by_count: Vec<usize> = (0..features).collect();
        by_count.sort_by_key(|&k| counts[k]);
        let mut rank = vec![0_u32; features];
        by_count.iter().enumerate().for_each(|(at, &k)| rank[k] = at as u32);
        let (mut prefixes, mut begins, mut ones) = (Vec::new(), vec![0], Vec::with_capacity(n));
        let mut holders = vec![Vec::new(); features];
        let mut ranks: Vec<u32> = Vec::new();
        for at in 0..n {
            ranks.clear();
            ranks.extend(rows.features(at).map(|k| rank[k]));
            ones.push(ranks.len() as u32);
            ranks.sort_unstable();
            ranks.truncate(most as usize + 1);
            ranks.iter().for_each(|&rank| holders[rank as usize].push(at as u32));
            prefixes.extend_from_slice(&ranks);
            begins.push(prefixes.len());
        }
        let small = ones.partition_point(|ones| *ones <= most);
        Self { order, rows, ones, most, prefixes, begins, holders, small }
    }

    /// The number of comparisons that the search makes at most.
    pub(crate) fn comparisons(&self) -> f64 {
        let mut comparisons = 0.5 * (self.small as f64).powi(2);
        for holders in &self.holders {
            let mut end = 0;
            for (at, &place) in holders.iter().enumerate() {
                let last = self.ones[place as usize] + self.most;
                while end < holders.len() && self.ones[holders[end] as usize] <= last {
                    end += 1;
                }
                comparisons += (end - at) as f64;
            }
        }
        comparisons
    }

    /// The memory for [`Differing::after`].
    pub(crate) fn scratch(&self) -> Scratch {
        Scratch { met: vec![u32::MAX; self.ones.len()], places: Vec::new(), differences: Vec::new() }
    }

    /// Calls `each(place, differences)` for every place from `at` on whose sample differs from that
    /// at `at` in at most as many features as the search is for, in any order.
    pub(crate) fn after(&self, at: usize, scratch: &mut Scratch, mut each: impl FnMut(usize, u32)) {
        let Scratch { met, places, differences } = scratch;
        let last = self.ones[at] + self.most;
        places.clear();
        let mut meet = |place: u32| {
            if std::mem::replace(&mut met[place as usize], at as u32) != at as u32 {
                places.push(place);
            }
        };
        for &rank in &self.prefixes[self.begins[at]..self.begins[at + 1]] {
            let holders = &self.holders[rank as usize];
            let from = holders.partition_point(|&place| (place as usize) < at);
            holders[from..].iter().take_while(|place| self.ones[**place as usize] <= last).for_each(|&place| meet(place));
        }
        if self.ones[at] <= self.most {
            (at as u32..self.small as u32).for_each(&mut meet);
        }
        differences.resize(places.len(), 0);
        bits::differences(self.rows.row(at), &self.rows.rows, places, differences);
        for (&place, &by) in places.iter().zip(&*differences) {
            if by <= self.most {
                each(place as usize, by);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BitRows, Differing};
    use proptest::prelude::*;

    proptest! {
        /// The same pairs as by comparing all.
        #[test]
        fn all_pairs_with_few_differences_are_found(
            kinds in prop::collection::vec(prop::collection::vec(0_usize..90, 0..9), 1..12),
            drawn in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..90, any::<bool>()), 1..60),
            most in 0_u32..7,
        ) {
            let words = 2;
            let mut rows = vec![0_u64; drawn.len() * words];
            for (row, (kind, flipped, flips)) in rows.chunks_mut(words).zip(&drawn) {
                kind.get(&kinds).iter().for_each(|k| row[k / 64] |= 1 << (k % 64));
                if *flips {
                    row[flipped / 64] ^= 1 << (flipped % 64);
                }
            }
            let differences = |i: usize, j: usize| {
                (0..words).map(|k| (rows[i * words + k] ^ rows[j * words + k]).count_ones()).sum::<u32>()
            };
            let differing = Differing::new(&BitRows { words, rows: rows.clone() }, most);
            let (mut scratch, order) = (differing.scratch(), &differing.order);
            let mut compared = 0.0;
            for at in 0..drawn.len() {
                let mut found = Vec::new();
                differing.after(at, &mut scratch, |place, by| found.push((place, by)));
                compared += scratch.places.len() as f64;
                found.sort_unstable();
                let all = (at..drawn.len()).map(|place| (place, differences(order[at], order[place])));
                prop_assert_eq!(found, all.filter(|(_, by)| *by <= most).collect::<Vec<_>>());
            }
            let small = 0.5 * drawn.len() as f64;
            prop_assert!(compared <= differing.comparisons() + small, "{} and {}", compared, differing.comparisons());
        }
    }
}
