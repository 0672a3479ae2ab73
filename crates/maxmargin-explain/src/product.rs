//! Games of a product kernel: `v(S) = Σ_i β_i Π_{p∈S} a_ip Π_{p∉S} c_ip`.
//!
//! For the RBF kernel `a_ip = exp(−γ Σ_{j∈p} (x_j − s_ij)²)` over the features of player `p`, and
//! `c_ip` is the same of a background row, or 1 where there is no background. The Shapley value is
//! an integral over the multilinear extension of the game:
//!
//! `φ_p = Σ_i β_i (a_ip − c_ip) ∫₀¹ Π_{q≠p} (c_iq + t (a_iq − c_iq)) dt`
//!
//! 1. Factors `a` of the row, for a block of support vectors side by side.
//! 2. For each background row: players with `a = c` become one constant factor.
//! 3. For each node `t` of the Gauss–Legendre rule that is exact for the polynomial under the
//!    integral: factors `f_q = c_q + t (a_q − c_q)`, their products from the left, then from the
//!    right; the product of both around `p` is the integrand. Nothing is divided.
//! 4. Pairs: the product between `p` and `q` is taken along.
#![allow(clippy::inline_always, reason = "loops over lanes must be compiled inside the function that enables the instructions")]

use crate::block::{Block, LANES, Lane, Layout, Sums, lanes};
use crate::quadrature::{Node, Rules};
use pulp::Arch;

/// The factors of all background rows, background × blocks × spans.
pub(crate) struct Background {
    rows: Vec<Vec<f64>>,
    factors: Vec<Lane>,
}

/// The games of one chunk of support vectors.
pub(crate) struct Product<'a> {
    pub(crate) gamma: f64,
    pub(crate) layout: &'a Layout,
    pub(crate) blocks: &'a [Block],
    pub(crate) rules: &'a Rules,
    /// None: an absent player has the factor 1.
    pub(crate) background: Option<Background>,
}

/// Memory of a row's computation.
#[derive(Default)]
struct Scratch {
    active: Vec<usize>,
    high: Vec<Lane>,
    low: Vec<Lane>,
    factor: Vec<Lane>,
    left: Vec<Lane>,
    right: Vec<Lane>,
    sum: Vec<Lane>,
    pairs: Vec<Lane>,
}

impl<'a> Product<'a> {
    /// The games of a chunk.
    pub(crate) fn new(
        gamma: f64,
        layout: &'a Layout,
        blocks: &'a [Block],
        rules: &'a Rules,
        background: Option<Vec<Vec<f64>>>,
    ) -> Self {
        let plain = Self { gamma, layout, blocks, rules, background: None };
        let background = background.map(|rows| {
            let mut factors = Vec::with_capacity(rows.len() * blocks.len() * layout.spans.len());
            for row in &rows {
                for block in blocks {
                    factors.extend(layout.spans.iter().map(|(_, span)| plain.factor(row, block, span.clone())));
                }
            }
            Background { rows, factors }
        });
        Self { background, ..plain }
    }

    /// Adds the Shapley values of a row. With a background they are summed over its rows.
    pub(crate) fn add(&self, row: &[f64], sums: &mut Sums) {
        Arch::new().dispatch(|| self.add_inline(row, sums));
    }

    #[inline(always)]
    fn add_inline(&self, row: &[f64], sums: &mut Sums) {
        let mut scratch = Scratch::default();
        let spans = &self.layout.spans;
        for (b, block) in self.blocks.iter().enumerate() {
            let own: Vec<Lane> = spans.iter().map(|(_, span)| self.factor(row, block, span.clone())).collect();
            let Some(background) = &self.background else {
                scratch.take(&own, |_| [1.0; LANES], |p| own[p].iter().any(|a| *a != 1.0));
                self.integrate(block, &mut scratch, &[1.0; LANES], sums);
                continue;
            };
            for (z, other) in background.rows.iter().enumerate() {
                let at = (z * self.blocks.len() + b) * spans.len();
                let theirs = &background.factors[at..at + spans.len()];
                let differs = |p: usize| row[spans[p].1.clone()] != other[spans[p].1.clone()];
                let mut common = [1.0; LANES];
                for p in (0..spans.len()).filter(|&p| !differs(p)) {
                    common = lanes(|l| common[l] * own[p][l]);
                }
                scratch.take(&own, |p| theirs[p], differs);
                self.integrate(block, &mut scratch, &common, sums);
            }
        }
    }

    /// `exp(−γ Σ (x_j − s_ij)²)` over some columns.
    #[inline(always)]
    fn factor(&self, row: &[f64], block: &Block, span: std::ops::Range<usize>) -> Lane {
        let mut squares = [0.0; LANES];
        for (x, s) in row[span.clone()].iter().zip(&block.values[span.clone()]) {
            for (square, s) in squares.iter_mut().zip(s) {
                *square += (x - s) * (x - s);
            }
        }
        lanes(|l| match squares[l] {
            0.0 => 1.0,
            f64::INFINITY => self.far_factor(&row[span.clone()], &block.values[span.clone()], l),
            square => (-self.gamma * square).exp(),
        })
    }

    /// The factor of one lane whose squares overflow: differences are multiplied by `√γ` first.
    #[inline(never)]
    fn far_factor(&self, row: &[f64], values: &[Lane], lane: usize) -> f64 {
        let root = self.gamma.sqrt();
        let exponent: f64 = row.iter().zip(values).map(|(x, s)| (root * (x - s[lane])).powi(2)).sum();
        (-exponent).exp()
    }

    /// Steps 3 and 4 for the players in `scratch`.
    #[inline(always)]
    fn integrate(&self, block: &Block, scratch: &mut Scratch, common: &Lane, sums: &mut Sums) {
        let count = scratch.active.len();
        if count == 0 {
            return;
        }
        let rule = self.rules.exact_for(count - 1);
        scratch.sum.clear();
        scratch.sum.resize(count, [0.0; LANES]);
        if sums.has_pairs() {
            scratch.pairs.clear();
            scratch.pairs.resize(count * (count - 1) / 2, [0.0; LANES]);
        }
        for node in rule {
            scratch.products(node);
            if sums.has_pairs() {
                scratch.between();
            }
        }
        for p in 0..count {
            let moved = scratch.moved(p);
            let part = lanes(|l| common[l] * moved[l] * scratch.sum[p][l]);
            sums.add(block, self.layout.spans[scratch.active[p]].0, &part);
        }
        if sums.has_pairs() {
            let mut at = 0;
            for p in 0..count {
                for q in p + 1..count {
                    let (one, other) = (scratch.moved(p), scratch.moved(q));
                    let part = lanes(|l| common[l] * one[l] * other[l] * scratch.pairs[at][l]);
                    let pair = [p, q].map(|p| self.layout.spans[scratch.active[p]].0);
                    sums.add_pair(block, pair, &part);
                    at += 1;
                }
            }
        }
    }
}

impl Scratch {
    /// Takes the factors of the players that are active.
    #[inline(always)]
    fn take(&mut self, high: &[Lane], low: impl Fn(usize) -> Lane, is_active: impl Fn(usize) -> bool) {
        self.active.clear();
        self.active.extend((0..high.len()).filter(|&p| is_active(p)));
        self.high.clear();
        self.high.extend(self.active.iter().map(|&p| high[p]));
        self.low.clear();
        self.low.extend(self.active.iter().map(|&p| low(p)));
    }

    /// `a − c` of an active player.
    #[inline(always)]
    fn moved(&self, p: usize) -> Lane {
        lanes(|l| self.high[p][l] - self.low[p][l])
    }

    /// Adds the products of all factors but one at a node.
    #[inline(always)]
    fn products(&mut self, node: &Node) {
        let count = self.active.len();
        self.factor.resize(count, [0.0; LANES]);
        self.left.resize(count, [0.0; LANES]);
        let mut product = [node.weight; LANES];
        for p in 0..count {
            let (a, c) = (&self.high[p], &self.low[p]);
            let factor = lanes(|l| c[l] + node.at * (a[l] - c[l]));
            self.left[p] = product;
            self.factor[p] = factor;
            product = lanes(|l| product[l] * factor[l]);
        }
        let mut product = [1.0; LANES];
        for p in (0..count).rev() {
            let (left, factor) = (&self.left[p], &self.factor[p]);
            let sum = &mut self.sum[p];
            for l in 0..LANES {
                sum[l] += left[l] * product[l];
                product[l] *= factor[l];
            }
        }
    }

    /// Adds the products of all factors but two at a node, behind [`Scratch::products`].
    #[inline(always)]
    fn between(&mut self) {
        let count = self.active.len();
        self.right.resize(count + 1, [0.0; LANES]);
        self.right[count] = [1.0; LANES];
        for p in (0..count).rev() {
            let next = self.right[p + 1];
            self.right[p] = lanes(|l| next[l] * self.factor[p][l]);
        }
        let mut at = 0;
        for p in 0..count {
            let mut product = self.left[p];
            for q in p + 1..count {
                let right = self.right[q + 1];
                let factor = self.factor[q];
                let pair = &mut self.pairs[at];
                for l in 0..LANES {
                    pair[l] += product[l] * right[l];
                    product[l] *= factor[l];
                }
                at += 1;
            }
        }
    }
}
