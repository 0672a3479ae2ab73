//! Core vector machines: one vertex joins the core set, whose problem is then solved again.
//!
//! ```text
//!   1  i* ← argmin g over all vertices, or over a random sample
//!   2  stop if γ²(i*) ≤ (1 + ε)² r², or by the other rules
//!   3  core set ← core set ∪ {i*}
//!   4  α ← argmin ½ αᵀQα on the simplex of the core set, by pairwise steps from the last α
//!   5  g ← Qα;  go to 1
//! ```
//!
//! This is algorithm 1 of Frandi et al. (2013).

use crate::config::{Evidence, Steps};
use crate::methods::candidates::Candidates;
use crate::methods::core_set::{Aim, CoreSet};
use crate::methods::steps::{Check, Target, search_or_end};
use crate::point::iterate::Iterate;
use maxmargin_core::{SolverControl, Status};
use maxmargin_kernel::Rows;

/// The core set is solved to this share of the tolerance.
const INSIDE: f64 = 0.5;

/// The largest number of pairs of one round: a constant, and a part for each member.
pub(crate) const PAIRS: u64 = 10_000;
pub(crate) const PAIRS_EACH: u64 = 200;

/// The rounds without a new member and without progress after which the run counts as stalled.
pub(crate) const IDLE_ROUNDS: u32 = 20;

/// Makes rounds until the rule holds for all vertices. Returns `None` if the core set has reached
/// its largest size; another method must continue then.
pub(crate) fn run(
    target: Target,
    iterate: &mut Iterate,
    rows: &Rows,
    candidates: &mut Candidates,
    core: &mut CoreSet,
    steps: &mut Steps,
    control: &mut SolverControl,
) -> Option<(Status, Evidence)> {
    core.read(iterate);
    let mut held = rows.reserve(core.bytes());
    let mut check = Check::of(control);
    let (mut least, mut idle) = (f64::INFINITY, 0);
    loop {
        // 1, 2: the furthest point, unless the rule holds.
        let furthest = match search_or_end(target, iterate, candidates, &mut check, steps, control) {
            Ok(vertex) => vertex,
            Err(ended) => return Some(ended),
        };
        let measure = target.at(iterate, furthest);
        let told = check.reported(measure);
        if let Some(status) = control.check_now(told).or_else(|| control.ended_or_slow(told)) {
            return Some((status, Evidence::None));
        }
        let joins = !core.contains(furthest.k);
        idle = if joins || measure < least { 0 } else { idle + 1 };
        least = least.min(measure);
        if idle > IDLE_ROUNDS {
            return Some((Status::Stalled, Evidence::None));
        }
        // 3: it joins the core set.
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
            if let Err(status) = control.run(measure, |control| core.add(iterate, &[furthest.k], control)) {
                return Some((status, Evidence::None));
            }
        }
        // 4, 5: the problem of the core set, and the full gradient.
        let written = solve_core(target, iterate, core, steps, control, measure);
        if let Err(status) = written {
            return Some((status, Evidence::None));
        }
    }
}

/// Solves the problem of the core set (step 4), and copies the solution to the point with its
/// gradient (step 5).
fn solve_core(
    target: Target,
    iterate: &mut Iterate,
    core: &mut CoreSet,
    steps: &mut Steps,
    control: &mut SolverControl,
    measure: f64,
) -> Result<(), Status> {
    let aim =
        Aim { target: Target { tol: INSIDE * target.tol, ..target }, tight: None, most: PAIRS + PAIRS_EACH * core.len() as u64 };
    let solved = core.solve(aim, control, measure);
    steps.rounds += 1;
    steps.swap += solved.pairs;
    steps.drop += solved.drops;
    // The result of an ended run is written within a short grace period.
    match solved.ended {
        Some(status) => {
            control.run_final(|control| core.write(iterate, control));
            Err(status)
        }
        None => control.run(measure, |control| core.write(iterate, control)),
    }
}
