//! Equal samples: one row of the kernel for all copies.

use crate::{Gram, Rows};
use std::collections::HashMap;

/// The different samples of a matrix. Those with copies are at the end, so that a problem with two variables for some of them (one for each sign) has few runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// The first sample of each kind, as an index of the matrix.
    pub first: Vec<usize>,
    /// The kind of each sample.
    pub of: Vec<u32>,
    /// Kinds before this one have one sample.
    pub copied: usize,
}

impl Distinct {
    /// The kinds of `len` samples, of which `content` writes down what they are made of; nothing where all differ.
    pub(crate) fn of(len: usize, content: impl Fn(usize, &mut Vec<u64>)) -> Option<Self> {
        let mut kinds: HashMap<Box<[u64]>, u32> = HashMap::with_capacity(len);
        let (mut first, mut of, mut copies) = (Vec::new(), Vec::with_capacity(len), Vec::new());
        let mut words = Vec::new();
        for i in 0..len {
            words.clear();
            content(i, &mut words);
            let known = kinds.get(&words[..]).copied();
            let kind = known.unwrap_or(first.len() as u32);
            if known.is_none() {
                kinds.insert(words.as_slice().into(), kind);
                first.push(i);
                copies.push(0_u32);
            }
            copies[kind as usize] += 1;
            of.push(kind);
        }
        if first.len() == len {
            return None;
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_by_key(|&kind| copies[kind] > 1);
        let copied = order.partition_point(|&kind| copies[kind] == 1);
        let mut place = vec![0_u32; order.len()];
        order.iter().enumerate().for_each(|(at, &kind)| place[kind] = at as u32);
        of.iter_mut().for_each(|kind| *kind = place[*kind as usize]);
        Some(Self { first: order.into_iter().map(|kind| first[kind]).collect(), of, copied })
    }
}

/// Rows of the different samples alone, for all problems over the rows that they belong to.
pub struct Merged {
    distinct: Distinct,
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
