//! Pairwise steps in fully corrective phases.
//!
//! ```text
//!   1  levels: for every 4^l-th vertex, l = L … 0:
//!        W ← vertices of the level inside the margin by the level before;  α ← argmin over W
//!   2  g ← Qα for all vertices;  stop if the rule holds
//!   3  W ← W ∪ the vertices outside W with the largest violation
//!   4  α ← argmin ½ αᵀQα on the simplex of W, by second-order pairwise steps;  go to 2
//! ```

use crate::config::{Evidence, StepMethod, Steps, StopRule};
use crate::methods::candidates::Candidates;
use crate::methods::core_set::{Aim, CoreSet};
use crate::methods::cvm::{IDLE_ROUNDS, PAIRS, PAIRS_EACH};
use crate::methods::steps::{self, Target};
use crate::point::iterate::Iterate;
use maxmargin_core::{Cancelled, Dual, RunControl, SolverControl, Status};
use maxmargin_kernel::{Rows, apply, products};

/// The least number of vertices of the coarsest level, and the factor between levels.
const COARSEST: usize = 512;
const FINER: usize = 4;

/// A start whose support is a smaller share of the vertices has less information than a coarse
/// level.
const INFORMED: usize = 64;

/// The relative gap at which a level ends: the next one, or vertices outside the level, change
/// more.
const COARSE: f64 = 1e-3;

/// The same for the finest level: the vertices that join next raise the gap to about 10⁻² anyway.
const FINEST: f64 = 1e-2;

/// The vertices that join in one round: at least this number, or this share of the members.
const BLOCK: usize = 256;
const SHARE: usize = 4;

/// The room for later vertices at the finest level, as a share of its members (eighths): more than
/// one full round. A growing matrix is cleared and copied as a whole.
const ROOM: usize = 3;

/// The members' share of the tolerance.
const INSIDE: f64 = 0.8;

/// The problem and the source of its kernel values.
#[derive(Clone, Copy)]
pub(crate) struct KernelSource<'a, 'g> {
    pub(crate) dual: &'a Dual,
    pub(crate) rows: &'a Rows<'g>,
    /// The largest number of members of a working set.
    pub(crate) most: usize,
}

/// The largest number of members (their matrix takes 5 GB). Beyond it single steps on the rows of
/// the store take over.
pub(crate) const MOST: usize = 1 << 15;

/// Makes rounds until the rule holds for all vertices. `core` is empty, or the working set of a run
/// that continues.
pub(crate) fn run(
    target: Target,
    source: KernelSource,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    made: &mut Steps,
    control: &mut SolverControl,
) -> (Status, Evidence) {
    if core.len() == 0
        && let Some(status) = first_working_set(target, source, iterate, core, made, control)
    {
        return (status, Evidence::None);
    }
    if core.len() == 0 {
        return steps::run(StepMethod::Swap, target, iterate, &mut Candidates::new(None), made, control);
    }
    core.read(iterate);
    let (mut least, mut idle) = (f64::INFINITY, 0);
    loop {
        // 2: the gradient of all vertices is up to date.
        let furthest = iterate.furthest();
        if target.holds(iterate, furthest, target.tol) {
            return (Status::Converged, Evidence::FullScan);
        }
        let measure = target.at(iterate, furthest);
        if let Some(status) = control.check_now(measure).or_else(|| control.ended_or_slow(measure)) {
            return (status, Evidence::None);
        }
        // 3: the vertices that join.
        let joining = violators(iterate, core, target);
        idle = if !joining.is_empty() || measure < least { 0 } else { idle + 1 };
        least = least.min(measure);
        if idle > IDLE_ROUNDS {
            return (Status::Stalled, Evidence::None);
        }
        if core.len() + joining.len() > source.most {
            // Free the matrix: its memory is needed for rows.
            *core = CoreSet::empty(iterate.len(), source.dual.ridge());
            return steps::run(StepMethod::Swap, target, iterate, &mut Candidates::new(None), made, control);
        }
        // 4: the problem of the working set.
        let ended = stream(source, iterate, core, &joining, control, measure).err();
        let ended = ended.or_else(|| solve(core, target, INSIDE * target.tol, made, control, measure));
        if let Some(status) = ended.or_else(|| evaluate(source, iterate, core, control, measure).err()) {
            control.run_final(|control| spread(source, iterate, core, control));
            return (status, Evidence::None);
        }
    }
}

/// Builds the first working set, from levels or from the support of the start (step 1). Returns the
/// status if the run ended.
fn first_working_set(
    target: Target,
    source: KernelSource,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    made: &mut Steps,
    control: &mut SolverControl,
) -> Option<Status> {
    let furthest = iterate.furthest();
    let measure = target.at(iterate, furthest);
    if let (true, Some(status)) = (measure > target.tol, control.check_now(measure).or_else(|| control.ended(measure))) {
        return Some(status);
    }
    let coarsest = coarsest(iterate.len());
    if measure > target.tol && coarsest > 1 && iterate.support.len() * INFORMED < iterate.len() {
        if let Some(status) = levels(target, source, coarsest, iterate, core, made, control, measure) {
            return Some(status);
        }
    } else {
        let mut support: Vec<usize> = iterate.support.iter().map(|&k| k as usize).collect();
        support.sort_unstable();
        if support.len() <= source.most
            && let Err(status) = stream(source, iterate, core, &support, control, measure)
        {
            return Some(status);
        }
    }
    None
}

/// The margins of the samples of a level, and ρ, by the solution of the level before.
struct LevelMargins {
    margins: Vec<f64>,
    rho: f64,
}

/// Returns the stride between vertices of the coarsest level; 1 if there are too few vertices for
/// levels.
fn coarsest(n: usize) -> usize {
    let mut stride = 1;
    while n / (stride * FINER) >= COARSEST {
        stride *= FINER;
    }
    stride
}

/// Solves the problem of every `stride`-th vertex, then of ever more of them (step 1). The result
/// is the working set and the solution of the finest level.
///
/// With a fraction φ of the samples and φ times the ridge, the sum of losses approximates that of
/// all, so levels have nearly the same `w`. A coarse solution predicts which samples of the next
/// level are inside the margin (the support there), and how far, which is α up to the ridge.
#[expect(clippy::too_many_arguments, reason = "the loop's state; a struct would only be taken apart again")]
fn levels(
    target: Target,
    source: KernelSource,
    coarsest: usize,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    made: &mut Steps,
    control: &mut SolverControl,
    measure: f64,
) -> Option<Status> {
    let (n, dual) = (iterate.len(), source.dual);
    let mut stride = coarsest;
    // None on the coarsest level.
    let mut last_level: Option<LevelMargins> = None;
    loop {
        *core = CoreSet::empty(n, dual.ridge() / stride as f64);
        let is_inside = |k: &usize| last_level.as_ref().is_none_or(|level| level.margins[*k] < level.rho);
        let members: Vec<usize> = (0..n).step_by(stride).filter(is_inside).collect();
        if members.len() > source.most {
            *core = CoreSet::empty(n, dual.ridge());
            return None;
        }
        let mut alpha: Vec<f64> = match &last_level {
            Some(LevelMargins { margins, rho }) => members.iter().map(|&k| (rho - margins[k]).max(0.0)).collect(),
            None => vec![1.0; members.len()],
        };
        let mass: f64 = alpha.iter().sum();
        alpha.iter_mut().for_each(|a| *a /= mass);
        if stride == 1 {
            core.reserve(members.len() + members.len() * ROOM / 8);
        }
        if let Err(status) = stream(source, iterate, core, &members, control, measure) {
            return Some(status);
        }
        core.set(alpha, source.rows.par());
        let goal = if stride == 1 { FINEST } else { COARSE };
        let ended = solve(core, target, goal.max(INSIDE * target.tol), made, control, measure);
        if stride == 1 || ended.is_some() {
            let ended = ended.or_else(|| evaluate(source, iterate, core, control, measure).err());
            if ended.is_some() {
                control.run_final(|control| spread(source, iterate, core, control));
            }
            return ended;
        }
        stride /= FINER;
        // Only vertices of the next level are needed; the margins of others are never read.
        let outside = outsiders(core, (0..n).step_by(stride));
        let found = match control.run(measure, |control| margins(source, iterate, core, &outside, control)) {
            Ok(found) => found,
            Err(status) => {
                control.run_final(|control| spread(source, iterate, core, control));
                return Some(status);
            }
        };
        let mut margins = vec![0.0; n];
        outside.iter().zip(found).for_each(|(&k, margin)| margins[k] = margin);
        core.members.iter().enumerate().for_each(|(m, &k)| margins[k] = core.margin(m));
        last_level = Some(LevelMargins { margins, rho: core.square });
    }
}

/// Solves the problem of the members to the relative gap `goal`, or by another rule to the
/// tolerance `goal` (step 4).
fn solve(
    core: &mut CoreSet,
    target: Target,
    goal: f64,
    made: &mut Steps,
    control: &mut SolverControl,
    measure: f64,
) -> Option<Status> {
    let tight = (target.rule == StopRule::RelativeGap && target.ridge > 0.0).then_some(goal);
    let aim = Aim { target: Target { tol: goal, ..target }, tight, most: PAIRS + PAIRS_EACH * core.len() as u64 };
    let solved = core.solve(aim, control, measure);
    made.rounds += 1;
    made.swap += solved.pairs;
    made.drop += solved.drops;
    solved.ended
}

/// Adds members in groups, with a look at the clock between two groups.
fn stream(
    source: KernelSource,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    vertices: &[usize],
    control: &mut SolverControl,
    measure: f64,
) -> Result<(), Status> {
    core.reserve(vertices.len());
    let all = (core.len() + vertices.len()).max(1);
    let group = (PIECE / all).next_multiple_of(64);
    for vertices in vertices.chunks(group) {
        core.stream(source.dual, source.rows.gram(), source.rows.par(), iterate, vertices);
        iterate.count_computed(vertices.len());
        if let Some(status) = control.check_now(measure) {
            return Err(status);
        }
    }
    Ok(())
}

/// The approximate number of `f32` kernel values between two looks at the clock.
const PIECE: usize = 1 << 20;

/// Computes `Σ s_l α_l s_k K_kl` for each of `vertices`: as products of their rows with all α, or
/// of the support's rows with them, by the smaller number of kernel values.
fn margins(
    source: KernelSource,
    iterate: &mut Iterate,
    core: &CoreSet,
    vertices: &[usize],
    control: &RunControl,
) -> Result<Vec<f64>, Cancelled> {
    let (gram, dual) = (source.rows.gram(), source.dual);
    let (mut ids, mut coef) = (vec![], vec![]);
    for (&k, &a) in core.members.iter().zip(&core.alpha).filter(|(_, a)| **a > 0.0) {
        ids.push(dual.ids()[k]);
        coef.push(dual.sign()[k] * a);
    }
    let mut found = if vertices.len() < ids.len() {
        let mut spread = vec![0.0; gram.len()];
        ids.iter().zip(&coef).for_each(|(&id, c)| spread[id] += c);
        let rows: Vec<usize> = vertices.iter().map(|&k| dual.ids()[k]).collect();
        iterate.count_computed(rows.len());
        let mut found = Vec::with_capacity(rows.len());
        for rows in rows.chunks((PIECE / gram.len().max(1)).next_multiple_of(64)) {
            control.check_now()?;
            found.extend(products(gram, rows, &spread, source.rows.par()));
        }
        found
    } else {
        iterate.count_computed(ids.len());
        let sums = apply(gram, &ids, &coef, 0..gram.len(), source.rows.par(), control)?;
        vertices.iter().map(|&k| sums[dual.ids()[k]]).collect()
    };
    found.iter_mut().zip(vertices).for_each(|(m, &k)| *m *= dual.sign()[k]);
    Ok(found)
}

/// Returns the vertices outside the working set.
fn outsiders(core: &CoreSet, vertices: impl Iterator<Item = usize>) -> Vec<usize> {
    vertices.filter(|&k| !core.contains(k)).collect()
}

/// Runs [`spread`] under a control.
fn evaluate(
    source: KernelSource,
    iterate: &mut Iterate,
    core: &CoreSet,
    control: &mut SolverControl,
    measure: f64,
) -> Result<(), Status> {
    control.run(measure, |control| spread(source, iterate, core, control))
}

/// Copies the members' α to the point, with its gradient at every vertex (step 2); that of the
/// members is known. After a cancellation the point is unchanged.
fn spread(source: KernelSource, iterate: &mut Iterate, core: &CoreSet, control: &RunControl) -> Result<(), Cancelled> {
    let n = iterate.len();
    let outside = outsiders(core, 0..n);
    let found = margins(source, iterate, core, &outside, control)?;
    let (mut alpha, mut gradient) = (vec![0.0; n], vec![0.0; n]);
    outside.iter().zip(found).for_each(|(&k, margin)| gradient[k] = margin);
    for (m, &k) in core.members.iter().enumerate() {
        // Levels have their own ridge.
        let (a, margin) = (core.alpha[m], core.margin(m));
        (alpha[k], gradient[k]) = (a, margin + source.dual.ridge() * a);
    }
    iterate.replace(&alpha, &gradient);
    Ok(())
}

/// Returns the vertices outside the working set that violate most, by at least the amount that the
/// rule does not allow (step 3).
fn violators(iterate: &Iterate, core: &CoreSet, target: Target) -> Vec<usize> {
    let most = BLOCK.max(core.len() / SHARE);
    let least = iterate.square - INSIDE * target.allowed(iterate.square);
    let mut outside: Vec<(f64, usize)> =
        (0..iterate.len()).filter(|&k| !core.contains(k)).map(|k| (iterate.gradient(k), k)).filter(|(g, _)| *g < least).collect();
    if outside.len() > most {
        // Ties by place: the block does not depend on the order of the selection.
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
    use maxmargin_core::Stop;
    use maxmargin_data::Par;
    use maxmargin_testkit::generate;

    #[test]
    fn levels_begin_where_there_are_enough_vertices() {
        assert_eq!([100, 2047, 2048, 8191, 8192, 50_000].map(coarsest), [1, 1, 4, 4, 16, 64]);
    }

    /// With few members allowed, at the start, on a level or in a round, the run still converges.
    #[test]
    fn working_sets_that_may_not_grow_give_way_to_single_steps() {
        let lattice = generate::lattice(7, 2100, 2, 1.0);
        let signs = lattice.dual.sign().to_vec();
        let problem = generate::l2_svm("lattice".into(), &lattice.gram.scaled(1.0 / 1024.0), signs, 0.1);
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let delta2 = problem.gram.scaled(1.0).at(0, 0) + 1000.0;
        let target = Target { rule: StopRule::RelativeGap, tol: 1e-3, delta2, ridge: problem.dual.ridge() };
        for most in [0, 300, 600, MOST] {
            let start = random_start(&problem.dual, &rows, 20, 1).expect("a start");
            let mut iterate = Iterate::new(&problem.dual, &rows, Par::Seq, start.alpha(), None, true, &RunControl::unlimited())
                .expect("not cancelled");
            let mut core = CoreSet::empty(2100, problem.dual.ridge());
            let (stop, unlimited, mut made) = (Stop::at(1e-3), RunControl::unlimited(), Steps::default());
            let mut control = SolverControl::new(&rows, &stop, &unlimited);
            let source = KernelSource { dual: &problem.dual, rows: &rows, most };
            let ended = run(target, source, &mut iterate, &mut core, &mut made, &mut control);
            assert_eq!(ended, (Status::Converged, Evidence::FullScan), "{most}");
            assert_eq!(made.toward > 0, most < MOST, "{most}: {made:?}");
        }
    }
}
