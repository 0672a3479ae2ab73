//! Core vector machines: one vertex joins, the core set's problem is solved again (algorithm 1).

use crate::candidates::{Candidates, Search};
use crate::config::{Evidence, Steps};
use crate::core_set::{Aim, CoreSet};
use crate::iterate::Iterate;
use crate::steps::{Check, Target};
use maxmargin_core::{Clock, Status};
use maxmargin_kernel::Rows;

/// The core set is solved to this share of the tolerance.
const INSIDE: f64 = 0.5;

/// Pairs of one round, at most, and for each member.
pub(crate) const PAIRS: u64 = 10_000;
pub(crate) const PAIRS_EACH: u64 = 200;

/// Rounds without a new member and without progress before the run counts as stalled.
pub(crate) const PATIENCE: u32 = 20;

/// Rounds until the rule holds for all vertices. Nothing where the core set has become larger than
/// it may: others go on.
pub(crate) fn run(
    target: Target,
    (iterate, rows): (&mut Iterate, &Rows),
    candidates: &mut Candidates,
    core: &mut CoreSet,
    steps: &mut Steps,
    clock: &mut Clock,
) -> Option<(Status, Evidence)> {
    core.read(iterate);
    let mut held = rows.reserve(core.bytes());
    let mut check = Check::of(clock);
    let (mut least, mut idle) = (f64::INFINITY, 0);
    loop {
        let found = candidates.search(iterate, clock, |iterate, vertex| target.at(iterate, vertex) <= target.tol);
        steps.samples = candidates.samples;
        let furthest = match found {
            Err(status) => return Some((status, Evidence::None)),
            Ok(Search::Nothing(true)) => return Some((Status::Converged, Evidence::FullScan)),
            Ok(Search::Nothing(false)) => return Some((Status::Converged, Evidence::Sample)),
            Ok(Search::Found(_)) if check.holds(target, iterate) => return Some((Status::Converged, Evidence::FullScan)),
            Ok(Search::Found(vertex)) => vertex,
        };
        let measure = target.at(iterate, furthest);
        let told = check.told(measure);
        if let Some(status) = clock.look(told).or_else(|| clock.ended_or_slow(told)) {
            return Some((status, Evidence::None));
        }
        let joins = !core.contains(furthest.k);
        idle = if joins || measure < least { 0 } else { idle + 1 };
        least = least.min(measure);
        if idle > PATIENCE {
            return Some((Status::Stalled, Evidence::None));
        }
        if joins {
            if core.len() >= core.most {
                return None;
            }
            iterate.set_gradient(furthest.k, furthest.gradient);
            let (before, growing) = (core.bytes(), core.bytes_growing(1));
            if growing > before {
                drop(held);
                drop(rows.reserve(growing));
                held = rows.reserve(growing - before);
            }
            if let Err(status) = clock.asked(measure, |asking| core.add(iterate, &[furthest.k], asking)) {
                return Some((status, Evidence::None));
            }
        }
        let aim = Aim {
            target: Target { tol: INSIDE * target.tol, ..target },
            tight: None,
            most: PAIRS + PAIRS_EACH * core.len() as u64,
        };
        let solved = core.solve(aim, clock, measure);
        steps.rounds += 1;
        steps.swap += solved.pairs;
        steps.drop += solved.drops;
        // What an ended run has found is worth a last moment.
        let written = match solved.ended {
            Some(status) => {
                clock.last_words(|asking| core.write(iterate, asking));
                Err(status)
            }
            None => clock.asked(measure, |asking| core.write(iterate, asking)),
        };
        if let Err(status) = written {
            return Some((status, Evidence::None));
        }
    }
}
