//! Guarantees of IRWLS beyond the suite: descent, seeds, other solvers of working sets, ridges,
//! costs, indefinite kernels.

use maxmargin_core::{BiasTerm, Certificate, Dual, RunControl, Start, Status, Stop, certify};
use maxmargin_data::Par;
use maxmargin_irwls::{Chunk, ChunkSolver, IrwlsConfig, IrwlsOutcome, LeastSquares, Refine, SetSelection, solve};
use maxmargin_kernel::{FnGram, Gram, Rows};
use maxmargin_testkit::{Problem, generate};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const ALL: [SetSelection; 5] =
    [SetSelection::Random, SetSelection::Largest, SetSelection::Smallest, SetSelection::Half, SetSelection::Steepest];

fn run(problem: &Problem, config: &IrwlsConfig, stop: &Stop) -> (IrwlsOutcome, Certificate) {
    let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
    let start = Start::zero(&problem.dual).expect("zero is feasible");
    let outcome = solve(&problem.dual, &rows, start, config, stop, &RunControl::unlimited()).expect("a problem for IRWLS");
    let certificate = certify(&problem.dual, rows.gram(), &outcome.solution, Par::Seq);
    (outcome, certificate)
}

/// A problem with kernel values of at most 1, exact in `f32`.
fn lattice(n: usize, c: f64) -> Problem {
    let mut problem = generate::lattice(7, n, 2, 1.0);
    problem.gram = problem.gram.scaled(1.0 / 1024.0);
    let labels = problem.dual.sign().to_vec();
    Problem::c_svc(format!("lattice of {n}"), problem.gram, labels, vec![c; n])
}

#[test]
fn all_rules_and_sizes_come_to_one_optimum() {
    let problem = lattice(500, 10.0);
    let (_, reference) = run(&problem, &IrwlsConfig { working_set: 500, ..IrwlsConfig::default() }, &Stop::at(1e-8));
    for selection in ALL {
        for working_set in [2, 3, 20, 150] {
            let tol = if working_set < 20 { 1e-2 } else { 1e-4 };
            let config = IrwlsConfig { selection, working_set, seed: 5, ..IrwlsConfig::default() };
            let (outcome, certificate) = run(&problem, &config, &Stop::at(tol));
            let what = format!("{selection:?}, {working_set}: {certificate:?}, {outcome:?}", outcome = outcome.solution.work);
            assert_eq!(outcome.solution.status, Status::Converged, "{what}");
            assert!(certificate.holds(tol), "{what}");
            // Both objectives are within their gaps of the optimum.
            let slack = problem.rounding(&outcome.solution.alpha);
            assert!(certificate.dual <= reference.primal + slack && reference.dual <= certificate.primal + slack, "{what}");
        }
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    let problem = lattice(400, 10.0);
    let of = |seed: u64| {
        let config = IrwlsConfig { selection: SetSelection::Random, working_set: 30, seed, ..IrwlsConfig::default() };
        run(&problem, &config, &Stop::at(1e-3)).0
    };
    let same =
        |a: &IrwlsOutcome, b: &IrwlsOutcome| a.solution == b.solution && (a.chunks, a.exact_chunks) == (b.chunks, b.exact_chunks);
    assert!(same(&of(1), &of(1)));
    assert!(!same(&of(1), &of(2)));
}

/// Without the worst violators of every condition and class, working sets drawn at random often
/// gain nothing.
#[test]
fn drawn_sets_alone_may_gain_nothing() {
    let problem = lattice(400, 10.0);
    let of = |selection, working_set| {
        let config = IrwlsConfig { selection, working_set, seed: 3, ..IrwlsConfig::default() };
        run(&problem, &config, &Stop::at(1e-2))
    };
    let (guarded, (drawn, _)) = (of(SetSelection::Random, 4).0, of(SetSelection::PureRandom, 4));
    assert_eq!((guarded.solution.status, guarded.idle_chunks), (Status::Converged, 0));
    assert!(
        drawn.idle_chunks > 0 && drawn.chunks > guarded.chunks,
        "{} of {}, {}",
        drawn.idle_chunks,
        drawn.chunks,
        guarded.chunks
    );
    // Large sets reach the same optimum.
    let (large, certificate) = of(SetSelection::PureRandom, 150);
    assert_eq!(large.solution.status, Status::Converged);
    assert!(certificate.holds(1e-2), "{certificate:?}");
}

/// Counts its calls, and delegates to least squares or does nothing.
struct Counting {
    calls: AtomicU64,
    idle: bool,
}

impl ChunkSolver for Counting {
    fn solve(&self, chunk: &mut Chunk, tol: f64, more: &mut (dyn FnMut() -> bool + Send)) {
        self.calls.fetch_add(1, Relaxed);
        if !self.idle {
            LeastSquares.solve(chunk, tol, more);
        }
    }
}

#[test]
fn working_sets_are_solved_by_whom_the_caller_brings() {
    let problem = lattice(300, 10.0);
    let counting = Counting { calls: AtomicU64::new(0), idle: false };
    let config = IrwlsConfig { working_set: 20, ..IrwlsConfig::default() };
    let (expected, _) = run(&problem, &config, &Stop::at(1e-3));
    let (found, _) = run(&problem, &IrwlsConfig { chunks: &counting, ..config }, &Stop::at(1e-3));
    assert_eq!(found.solution, expected.solution);
    assert_eq!(counting.calls.load(Relaxed), expected.chunks - expected.exact_chunks);
    assert!(expected.chunks > 5);

    let idle = Counting { calls: AtomicU64::new(0), idle: true };
    let config = IrwlsConfig { chunks: &idle, refine: Refine::Never, ..config };
    let (found, certificate) = run(&problem, &config, &Stop::at(1e-3));
    assert_eq!(found.solution.status, Status::Stalled);
    assert!(certificate.kkt >= 1.0 && found.solution.alpha.iter().all(|a| *a == 0.0), "{certificate:?}");
}

/// A solver may return any point: `Chunk::set` projects it.
struct Careless;

impl ChunkSolver for Careless {
    fn solve(&self, chunk: &mut Chunk, _: f64, _: &mut (dyn FnMut() -> bool + Send)) {
        let wild: Vec<f64> = (0..chunk.len()).map(|k| if k % 2 == 0 { 1e6 } else { -3.0 }).collect();
        chunk.set(&wild);
    }
}

#[test]
fn a_careless_solver_cannot_leave_the_box_or_the_balance() {
    let problem = lattice(300, 10.0);
    let config = IrwlsConfig { working_set: 20, chunks: &Careless, refine: Refine::Never, ..IrwlsConfig::default() };
    let (found, certificate) = run(&problem, &config, &Stop::at(1e-3));
    assert_ne!(found.solution.status, Status::Converged);
    assert!(certificate.infeasible <= 1e-12, "{certificate:?}");
}

#[test]
fn a_chunk_is_what_its_documentation_says() {
    struct Look;
    impl ChunkSolver for Look {
        fn solve(&self, chunk: &mut Chunk, _: f64, _: &mut (dyn FnMut() -> bool + Send)) {
            let m = chunk.len();
            assert!(m > 0 && !chunk.is_empty());
            let linear = chunk.linear();
            for (i, linear) in linear.iter().enumerate() {
                let product: f64 = chunk.row(i).iter().zip(chunk.beta()).map(|(k, b)| k * b).sum();
                assert!((linear + product - chunk.indicator()[i]).abs() < 1e-9);
                assert!(chunk.low()[i] <= chunk.beta()[i] && chunk.beta()[i] <= chunk.high()[i]);
                for j in 0..m {
                    assert_eq!(chunk.row(i)[j], chunk.row(j)[i]);
                }
            }
            LeastSquares.solve(chunk, 1e-3, &mut || true);
        }
    }
    let problem = lattice(200, 10.0);
    let (found, _) = run(&problem, &IrwlsConfig { working_set: 15, chunks: &Look, ..IrwlsConfig::default() }, &Stop::at(1e-3));
    assert_eq!(found.solution.status, Status::Converged);
}

#[test]
fn without_refinement_nothing_is_recomputed() {
    let problem = lattice(300, 10.0);
    let config = IrwlsConfig { working_set: 40, refine: Refine::Never, ..IrwlsConfig::default() };
    let (outcome, certificate) = run(&problem, &config, &Stop::at(1e-3));
    assert_eq!((outcome.solution.status, outcome.solution.work.refinements, outcome.exact_chunks), (Status::Converged, 0, 0));
    // Kernel values are exact in f32 here.
    assert!(certificate.kkt <= 1e-3 + 1e-9, "{certificate:?}");
}

/// A large C and a kernel of low rank: pair steps would need hundreds of thousands, least squares
/// needs a few hundred systems.
#[test]
fn a_large_c_costs_few_systems() {
    let problem = lattice(600, 1e5);
    for working_set in [100, 600] {
        let config = IrwlsConfig { working_set, ..IrwlsConfig::default() };
        let (outcome, certificate) = run(&problem, &config, &Stop::at(1e-6));
        assert_eq!(outcome.solution.status, Status::Converged, "{certificate:?}");
        let work = outcome.solution.work;
        assert!(work.iterations <= 20_000, "{working_set}: {work:?}, {} chunks", outcome.chunks);
    }
}

#[test]
fn every_variable_may_have_a_ridge_of_its_own_and_no_upper_bound() {
    for (seed, working_set) in [(1, 10), (2, 60)] {
        let problem = &generate::medium(seed, 60)[0];
        let c: Vec<f64> = (0..60).map(|k| [0.1, 1.0, 30.0][k % 3]).collect();
        let dual = Dual::squared_hinge((0..60).collect(), problem.dual.sign().to_vec(), &c, BiasTerm::Free).expect("a problem");
        let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
        let start = Start::zero(&dual).expect("zero is feasible");
        let config = IrwlsConfig { working_set, ..IrwlsConfig::default() };
        let outcome =
            solve(&dual, &rows, start, &config, &Stop::at(1e-8), &RunControl::unlimited()).expect("a problem for IRWLS");
        let certificate = certify(&dual, rows.gram(), &outcome.solution, Par::Seq);
        assert_eq!(outcome.solution.status, Status::Converged, "{certificate:?}");
        assert!(certificate.holds(1e-8) && certificate.relative_gap() <= 1e-6, "{certificate:?}");
    }
}

#[test]
fn two_samples() {
    // K = I, labels ±1: α = (1, 1) without bounds, so min(1, C).
    let identity = FnGram::new(2, |i, j| f64::from(u8::from(i == j)));
    let rows = Rows::new(&identity, u64::MAX, Par::Seq);
    for (c, expected) in [(4.0, 1.0), (0.25, 0.25)] {
        let dual = Dual::c_svc(vec![0, 1], vec![1.0, -1.0], vec![c; 2]).expect("two classes");
        let start = Start::zero(&dual).expect("feasible");
        let found =
            solve(&dual, &rows, start, &IrwlsConfig::default(), &Stop::at(1e-10), &RunControl::unlimited()).expect("solved");
        assert!(found.solution.alpha.iter().all(|a| (a - expected).abs() < 1e-9), "{:?}", found.solution);
        assert!(found.solution.bias.abs() < 1e-9);
    }
}

/// Kernel values that are NaN or infinite: a status, never a panic, and never a claim.
#[test]
fn kernels_that_are_none() {
    let mixed = FnGram::new(40, |i, j| if i % 5 == 3 && j % 7 == 2 { f64::NAN } else { f64::from(u8::from(i == j)) });
    let infinite = FnGram::new(40, |i, j| if i == j { f64::INFINITY } else { 0.0 });
    let nothing = FnGram::new(40, |_, _| 0.0);
    let labels = (0..40).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let dual = Dual::c_svc((0..40).collect(), labels, vec![1.0; 40]).expect("two classes");
    let grams: [&dyn Gram; 3] = [&mixed, &infinite, &nothing];
    for gram in grams {
        let rows = Rows::new(gram, u64::MAX, Par::Seq);
        for working_set in [7, 40] {
            let start = Start::zero(&dual).expect("feasible");
            let stop = Stop { max_iter: Some(10_000), ..Stop::at(1e-3) };
            let config = IrwlsConfig { working_set, ..IrwlsConfig::default() };
            let outcome = solve(&dual, &rows, start, &config, &stop, &RunControl::unlimited()).expect("a problem");
            let certificate = certify(&dual, gram, &outcome.solution, Par::Seq);
            assert!(outcome.solution.status != Status::Converged || certificate.holds(1e-3), "{certificate:?}");
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(64))]
    /// Every stop is at a feasible point; a run that continues from there is never worse.
    #[test]
    fn feasible_and_monotone(seed in 0_u64..1000, most in 1_u64..40, working_set in 2_usize..30, rule in 0_usize..5) {
        for problem in generate::medium(seed, 24) {
            let rows = Rows::new(&problem.gram, u64::MAX, Par::Seq);
            let mut start = Start::zero(&problem.dual).expect("feasible");
            let mut last = 0.0;
            let config = IrwlsConfig { selection: ALL[rule], working_set, seed, ..IrwlsConfig::default() };
            for _ in 0..4 {
                let stop = Stop { max_iter: Some(most), ..Stop::at(1e-8) };
                let outcome = solve(&problem.dual, &rows, start, &config, &stop, &RunControl::unlimited()).expect("solved");
                let alpha = outcome.solution.alpha;
                prop_assert!(outcome.solution.work.iterations <= most);
                let objective = problem.objective(&alpha);
                // Gains are measured by kernel values in f32, with an error of at most 6e-8 of the
                // terms of the objective.
                let terms: f64 = alpha.iter().sum::<f64>().powi(2) * problem.gram.diagonal().iter().fold(1.0, |m: f64, d| m.max(*d));
                prop_assert!(objective <= last + 1.2e-7 * (1.0 + terms), "{}: {} after {}", problem.name, objective, last);
                last = objective;
                start = Start::checked(&problem.dual, alpha).expect("feasible");
            }
        }
    }
}
