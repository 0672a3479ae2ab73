//! Where the furthest point is sought: among all, or in random samples.

use crate::config::{Finish, Sampling};
use crate::iterate::{Iterate, Vertex};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Samples without a point outside the ball before everything is looked at.
const PATIENCE: usize = 3;

/// A sample reads one kernel value for each of its points and each vertex of the support. At more than this many for each vertex, keeping
/// the gradient of all is cheaper.
const WORTH: usize = 8;

/// What a search has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Search {
    /// This is the furthest point of all, or of a sample that has points to offer.
    Found(Vertex),
    /// No point violates: shown by a look at all of them (`true`) or by a sample that is to be taken for it.
    Nothing(bool),
}

/// The samples that are drawn, until the gradient of every point is kept.
pub(crate) struct Candidates {
    sampling: Option<(Sampling, ChaCha8Rng)>,
    drawn: Vec<usize>,
    gradients: Vec<f64>,
    pub(crate) samples: u64,
}

impl Candidates {
    pub(crate) fn new(sampling: Option<Sampling>) -> Self {
        let sampling = sampling.map(|s| (s, ChaCha8Rng::seed_from_u64(s.seed)));
        Self { sampling, drawn: vec![], gradients: vec![], samples: 0 }
    }

    /// Looks for the furthest point; `satisfied` says whether the rule holds if this is it.
    pub(crate) fn search(&mut self, iterate: &mut Iterate, satisfied: impl Fn(&mut Iterate, Vertex) -> bool) -> Search {
        let mut failures = 0;
        while let (false, Some((sampling, rng))) = (iterate.full, &mut self.sampling) {
            let reads = iterate.support.len() * sampling.candidates;
            if sampling.candidates >= iterate.len() || (sampling.finish == Finish::Scan && reads > WORTH * iterate.len()) {
                break;
            }
            draw(rng, iterate.len(), sampling.candidates, &mut self.drawn);
            self.samples += 1;
            iterate.evaluate(&self.drawn, &mut self.gradients);
            let mut best = Vertex { k: usize::MAX, gradient: f64::INFINITY };
            for (&k, &gradient) in self.drawn.iter().zip(&self.gradients) {
                if gradient < best.gradient || (gradient == best.gradient && k < best.k) {
                    best = Vertex { k, gradient };
                }
            }
            if best.k == usize::MAX {
                break;
            }
            if !satisfied(iterate, best) {
                return Search::Found(best);
            }
            if sampling.finish == Finish::Sample {
                return Search::Nothing(false);
            }
            failures += 1;
            if failures == PATIENCE {
                break;
            }
        }
        iterate.complete();
        let best = iterate.furthest();
        if satisfied(iterate, best) { Search::Nothing(true) } else { Search::Found(best) }
    }
}

/// `count` different numbers below `n`, in the order in which they were drawn.
pub(crate) fn draw(rng: &mut ChaCha8Rng, n: usize, count: usize, drawn: &mut Vec<usize>) {
    drawn.clear();
    if 4 * count >= n {
        // The beginning of a random permutation.
        drawn.extend(0..n);
        for i in 0..count.min(n) {
            let j = rng.random_range(i..n);
            drawn.swap(i, j);
        }
        drawn.truncate(count);
        return;
    }
    while drawn.len() < count {
        let k = rng.random_range(0..n);
        if !drawn.contains(&k) {
            drawn.push(k);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_numbers_differ_and_reach_everywhere() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let mut drawn = vec![];
        for (n, count, draws) in [(5, 5, 20), (5, 4, 40), (100, 59, 60), (1000, 59, 400), (3, 7, 3)] {
            let mut seen = vec![false; n];
            for _ in 0..draws {
                draw(rng, n, count, &mut drawn);
                assert_eq!(drawn.len(), count.min(n));
                let mut sorted = drawn.clone();
                sorted.sort_unstable();
                assert!(sorted.windows(2).all(|w| w[0] < w[1]) && sorted.iter().all(|&k| k < n));
                sorted.iter().for_each(|&k| seen[k] = true);
            }
            // A number is missed by all draws of one case with probability (1 − count/n)^draws < 10⁻¹⁰, and the seed is fixed.
            assert!(seen.iter().all(|s| *s), "{n} {count}");
        }
    }
}
