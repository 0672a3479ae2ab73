//! The problem of a few vertices, solved by pairwise steps with second-order selection.

use crate::clock::Clock;
use crate::config::Rule;
use crate::iterate::Iterate;
use maxmargin_core::Status;
use maxmargin_simd::passes::{Diagonal, Extremes, add_and_scan, second_order, update_and_scan};

/// Curvature of a pair below which it counts as flat (LIBSVM's tau).
const TAU: f64 = 1e-12;

/// Columns that are copied to the other half of the matrix at once: as many rows as have a line each in the first-level cache.
const MIRROR: usize = 256;

/// `min ½ αᵀQα` over the simplex of the members, with their part of `Q` in one dense matrix.
///
/// Members are a small part of all vertices as a rule: a step on this matrix reads two rows of it, which stay in cache, where a step
/// on the rows of the store reads two of the length of the data. The matrix is scratch memory of the run, at most as large as the
/// rows of the members that the run needs anyway; signs are inside, so that the passes of SMO serve as they are.
pub(crate) struct CoreSet {
    /// Vertices.
    pub(crate) members: Vec<usize>,
    pub(crate) alpha: Vec<f64>,
    /// `αᵀQα`.
    pub(crate) square: f64,
    g: Vec<f64>,
    /// `s_k s_l K_kl` without the ridge; rows begin `stride` apart.
    q: Vec<f32>,
    stride: usize,
    /// `K_kk`.
    diagonal: Vec<f64>,
    constant: bool,
    ridge: f64,
    all: Vec<u8>,
    used: Vec<u8>,
    place: Vec<u32>,
}

/// How far a solution of the core set is to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    pub(crate) rule: Rule,
    /// Frank-Wolfe gap of the members, or violation by [`Rule::Violation`].
    pub(crate) at_most: f64,
    /// Pairs.
    pub(crate) most: u64,
}

/// What solving did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Solved {
    pub(crate) pairs: u64,
    pub(crate) drops: u64,
    /// Why it ended early.
    pub(crate) ended: Option<Status>,
}

impl CoreSet {
    /// The support of a point.
    pub(crate) fn new(iterate: &mut Iterate, ridge: f64) -> Self {
        let mut core = Self {
            members: vec![],
            alpha: vec![],
            square: 0.0,
            g: vec![],
            q: vec![],
            stride: 0,
            diagonal: vec![],
            constant: true,
            ridge,
            all: vec![],
            used: vec![],
            place: vec![u32::MAX; iterate.len()],
        };
        let mut support: Vec<usize> = iterate.support.iter().map(|&k| k as usize).collect();
        support.sort_unstable();
        core.add(iterate, &support);
        core.read(iterate);
        core
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn contains(&self, vertex: usize) -> bool {
        self.place[vertex] != u32::MAX
    }

    /// Makes room for `more` members.
    fn reserve(&mut self, more: usize) {
        let (old, wanted) = (self.len(), self.len() + more);
        if wanted <= self.stride {
            return;
        }
        let stride = wanted.max(2 * self.stride).next_multiple_of(64);
        let mut q = vec![0.0; stride * stride];
        for r in 0..old {
            q[r * stride..r * stride + old].copy_from_slice(&self.q[r * self.stride..r * self.stride + old]);
        }
        (self.q, self.stride) = (q, stride);
    }

    /// New members, with the α and the gradient that they have in `iterate`.
    pub(crate) fn add(&mut self, iterate: &mut Iterate, vertices: &[usize]) {
        self.reserve(vertices.len());
        let old = self.len();
        let stride = self.stride;
        iterate.fetch(vertices);
        for &vertex in vertices {
            self.place[vertex] = self.members.len() as u32;
            self.members.push(vertex);
            self.alpha.push(iterate.alpha(vertex));
            self.g.push(iterate.gradient(vertex));
            self.diagonal.push(iterate.diagonal[vertex] - self.ridge);
        }
        self.constant = self.diagonal.iter().all(|d| *d == self.diagonal[0]);
        let len = self.len();
        for m in old..len {
            let row = iterate.row(self.members[m]);
            let sign = iterate.sign(self.members[m]) as f32;
            for (q, &l) in self.q[m * stride..m * stride + len].iter_mut().zip(&self.members) {
                *q = sign * iterate.sign(l) as f32 * row[iterate.id(l)];
            }
        }
        for from in (old..len).step_by(MIRROR) {
            let (above, below) = self.q.split_at_mut(from * stride);
            let to = len.min(from + MIRROR);
            for c in 0..old {
                let out = &mut above[c * stride + from..c * stride + to];
                for (r, out) in out.iter_mut().enumerate() {
                    *out = below[r * stride + c];
                }
            }
        }
        self.all.clear();
        self.all.resize(len.div_ceil(8), u8::MAX);
        self.used.clear();
        self.used.resize(len.div_ceil(8), 0);
        for m in 0..len {
            self.mark(m);
        }
    }

    /// Takes α, gradient and `αᵀQα` from a point.
    pub(crate) fn read(&mut self, iterate: &Iterate) {
        for m in 0..self.len() {
            self.alpha[m] = iterate.alpha(self.members[m]);
            self.g[m] = iterate.gradient(self.members[m]);
            self.mark(m);
        }
        self.square = iterate.square;
    }

    /// Hands α, gradient and `αᵀQα` to a point.
    pub(crate) fn write(&self, iterate: &mut Iterate) {
        iterate.adopt(&self.members, &self.alpha, self.square);
        if !iterate.full {
            self.members.iter().zip(&self.g).for_each(|(&k, &g)| iterate.set_gradient(k, g));
        }
    }

    fn mark(&mut self, m: usize) {
        let bit = 1 << (m % 8);
        if self.alpha[m] > 0.0 {
            self.used[m / 8] |= bit;
        } else {
            self.used[m / 8] &= !bit;
        }
    }

    fn row(&self, m: usize) -> &[f32] {
        &self.q[m * self.stride..m * self.stride + self.members.len()]
    }

    /// The extremes of the gradient: least of all, largest of the support.
    fn scan(&mut self) -> Extremes {
        let row = &self.q[..self.members.len()];
        add_and_scan(&mut self.g, row, 0.0, &self.all, &self.used)
    }

    /// Pairwise steps until the members' gap or violation is at most the aim.
    pub(crate) fn solve(&mut self, aim: Aim, clock: &mut Clock, outside: f64) -> Solved {
        let mut solved = Solved::default();
        let mut extremes = self.scan();
        loop {
            let (i, lowest) = (extremes.argmin_up, extremes.min_up);
            let off = if aim.rule == Rule::Violation { extremes.max_low - lowest } else { self.square - lowest };
            // Without pairs that descend the problem is solved as well as its numbers allow.
            if off <= aim.at_most || extremes.max_low <= lowest || solved.pairs >= aim.most {
                return solved;
            }
            solved.ended = clock.ended(outside);
            if solved.ended.is_some() {
                return solved;
            }
            let diagonal = if self.constant { Diagonal::Constant(self.diagonal[0]) } else { Diagonal::Each(&self.diagonal) };
            let own = self.diagonal[i] + 2.0 * self.ridge;
            let j = second_order(&self.g, self.row(i), diagonal, own, lowest, TAU, &self.used).index;
            if j == usize::MAX {
                return solved;
            }
            solved.drops += u64::from(self.pair(i, j, &mut extremes));
            solved.pairs += 1;
            clock.iterations += 1;
        }
    }

    /// Moves mass from `j` to `i`; whether that emptied `j`.
    fn pair(&mut self, i: usize, j: usize, extremes: &mut Extremes) -> bool {
        let (stride, len) = (self.stride, self.members.len());
        let qij = f64::from(self.q[i * stride + j]);
        let a = (self.diagonal[i] + self.diagonal[j] + 2.0 * self.ridge - 2.0 * qij).max(TAU);
        let b = self.g[j] - self.g[i];
        let step = (b / a).min(self.alpha[j]);
        let empty = step == self.alpha[j];
        self.alpha[i] += step;
        self.alpha[j] = if empty { 0.0 } else { self.alpha[j] - step };
        self.mark(i);
        self.mark(j);
        self.square -= step * (2.0 * b - step * a);
        self.g[i] += step * self.ridge;
        self.g[j] -= step * self.ridge;
        let (row_i, row_j) = (&self.q[i * stride..i * stride + len], &self.q[j * stride..j * stride + len]);
        *extremes = update_and_scan(&mut self.g, row_i, row_j, step, &self.all, &self.used);
        empty
    }
}
