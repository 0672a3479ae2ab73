//! Numerical limits: long runs of exact changes against trainings from scratch, random problems of
//! every kind for every solver, and runs at the level of rounding. `MAXMARGIN_DEEP=N` makes the
//! random runs N times as long.

use crate::common::banana;
use maxmargin_core::{BiasTerm, Certificate, Formulation, Goal, Loss, Rounding, Run, Start, Status, Stop, certify};
use maxmargin_core::{Refine, Solve};
use maxmargin_cv::{Study, TrainOptions};
use maxmargin_data::{ClassLabels, Dataset, Generator, Par, RunControl};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Rows, Space};
use maxmargin_path::{Added, Path, PathConfig};
use maxmargin_solvers::{SmoFinish, Solver};
use maxmargin_testkit::outside::dataset;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn deep() -> u64 {
    std::env::var("MAXMARGIN_DEEP").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The first rows of a real data set, as two classes: the first label against the others.
fn real(name: &str, rows: usize) -> Option<Dataset> {
    let mut data = dataset(name)?;
    let first = data.labels[0];
    data.labels.iter_mut().for_each(|label| *label = if *label == first { 1.0 } else { -1.0 });
    // As many of either class as there are, in turn: files may be sorted.
    let of = |sign: f64| -> Vec<usize> { (0..data.labels.len()).filter(|&i| data.labels[i] == sign).take(rows / 2).collect() };
    let (positive, negative) = (of(1.0), of(-1.0));
    let mut chosen = [positive, negative].concat();
    chosen.sort_unstable();
    Some(data.select(&chosen))
}

/// Data sets for exact changes, with a kernel that suits them.
fn sets() -> Vec<(String, Dataset, Kernel)> {
    let mut all = Vec::new();
    let rbf = |gamma| Kernel::Rbf { gamma };
    for (name, kernel) in [
        ("heart_scale", rbf(0.1)),
        ("diabetes_scale", rbf(0.5)),
        ("a1a", rbf(0.05)),
        ("splice", Kernel::Linear),
        ("w1a", rbf(0.1)),
        ("ijcnn1", rbf(2.0)),
        ("pendigits", rbf(1e-4)),
    ] {
        all.extend(real(name, 160).map(|data| (name.to_owned(), data, kernel)));
    }
    all.push(("banana".to_owned(), banana(160, 2, 5), rbf(1.5)));
    let generated = |generator: Generator, seed| generator.generate(160, None, seed).expect("a generator");
    all.push(("blobs".to_owned(), generated(Generator::Blobs, 7), Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 2 }));
    all.push(("gauss-m".to_owned(), generated(Generator::GaussM, 3), rbf(4.0)));
    all
}

/// The certified solution of `ids`, trained from scratch.
fn anew(gram: &dyn Gram, signs: &[f64], ids: &[usize], upper: &[f64]) -> Certificate {
    let sign = ids.iter().map(|&i| signs[i]).collect();
    let dual = maxmargin_core::Dual::c_svc(ids.to_vec(), sign, upper.to_vec()).expect("two classes");
    let rows = Rows::new(gram, u64::MAX, Par::Seq);
    let mut run = Run {
        stop: Stop { max_iter: Some(10_000_000), ..Stop::at(1e-9) },
        refine: Refine::Exact,
        par: Par::Seq,
        machine: 0,
        control: &RunControl::unlimited(),
    };
    let start = Start::zero(&dual).expect("feasible");
    let solved = SmoFinish::default().solve(&dual, Space::Kernel(&rows), start, &mut run).expect("a problem for SMO");
    certify(&dual, gram, &solved.solution, Par::Seq)
}

/// Random additions, removals and values of C: after each of them the path is exact by its
/// certificate, and every tenth time a training from scratch has the same dual objective, to 10⁻⁸
/// of it.
#[test]
fn paths_of_many_changes_end_where_trainings_end() {
    let sets = sets();
    let changes = (300 * deep() as usize).div_ceil(sets.len());
    for (s, (name, data, kernel)) in sets.into_iter().enumerate() {
        let gram = KernelGram::new(&data.samples, kernel, &RunControl::unlimited()).expect("a kernel");
        let n = data.labels.len();
        let signs: Vec<f64> = data.labels.iter().map(|label| if *label > data.labels[0].min(0.0) { 1.0 } else { -1.0 }).collect();
        let mut random = random(100 + s as u64);
        let mut path = Path::new(&gram, &signs, PathConfig::default()).expect("labels");
        let mut c = 1.0;
        let half: Vec<Added> = (0..n).step_by(2).map(|id| Added { id, upper: c }).collect();
        path.change(&half, &[]).expect("new samples");
        for change in 0..changes {
            let what = format!("{name}, change {change}, C {c}");
            let update = if random.random_bool(0.15) {
                c = 10_f64.powf(random.random_range(-2.0..2.0));
                path.set_c(c)
            } else {
                let (come, go) = (random.random_range(0.0..0.15), random.random_range(0.0..0.15));
                let known: Vec<bool> = (0..n).map(|id| path.alpha(id).is_some()).collect();
                let add: Vec<Added> =
                    (0..n).filter(|&id| !known[id] && random.random_bool(come)).map(|id| Added { id, upper: c }).collect();
                let remove: Vec<usize> = (0..n).filter(|&id| known[id] && random.random_bool(go)).collect();
                path.change(&add, &remove)
            };
            let update = update.expect("a valid request");
            assert_eq!(update.status, Status::Converged, "{what}: {update:?}");
            let (Some(dual), Some(found)) = (path.dual(), path.certify(Par::Seq)) else { continue };
            assert!(found.kkt <= 1e-8 + 1e-13 * path.solution().alpha.iter().sum::<f64>(), "{what}: {found:?}");
            let both = dual.sign().contains(&1.0) && dual.sign().contains(&-1.0);
            if change % 10 == 9 && both {
                let fresh = anew(&gram, &signs, dual.ids(), dual.upper());
                let off = (found.dual - fresh.dual).abs();
                assert!(off <= 1e-8 * fresh.dual.abs().max(1e-3), "{what}: {off:e}, {found:?}, {fresh:?}");
            }
        }
    }
}

/// One random problem.
struct Drawn {
    data: Dataset,
    kernel: Kernel,
    c: f64,
    what: String,
}

fn drawn(seed: u64) -> Drawn {
    let mut random = random(seed);
    let (n, d) = (random.random_range(4..=200_usize), random.random_range(1..=8_usize));
    let constant = random.random_range(0..3_usize);
    let copies = random.random_bool(0.4);
    let lattice = random.random_bool(0.3);
    let share = [0.5, 0.1, 0.0][random.random_range(0..3_usize)];
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut labels = Vec::new();
    for i in 0..n {
        // The first two are of both classes, however rare one is.
        let positive = i == 0 || (i > 1 && random.random_bool(share));
        let copy = copies && i > 3 && random.random_bool(0.5);
        let row = if copy {
            rows[random.random_range(0..i)].clone()
        } else {
            let centre = if positive { 0.7 } else { -0.7 };
            let feature = |j: usize, random: &mut ChaCha8Rng| -> f64 {
                let value: f64 = centre + random.random_range(-1.5..1.5);
                if j < constant {
                    3.0
                } else if lattice {
                    value.round()
                } else {
                    value
                }
            };
            (0..d).map(|j| feature(j, &mut random)).collect()
        };
        rows.push(row);
        labels.push(if positive { 1.0 } else { -1.0 });
    }
    let kernel = match random.random_range(0..7_usize) {
        0 => Kernel::Linear,
        1 => Kernel::Poly { gamma: 0.5, coef0: 1.0, degree: 3 },
        2 => Kernel::Sigmoid { gamma: 0.1, coef0: 0.0 },
        // The identity, all ones, and widths between.
        3 => Kernel::Rbf { gamma: 1e8 },
        4 => Kernel::Rbf { gamma: 1e-14 },
        _ => Kernel::Rbf { gamma: 10_f64.powf(random.random_range(-2.0..2.0)) },
    };
    let c = 10_f64.powf(random.random_range(-6.0..9.0));
    let what = format!(
        "seed {seed}: {n} × {d}, {kernel:?}, C {c:e}, {constant} constant, share {share}, copies {copies}, lattice {lattice}"
    );
    Drawn { data: Dataset::from_rows(&rows, &labels).expect("a matrix and labels"), kernel, c, what }
}

/// Trains by one solver; `None` if it refuses the problem.
fn trained(
    drawn: &Drawn,
    solver: Solver,
    problem: (Loss, BiasTerm),
    seed: u64,
    stop: Stop,
) -> Option<(Status, Certificate, u64)> {
    let (loss, bias_term) = problem;
    let classes = ClassLabels::new(&drawn.data.labels).expect("two classes");
    let solver = solver.build(seed);
    let options = TrainOptions { kernel: drawn.kernel.clone(), ..TrainOptions::default() };
    let study = Study {
        formulation: Formulation::Svc { c: drawn.c, loss, bias_term },
        stop,
        memory: 1 << 28,
        ..Study::new(&drawn.data, Some(&classes), &options, &[1.0, 1.0], &*solver)
    };
    let fitted = study.train(&RunControl::unlimited()).ok()?;
    let c = fitted.machines[0].certificate;
    let known = |rounding: Option<f64>, scale: f64| rounding.map_or(f64::INFINITY, |rounding| rounding * scale);
    let scale = c.primal.abs().max(c.dual.abs());
    let rounding = Rounding { gap: known(c.rounding, scale), kkt: known(c.kkt_rounding, 1.0) };
    let certificate = Certificate { primal: c.primal, dual: c.dual, kkt: c.kkt, infeasible: c.infeasible, rounding };
    Some((fitted.status, certificate, fitted.iterations))
}

/// The effect of rounding of kernel sums on objectives if α is as large as `C`: the terms of `αᵀQα`
/// add up to `(Σ α κ)²` and cancel. Features are summed into w first, and lose nearly nothing.
fn rounding(drawn: &Drawn, solver: Solver, dual: f64) -> f64 {
    if solver.is_linear() {
        return 0.0;
    }
    let gram = KernelGram::new(&drawn.data.samples, drawn.kernel.clone(), &RunControl::unlimited()).expect("a kernel");
    let largest = gram.diagonal().iter().fold(0.0, |m: f64, d| m.max(d.abs()));
    // At an optimum Σ α is between the dual objective and twice as much, and at most n C.
    let mass = (2.0 * dual.abs()).min(drawn.data.labels.len() as f64 * drawn.c);
    f64::EPSILON * mass * mass * largest
}

/// The certificates of all solvers bound one optimum: no dual objective is above any primal one.
/// Every converged solver meets the goal, and every solver ends.
#[test]
fn certificates_of_all_solvers_bound_one_optimum() {
    let problems =
        [(Loss::Hinge, BiasTerm::Free), (Loss::Hinge, BiasTerm::Feature(1.0)), (Loss::SquaredHinge, BiasTerm::Feature(1.0))];
    for seed in 1..=24 * deep() {
        let drawn = drawn(seed);
        for problem in problems {
            let mut best: (f64, f64, String) = (f64::INFINITY, f64::NEG_INFINITY, String::new());
            // Of any that came before.
            let mut slack = 0.0_f64;
            for solver in Solver::ALL {
                let stop = Stop { max_iter: Some(200_000), ..Stop::when(solver.goal()) };
                let Some((status, found, iterations)) = trained(&drawn, solver, problem, seed, stop) else { continue };
                let what = format!("{}, {problem:?}, {solver:?}: {status:?} after {iterations}, {found:?}", drawn.what);
                assert!(found.infeasible <= 1e-9, "{what}");
                assert!(status != Status::Converged || stop.goal.met(&found), "{what}");
                // Sums of this many terms of this size round.
                let own = 1e-9 * (found.primal.abs() + found.dual.abs()).max(1e-9) + rounding(&drawn, solver, found.dual);
                slack = slack.max(own);
                // A kernel that is not positive semidefinite has no duality.
                if !matches!(drawn.kernel, Kernel::Sigmoid { .. }) {
                    assert!(found.dual <= found.primal + slack, "{what}");
                    assert!(found.dual <= best.0 + slack && best.1 <= found.primal + slack, "{what}, against {}", best.2);
                    best = (best.0.min(found.primal), best.1.max(found.dual), what);
                }
            }
        }
    }
}

/// At the floor of rounding every solver ends by itself, and says that it has stalled, or shows the
/// goal.
#[test]
fn every_solver_ends_at_the_floor_of_rounding() {
    ends(&[(1.0, 3e-16)], &[("banana", banana(150, 2, 3), Kernel::Rbf { gamma: 1.5 })], &[Solver::Fw, Solver::Mfw]);
}

/// The same where `C` takes the floor above the tolerance.
#[test]
fn every_solver_ends_at_the_floor_of_rounding_of_a_large_c() {
    let mut cases = vec![("banana", banana(150, 2, 3), Kernel::Rbf { gamma: 1.5 })];
    cases.extend(real("heart_scale", 270).map(|data| ("heart_scale", data, Kernel::Rbf { gamma: 1.0 / 13.0 })));
    // The others are far from any floor there after millions of steps.
    let near = [Solver::Smo, Solver::Irwls, Solver::Linear, Solver::Newton];
    let out_of_reach: Vec<Solver> = Solver::ALL.into_iter().filter(|solver| !near.contains(solver)).collect();
    ends(&[(1e3, 1e-15), (1e6, 1e-12)], &cases, &out_of_reach);
}

/// Steps of the kind of Frank and Wolfe come nearer for ever, as one over their number: the floor
/// is `out_of_reach` of some solvers.
fn ends(asked: &[(f64, f64)], cases: &[(&str, Dataset, Kernel)], out_of_reach: &[Solver]) {
    for (name, data, kernel) in cases {
        for &(c, eps) in asked {
            for solver in Solver::ALL.into_iter().filter(|solver| !out_of_reach.contains(solver)) {
                let kernel = if solver.is_linear() { Kernel::Linear } else { kernel.clone() };
                let drawn = Drawn { data: data.clone(), kernel, c, what: (*name).to_owned() };
                // Far more than any solver needs: a solver that reaches it does not end.
                let goal = if solver.is_linear() {
                    Goal::Both { kkt: eps, gap: eps }
                } else if matches!(solver, Solver::Smo | Solver::Irwls) {
                    Goal::Kkt(eps)
                } else {
                    Goal::Gap(eps)
                };
                let stop = Stop { max_iter: Some(8_000_000), ..Stop::when(goal) };
                let problem = if solver.is_linear() { (Loss::Hinge, BiasTerm::Feature(1.0)) } else { solver.problem() };
                let (status, found, iterations) = trained(&drawn, solver, problem, 1, stop).expect("its own problem");
                let what = format!("{name}, C {c:e}, eps {eps:e}, {solver:?}: {status:?} after {iterations}, {found:?}");
                assert!(matches!(status, Status::Converged | Status::Stalled), "{what}");
                assert!(found.infeasible <= 1e-9 && found.gap() >= -1e-9 * found.primal.abs().max(1.0), "{what}");
                assert!(status != Status::Converged || goal.met(&found), "{what}");
            }
        }
    }
}
