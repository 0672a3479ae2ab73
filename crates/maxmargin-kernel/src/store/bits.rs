//! Zeros and ones as bits: 64 products per word.

use crate::neighbours::BitRows;
use crate::store::blocks::{Panels, STRIDE};
use maxmargin_data::{Cancelled, RunControl, Samples};
use maxmargin_simd::bits::{PANEL, products};

/// Samples as bits.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    /// Number of words of a sample.
    words: usize,
    /// The words of the panels; word `k` of sample `j` of a panel is its element `k * PANEL + j`.
    panels: Vec<u64>,
}

impl Bits {
    /// Panels for `samples`, whose values are 0 and 1.
    pub(crate) fn new(samples: &Samples, control: &RunControl) -> Result<Self, Cancelled> {
        let words = samples.features().div_ceil(64).max(1);
        let mut bits = Self { words, panels: vec![0; samples.len().div_ceil(PANEL) * PANEL * words] };
        samples.each_row(control, |i, row| {
            row.for_each(|k, v| {
                let at = bits.at(i, k / 64);
                bits.panels[at] |= u64::from(v != 0.0) << (k % 64);
            });
        })?;
        Ok(bits)
    }

    /// The position of word `k` of sample `i`.
    fn at(&self, i: usize, k: usize) -> usize {
        (i / PANEL * self.words + k) * PANEL + i % PANEL
    }

    /// The samples `ids`, in that order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let mut part = Self { words: self.words, panels: vec![0; ids.len().div_ceil(PANEL) * PANEL * self.words] };
        for (to, &i) in ids.iter().enumerate() {
            for k in 0..self.words {
                let at = part.at(to, k);
                part.panels[at] = self.panels[self.at(i, k)];
            }
        }
        part
    }

    /// Appends the words of a sample.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        words.extend((0..self.words).map(|k| self.panels[self.at(i, k)]));
    }

    /// The words of the samples, one sample after the other.
    pub(crate) fn rows(&self, samples: usize) -> BitRows {
        let rows = (0..samples).flat_map(|i| (0..self.words).map(move |k| self.panels[self.at(i, k)])).collect();
        BitRows { words: self.words, rows }
    }

    /// Number of words of a sample.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.panels.len()
    }
}

impl Panels for Bits {
    type Row = u64;
    type Sum = i32;
    const WIDTH: usize = PANEL;

    fn sample_bytes(&self) -> usize {
        8 * self.words
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<u64>) {
        rows.clear();
        rows.extend((0..self.words).flat_map(|k| ids.iter().map(move |&i| self.panels[self.at(i, k)])));
    }

    fn multiply(&self, rows: &[u64], count: usize, panel: usize, out: &mut [i32], _: usize, _: &[i32]) {
        let size = PANEL * self.words;
        products(rows, count, &self.panels[panel * size..][..size], out, STRIDE);
    }
}
