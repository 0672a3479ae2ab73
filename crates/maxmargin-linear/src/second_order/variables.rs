//! The variables of the inner problem, in blocks for vector passes.

use maxmargin_data::Par;
use maxmargin_kernel::features::CHUNK;
use maxmargin_simd::clipped::{Advance, Block, LANES, Split, Variable, advance, split, sum_at};

/// The blocks of a task of one thread.
const BLOCKS: usize = CHUNK / LANES;

/// The variables of the inner problem: `p_k = clip(base_k + weight_k · slack_k, 0, upper_k)`.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    blocks: Vec<Block>,
    len: usize,
}

impl Variables {
    /// So many variables of zeros.
    pub(crate) fn new(len: usize) -> Self {
        Self { blocks: vec![Block::default(); len.div_ceil(LANES)], len }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, k: usize) -> Variable {
        self.blocks[k / LANES].get(k % LANES)
    }

    /// Replaces each variable by what `change` makes of it and its index.
    pub(crate) fn update(&mut self, change: impl Fn(usize, &mut Variable)) {
        for k in 0..self.len {
            let (block, lane) = (&mut self.blocks[k / LANES], k % LANES);
            let mut variable = block.get(lane);
            change(k, &mut variable);
            block.set(lane, &variable);
        }
    }

    /// Sets the decrease of every slack along a line.
    pub(crate) fn set_falls(&mut self, par: Par, fall: impl Fn(usize) -> f64 + Sync) {
        let len = self.len;
        par.for_chunks(&mut self.blocks, BLOCKS, |chunk, blocks| {
            for (at, block) in blocks.iter_mut().enumerate() {
                let first = chunk * CHUNK + at * LANES;
                block.falls_mut()[..LANES.min(len - first)].iter_mut().enumerate().for_each(|(k, f)| *f = fall(first + k));
            }
        });
    }

    /// Moves the slacks by the share `t` of their falls, and clips.
    pub(crate) fn advance(&mut self, t: f64, par: Par) -> Advance {
        let mut parts = vec![Advance::default(); self.blocks.len().div_ceil(BLOCKS)];
        {
            // Chunks of the blocks, each with its part of the result.
            let mut tasks: Vec<(&mut [Block], &mut Advance)> = self.blocks.chunks_mut(BLOCKS).zip(&mut parts).collect();
            par.for_chunks(&mut tasks, 1, |chunk, task| {
                let (blocks, part) = &mut task[0];
                **part = advance(blocks, t, chunk * CHUNK);
            });
        }
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.free.extend(part.free);
            all.changes.extend(part.changes);
            all.violation = all.violation.max(part.violation);
        }
        all
    }

    /// Returns `Σ fall · p` at the share `t` of a line.
    pub(crate) fn sum_at(&self, t: f64, par: Par) -> f64 {
        self.chunks(par, |blocks| sum_at(blocks, t)).iter().sum()
    }

    /// Splits `Σ fall · p` for all shares from 0 to `end`.
    pub(crate) fn split(&self, end: f64, par: Par) -> Split {
        let mut all = Split::default();
        for part in self.chunks(par, |blocks| split(blocks, end)) {
            all.constant += part.constant;
            all.rate += part.rate;
            all.crossing.extend(part.crossing);
        }
        all
    }

    fn chunks<T: Send>(&self, par: Par, of: impl Fn(&[Block]) -> T + Sync) -> Vec<T> {
        par.map(self.blocks.len().div_ceil(BLOCKS), |chunk| {
            of(&self.blocks[chunk * BLOCKS..self.blocks.len().min((chunk + 1) * BLOCKS)])
        })
    }
}
