//! Core vector machines and fully corrective pairwise steps: rounds of vertices that join, and of core-set problems solved.

use crate::candidates::{Candidates, Search};
use crate::clock::Clock;
use crate::config::{Evidence, Steps};
use crate::core_set::{Aim, CoreSet};
use crate::iterate::{Iterate, Vertex};
use crate::steps::Target;
use maxmargin_core::Status;

/// Vertices that join in one round of pairwise steps, at least, and as a share of the members.
const BLOCK: usize = 64;
const SHARE: f64 = 1.0;

/// Gap of the members at which a round ends, as a share of the gap of all vertices when it began.
const SHRINK: f64 = 0.25;

/// Of what the rule allows: the members get this share.
const INSIDE: f64 = 0.5;

/// Pairs of one round, at most, and for each member.
const PAIRS: u64 = 10_000;
const PAIRS_EACH: u64 = 200;

/// Rounds without a new member and without progress before the run counts as stalled.
const PATIENCE: u32 = 20;

/// Rounds until the rule holds for all vertices. With `blocks`, many vertices join at once and a round ends when its gap is a part of
/// the outer gap; without, it is algorithm 1: one vertex joins, and the core set's problem is solved to what the rule asks.
pub(crate) fn run(
    blocks: bool,
    target: Target,
    iterate: &mut Iterate,
    candidates: &mut Candidates,
    core: &mut CoreSet,
    steps: &mut Steps,
    clock: &mut Clock,
) -> (Status, Evidence) {
    if blocks {
        iterate.complete();
    }
    core.read(iterate);
    let mut joining: Vec<usize> = vec![];
    let (mut least, mut idle) = (f64::INFINITY, 0);
    loop {
        let found = if blocks {
            let best = iterate.furthest();
            if target.at(iterate, best) <= target.tol { Search::Nothing(true) } else { Search::Found(best) }
        } else {
            candidates.search(iterate, |iterate, vertex| target.at(iterate, vertex) <= target.tol)
        };
        steps.samples = candidates.samples;
        let furthest = match found {
            Search::Nothing(true) => return (Status::Converged, Evidence::FullScan),
            Search::Nothing(false) => return (Status::Converged, Evidence::Sample),
            Search::Found(vertex) => vertex,
        };
        let measure = target.at(iterate, furthest);
        if let Some(status) = clock.look(measure).or_else(|| clock.ended(measure)) {
            return (status, Evidence::None);
        }
        joining.clear();
        if blocks {
            violators(iterate, core, target, &mut joining);
        } else if !core.contains(furthest.k) {
            iterate.set_gradient(furthest.k, furthest.gradient);
            joining.push(furthest.k);
        }
        idle = if joining.is_empty() && measure >= least { idle + 1 } else { 0 };
        least = least.min(measure);
        if idle > PATIENCE {
            return (Status::Stalled, Evidence::None);
        }
        core.add(iterate, &joining);
        if let Some(status) = round(blocks, target, furthest, iterate, core, steps, clock, measure) {
            return (status, Evidence::None);
        }
    }
}

/// Solves the core set's problem and hands the result to the point.
#[expect(clippy::too_many_arguments, reason = "the loop's state; a struct would only be taken apart again")]
fn round(
    blocks: bool,
    target: Target,
    furthest: Vertex,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    steps: &mut Steps,
    clock: &mut Clock,
    measure: f64,
) -> Option<Status> {
    let inside = INSIDE * target.allowed(iterate.square);
    let at_most = if blocks { inside.max(SHRINK * (iterate.square - furthest.gradient)) } else { inside };
    let aim = Aim { rule: target.rule, at_most, most: PAIRS + PAIRS_EACH * core.len() as u64 };
    let solved = core.solve(aim, clock, measure);
    steps.rounds += 1;
    steps.swap += solved.pairs;
    steps.drop += solved.drops;
    core.write(iterate);
    solved.ended
}

/// The vertices outside the working set that violate most, by at least what keeps the rule from holding.
fn violators(iterate: &Iterate, core: &CoreSet, target: Target, joining: &mut Vec<usize>) {
    let most = BLOCK.max((SHARE * core.len() as f64) as usize);
    let least = iterate.square - INSIDE * target.allowed(iterate.square);
    let mut outside: Vec<(f64, usize)> =
        (0..iterate.len()).filter(|&k| !core.contains(k)).map(|k| (iterate.gradient(k), k)).filter(|(g, _)| *g < least).collect();
    if outside.len() > most {
        // Ties by place: the same block whatever the order of the selection.
        outside.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        outside.truncate(most);
    }
    joining.extend(outside.into_iter().map(|(_, k)| k));
    joining.sort_unstable();
}
