//! Passes over many variables of the form `p = clip(base + weight · slack, 0, upper)`, whose slacks
//! fall along a line: the inner problem of a Newton method for machines with bounds.
//!
//! Variables are stored in blocks of 16, each property of a block together. The loops are plain
//! Rust that is compiled once per dispatch level. All levels return the same bits.

use crate::dispatch::each::at_level;

/// Number of variables of a block, and of partial sums.
pub const LANES: usize = 16;

/// One variable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variable {
    /// The slack at the present point.
    pub slack: f64,
    /// The decrease of the slack along the whole line.
    pub fall: f64,
    /// The wish is `base + weight · slack`; clipped it is `p`.
    pub base: f64,
    /// The factor of the slack.
    pub weight: f64,
    /// The upper bound.
    pub upper: f64,
    /// The curvature of the variable's own term: the gradient in `p` is `ridge · p − slack`.
    pub ridge: f64,
    /// The last clipped wish.
    pub p: f64,
}

/// A block of [`LANES`] variables. Unused places are variables of zeros, which change nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    slack: [f64; LANES],
    fall: [f64; LANES],
    base: [f64; LANES],
    weight: [f64; LANES],
    upper: [f64; LANES],
    ridge: [f64; LANES],
    p: [f64; LANES],
}

impl Block {
    /// The variable at a place.
    ///
    /// # Panics
    ///
    /// When the place is not below [`LANES`].
    #[inline]
    pub fn get(&self, lane: usize) -> Variable {
        Variable {
            slack: self.slack[lane],
            fall: self.fall[lane],
            base: self.base[lane],
            weight: self.weight[lane],
            upper: self.upper[lane],
            ridge: self.ridge[lane],
            p: self.p[lane],
        }
    }

    /// Replaces the variable at a place.
    ///
    /// # Panics
    ///
    /// When the place is not below [`LANES`].
    #[inline]
    pub fn set(&mut self, lane: usize, variable: &Variable) {
        self.slack[lane] = variable.slack;
        self.fall[lane] = variable.fall;
        self.base[lane] = variable.base;
        self.weight[lane] = variable.weight;
        self.upper[lane] = variable.upper;
        self.ridge[lane] = variable.ridge;
        self.p[lane] = variable.p;
    }

    /// The falls of the variables.
    #[inline]
    pub fn falls_mut(&mut self) -> &mut [f64; LANES] {
        &mut self.fall
    }
}

/// A variable whose wish crosses a bound along the line: `clip(wish − t · rate, 0, upper)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The decrease of the slack along the whole line.
    pub fall: f64,
    /// The wish at the beginning of the line.
    pub wish: f64,
    /// The decrease of the wish along the whole line.
    pub rate: f64,
    /// The upper bound.
    pub upper: f64,
}

/// The sum `Σ fall · p` along a line, up to some share of it: `constant − t · rate` and the terms
/// of those that cross a bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// The part that does not change.
    pub constant: f64,
    /// The decrease of the part that is linear, along the whole line.
    pub rate: f64,
    /// The variables that cross a bound, ascending.
    pub crossing: Vec<Crossing>,
}

/// A variable whose `p` has changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its place among all variables of the pass.
    pub place: usize,
    /// The difference.
    pub delta: f64,
}

/// The results of [`advance`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advance {
    /// The places of variables strictly between their bounds, ascending.
    pub free: Vec<usize>,
    /// The variables that have changed, ascending.
    pub changes: Vec<Change>,
    /// The largest gradient that points into the box: `ridge · p − slack` of a positive `p`, and
    /// its negative of a `p` below the upper bound.
    pub violation: f64,
}

/// Computes `Σ fall · clip(wish, 0, upper)` at the share `t` of the line.
pub fn sum_at(blocks: &[Block], t: f64) -> f64 {
    at_level!(plain_sum_at [] [] (blocks: &[Block], t: f64) -> f64)
}

/// Splits the sum of [`sum_at`] for all shares from 0 to `end`.
pub fn split(blocks: &[Block], end: f64) -> Split {
    at_level!(plain_split [] [] (blocks: &[Block], end: f64) -> Split)
}

/// Moves the slacks to the share `t` of the line and clips the wishes there. Places are counted
/// from `first`.
pub fn advance(blocks: &mut [Block], t: f64, first: usize) -> Advance {
    at_level!(plain_advance [] [] (blocks: &mut [Block], t: f64, first: usize) -> Advance)
}

/// The maximum, or `b` if `a` is no number: one instruction.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn clip(wish: f64, upper: f64) -> f64 {
    let above = larger(wish, 0.0);
    if above < upper { above } else { upper }
}

/// The sum or maximum of all lanes, in pairs.
#[inline(always)]
fn reduce(mut lanes: [f64; LANES], join: impl Fn(f64, f64) -> f64) -> f64 {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
    }
    lanes[0]
}

#[inline(always)]
fn plain_sum_at(blocks: &[Block], t: f64) -> f64 {
    let mut sums = [0.0; LANES];
    for block in blocks {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let wish = block.base[lane] + block.weight[lane] * (block.slack[lane] - t * block.fall[lane]);
            *sum += block.fall[lane] * clip(wish, block.upper[lane]);
        }
    }
    reduce(sums, |a, b| a + b)
}

#[inline(always)]
fn plain_split(blocks: &[Block], end: f64) -> Split {
    let (mut constant, mut linear) = ([0.0; LANES], [0.0; LANES]);
    let mut crossing = Vec::new();
    for block in blocks {
        let (mut wishes, mut rates, mut crosses) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let (fall, upper) = (block.fall[lane], block.upper[lane]);
            let wish = block.base[lane] + block.weight[lane] * block.slack[lane];
            let rate = block.weight[lane] * fall;
            let last = wish - end * rate;
            let (low, high) = if last < wish { (last, wish) } else { (wish, last) };
            let within = low >= 0.0 && high <= upper;
            let crosses_here = !(within || high <= 0.0 || low >= upper);
            constant[lane] += if crosses_here { 0.0 } else { fall * clip(wish, upper) };
            linear[lane] += if within { fall * rate } else { 0.0 };
            wishes[lane] = wish;
            rates[lane] = rate;
            crosses[lane] = if crosses_here { 1.0 } else { 0.0 };
        }
        if reduce(crosses, larger) > 0.0 {
            for lane in (0..LANES).filter(|&lane| crosses[lane] > 0.0) {
                let (fall, upper) = (block.fall[lane], block.upper[lane]);
                crossing.push(Crossing { fall, wish: wishes[lane], rate: rates[lane], upper });
            }
        }
    }
    let add = |a, b| a + b;
    Split { constant: reduce(constant, add), rate: reduce(linear, add), crossing }
}

#[inline(always)]
fn plain_advance(blocks: &mut [Block], t: f64, first: usize) -> Advance {
    let mut found = Advance::default();
    let mut violations = [0.0; LANES];
    for (at, block) in blocks.iter_mut().enumerate() {
        let (mut inside, mut deltas, mut busy) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let (upper, before) = (block.upper[lane], block.p[lane]);
            let slack = block.slack[lane] - t * block.fall[lane];
            let wish = block.base[lane] + block.weight[lane] * slack;
            let p = clip(wish, upper);
            let gradient = block.ridge[lane] * p - slack;
            let too_high = if p > 0.0 { gradient } else { 0.0 };
            let too_low = if p < upper { -gradient } else { 0.0 };
            violations[lane] = larger(violations[lane], larger(too_high, too_low));
            inside[lane] = if wish < upper - wish { wish } else { upper - wish };
            deltas[lane] = p - before;
            busy[lane] = larger(inside[lane], deltas[lane].abs());
            block.slack[lane] = slack;
            block.p[lane] = p;
        }
        // Most blocks near a solution have no variable that is free or changes.
        if reduce(busy, larger) > 0.0 {
            for lane in 0..LANES {
                let place = first + at * LANES + lane;
                if inside[lane] > 0.0 {
                    found.free.push(place);
                }
                if deltas[lane] != 0.0 {
                    found.changes.push(Change { place, delta: deltas[lane] });
                }
            }
        }
    }
    found.violation = reduce(violations, larger);
    found
}
