//! A copy of the data by rows and by columns, frequent columns first.
//!
//! Products with the transposed matrix then only read: they need no partial sums, and they run on
//! several threads. The weights of frequent columns are neighbours, so that those of text stay in
//! the cache. Columns without entries are left out: their weights are 0 at every optimum.

use crate::compressed::{Compressed, Entries};
use maxmargin_kernel::features::FeatureRows;

/// The number of columns up to which their order stays: all their weights are in the cache anyway,
/// and sums of outer products need rows whose columns ascend.
const IN_ORDER: usize = 1 << 14;

pub(crate) struct ColumnStore {
    /// The column of the matrix of each column here.
    order: Vec<u32>,
    pub(crate) rows: Compressed,
    pub(crate) columns: Compressed,
}

impl ColumnStore {
    pub(crate) fn new<R: FeatureRows>(rows: &R) -> Self {
        let mut counts = vec![0_u32; rows.width()];
        (0..rows.len()).for_each(|i| rows.each(i, |j, _| counts[j] += 1));
        let mut order: Vec<u32> = (0..rows.width() as u32).filter(|&j| counts[j as usize] > 0).collect();
        if order.len() > IN_ORDER {
            order.sort_by_key(|&j| std::cmp::Reverse(counts[j as usize]));
        }
        let mut place = vec![0_u32; rows.width()];
        order.iter().zip(0..).for_each(|(&j, at)| place[j as usize] = at);
        let entries = order.iter().map(|&j| counts[j as usize] as usize).sum();
        let mut entries = Entries::with_capacity(entries);
        for i in 0..rows.len() {
            rows.each(i, |j, v| entries.push(place[j], v));
            entries.end_row();
        }
        let rows = entries.matrix(order.len());
        let columns = rows.transposed();
        Self { order, rows, columns }
    }

    /// Returns the place of a column of the matrix; `None` if it has no entries.
    pub(crate) fn place(&self, column: usize) -> Option<usize> {
        self.order.iter().position(|&j| j as usize == column)
    }

    /// Returns weights of the columns of the matrix in the order of the columns here.
    pub(crate) fn pack(&self, w: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&j| w[j as usize]).collect()
    }

    /// Returns weights of the columns here in the order of the `width` columns of the matrix.
    pub(crate) fn unpack(&self, w: &[f64], width: usize) -> Vec<f64> {
        let mut whole = vec![0.0; width];
        self.order.iter().zip(w).for_each(|(&j, &w)| whole[j as usize] = w);
        whole
    }
}
