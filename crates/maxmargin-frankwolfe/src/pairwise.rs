//! Pairwise steps in fully corrective phases: a working set from coarse to fine, its problem solved, all vertices looked at once.

use crate::candidates::Candidates;
use crate::config::{Evidence, Method, Rule, Steps};
use crate::core_set::{Aim, CoreSet};
use crate::cvm::{PAIRS, PAIRS_EACH, PATIENCE};
use crate::iterate::Iterate;
use crate::steps::{self, Target};
use maxmargin_core::Clock;
use maxmargin_core::{Dual, Status};
use maxmargin_kernel::{Rows, apply};

/// The coarsest level has at least this many vertices, each finer one this many times those of the one before.
const COARSEST: usize = 512;
const FINER: usize = 4;

/// A start whose support is a smaller share of the vertices than this knows less than a coarse level tells.
const INFORMED: usize = 64;

/// Relative gap at which a level is left: the next, or the vertices that were not foreseen, change more than that.
const COARSE: f64 = 1e-3;

/// Vertices that join in one round, at least, and as a share of the members.
const BLOCK: usize = 256;
const SHARE: usize = 4;

/// Room that the finest level leaves for vertices to come, as a share of its members (eighths): more than one full round. A matrix that has to
/// grow is cleared and copied as a whole.
const ROOM: usize = 3;

/// Of what the rule allows: the members get this share.
const INSIDE: f64 = 0.5;

/// The problem, and where its kernel values come from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, 'g> {
    pub(crate) dual: &'a Dual,
    pub(crate) rows: &'a Rows<'g>,
    /// Members that a working set may have.
    pub(crate) most: usize,
}

/// With more members than this (their matrix takes 5 GB and more) single steps on the rows of the store take over.
pub(crate) const MOST: usize = 1 << 15;

/// Rounds until the rule holds for all vertices. `core` is empty, or the working set of a run that goes on.
pub(crate) fn run(
    target: Target,
    source: Source,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    made: &mut Steps,
    clock: &mut Clock,
) -> (Status, Evidence) {
    if core.len() == 0 {
        let furthest = iterate.furthest();
        let measure = target.at(iterate, furthest);
        if let (true, Some(status)) = (measure > target.tol, clock.look(measure).or_else(|| clock.ended(measure))) {
            return (status, Evidence::None);
        }
        let coarsest = coarsest(iterate.len());
        if measure > target.tol && coarsest > 1 && iterate.support.len() * INFORMED < iterate.len() {
            if let Some(status) = levels(target, source, coarsest, iterate, core, made, clock, measure) {
                return (status, Evidence::None);
            }
        } else {
            let mut support: Vec<usize> = iterate.support.iter().map(|&k| k as usize).collect();
            support.sort_unstable();
            if support.len() <= source.most {
                stream(source, iterate, core, &support);
            }
        }
    }
    if core.len() == 0 {
        return steps::run(Method::Swap, target, iterate, &mut Candidates::new(None), made, clock);
    }
    core.read(iterate);
    let (mut least, mut idle) = (f64::INFINITY, 0);
    loop {
        let furthest = iterate.furthest();
        if target.holds(iterate, furthest, target.tol) {
            return (Status::Converged, Evidence::FullScan);
        }
        let measure = target.at(iterate, furthest);
        if let Some(status) = clock.look(measure).or_else(|| clock.ended(measure)) {
            return (status, Evidence::None);
        }
        let joining = violators(iterate, core, target);
        idle = if !joining.is_empty() || measure < least { 0 } else { idle + 1 };
        least = least.min(measure);
        if idle > PATIENCE {
            return (Status::Stalled, Evidence::None);
        }
        if core.len() + joining.len() > source.most {
            return steps::run(Method::Swap, target, iterate, &mut Candidates::new(None), made, clock);
        }
        stream(source, iterate, core, &joining);
        let ended = solve(core, target, INSIDE * target.tol, made, clock, measure);
        evaluate(source, iterate, core);
        if let Some(status) = ended {
            return (status, Evidence::None);
        }
    }
}

/// Every how many vertices the coarsest level has one; 1 where there are too few for levels.
fn coarsest(n: usize) -> usize {
    let mut stride = 1;
    while n / (stride * FINER) >= COARSEST {
        stride *= FINER;
    }
    stride
}

/// Solves the problem of every `stride`-th vertex, then of ever more of them, and leaves the working set and the solution of the finest level.
///
/// With a fraction φ of the samples, φ times the ridge makes the sum of their losses stand for that of all: the levels have nearly the same `w`. So
/// a coarse solution tells which samples of the next level are inside the margin, the support there, and how far, which is α up to the ridge.
#[expect(clippy::too_many_arguments, reason = "the loop's state; a struct would only be taken apart again")]
fn levels(
    target: Target,
    source: Source,
    coarsest: usize,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    made: &mut Steps,
    clock: &mut Clock,
    measure: f64,
) -> Option<Status> {
    let (n, dual) = (iterate.len(), source.dual);
    let mut stride = coarsest;
    // Margins of all samples, and ρ, of the level before.
    let mut known: Option<(Vec<f64>, f64)> = None;
    loop {
        *core = CoreSet::empty(n, dual.ridge() / stride as f64);
        let is_inside = |k: &usize| known.as_ref().is_none_or(|(margins, rho)| margins[*k] < *rho);
        let members: Vec<usize> = (0..n).step_by(stride).filter(is_inside).collect();
        if members.len() > source.most {
            *core = CoreSet::empty(n, dual.ridge());
            return None;
        }
        let mut alpha: Vec<f64> = match &known {
            Some((margins, rho)) => members.iter().map(|&k| (rho - margins[k]).max(0.0)).collect(),
            None => vec![1.0; members.len()],
        };
        let mass: f64 = alpha.iter().sum();
        alpha.iter_mut().for_each(|a| *a /= mass);
        if stride == 1 {
            core.reserve(members.len() + members.len() * ROOM / 8);
        }
        stream(source, iterate, core, &members);
        core.set(alpha, source.rows.par());
        let ended = solve(core, target, COARSE.max(INSIDE * target.tol), made, clock, measure);
        if stride == 1 || ended.is_some() {
            evaluate(source, iterate, core);
            return ended;
        }
        let sums = product(source, iterate, core);
        let margins = dual.ids().iter().zip(dual.sign()).map(|(&id, s)| s * sums[id]).collect();
        known = Some((margins, core.square));
        stride /= FINER;
    }
}

/// Solves the problem of the members to the relative gap `goal`, or by another rule to the tolerance `goal`.
fn solve(core: &mut CoreSet, target: Target, goal: f64, made: &mut Steps, clock: &mut Clock, measure: f64) -> Option<Status> {
    let tight = (target.rule == Rule::RelativeGap && target.ridge > 0.0).then_some(goal);
    let aim = Aim { target: Target { tol: goal, ..target }, tight, most: PAIRS + PAIRS_EACH * core.len() as u64 };
    let solved = core.solve(aim, clock, measure);
    made.rounds += 1;
    made.swap += solved.pairs;
    made.drop += solved.drops;
    solved.ended
}

/// New members.
fn stream(source: Source, iterate: &mut Iterate, core: &mut CoreSet, vertices: &[usize]) {
    core.stream(source.dual, source.rows.gram(), source.rows.par(), iterate, vertices);
    iterate.count_computed(vertices.len());
}

/// `Σ s_l α_l K(id_l, ·)` at every sample of the Gram matrix.
fn product(source: Source, iterate: &mut Iterate, core: &CoreSet) -> Vec<f64> {
    let gram = source.rows.gram();
    let (mut ids, mut coef) = (vec![], vec![]);
    for (&k, &a) in core.members.iter().zip(&core.alpha).filter(|(_, a)| **a > 0.0) {
        ids.push(source.dual.ids()[k]);
        coef.push(source.dual.sign()[k] * a);
    }
    iterate.count_computed(ids.len());
    apply(gram, &ids, &coef, 0..gram.len(), source.rows.par())
}

/// Hands the members' α to the point, with its gradient at every vertex.
fn evaluate(source: Source, iterate: &mut Iterate, core: &CoreSet) {
    let sums = product(source, iterate, core);
    let mut alpha = vec![0.0; iterate.len()];
    core.members.iter().zip(&core.alpha).for_each(|(&k, &a)| alpha[k] = a);
    let dual = source.dual;
    let gradient: Vec<f64> = (0..alpha.len()).map(|k| dual.sign()[k] * sums[dual.ids()[k]] + dual.ridge() * alpha[k]).collect();
    iterate.replace(&alpha, &gradient);
}

/// The vertices outside the working set that violate most, by at least what keeps the rule from holding.
fn violators(iterate: &Iterate, core: &CoreSet, target: Target) -> Vec<usize> {
    let most = BLOCK.max(core.len() / SHARE);
    let least = iterate.square - INSIDE * target.allowed(iterate.square);
    let mut outside: Vec<(f64, usize)> =
        (0..iterate.len()).filter(|&k| !core.contains(k)).map(|k| (iterate.gradient(k), k)).filter(|(g, _)| *g < least).collect();
    if outside.len() > most {
        // Ties by place: the same block whatever the order of the selection.
        outside.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        outside.truncate(most);
    }
    let mut vertices: Vec<usize> = outside.into_iter().map(|(_, k)| k).collect();
    vertices.sort_unstable();
    vertices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_start;
    use maxmargin_core::{Silent, Stop};
    use maxmargin_data::Par;
    use maxmargin_testkit::generate;

    #[test]
    fn levels_begin_where_there_are_enough_vertices() {
        assert_eq!([100, 2047, 2048, 8191, 8192, 50_000].map(coarsest), [1, 1, 4, 4, 16, 64]);
    }

    /// However few members are allowed, at the start, on a level or in a round, the run arrives.
    #[test]
    fn working_sets_that_may_not_grow_give_way_to_single_steps() {
        let lattice = generate::lattice(7, 2100, 2, 1.0);
        let signs = lattice.dual.sign().to_vec();
        let problem = generate::l2_svm("lattice".into(), &lattice.gram.scaled(1.0 / 1024.0), signs, 0.1);
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let delta2 = problem.gram.scaled(1.0).at(0, 0) + 1000.0;
        let target = Target { rule: Rule::RelativeGap, tol: 1e-3, delta2, ridge: problem.dual.ridge() };
        for most in [0, 300, 600, MOST] {
            let start = random_start(&problem.dual, &rows, 20, 1).expect("a start");
            let mut iterate = Iterate::new(&problem.dual, &rows, Par::Seq, start.alpha(), None, true);
            let mut core = CoreSet::empty(2100, problem.dual.ridge());
            let (stop, mut silent, mut made) = (Stop::at(1e-3), Silent, Steps::default());
            let mut clock = Clock::new(&rows, &stop, &mut silent);
            let source = Source { dual: &problem.dual, rows: &rows, most };
            let ended = run(target, source, &mut iterate, &mut core, &mut made, &mut clock);
            assert_eq!(ended, (Status::Converged, Evidence::FullScan), "{most}");
            assert_eq!(made.toward > 0, most < MOST, "{most}: {made:?}");
        }
    }
}
