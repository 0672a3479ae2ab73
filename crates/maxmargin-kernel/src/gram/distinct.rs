//! Equal samples: one row of the kernel for all copies.

use maxmargin_data::{Cancelled, RunControl};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Operations counted for writing a word of a sample's content and comparing it with another.
const WORD: u64 = 32;

/// The class and the fold of a sample, as far as equal samples are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Samples of the same class have the same label in every problem.
    pub class: u32,
    /// Samples of the same fold are left out together.
    pub fold: u32,
}

/// The groups of equal samples of a matrix ("kinds").
///
/// First come the kinds whose copies have one class and one fold, in the order of the matrix, then
/// those of one class and several folds, then those of several classes. With this order the
/// variables of a problem (two for a kind with both labels) form few runs, without and with a fold
/// left out, and no variable is unused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// Index of the first sample of each kind.
    pub first: Vec<usize>,
    /// Kind of each sample.
    pub of: Vec<u32>,
    /// Number of kinds whose copies have one class and one fold.
    pub spread: usize,
    /// Number of kinds whose copies have one class; at least [`Distinct::spread`].
    pub mixed: usize,
}

impl Distinct {
    /// Returns whether enough samples are copies, a tenth of all, that rows of the kinds alone save
    /// work.
    pub fn saves_rows(&self) -> bool {
        10 * self.first.len() <= 9 * self.of.len()
    }

    /// Finds the kinds of `len` samples; none where all samples differ. `content` appends the words
    /// that determine a sample.
    pub(crate) fn of(
        len: usize,
        content: impl Fn(usize, &mut Vec<u64>),
        mark: impl Fn(usize) -> Mark,
        control: &RunControl,
    ) -> Result<Option<Self>, Cancelled> {
        // The kinds by the hash of their content. Contents with equal hashes are compared. If they
        // differ, the later sample becomes a kind of its own.
        let mut kinds: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>> =
            HashMap::with_capacity_and_hasher(len, BuildHasherDefault::default());
        let (mut first, mut of, mut several) = (Vec::new(), Vec::with_capacity(len), Vec::new());
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for i in 0..len {
            words.clear();
            content(i, &mut words);
            control.check(WORD * (4 + words.len() as u64))?;
            let known = *kinds.entry(hash(&words)).or_insert(first.len() as u32);
            let same = first.get(known as usize).is_some_and(|&earlier: &usize| {
                others.clear();
                content(earlier, &mut others);
                words == others
            });
            let kind = if same { known } else { first.len() as u32 };
            if same {
                let (one, other) = (mark(i), mark(first[kind as usize]));
                several[kind as usize] |= u8::from(one.fold != other.fold) | u8::from(one.class != other.class) << 1;
            } else {
                first.push(i);
                several.push(0_u8);
            }
            of.push(kind);
        }
        if first.len() == len {
            return Ok(None);
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_by_key(|&kind| several[kind]);
        let before = |what: u8| order.partition_point(|&kind| several[kind] < what);
        let (spread, mixed) = (before(1), before(2));
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(at, &kind)| place[kind] = at as u32);
        of.iter_mut().for_each(|kind| *kind = place[*kind as usize]);
        Ok(Some(Self { first: order.into_iter().map(|kind| first[kind]).collect(), of, spread, mixed }))
    }
}

/// A hash of the words of a content.
fn hash(words: &[u64]) -> u64 {
    words.iter().fold(words.len() as u64, |hash, word| (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

/// A hasher that returns its key: keys are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_several_folds_come_late_and_those_of_several_classes_last() {
        let (content, class, fold) = ([7, 3, 7, 9, 3, 7, 1, 9], [0, 1, 0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 1, 1, 1]);
        let write = |i: usize, words: &mut Vec<u64>| words.push(content[i]);
        let distinct = Distinct::of(content.len(), write, |i| Mark { class: class[i], fold: fold[i] }, &RunControl::unlimited())
            .expect("not cancelled")
            .expect("copies");
        let (first, of) = (vec![3, 6, 0, 1], vec![2, 3, 2, 0, 3, 2, 1, 0]);
        assert_eq!(distinct, Distinct { first, of, spread: 2, mixed: 3 });
        assert_eq!(Distinct::of(3, |i, words| words.push(i as u64), |_| Mark::default(), &RunControl::unlimited()), Ok(None));
    }

    #[test]
    fn contents_with_the_same_hash_are_different_kinds() {
        // Two contents with the same hash: the last word compensates for the first.
        let ends_as = |start: u64, like: &[u64; 2]| {
            let step = |number: u64, word: u64| (number ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            [start, step(2, like[0]) ^ like[1] ^ step(2, start)]
        };
        let one = [5, 6];
        let other = ends_as(8, &one);
        assert_eq!(hash(&one), hash(&other));
        let content = [one, other, one, other];
        let distinct = Distinct::of(4, |i, words| words.extend(content[i]), |_| Mark::default(), &RunControl::unlimited())
            .expect("not cancelled")
            .expect("copies");
        assert_eq!(distinct.of[0], distinct.of[2]);
        assert!(distinct.of[1] != distinct.of[0] && distinct.of[3] != distinct.of[0]);
    }
}
