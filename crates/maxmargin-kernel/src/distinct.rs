//! Equal samples: one row of the kernel for all copies.

use crate::{Gram, Rows};
use maxmargin_data::{Asking, Halted};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Operations that writing a word of a content down, and comparing it with that of another sample,
/// count as.
const WORD: u64 = 32;

/// What problems over a matrix know of a sample beside its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Samples of one class have one sign, whatever the problem.
    pub class: u32,
    /// Samples of one fold are left out together.
    pub fold: u32,
}

/// The different samples of a matrix: first those whose copies are of one class and fold, in the
/// order of the matrix, then those of one class, then the others. A problem with two variables for
/// each of these (one for each sign) has few runs and no variable that nobody needs, and so has one
/// that leaves a fold out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The first sample of each kind, as an index of the matrix.
    pub first: Vec<usize>,
    /// The kind of each sample.
    pub of: Vec<u32>,
    /// The copies of each kind before this one are of one class and fold.
    pub spread: usize,
    /// The copies of each kind before this one are of one class.
    pub mixed: usize,
}

impl Distinct {
    /// The kinds of `len` samples, of which `content` writes down what they are made of; nothing
    /// where all differ.
    pub(crate) fn of(
        len: usize,
        content: impl Fn(usize, &mut Vec<u64>),
        mark: impl Fn(usize) -> Mark,
        asking: &Asking,
    ) -> Result<Option<Self>, Halted> {
        // Kinds by a number of their content. Two contents of one number are compared; where they
        // differ the later sample is a kind by itself.
        let mut kinds: HashMap<u64, u32, BuildHasherDefault<AsItIs>> =
            HashMap::with_capacity_and_hasher(len, BuildHasherDefault::default());
        let (mut first, mut of, mut several) = (Vec::new(), Vec::with_capacity(len), Vec::new());
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for i in 0..len {
            words.clear();
            content(i, &mut words);
            asking.spend(WORD * (4 + words.len() as u64))?;
            let known = *kinds.entry(number(&words)).or_insert(first.len() as u32);
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

/// A number of words that tells most contents apart.
fn number(words: &[u64]) -> u64 {
    words.iter().fold(words.len() as u64, |number, word| (number ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

/// Numbers of contents are spread already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
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

/// Rows of the different samples alone, for all problems over the rows that they belong to.
pub struct Merged {
    distinct: Arc<Distinct>,
    rows: Rows<'static>,
    /// What was taken from the budget of the rows of all samples.
    bytes: u64,
}

impl Merged {
    /// The rows of the different samples of `gram`, where leaving copies out saves a tenth of them.
    pub(crate) fn new(rows: &Rows, gram: &dyn Gram, asking: &Asking) -> Result<Option<Box<Self>>, Halted> {
        let Some(distinct) = gram.distinct(asking)? else { return Ok(None) };
        if 10 * distinct.first.len() > 9 * gram.len() {
            return Ok(None);
        }
        let beside = gram.part(&distinct.first).and_then(|part| rows.beside(part));
        Ok(beside.map(|(rows, bytes)| Box::new(Self { distinct, rows, bytes })))
    }

    /// Which samples are equal.
    pub fn distinct(&self) -> &Distinct {
        &self.distinct
    }

    /// Bytes of the budget of all rows that are set aside for these.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// One row for each kind.
    pub fn rows(&self) -> &Rows<'static> {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_several_folds_come_late_and_those_of_several_classes_last() {
        let (content, class, fold) = ([7, 3, 7, 9, 3, 7, 1, 9], [0, 1, 0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 0, 1, 1, 1]);
        let write = |i: usize, words: &mut Vec<u64>| words.push(content[i]);
        let distinct = Distinct::of(content.len(), write, |i| Mark { class: class[i], fold: fold[i] }, &Asking::nobody())
            .expect("nobody calls it off")
            .expect("copies");
        let (first, of) = (vec![3, 6, 0, 1], vec![2, 3, 2, 0, 3, 2, 1, 0]);
        assert_eq!(distinct, Distinct { first, of, spread: 2, mixed: 3 });
        assert_eq!(Distinct::of(3, |i, words| words.push(i as u64), |_| Mark::default(), &Asking::nobody()), Ok(None));
    }

    #[test]
    fn contents_of_one_number_are_told_apart() {
        // Two contents that the number takes for one: the last word makes up for the first.
        let ends_as = |start: u64, like: &[u64; 2]| {
            let step = |number: u64, word: u64| (number ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            [start, step(2, like[0]) ^ like[1] ^ step(2, start)]
        };
        let one = [5, 6];
        let other = ends_as(8, &one);
        assert_eq!(number(&one), number(&other));
        let content = [one, other, one, other];
        let distinct = Distinct::of(4, |i, words| words.extend(content[i]), |_| Mark::default(), &Asking::nobody())
            .expect("nobody calls it off")
            .expect("copies");
        assert_eq!(distinct.of[0], distinct.of[2]);
        assert!(distinct.of[1] != distinct.of[0] && distinct.of[3] != distinct.of[0]);
    }
}
