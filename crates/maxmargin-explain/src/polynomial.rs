//! Games of a polynomial kernel: `v(S) = Σ_i β_i (C_i + Σ_{p∈S} u_ip)ⁿ`.
//!
//! `u_ip = γ Σ_{j∈p} (x_j − z_j) s_ij` and `C_i = coef0 + γ zᵀs_i`, where `z` is a background row,
//! or 0 where there is no background. With `Y = C + Σ_{q≠p} B_q u_q`, where every `B_q` is 1 with
//! the probability `t` and 0 otherwise, the Shapley value is
//!
//! `φ_p = Σ_i β_i ∫₀¹ E[(Y + u_p)ⁿ − Yⁿ] dt = Σ_i β_i ∫₀¹ Σ_{k<n} (n over k) E[Yᵏ] u_pⁿ⁻ᵏ dt`
//!
//! 1. Moments of `C` and the players before `p`, from the left; of the players behind it, from the
//!    right.
//! 2. Moments of the sum of both are their binomial convolution.
//! 3. The integrand is a polynomial of degree below `n` in `t`; a Gauss–Legendre rule is exact.

use crate::block::{Block, LANES, Lane, Layout, Sums, lanes};
use crate::quadrature::Rules;

/// The largest degree: binomial coefficients beyond it and the squared number of moments get large.
pub(crate) const MOST_DEGREE: u32 = 20;

/// Moments of a sum, `E[Yᵏ]` for `k = 0…n`, for each lane.
type Moments = Vec<Lane>;

/// The games of one chunk of support vectors.
pub(crate) struct Polynomial<'a> {
    pub(crate) gamma: f64,
    pub(crate) coef0: f64,
    pub(crate) degree: usize,
    pub(crate) layout: &'a Layout,
    pub(crate) blocks: &'a [Block],
    pub(crate) rules: &'a Rules,
    /// Rows over the columns in use; one row of zeros where there is no background.
    pub(crate) background: Vec<Vec<f64>>,
}

impl Polynomial<'_> {
    /// Adds the Shapley values of a row, summed over the background rows.
    pub(crate) fn add(&self, row: &[f64], sums: &mut Sums) {
        if self.degree == 0 {
            return;
        }
        for block in self.blocks {
            for other in &self.background {
                let spans = self.layout.spans.iter();
                let active: Vec<(usize, Lane)> = spans
                    .filter(|(_, span)| row[span.clone()] != other[span.clone()])
                    .map(|(player, span)| (*player, self.difference(row, other, block, span.clone())))
                    .collect();
                let constant = self.constant(other, block);
                self.integrate(block, &active, &constant, sums);
            }
        }
    }

    /// `γ Σ (x_j − z_j) s_ij` over some columns.
    fn difference(&self, row: &[f64], other: &[f64], block: &Block, span: std::ops::Range<usize>) -> Lane {
        let mut sum = [0.0; LANES];
        for at in span {
            let moved = row[at] - other[at];
            sum = lanes(|l| sum[l] + moved * block.values[at][l]);
        }
        sum.map(|sum| self.gamma * sum)
    }

    /// `coef0 + γ zᵀs_i`.
    fn constant(&self, other: &[f64], block: &Block) -> Lane {
        let mut sum = [0.0; LANES];
        for (z, s) in other.iter().zip(&block.values) {
            sum = lanes(|l| sum[l] + z * s[l]);
        }
        sum.map(|sum| self.coef0 + self.gamma * sum)
    }

    fn integrate(&self, block: &Block, active: &[(usize, Lane)], constant: &Lane, sums: &mut Sums) {
        let n = self.degree;
        let binomial = binomials(n);
        let mut parts = vec![[0.0; LANES]; active.len()];
        for node in self.rules.exact_for(n - 1) {
            let t = node.at;
            let left = prefixes(active, &powers(constant, n), t, &binomial);
            let right = suffixes(active, n, t, &binomial);
            for (p, (_, u)) in active.iter().enumerate() {
                let moments = convolved(&left[p], &right[p + 1], &binomial);
                let u = powers(u, n);
                for k in 0..n {
                    let factor = node.weight * binomial[n][k];
                    parts[p] = lanes(|l| parts[p][l] + factor * moments[k][l] * u[n - k][l]);
                }
            }
            if sums.has_pairs() {
                for p in 0..active.len() {
                    let mut before = left[p].clone();
                    for q in p + 1..active.len() {
                        let moments = convolved(&before, &right[q + 1], &binomial);
                        let part = self.pair(&active[p].1, &active[q].1, &moments, &binomial).map(|part| node.weight * part);
                        sums.add_pair(block, [active[p].0, active[q].0], &part);
                        extend(&mut before, &active[q].1, t, &binomial);
                    }
                }
            }
        }
        active.iter().zip(&parts).for_each(|((player, _), part)| sums.add(block, *player, part));
    }

    /// `E[(Y + u + v)ⁿ − (Y + u)ⁿ − (Y + v)ⁿ + Yⁿ]`.
    fn pair(&self, u: &Lane, v: &Lane, moments: &[Lane], binomial: &[Vec<f64>]) -> Lane {
        let n = self.degree;
        let both = powers(&lanes(|l| u[l] + v[l]), n);
        let (u, v) = (powers(u, n), powers(v, n));
        let mut part = [0.0; LANES];
        for k in 0..n.saturating_sub(1) {
            let r = n - k;
            part = lanes(|l| part[l] + binomial[n][k] * moments[k][l] * (both[r][l] - u[r][l] - v[r][l]));
        }
        part
    }
}

/// Binomial coefficients up to `n`.
fn binomials(n: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]];
    for k in 1..=n {
        let above = &rows[k - 1];
        let row = (0..=k).map(|r| if r == 0 || r == k { 1.0 } else { above[r - 1] + above[r] }).collect();
        rows.push(row);
    }
    rows
}

/// `u⁰ … uⁿ`: the moments of a number.
fn powers(u: &Lane, n: usize) -> Moments {
    let mut powers = vec![[1.0; LANES]; n + 1];
    for k in 1..=n {
        powers[k] = lanes(|l| powers[k - 1][l] * u[l]);
    }
    powers
}

/// The moments of `Y + B u`, `B` being 1 with the probability `t`.
fn extend(moments: &mut Moments, u: &Lane, t: f64, binomial: &[Vec<f64>]) {
    let u = powers(u, moments.len() - 1);
    for k in (1..moments.len()).rev() {
        let mut more = [0.0; LANES];
        for r in 1..=k {
            more = lanes(|l| more[l] + binomial[k][r] * u[r][l] * moments[k - r][l]);
        }
        moments[k] = lanes(|l| moments[k][l] + t * more[l]);
    }
}

/// The moments of the sum of two that are independent.
fn convolved(one: &[Lane], other: &[Lane], binomial: &[Vec<f64>]) -> Moments {
    let moment = |k: usize| {
        let mut sum = [0.0; LANES];
        for r in 0..=k {
            sum = lanes(|l| sum[l] + binomial[k][r] * one[r][l] * other[k - r][l]);
        }
        sum
    };
    (0..one.len()).map(moment).collect()
}

/// Moments of a constant and the players before each.
fn prefixes(active: &[(usize, Lane)], constant: &Moments, t: f64, binomial: &[Vec<f64>]) -> Vec<Moments> {
    let mut moments = constant.clone();
    let before = active.iter().map(|(_, u)| {
        let own = moments.clone();
        extend(&mut moments, u, t, binomial);
        own
    });
    before.collect()
}

/// Moments of the players from each on; entry `p + 1` is of those behind player `p`.
fn suffixes(active: &[(usize, Lane)], n: usize, t: f64, binomial: &[Vec<f64>]) -> Vec<Moments> {
    let mut moments = powers(&[0.0; LANES], n);
    let mut from = vec![moments.clone(); active.len() + 1];
    for (p, (_, u)) in active.iter().enumerate().rev() {
        extend(&mut moments, u, t, binomial);
        from[p].clone_from(&moments);
    }
    from
}
