//! The search for the furthest point: among all points, or in random samples.

use crate::config::{Finish, Sampling};
use crate::point::iterate::{Iterate, Vertex};
use maxmargin_core::{SolverControl, Status};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The largest cost of a sample, in values for each vertex, for which it is drawn. A sample reads
/// one kernel value for each of its points and each vertex of the support. Above this it is cheaper
/// to keep the gradient of all.
const WORTH: usize = 8;

/// The reciprocal of that limit for runs that end with a sample: `complete` costs them rows that
/// they have anyway. Measured on a1a and a7a: a step of one pass over contiguous rows takes as long
/// as reading 1/16 to 1/4 as many scattered values.
const SCATTERED: usize = 8;

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Search {
    /// The furthest point of all, or of a sample with a violator.
    Furthest(Vertex),
    /// No point violates: by a scan of all points (`true`), or by a sample that ends the run.
    NoViolator(bool),
}

/// The random samples, until the gradient of every point is kept.
pub(crate) struct Candidates {
    sampling: Option<(Sampling, ChaCha8Rng)>,
    /// The positive and the negative points, if samples are balanced.
    classes: [Vec<usize>; 2],
    drawn: Vec<usize>,
    part: Vec<usize>,
    gradients: Vec<f64>,
    pub(crate) samples: u64,
}

impl Candidates {
    pub(crate) fn new(sampling: Option<Sampling>) -> Self {
        let sampling = sampling.map(|s| (s, ChaCha8Rng::seed_from_u64(s.seed)));
        Self { sampling, classes: [vec![], vec![]], drawn: vec![], part: vec![], gradients: vec![], samples: 0 }
    }

    /// Starts to keep the gradient of all points if that is cheaper than computing it for a sample
    /// at every step. A run that ends with a sample then draws the same samples and looks their
    /// points up.
    pub(crate) fn keep(&self, iterate: &mut Iterate, control: &mut SolverControl) -> Result<(), Status> {
        let ends = self.sampling.as_ref().filter(|(sampling, _)| sampling.finish == Finish::Sample);
        if ends.is_some_and(|(sampling, _)| SCATTERED * iterate.support.len() * sampling.candidates > iterate.len()) {
            control.run(f64::INFINITY, |control| iterate.complete(control))?;
        }
        Ok(())
    }

    /// Searches for the furthest point; `satisfied` returns true if the rule holds with this one.
    pub(crate) fn search(
        &mut self,
        iterate: &mut Iterate,
        control: &mut SolverControl,
        satisfied: impl Fn(&mut Iterate, Vertex) -> bool,
    ) -> Result<Search, Status> {
        let mut failures = 0;
        while let Some((sampling, rng)) = &mut self.sampling {
            let reads = iterate.support.len() * sampling.candidates;
            let scan = sampling.finish == Finish::Scan && (iterate.full || reads > WORTH * iterate.len());
            if scan || sampling.candidates >= iterate.len() {
                break;
            }
            if sampling.balanced {
                if self.classes.iter().all(Vec::is_empty) {
                    let of = |sign: f64| (0..iterate.len()).filter(|&k| iterate.sign(k) == sign).collect();
                    self.classes = [of(1.0), of(-1.0)];
                }
                draw_balanced(rng, &self.classes, sampling.candidates, &mut self.part, &mut self.drawn);
            } else {
                draw(rng, iterate.len(), sampling.candidates, &mut self.drawn);
            }
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
                return Ok(Search::Furthest(best));
            }
            failures += 1;
            if failures >= sampling.tries {
                match sampling.finish {
                    Finish::Sample => return Ok(Search::NoViolator(false)),
                    Finish::Scan => break,
                }
            }
        }
        control.run(f64::INFINITY, |control| iterate.complete(control))?;
        let best = iterate.furthest();
        Ok(if satisfied(iterate, best) { Search::NoViolator(true) } else { Search::Furthest(best) })
    }
}

/// Draws `count` different numbers below `n`, in the order of the draws.
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

/// Draws `count` different points, half of them of each class; a smaller class is taken whole.
fn draw_balanced(rng: &mut ChaCha8Rng, classes: &[Vec<usize>; 2], count: usize, part: &mut Vec<usize>, drawn: &mut Vec<usize>) {
    let [positive, negative] = classes;
    let first = count.div_ceil(2).max(count.saturating_sub(negative.len())).min(positive.len());
    drawn.clear();
    for (class, count) in [(positive, first), (negative, (count - first).min(negative.len()))] {
        draw(rng, class.len(), count, part);
        drawn.extend(part.iter().map(|&at| class[at]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin_core::{RunControl, Stop};
    use maxmargin_data::Par;
    use maxmargin_kernel::Rows;
    use maxmargin_testkit::generate;

    #[test]
    fn balanced_samples_have_half_of_each_class_as_far_as_there_are_so_many() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let (mut part, mut drawn) = (vec![], vec![]);
        let cases =
            [((100, 1000), 59, 30), ((3, 1000), 59, 3), ((1000, 5), 59, 54), ((4, 5), 59, 4), ((0, 70), 59, 0), ((9, 0), 5, 5)];
        for ((positive, negative), count, expected) in cases {
            let classes = [(0..positive).collect(), (positive..positive + negative).collect()];
            draw_balanced(rng, &classes, count, &mut part, &mut drawn);
            assert_eq!(drawn.len(), count.min(positive + negative));
            assert_eq!(drawn.iter().filter(|k| **k < positive).count(), expected, "{positive} {negative} {count}");
            let mut sorted = drawn.clone();
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn a_kept_gradient_changes_no_sample() {
        let problem = generate::lattice(7, 600, 2, 1.0);
        let signs = problem.dual.sign().to_vec();
        let problem = generate::l2_svm("lattice".into(), &problem.gram.scaled(1.0 / 1024.0), signs, 4.0);
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let start = crate::random_start(&problem.dual, &rows, 20, 1).expect("a start");
        let iterate = || {
            Iterate::new(&problem.dual, &rows, Par::Seq, start.alpha(), None, false, &RunControl::unlimited())
                .expect("not cancelled")
        };
        for balanced in [false, true] {
            let sampling = Some(Sampling { balanced, ..Sampling::of(8, 3, Finish::Sample) });
            let (mut here, mut there) = (Candidates::new(sampling), Candidates::new(sampling));
            let (mut support, mut all) = (iterate(), iterate());
            let (stop, unlimited) = (Stop::at(0.0), RunControl::unlimited());
            let control = &mut SolverControl::new(&rows, &stop, &unlimited);
            there.keep(&mut all, control).expect("not cancelled");
            assert!(all.full && !support.full, "8 points and a support of 20 at most are worth 600 values");
            for _ in 0..50 {
                let one = here.search(&mut support, control, |_, _| false);
                let other = there.search(&mut all, control, |_, _| false);
                let (Ok(Search::Furthest(one)), Ok(Search::Furthest(other))) = (one, other) else { panic!("{one:?}, {other:?}") };
                assert!(one.k == other.k && (one.gradient - other.gradient).abs() <= 1e-12, "{one:?}, {other:?}");
            }
            assert!(!support.full);
        }
    }

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
            // All draws of one case miss a number with probability (1 − count/n)^draws < 10⁻¹⁰, and
            // the seed is fixed.
            assert!(seen.iter().all(|s| *s), "{n} {count}");
        }
    }
}
