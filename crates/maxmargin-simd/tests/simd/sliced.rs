//! Products with rows in slices.

use crate::{at_each_level, stream};
use maxmargin_simd::sparse::SparseRows;
use maxmargin_simd::sparse::sliced::{ROWS, SlicedRows};

/// The number of columns.
const COLUMNS: usize = 6;

/// Rows of 0 to 8 entries, in any order and with columns that repeat.
fn rows_of(count: usize, next: &mut impl FnMut() -> f64) -> Vec<Vec<(u32, f64)>> {
    let mut row = || {
        let length = (9.0 * next()) as usize;
        (0..length).map(|_| ((COLUMNS as f64 * next()) as u32, next() - 0.5)).collect()
    };
    (0..count).map(|_| row()).collect()
}

#[test]
fn products_are_sums_in_the_order_of_the_entries() {
    let mut next = stream(5);
    for count in (0..40).chain([200]) {
        let entries = rows_of(count, &mut next);
        let offsets: Vec<usize> = (0..=count).map(|i| entries[..i].iter().map(Vec::len).sum()).collect();
        let (indices, values): (Vec<u32>, Vec<f64>) = entries.concat().into_iter().unzip();
        let matrix = SparseRows::new(offsets, indices, values, COLUMNS);
        let (rows, columns) = (SlicedRows::of_rows(&matrix), SlicedRows::of_columns(&matrix));
        let x: Vec<f64> = (0..count.max(COLUMNS)).map(|_| next() - 0.5).collect();
        let of_row = |row: &Vec<(u32, f64)>| row.iter().fold(0.0, |sum, &(j, v)| sum + v * x[j as usize]);
        let of_rows: Vec<f64> = entries.iter().map(of_row).collect();
        let mut of_columns = vec![0.0; COLUMNS];
        for (row, x) in entries.iter().zip(&x) {
            row.iter().for_each(|&(j, v)| of_columns[j as usize] += v * x);
        }
        at_each_level(|level| {
            for first in (0..=count).step_by(ROWS) {
                let mut out = vec![f64::NAN; count - first];
                rows.products(first, &x, &mut out);
                assert_eq!(out, of_rows[first..], "{level:?}, {count} rows from {first}");
            }
            let mut out = vec![f64::NAN; COLUMNS];
            columns.products(0, &x, &mut out);
            assert_eq!(out, of_columns, "{level:?}, columns of {count} rows");
        });
    }
}
