//! Equal samples: one row of the kernel for all copies.

use crate::{Gram, Rows};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// The different samples of a matrix. Those whose copies bear several marks (classes) are at the end, so that a problem with two variables for each of them (one for each sign) has
/// few runs and no variable that nobody needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The first sample of each kind, as an index of the matrix.
    pub first: Vec<usize>,
    /// The kind of each sample.
    pub of: Vec<u32>,
    /// The copies of each kind before this one bear one mark.
    pub mixed: usize,
}

impl Distinct {
    /// The kinds of `len` samples, of which `content` writes down what they are made of; nothing where all differ.
    pub(crate) fn of(len: usize, content: impl Fn(usize, &mut Vec<u64>), mark: impl Fn(usize) -> u32) -> Option<Self> {
        // Kinds by a number of their content. Two contents of one number are compared; where they differ the later sample is a kind by itself.
        let mut kinds: HashMap<u64, u32, BuildHasherDefault<AsItIs>> =
            HashMap::with_capacity_and_hasher(len, BuildHasherDefault::default());
        let (mut first, mut of, mut several) = (Vec::new(), Vec::with_capacity(len), Vec::new());
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for i in 0..len {
            words.clear();
            content(i, &mut words);
            let known = *kinds.entry(number(&words)).or_insert(first.len() as u32);
            let same = first.get(known as usize).is_some_and(|&earlier: &usize| {
                others.clear();
                content(earlier, &mut others);
                words == others
            });
            let kind = if same { known } else { first.len() as u32 };
            if same {
                several[kind as usize] |= mark(i) != mark(first[kind as usize]);
            } else {
                first.push(i);
                several.push(false);
            }
            of.push(kind);
        }
        if first.len() == len {
            return None;
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_by_key(|&kind| several[kind]);
        let mixed = order.partition_point(|&kind| !several[kind]);
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(at, &kind)| place[kind] = at as u32);
        of.iter_mut().for_each(|kind| *kind = place[*kind as usize]);
        Some(Self { first: order.into_iter().map(|kind| first[kind]).collect(), of, mixed })
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
    pub(crate) fn new(rows: &Rows, gram: &dyn Gram) -> Option<Box<Self>> {
        let distinct = gram.distinct()?;
        if 10 * distinct.first.len() > 9 * gram.len() {
            return None;
        }
        let part = gram.part(&distinct.first)?;
        let (rows, bytes) = rows.beside(part)?;
        Some(Box::new(Self { distinct, rows, bytes }))
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
    fn kinds_of_several_marks_come_last() {
        let (content, mark) = ([7, 3, 7, 9, 3, 7, 1], [0, 1, 0, 1, 0, 0, 0]);
        let write = |i: usize, words: &mut Vec<u64>| words.push(content[i]);
        let distinct = Distinct::of(content.len(), write, |i| mark[i]).expect("copies");
        assert_eq!(distinct, Distinct { first: vec![0, 3, 6, 1], of: vec![0, 3, 0, 1, 3, 0, 2], mixed: 3 });
        // Where every sample has a mark of its own these are all that have copies.
        let distinct = Distinct::of(content.len(), write, |i| i as u32).expect("copies");
        assert_eq!(distinct, Distinct { first: vec![3, 6, 0, 1], of: vec![2, 3, 2, 0, 3, 2, 1], mixed: 2 });
        assert_eq!(Distinct::of(3, |i, words| words.push(i as u64), |_| 0), None);
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
        let distinct = Distinct::of(4, |i, words| words.extend(content[i]), |_| 0).expect("copies");
        assert_eq!(distinct.of[0], distinct.of[2]);
        assert!(distinct.of[1] != distinct.of[0] && distinct.of[3] != distinct.of[0]);
    }
}
