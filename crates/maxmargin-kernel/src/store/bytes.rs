//! Small integers as bytes: 64 products per instruction on machines with AVX-512 VNNI.
//!
//! In units, sample `i` is `a_i = x_i − low` (unsigned) in the panels, and `b_i = a_i − shift`
//! (signed, `shift` 0 or 128) as a row of a block. With `middle = low + shift` and `S_i = Σ x_ik`,
//! `Σ b_ik a_jk = xᵢᵀxⱼ − low S_i − middle S_j + d low middle`.

use crate::store::blocks::{Panels, STRIDE};
use crate::store::summary::DataSummary;
use maxmargin_data::{Cancelled, RunControl, Samples};
use maxmargin_simd::bytes::{PANEL, position, products};

/// Samples as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    /// Features, padded to a multiple of 4.
    depth: usize,
    /// The difference of panel bytes and row bytes.
    shift: u8,
    panels: Vec<u8>,
}

impl Bytes {
    /// Panels for `samples`.
    pub(crate) fn new(samples: &Samples, summary: &DataSummary, control: &RunControl) -> Result<Self, Cancelled> {
        let (len, features) = (samples.len(), samples.features());
        let depth = features.next_multiple_of(4).max(4);
        let low = summary.low as i64;
        let shift: u8 = if summary.high - summary.low > 127.0 { 128 } else { 0 };
        let zero = (-low) as u8;
        let mut panels = vec![0u8; len.div_ceil(PANEL) * PANEL * depth];
        samples.each_row(control, |i, row| {
            let panel = &mut panels[i / PANEL * PANEL * depth..][..PANEL * depth];
            if zero != 0 {
                (0..features).for_each(|k| panel[position(i % PANEL, k)] = zero);
            }
            row.for_each(|k, v| panel[position(i % PANEL, k)] = (summary.multiple(v) as i64 - low) as u8);
        })?;
        Ok(Self { depth, shift, panels })
    }

    /// The samples `ids`, in that order.
    pub(crate) fn select(&self, ids: &[usize]) -> Self {
        let size = PANEL * self.depth;
        let mut panels = vec![0u8; ids.len().div_ceil(PANEL) * size];
        for (to, &i) in ids.iter().enumerate() {
            let from = &self.panels[i / PANEL * size..][..size];
            let into = &mut panels[to / PANEL * size..][..size];
            for k in 0..self.depth {
                into[position(to % PANEL, k)] = from[position(i % PANEL, k)];
            }
        }
        Self { depth: self.depth, shift: self.shift, panels }
    }

    /// The difference of panel bytes and row bytes.
    pub(crate) fn shift(&self) -> u8 {
        self.shift
    }

    /// Appends the bytes of a sample, four per word.
    pub(crate) fn content(&self, i: usize, words: &mut Vec<u64>) {
        let panel = &self.panels[i / PANEL * PANEL * self.depth..];
        words.extend((0..self.depth).step_by(4).map(|k| {
            let at = position(i % PANEL, k);
            u64::from(u32::from_le_bytes([panel[at], panel[at + 1], panel[at + 2], panel[at + 3]]))
        }));
    }

    /// Number of features, padded to a multiple of 4.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.panels.len()
    }
}

impl Panels for Bytes {
    type Row = [i8; 4];
    type Sum = i32;
    const WIDTH: usize = PANEL;

    fn sample_bytes(&self) -> usize {
        self.depth
    }

    fn load(&self, ids: &[usize], rows: &mut Vec<[i8; 4]>) {
        let size = PANEL * self.depth;
        rows.resize(ids.len() * self.depth / 4, [0; 4]);
        for (r, &i) in ids.iter().enumerate() {
            let first = i / PANEL * size + position(i % PANEL, 0);
            let words = self.panels[first..i / PANEL * size + size].chunks(4 * PANEL);
            for (word, to) in words.zip(rows[r..].iter_mut().step_by(ids.len())) {
                *to = [word[0], word[1], word[2], word[3]].map(|byte| byte.wrapping_sub(self.shift) as i8);
            }
        }
    }

    fn multiply(&self, rows: &[[i8; 4]], count: usize, panel: usize, out: &mut [i32], _: usize, _: &[i32]) {
        let size = PANEL * self.depth;
        products(rows, count, &self.panels[panel * size..][..size], out, STRIDE);
    }
}
