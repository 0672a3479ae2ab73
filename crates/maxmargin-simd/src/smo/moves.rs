//! Steps of variables along a direction, between bounds.
//!
//! The loops are plain Rust that is compiled once per dispatch level. All levels return the same
//! bits.

use crate::dispatch::each::at_level;

/// Variables with their bounds.
#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    /// The values of the variables.
    pub at: &'a [f64],
    /// The lower bounds.
    pub least: &'a [f64],
    /// The upper bounds.
    pub most: &'a [f64],
}

/// Computes `p_k = beta · p_k` and `to_k = at_k + step · p_k`. Returns the number of results
/// outside of their bounds or at one.
///
/// # Panics
///
/// When slices differ in length.
pub fn moved(from: Between, p: &mut [f64], beta: f64, step: f64, to: &mut [f64]) -> usize {
    let n = to.len();
    assert!([from.at, from.least, from.most, p].iter().all(|slice| slice.len() == n), "one length");
    at_level!(plain [] [] (from: Between, p: &mut [f64], beta: f64, step: f64, to: &mut [f64]) -> usize)
}

#[inline(always)]
fn plain(Between { at, least, most }: Between, p: &mut [f64], beta: f64, step: f64, to: &mut [f64]) -> usize {
    let n = to.len();
    let (at, least, most, p) = (&at[..n], &least[..n], &most[..n], &mut p[..n]);
    let mut inside = 0_u64;
    for k in 0..n {
        p[k] *= beta;
        to[k] = at[k] + step * p[k];
        // Without a branch; NaN counts as outside.
        inside += u64::from(to[k] > least[k]) & u64::from(to[k] < most[k]);
    }
    n - inside as usize
}
