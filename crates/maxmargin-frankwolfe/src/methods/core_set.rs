//! The problem of a few vertices, solved by pairwise steps with second-order selection.

use crate::config::StopRule;
use crate::methods::steps::Target;
use crate::point::iterate::Iterate;
use crate::point::tight::relative_gap;
use maxmargin_core::{Cancelled, Dual, RunControl, SolverControl, Status};
use maxmargin_data::Par;
use maxmargin_kernel::{Gram, submatrix};
use maxmargin_simd::passes::{Diagonal, Extremes, PartnerSelection, add_and_scan, second_order, update_and_scan};
use maxmargin_simd::sums::dot;

/// The least curvature of a pair; smaller ones count as flat (LIBSVM's tau).
const TAU: f64 = 1e-12;

/// The least number of pairs between two computations of the gap with the best slacks; one costs
/// some passes over the members.
const LOOK: u64 = 256;

/// Columns that are copied to the other half of the matrix at once: their cache lines fit into the
/// first level.
const MIRROR: usize = 256;

/// The problem `min ½ αᵀQα` over the simplex of the members, with their part of `Q` in one dense
/// matrix.
///
/// Members are usually a small part of all vertices. A step reads two rows of this matrix, which
/// stay in cache; on the store's rows it would read two of the length of the data. The matrix is
/// scratch memory of the run, at most as large as the members' rows, which the run needs anyway. It
/// contains the signs, so the passes of SMO apply unchanged.
pub(crate) struct CoreSet {
    /// The vertices.
    pub(crate) members: Vec<usize>,
    pub(crate) alpha: Vec<f64>,
    /// The quadratic form `αᵀQα`.
    pub(crate) square: f64,
    g: Vec<f64>,
    /// The values `s_k s_l K_kl` without the ridge; rows begin `stride` apart.
    q: Vec<f32>,
    stride: usize,
    /// The diagonal `K_kk`.
    diagonal: Vec<f64>,
    constant: bool,
    ridge: f64,
    all: Vec<u8>,
    used: Vec<u8>,
    place: Vec<u32>,
    /// The largest number of bytes of the matrix, with its copy while it grew.
    pub(crate) peak: u64,
    /// The largest number of members for which the matrix makes room in advance.
    pub(crate) most: usize,
}

/// The goal of a solution of the core set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aim {
    /// The rule for the members, by the Frank-Wolfe gap if it is about a gap.
    pub(crate) target: Target,
    /// The relative gap with the best slacks of the members at which the solution ends as well.
    pub(crate) tight: Option<f64>,
    /// The largest number of pairs.
    pub(crate) most: u64,
}

/// The counts of a solution of the core set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoreSetStats {
    pub(crate) pairs: u64,
    pub(crate) drops: u64,
    /// The reason of an early end.
    pub(crate) ended: Option<Status>,
}

impl CoreSet {
    /// Creates an empty core set of a problem of `vertices`.
    pub(crate) fn empty(vertices: usize, ridge: f64) -> Self {
        Self {
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
            place: vec![u32::MAX; vertices],
            peak: 0,
            most: usize::MAX,
        }
    }

    /// Creates the core set of a point's support.
    pub(crate) fn new(iterate: &mut Iterate, ridge: f64, control: &RunControl) -> Result<Self, Cancelled> {
        let mut core = Self::empty(iterate.len(), ridge);
        let mut support: Vec<usize> = iterate.support.iter().map(|&k| k as usize).collect();
        support.sort_unstable();
        core.add(iterate, &support, control)?;
        core.read(iterate);
        Ok(core)
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn contains(&self, vertex: usize) -> bool {
        self.place[vertex] != u32::MAX
    }

    /// Returns the present bytes of the matrix.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.q.len() as u64
    }

    /// Returns the stride for `more` members, if it is larger than the present one.
    fn growth(&self, more: usize) -> Option<usize> {
        let (old, wanted) = (self.len(), self.len() + more);
        let ahead = if old == 0 { 0 } else { (old + old / 8 + 256).min(self.most) };
        // Rows of a multiple of 16 floats and not of 1,024, so that neighbouring rows use different
        // cache lines.
        (wanted > self.stride).then(|| wanted.max(ahead).next_multiple_of(32) + 16)
    }

    /// Returns the bytes of the matrix while `more` members join, with its copy if it grows.
    pub(crate) fn bytes_growing(&self, more: usize) -> u64 {
        self.growth(more).map_or(0, |stride| 4 * (stride * stride) as u64) + self.bytes()
    }

    /// Makes room for `more` members.
    pub(crate) fn reserve(&mut self, more: usize) {
        let old = self.len();
        let Some(stride) = self.growth(more) else { return };
        self.peak = self.peak.max(4 * (stride * stride + self.q.len()) as u64);
        let mut q = vec![0.0; stride * stride];
        for r in 0..old {
            q[r * stride..r * stride + old].copy_from_slice(&self.q[r * self.stride..r * self.stride + old]);
        }
        (self.q, self.stride) = (q, stride);
    }

    /// Adds members with their α and gradient in `iterate`, from rows of the store.
    pub(crate) fn add(&mut self, iterate: &mut Iterate, vertices: &[usize], control: &RunControl) -> Result<(), Cancelled> {
        iterate.fetch(vertices, control)?;
        let old = self.enrol(iterate, vertices);
        let (stride, len) = (self.stride, self.len());
        for m in old..len {
            let row = iterate.row(self.members[m]);
            let sign = iterate.sign(self.members[m]) as f32;
            for (q, &l) in self.q[m * stride..m * stride + len].iter_mut().zip(&self.members) {
                *q = sign * iterate.sign(l) as f32 * row.at(iterate.id(l)) as f32;
            }
        }
        self.mirror(old);
        Ok(())
    }

    /// Adds members with kernel values computed for this matrix only.
    pub(crate) fn stream(&mut self, dual: &Dual, gram: &dyn Gram, par: Par, iterate: &Iterate, vertices: &[usize]) {
        let old = self.enrol(iterate, vertices);
        let (stride, len) = (self.stride, self.len());
        let ids: Vec<usize> = self.members.iter().map(|&k| dual.ids()[k]).collect();
        let signs: Vec<f32> = self.members.iter().map(|&k| dual.sign()[k] as f32).collect();
        let q = &mut self.q[old * stride..];
        submatrix(gram, &ids[old..], &ids, Some(old), stride, q, par);
        par.for_chunks(&mut q[..(len - old) * stride], stride, |r, q| {
            let sign = signs[old + r];
            q[..=old + r].iter_mut().zip(&signs).for_each(|(q, s)| *q *= sign * s);
        });
        self.mirror(old);
    }

    /// Makes room for new members and copies their α and gradient; returns the number of old ones.
    fn enrol(&mut self, iterate: &Iterate, vertices: &[usize]) -> usize {
        self.reserve(vertices.len());
        let old = self.len();
        for &vertex in vertices {
            self.place[vertex] = self.members.len() as u32;
            self.members.push(vertex);
            self.alpha.push(iterate.alpha(vertex));
            self.g.push(iterate.gradient(vertex));
            self.diagonal.push(iterate.own(vertex));
        }
        self.constant = self.diagonal.iter().all(|d| *d == self.diagonal[0]);
        let len = self.len();
        self.all.clear();
        self.all.resize(len.div_ceil(8), u8::MAX);
        self.used.clear();
        self.used.resize(len.div_ceil(8), 0);
        (0..len).for_each(|m| self.mark(m));
        old
    }

    /// Copies the rows of the members from `old` on, up to their own columns, to the columns of the
    /// rows above.
    fn mirror(&mut self, old: usize) {
        let (stride, len) = (self.stride, self.len());
        for from in (old..len).step_by(MIRROR) {
            let to = len.min(from + MIRROR);
            let (above, below) = self.q.split_at_mut(from * stride);
            for c in 0..from {
                let out = &mut above[c * stride + from..c * stride + to];
                for (r, out) in out.iter_mut().enumerate() {
                    *out = below[r * stride + c];
                }
            }
            for c in from..to {
                for r in c + 1..to {
                    below[(c - from) * stride + r] = below[(r - from) * stride + c];
                }
            }
        }
    }

    /// Sets α of every member; gradient and `αᵀQα` are computed from the matrix.
    pub(crate) fn set(&mut self, alpha: Vec<f64>, par: Par) {
        self.alpha = alpha;
        let (stride, len) = (self.stride, self.len());
        let (q, alpha, ridge) = (&self.q, &self.alpha, self.ridge);
        par.for_chunks(&mut self.g, 16, |t, g| {
            for (r, g) in g.iter_mut().enumerate() {
                let m = 16 * t + r;
                *g = dot(alpha, &q[m * stride..m * stride + len]) + ridge * alpha[m];
            }
        });
        self.square = self.alpha.iter().zip(&self.g).map(|(a, g)| a * g).sum();
        (0..len).for_each(|m| self.mark(m));
    }

    /// Copies α, gradient and `αᵀQα` from a point.
    pub(crate) fn read(&mut self, iterate: &Iterate) {
        for m in 0..self.len() {
            self.alpha[m] = iterate.alpha(self.members[m]);
            self.g[m] = iterate.gradient(self.members[m]);
            self.mark(m);
        }
        self.square = iterate.square;
    }

    /// Copies α, gradient and `αᵀQα` to a point.
    pub(crate) fn write(&self, iterate: &mut Iterate, control: &RunControl) -> Result<(), Cancelled> {
        iterate.adopt(&self.members, &self.alpha, self.square, control)?;
        if !iterate.full {
            self.members.iter().zip(&self.g).for_each(|(&k, &g)| iterate.set_gradient(k, g));
        }
        Ok(())
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

    /// Returns the extremes of the gradient: least of all, largest of the support.
    fn scan(&mut self) -> Extremes {
        let row = &self.q[..self.members.len()];
        add_and_scan(&mut self.g, row.into(), 0.0, &self.all, &self.used)
    }

    /// Makes pairwise steps until the members' gap or violation is at most the goal.
    pub(crate) fn solve(&mut self, aim: Aim, control: &mut SolverControl, outside: f64) -> CoreSetStats {
        let mut stats = CoreSetStats::default();
        let mut extremes = self.scan();
        let mut look = 0;
        loop {
            if self.ends(aim, &extremes) || stats.pairs >= aim.most {
                return stats;
            }
            if let Some(most) = aim.tight
                && stats.pairs >= look
            {
                if self.relative_gap() <= most {
                    return stats;
                }
                look = stats.pairs + LOOK.max(self.len() as u64 / 16);
            }
            stats.ended = control.ended(outside);
            if stats.ended.is_some() {
                return stats;
            }
            let Some(emptied) = self.step(&mut extremes) else { return stats };
            stats.pairs += 1;
            stats.drops += u64::from(emptied);
            control.step(self.len());
        }
    }

    /// Returns true if the goal is met, or no pair descends at this precision.
    fn ends(&self, aim: Aim, extremes: &Extremes) -> bool {
        let lowest = extremes.min_up;
        let violation = aim.target.rule == StopRule::Violation;
        let off = if violation { extremes.max_low - lowest } else { self.square - lowest };
        extremes.argmin_up == usize::MAX || off <= aim.target.allowed(self.square) || extremes.max_low <= lowest
    }

    /// Makes one step to the member of least gradient from its best partner. Returns true if that
    /// emptied the partner, `None` if there is none.
    fn step(&mut self, extremes: &mut Extremes) -> Option<bool> {
        let (i, lowest) = (extremes.argmin_up, extremes.min_up);
        let diagonal = if self.constant { Diagonal::Constant(self.diagonal[0]) } else { Diagonal::Each(&self.diagonal) };
        let own = self.diagonal[i] + 2.0 * self.ridge;
        let selection = PartnerSelection { diagonal, along: None, kii: own, fi: lowest, tau: TAU };
        let j = second_order(&self.g, self.row(i).into(), &selection, &self.used).index;
        (j != usize::MAX).then(|| self.pair(i, j, extremes))
    }

    /// Returns `s_k f(x_k)` of a member: its gradient without the ridge.
    pub(crate) fn margin(&self, m: usize) -> f64 {
        self.g[m] - self.ridge * self.alpha[m]
    }

    /// Returns the gap with the best slacks of the problem of the members.
    pub(crate) fn relative_gap(&self) -> f64 {
        let margins = || (0..self.len()).map(|m| self.margin(m));
        relative_gap(margins, self.square, self.alpha.iter().map(|a| a * a).sum(), self.ridge)
    }

    /// Moves mass from `j` to `i`; returns true if that emptied `j`.
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
        *extremes = update_and_scan(&mut self.g, row_i.into(), row_j.into(), step, &self.all, &self.used);
        empty
    }
}
