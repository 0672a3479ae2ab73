//! Kernel values in `f64` from raw sums of products, by a table of small squared distances. Without
//! the table the same values would be computed many times.

use crate::dispatch::level::{Level, level};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// Number of distances in a table, from 0 on.
pub const DISTANCES: usize = 256;

/// Number of distances whose values fit in registers.
const FEW: usize = 32;

/// The value of each squared distance below [`DISTANCES`].
#[derive(Clone, Debug)]
pub struct Distances {
    values: [f64; DISTANCES],
    /// Byte `k` of the values of the first distances, for each `k`: one vector looks up a byte.
    bytes: [[u8; FEW]; size_of::<f64>()],
    /// The values of all requested distances fit in registers.
    few: bool,
}

impl Distances {
    /// A table of values. Distances up to `widest` will be requested.
    pub fn new(values: [f64; DISTANCES], widest: usize) -> Self {
        let bytes = std::array::from_fn(|k| std::array::from_fn(|distance| values[distance].to_le_bytes()[k]));
        Self { values, bytes, few: widest < FEW }
    }

    /// Writes the value of the distance `row + columns_k − 2 sums_k` to `out_k`. For a distance
    /// beyond the table the result is an arbitrary value of it.
    ///
    /// # Panics
    ///
    /// When the slices differ in length.
    pub fn look_up(&self, row: i32, columns: &[i32], sums: &[i32], out: &mut [f64]) {
        assert!(columns.len() == out.len() && sums.len() == out.len(), "one length");
        match level() {
            // SAFETY: `level` found these instructions on this machine, and the lengths are equal.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe {
                if self.few {
                    avx512::look_up::<true>(&self.values, row, columns, sums, out);
                } else {
                    avx512::look_up::<false>(&self.values, row, columns, sums, out);
                }
            },
            // SAFETY: `level` found AVX2 on this machine, and the lengths are equal.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 if self.few => unsafe {
                let whole = out.len() / avx2::TOGETHER * avx2::TOGETHER;
                let ((columns, last_columns), (sums, last_sums)) = (columns.split_at(whole), sums.split_at(whole));
                let (out, last_out) = out.split_at_mut(whole);
                avx2::look_up(&self.bytes, row, columns, sums, out);
                plain(&self.values, row, last_columns, last_sums, last_out);
            },
            _ => plain(&self.values, row, columns, sums, out),
        }
    }
}

/// [`Distances::look_up`] in plain Rust.
fn plain(values: &[f64; DISTANCES], row: i32, columns: &[i32], sums: &[i32], out: &mut [f64]) {
    for ((out, column), sum) in out.iter_mut().zip(columns).zip(sums) {
        let distance = row.wrapping_add(*column).wrapping_sub(sum.wrapping_mul(2));
        *out = values[usize::from(distance as u8)];
    }
}
