//! Path following passes the suite that every solver must pass, as far as it is a solver.
//!
//! A path stops at a number of breakpoints, but not by a time limit, and does not report
//! progress. Time limits are met by finishing, and [`conformance::interruption`] does not apply.
//! The finish has no limit at all, so tests that begin with it skip [`conformance::limits`].
//! Indefinite kernels have no factor.
#![expect(clippy::needless_pass_by_value, reason = "the suite hands starts over")]

use maxmargin_core::{Dual, RunControl, Solution, Start, Status, Stop, Work, bias_of};
use maxmargin_kernel::Rows;
use maxmargin_path::{Added, Mode, Path, PathConfig, Update, polish};
use maxmargin_testkit::conformance::{self, SolverFn, TOLERANCES};
use maxmargin_testkit::{Problem, analytic, generate};

/// Returns a label for every row of the matrix; rows outside the problem have an unused one.
fn labels(dual: &Dual, pool: usize) -> Vec<f64> {
    let mut labels = vec![1.0; pool];
    dual.ids().iter().zip(dual.sign()).for_each(|(&id, &sign)| labels[id] = sign);
    labels
}

/// Returns the solution of a path in the order of `dual`.
fn ordered(dual: &Dual, path: &Path, update: &Update) -> Solution {
    let (ids, by_id) = (path.ids(), path.solution());
    let place = |id: &usize| ids.binary_search(id).expect("every variable is a member");
    let take = |values: &[f64]| dual.ids().iter().map(|id| values[place(id)]).collect::<Vec<f64>>();
    let (alpha, gradient) = (take(&by_id.alpha), take(&by_id.gradient));
    // During a path the bias is that of the margin; the suite requires the one that all free
    // samples imply.
    let bias = if update.status == Status::Converged { by_id.bias } else { bias_of(dual, &alpha, &gradient) };
    let work = Work { iterations: update.breakpoints as u64, ..Work::default() };
    Solution { alpha, bias, gradient, status: update.status, work, weights: None }
}

/// Solves from the empty model by adding all samples; the start has no effect.
fn from_nothing(mode: Mode) -> impl Fn(&Dual, &Rows, Start, &Stop) -> Solution + Sync {
    move |dual, rows, _, stop| {
        // In single mode all samples but the last go to the end of their paths, without the limit.
        let limit = stop.max_iter.filter(|_| mode == Mode::Multiple).map(|most| most as usize);
        let config = PathConfig::default().with_mode(mode).with_limit(limit);
        let mut path = Path::new(rows.gram(), &labels(dual, rows.gram().len()), config).expect("labels of +1 and -1");
        let samples: Vec<Added> = dual.ids().iter().zip(dual.upper()).map(|(&id, &upper)| Added { id, upper }).collect();
        let update = path.change(&samples, &[]).expect("every sample once");
        ordered(dual, &path, &update)
    }
}

/// Takes the start to the optimum by the finish.
fn from_start(dual: &Dual, rows: &Rows, start: Start, _: &Stop) -> Solution {
    let labels = labels(dual, rows.gram().len());
    let made = Path::from_solution(rows.gram(), &labels, dual.ids(), dual.upper(), start.alpha(), PathConfig::default());
    let (path, update) = made.expect("a problem and a feasible point");
    ordered(dual, &path, &update)
}

/// Solves from a tenth of C along the ray to C: the path that moves every bound.
fn along_the_ray(dual: &Dual, rows: &Rows, start: Start, _: &Stop) -> Solution {
    let labels = labels(dual, rows.gram().len());
    let (upper, alpha): (Vec<f64>, Vec<f64>) = dual.upper().iter().zip(start.alpha()).map(|(u, a)| (0.1 * u, 0.1 * a)).unzip();
    let made = Path::from_solution(rows.gram(), &labels, dual.ids(), &upper, &alpha, PathConfig::default());
    let (mut path, _) = made.expect("a problem and a feasible point");
    let bounds: Vec<(usize, f64)> = dual.ids().iter().copied().zip(dual.upper().iter().copied()).collect();
    let update = path.set_weights(&bounds).expect("members");
    ordered(dual, &path, &update)
}

/// Solves by the finish alone, for problems that are no C-SVC.
fn finished(dual: &Dual, rows: &Rows, start: Start, _: &Stop) -> Solution {
    polish(dual, rows.gram(), start.alpha(), 1 << 28, &RunControl::unlimited()).expect("one balance, every sample once").solution
}

/// Runs the suite without limits on iterations and time.
fn unlimited(solver: &SolverFn, small: &[Problem], medium: &[Problem]) {
    for tol in TOLERANCES {
        small.iter().for_each(|problem| conformance::oracle(solver, problem, tol));
        for problem in small.iter().chain(medium) {
            conformance::warm_starts(solver, problem, tol);
            conformance::invariances(solver, problem, tol);
        }
        medium.iter().for_each(|problem| conformance::threads_and_budgets(solver, problem, tol));
    }
}

fn unlimited_c_svc(solver: &SolverFn) {
    analytic::c_svc().iter().for_each(|case| conformance::exactly(solver, case));
    let small: Vec<Problem> = (1..=3).flat_map(generate::small).collect();
    unlimited(solver, &small, &generate::medium(4, 60));
}

#[test]
fn c_svc_all_at_once() {
    conformance::run(&from_nothing(Mode::Multiple));
}

#[test]
fn c_svc_one_by_one() {
    unlimited_c_svc(&from_nothing(Mode::Single));
}

#[test]
fn c_svc_from_a_start() {
    unlimited_c_svc(&from_start);
}

#[test]
fn c_svc_along_the_ray() {
    unlimited_c_svc(&along_the_ray);
}

/// Returns false for regression, which has every sample twice; the finish refuses that.
fn each_once(problem: &Problem) -> bool {
    let mut ids = problem.dual.ids().to_vec();
    ids.sort_unstable();
    ids.windows(2).all(|pair| pair[0] < pair[1])
}

#[test]
fn general_linear_terms_sums_and_ridge() {
    analytic::general().iter().filter(|case| each_once(&case.problem)).for_each(|case| conformance::exactly(&finished, case));
    let small: Vec<Problem> = (1..=5).flat_map(generate::small_general).filter(each_once).collect();
    let medium: Vec<Problem> = generate::medium_general(6, 50).into_iter().filter(each_once).collect();
    unlimited(&finished, &small, &medium);
}
