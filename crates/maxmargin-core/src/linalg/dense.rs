//! Dense `f64` loops in a form that the compiler vectorises, compiled for the instructions of the
//! machine.
//!
//! Every instruction level gives the same bits: sums are cut into the same partial sums, and
//! products are rounded.

#![allow(clippy::inline_always, reason = "a loop is compiled for the instructions of the function that it is inlined into")]

use pulp::Arch;

/// Rows that a pass over many columns finishes before it goes on: small enough for the first-level
/// cache.
const BLOCK: usize = 1024;

/// Returns `aᵀb`, in eight partial sums.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for l in 0..8 {
            sums[l] += x[l] * y[l];
        }
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + tail
}

/// Adds `a x` to `y`.
#[inline(always)]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Adds `a x` to `y`, for long vectors.
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    Arch::new().dispatch(|| axpy(a, x, y));
}

/// Adds `Σ_k coef(k)·column(k)` for `k < count` to `sum`, eight columns at a time. Several calls
/// give the bits of one if all but the last have a multiple of eight columns. Rounding grows with
/// the sum: begin with zeros and add the result to its destination.
pub fn sum_columns<'c>(count: usize, coef: impl Fn(usize) -> f64, column: impl Fn(usize) -> &'c [f64], sum: &mut [f64]) {
    let n = sum.len();
    for from in (0..n).step_by(BLOCK) {
        let to = (from + BLOCK).min(n);
        let sum = &mut sum[from..to];
        let mut k = 0;
        while k + 8 <= count {
            let c: [f64; 8] = std::array::from_fn(|l| coef(k + l));
            let x: [&[f64]; 8] = std::array::from_fn(|l| &column(k + l)[from..to]);
            Arch::new().dispatch(|| add_eight(&c, &x, sum));
            k += 8;
        }
        while k < count {
            add_scaled(sum, coef(k), &column(k)[from..to]);
            k += 1;
        }
    }
}

/// Adds `Σ_l c_l x_l` to `sum`.
#[inline(always)]
fn add_eight(c: &[f64; 8], x: &[&[f64]; 8], sum: &mut [f64]) {
    let n = sum.len();
    let [a, b, d, e, f, g, h, i] = x.map(|x| &x[..n]);
    for (l, s) in sum.iter_mut().enumerate() {
        let low = (c[0] * a[l] + c[1] * b[l]) + (c[2] * d[l] + c[3] * e[l]);
        let high = (c[4] * f[l] + c[5] * g[l]) + (c[6] * h[l] + c[7] * i[l]);
        *s += low + high;
    }
}

/// Returns the compensated sum (Neumaier 1974): equality constraints must hold to the last bit of
/// α.
pub fn exact_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for v in values {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    sum + lost
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_add_up() {
        let n = 2500;
        let columns: Vec<Vec<f64>> = (0..7).map(|k| (0..n).map(|i| ((i + k * 31) % 17) as f64).collect()).collect();
        let mut out = vec![1.0; n];
        sum_columns(7, |k| k as f64 - 2.0, |k| &columns[k], &mut out);
        for i in 0..n {
            let expected: f64 = 1.0 + (0..7).map(|k| (k as f64 - 2.0) * columns[k][i]).sum::<f64>();
            assert_eq!(out[i], expected);
        }
        assert_eq!(dot(&columns[0], &columns[1]), columns[0].iter().zip(&columns[1]).map(|(a, b)| a * b).sum::<f64>());
    }

    #[test]
    fn compensated_sums_keep_small_terms() {
        assert_eq!(exact_sum([1e16, 1.0, -1e16, 1.0].into_iter()), 2.0);
    }
}
