//! Moves of variables between bounds along a direction.
//!
//! The loops are plain Rust compiled once per dispatch level; all levels return the same bits.

use crate::level::{Level, level};

/// Variables and their bounds.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// Where they are.
    pub at: &'a [f64],
    /// Their lower bounds.
    pub least: &'a [f64],
    /// Their upper bounds.
    pub most: &'a [f64],
}

/// `to_k = at_k + step · p_k`, and whether all of that lies between the bounds, at none of them.
///
/// # Panics
///
/// When slices differ in length.
pub fn moved(from: Between, p: &[f64], step: f64, to: &mut [f64]) -> bool {
    let n = to.len();
    assert!([from.at, from.least, from.most, p].iter().all(|slice| slice.len() == n), "one length");
    match level() {
        // SAFETY: `level` found these instructions on this machine.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { moved_avx2(from, p, step, to) },
        _ => plain(from, p, step, to),
    }
}

#[inline(always)]
fn plain(Between { at, least, most }: Between, p: &[f64], step: f64, to: &mut [f64]) -> bool {
    let n = to.len();
    let (at, least, most, p) = (&at[..n], &least[..n], &most[..n], &p[..n]);
    let mut inside = 0_u64;
    for k in 0..n {
        to[k] = at[k] + step * p[k];
        // Counted without a branch: not a number is outside, too.
        inside += u64::from(to[k] > least[k]) & u64::from(to[k] < most[k]);
    }
    inside == n as u64
}

/// # Safety
///
/// Needs AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn moved_avx2(from: Between, p: &[f64], step: f64, to: &mut [f64]) -> bool {
    plain(from, p, step, to)
}
