//! Microseconds of a product with the rows and one with the columns of a sparse matrix like those
//! of Newton systems of text: by compressed rows, by slices of rows, and of the copy into slices.
#![allow(clippy::print_stdout, reason = "an example")]

use maxmargin_simd::level::{levels, restrict};
use maxmargin_simd::sparse::SparseRows;
use maxmargin_simd::sparse::sliced::SlicedRows;
use std::time::Instant;

/// The size of the matrix, the mean entries of a row, and the repetitions.
const ROWS: usize = 2100;
const COLUMNS: usize = 7700;
const EACH: usize = 26;
const TIMES: u32 = 1000;

/// Rows of decreasing length over columns of decreasing frequency.
fn rows() -> SparseRows<'static, f32> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut offsets, mut indices) = (vec![0], Vec::new());
    for i in 0..ROWS {
        let length = 1 + 2 * EACH * (ROWS - i) / ROWS;
        let mut columns: Vec<u32> = (0..length).map(|_| (next().powi(3) * COLUMNS as f64) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        indices.extend(columns);
        offsets.push(indices.len());
    }
    let values = indices.iter().map(|&j| 1.0 / (1 + j) as f32).collect::<Vec<f32>>();
    SparseRows::new(offsets, indices, values, COLUMNS)
}

fn columns_of(rows: &SparseRows<f32>) -> SparseRows<'static, f32> {
    let mut columns = vec![Vec::new(); rows.columns()];
    for i in 0..rows.len() {
        let (indices, values) = rows.row(i);
        indices.iter().zip(values).for_each(|(&j, &v)| columns[j as usize].push((i as u32, v)));
    }
    let offsets = std::iter::once(0).chain(columns.iter().scan(0, |end, column| {
        *end += column.len();
        Some(*end)
    }));
    let offsets: Vec<usize> = offsets.collect();
    let (indices, values): (Vec<u32>, Vec<f32>) = columns.concat().into_iter().unzip();
    SparseRows::new(offsets, indices, values, rows.len())
}

fn main() {
    let rows = rows();
    let columns = columns_of(&rows);
    let x: Vec<f64> = (0..COLUMNS).map(|j| (j % 17) as f64 - 8.0).collect();
    let (mut of_rows, mut of_columns) = (vec![0.0; ROWS], vec![0.0; COLUMNS]);
    println!("{} entries", rows.entries());
    for level in levels() {
        restrict(level);
        let time = |name: &str, run: &mut dyn FnMut()| {
            let begun = Instant::now();
            (0..TIMES).for_each(|_| run());
            println!("{level:?} {name}: {:.1} µs", begun.elapsed().as_secs_f64() / f64::from(TIMES) * 1e6);
        };
        let (by_rows, by_columns) = (SlicedRows::of_rows(&rows), SlicedRows::of_columns(&rows));
        time("compressed rows", &mut || {
            of_rows.iter_mut().enumerate().for_each(|(i, out)| *out = rows.dot(i, &x));
            of_columns.iter_mut().enumerate().for_each(|(j, out)| *out = columns.dot(j, &of_rows));
            std::hint::black_box(&of_columns);
        });
        time("slices", &mut || {
            by_rows.products(0, &x, &mut of_rows);
            by_columns.products(0, &of_rows, &mut of_columns);
            std::hint::black_box(&of_columns);
        });
        time("copies", &mut || {
            std::hint::black_box((SlicedRows::of_rows(&rows), SlicedRows::of_columns(&rows)));
        });
    }
}
