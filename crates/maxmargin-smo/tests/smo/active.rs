//! Problems solved by their active variables: the same optimum, the same bits for any number of
//! threads, a true status at the end.

use maxmargin_core::{Dual, EqualityConstraint, Goal, Progress, Refine, Solution, Start, Status, Stop, certify, exact_gradient};
use maxmargin_data::{Par, RunControl};
use maxmargin_kernel::{Gram, Kernel, KernelGram, Rows};
use maxmargin_smo::{Relaxation, Shrinking, Smo, SmoConfig, relax, solve};
use maxmargin_testkit::{conformance, generate};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Set sizes small enough that small problems use active variables.
const SMALL: Shrinking = Shrinking { from: 2, long_from: 2, first: 12, ..Shrinking::NEVER };

/// All variables at first, active variables after a long run.
const LONG: Shrinking = Shrinking { from: usize::MAX, long_from: 2, first: 12, ..Shrinking::NEVER };

/// A matrix whose values are cheap enough to compute twice.
fn gram(n: usize) -> (KernelGram, Vec<f64>) {
    let data = maxmargin_data::generate::Generator::Banana.generate(n, None, 5).expect("a generator");
    (KernelGram::new(&data.samples, Kernel::Rbf { gamma: 1.0 }, &RunControl::unlimited()).expect("a kernel"), data.labels)
}

fn config(shrinking: Shrinking, par: Par) -> SmoConfig {
    SmoConfig { refine: Refine::Exact, par, shrinking, ..SmoConfig::default() }
}

fn run(dual: &Dual, gram: &dyn Gram, start: Start, stop: &Stop, config: &SmoConfig) -> Solution {
    let rows = Rows::new(gram, 1 << 28, config.par);
    solve(dual, &rows, start, config, stop, &RunControl::unlimited()).expect("a problem for SMO")
}

fn classes(gram: &KernelGram, labels: &[f64], c: f64) -> Dual {
    Dual::c_svc((0..gram.len()).collect(), labels.to_vec(), vec![c; labels.len()]).expect("two classes")
}

/// Samples twice, once for each side of the tube: several variables share a row.
fn tube(gram: &KernelGram, c: f64) -> Dual {
    let n = gram.len();
    let ids = (0..n).chain(0..n).collect();
    let sign = [vec![1.0; n], vec![-1.0; n]].concat();
    let target = |i: usize| (i as f64 * 0.37).sin();
    let linear_term = (0..n).map(|i| 0.1 - target(i)).chain((0..n).map(|i| 0.1 + target(i))).collect();
    Dual::new(ids, sign, linear_term, vec![c; 2 * n], 0.0, EqualityConstraint::Sum(0.0)).expect("a problem")
}

fn objective(dual: &Dual, gram: &dyn Gram, solution: &Solution) -> f64 {
    let gradient = exact_gradient(dual, gram, &solution.alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    0.5 * solution.alpha.iter().zip(gradient.iter().zip(dual.linear_term())).map(|(a, (g, p))| a * (g + p)).sum::<f64>()
}

/// Rows of codes that fit in memory are kept where many variables move, and only there.
#[test]
fn rows_of_codes_are_kept_where_many_variables_move() {
    let n = 900;
    // Eight small integers a sample; the sign of their sum, a seventh of the labels wrong.
    let hash = |i: usize| ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40;
    let digit = |i: usize, j: usize| (hash(8 * i + j) % 4) as f64;
    let numbers: Vec<f64> = (0..n).flat_map(|i| (0..8).map(move |j| digit(i, j))).collect();
    let sum = |i: usize| (0..8).map(|j| digit(i, j)).sum::<f64>();
    let labels: Vec<f64> = (0..n).map(|i| if (sum(i) > 12.0) == (i % 7 == 0) { -1.0 } else { 1.0 }).collect();
    let samples = maxmargin_data::Samples::from_dense(n, 8, numbers).expect("samples");
    // Whether few variables move, and whether rows are kept.
    let of = |gamma: f64, c: f64| {
        let gram = KernelGram::new(&samples, Kernel::Rbf { gamma }, &RunControl::unlimited()).expect("a kernel");
        assert!(gram.table().is_some(), "codes");
        let dual = classes(&gram, &labels, c);
        let shrinking = Shrinking { from: 2, long_from: usize::MAX, first: 200, ..Shrinking::NEVER };
        let rows = Rows::new(&gram, 1 << 28, Par::Seq);
        let start = Start::zero(&dual).expect("feasible");
        let config = config(shrinking, Par::Seq);
        let found = solve(&dual, &rows, start, &config, &Stop::at(1e-4), &RunControl::unlimited()).expect("a problem for SMO");
        assert_eq!(found.status, Status::Converged);
        let whole =
            run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-4), &self::config(Shrinking::NEVER, Par::Seq));
        let (here, there) = (objective(&dual, &gram, &found), objective(&dual, &gram, &whole));
        assert!((here - there).abs() <= 1e-4 * there.abs(), "{here} {there}");
        let support = found.alpha.iter().filter(|a| **a > 0.0).count() as f64 / n as f64;
        let free = found.alpha.iter().filter(|a| **a > 0.0 && **a < c).count() as f64 / n as f64;
        (support < 0.7 && free < 0.2, rows.held() > 0)
    };
    assert_eq!(of(0.02, 1.0), (true, false), "bounded or 0");
    assert_eq!(of(1.0, 10.0), (false, true), "many are free");
    assert_eq!(of(0.02, 0.001), (false, true), "nearly all are bounded");
}

#[test]
fn the_optimum_is_that_of_all_variables() {
    let (gram, labels) = gram(700);
    for dual in [classes(&gram, &labels, 0.1), classes(&gram, &labels, 10.0), classes(&gram, &labels, 1000.0), tube(&gram, 1.0)] {
        let start = || Start::zero(&dual).expect("feasible");
        let whole = run(&dual, &gram, start(), &Stop::at(1e-6), &config(Shrinking::NEVER, Par::Seq));
        let long = whole.work.iterations > Shrinking::LONG * dual.len() as u64;
        for (shrinking, other) in [(SMALL, true), (LONG, long)] {
            let active = run(&dual, &gram, start(), &Stop::at(1e-6), &config(shrinking, Par::Seq));
            assert_eq!((whole.status, active.status), (Status::Converged, Status::Converged));
            assert!(certify(&dual, &gram, &active, Par::Seq).holds(1e-6));
            let (a, b) = (objective(&dual, &gram, &whole), objective(&dual, &gram, &active));
            assert!((a - b).abs() <= 1e-7 * (1.0 + a.abs()), "{a} and {b}");
            assert_eq!(whole.work.iterations != active.work.iterations, other, "another way");
        }
    }
}

/// The matrix of the active variables, next to rows that filled the budget, once took a quarter
/// more memory than the budget.
#[test]
fn a_budget_that_all_rows_fill_is_kept_by_long_runs() {
    let (gram, mut labels) = gram(700);
    // Flipped labels make most variables move.
    labels.iter_mut().step_by(3).for_each(|label| *label = -*label);
    let dual = classes(&gram, &labels, 1000.0);
    let shrinking = Shrinking { first: 600, ..LONG };
    for budget in [4 * 700 * 700 + 20_000, 4 * 700 * 700 / 2, 1 << 28] {
        let rows = Rows::new(&gram, budget, Par::Seq);
        let start = Start::zero(&dual).expect("feasible");
        let solution = solve(&dual, &rows, start, &config(shrinking, Par::Seq), &Stop::at(1e-3), &RunControl::unlimited())
            .expect("a problem for SMO");
        assert_eq!(solution.status, Status::Converged);
        assert!(solution.work.iterations > Shrinking::LONG * 700, "a long run");
        assert!(rows.work().peak_bytes <= budget + budget / 10, "{} of {budget}", rows.work().peak_bytes);
    }
}

#[test]
fn few_kernel_values_are_computed_where_few_variables_move() {
    let (gram, labels) = gram(2000);
    let dual = classes(&gram, &labels, 10.0);
    let start = || Start::zero(&dual).expect("feasible");
    let of = |shrinking| run(&dual, &gram, start(), &Stop::at(1e-3), &config(shrinking, Par::Seq)).work.rows_computed;
    let (whole, active) = (of(Shrinking::NEVER), of(Shrinking { from: 2, long_from: 2, first: 200, ..Shrinking::NEVER }));
    // Neither strategy computes the matrix of 2,000 rows. One keeps the fifth that it needed; the
    // other computes short rows and the sums over the changes.
    assert!((1..=2000 / 3).contains(&active) && (1..=2000 / 4).contains(&whole), "{active} and {whole}");
}

/// Repairs in rows of the worst violators alone stay inside the box. They are no worse at the fixed
/// bias, and their gradient is that of the point they return.
#[test]
fn repairs_move_the_worst_alone_and_know_the_gradients_of_all() {
    let (gram, labels) = gram(1500);
    for dual in [classes(&gram, &labels, 10.0), tube(&gram, 1.0)] {
        let solved =
            run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-4), &config(Shrinking::NEVER, Par::Seq));
        // Removing every tenth support vector disturbs others.
        let mut alpha = solved.alpha.clone();
        alpha.iter_mut().filter(|a| **a > 0.0).step_by(10).for_each(|a| *a = 0.0);
        let gradient = exact_gradient(&dual, &gram, &alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        let value = |alpha: &[f64], gradient: &[f64]| -> f64 {
            let terms = alpha.iter().zip(gradient).zip(dual.linear_term().iter().zip(dual.sign()));
            terms.map(|((a, g), (p, s))| a * (0.5 * (g + p) + s * solved.bias)).sum()
        };
        let before = value(&alpha, &gradient);
        let (mut ends, mut kept) = (vec![], vec![]);
        for shrinking in [Shrinking::NEVER, Shrinking { from: 2, long_from: 2, first: 100, ..Shrinking::NEVER }] {
            let rows = Rows::new(&gram, 1 << 28, Par::Seq);
            let relaxation = Relaxation { bias: solved.bias, steps: 40, tol: 1e-3, shrinking };
            let relaxed =
                relax(&dual, &rows, &alpha, &gradient, &relaxation, &RunControl::unlimited()).expect("nobody calls it off");
            assert!((1..=40).contains(&relaxed.steps));
            assert!(relaxed.alpha.iter().zip(dual.upper()).all(|(a, u)| (0.0..=*u).contains(a)));
            let exact = exact_gradient(&dual, &gram, &relaxed.alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
            assert!(relaxed.gradient.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= 1e-4 * (1.0 + b.abs())));
            ends.push(value(&relaxed.alpha, &exact));
            kept.push(rows.work().computed);
        }
        assert!(kept[0] > 0 && kept[1] == 0, "{kept:?} whole rows");
        let (whole, short) = (before - ends[0], before - ends[1]);
        // With a smooth kernel a few hundred variables leave little for later steps.
        assert!(whole > 0.0 && short >= 0.5 * whole, "{short} of {whole}: the worst do most of what all would");
    }
}

/// A matrix that counts the values that it and its parts compute.
struct Counting {
    inner: Box<dyn Gram + Send>,
    values: Arc<AtomicU64>,
    /// The cost of a value ([`Gram::value_operations`]).
    operations: u64,
}

impl Counting {
    fn new(inner: KernelGram) -> Self {
        Self { operations: inner.value_operations(), inner: Box::new(inner), values: Arc::default() }
    }
}

impl Gram for Counting {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn diagonal(&self) -> &[f64] {
        self.inner.diagonal()
    }

    fn fill(&self, rows: &[usize], columns: Range<usize>, out: &mut [f32]) {
        self.values.fetch_add((rows.len() * columns.len()) as u64, Relaxed);
        self.inner.fill(rows, columns, out);
    }

    fn fill_exact(&self, rows: &[usize], columns: Range<usize>, out: &mut [f64]) {
        self.inner.fill_exact(rows, columns, out);
    }

    fn part(&self, ids: &[usize]) -> Option<Box<dyn Gram + Send>> {
        Some(Box::new(Self { inner: self.inner.part(ids)?, values: Arc::clone(&self.values), ..*self }))
    }

    fn value_cost(&self) -> f64 {
        self.inner.value_cost()
    }

    fn value_operations(&self) -> u64 {
        self.operations
    }
}

#[test]
fn what_rounds_compute_is_counted_in_rows_of_the_whole_matrix() {
    let (gram, labels) = gram(900);
    let dual = classes(&gram, &labels, 10.0);
    let gram = Counting::new(gram);
    let values = Arc::clone(&gram.values);
    let rows = Rows::new(&gram, 1 << 28, Par::Seq);
    let config = SmoConfig { refine: Refine::Never, ..config(SMALL, Par::Seq) };
    let start = Start::zero(&dual).expect("feasible");
    let work = solve(&dual, &rows, start, &config, &Stop::at(1e-3), &RunControl::unlimited()).expect("a problem for SMO").work;
    let computed = values.load(Relaxed).div_ceil(900);
    assert!(computed > 0 && work.iterations > 100);
    assert_eq!((work.rows_computed, rows.work().computed), (computed, computed));
}

#[test]
fn threads_do_not_change_a_bit() {
    let (gram, labels) = gram(900);
    let dual = classes(&gram, &labels, 10.0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    for shrinking in [SMALL, LONG] {
        let go = |par| run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-6), &config(shrinking, par));
        let alone = go(Par::Seq);
        let together = pool.install(|| go(Par::Pool));
        assert_eq!((alone.alpha, alone.gradient, alone.bias), (together.alpha, together.gradient, together.bias));
        assert_eq!(alone.work.iterations, together.work.iterations);
    }
}

/// More copies of a sample than a round takes in violate equally. Rounds of copies alone, which
/// have one label and nothing to move against, once went on for ever.
#[test]
fn copies_of_a_sample_do_not_keep_the_other_class_out_of_a_round() {
    let mut points = vec![[0.0], [1.25], [-2.89], [0.0], [0.0], [0.0], [-0.5], [0.0], [0.0]];
    points.extend([[-1.8], [0.0], [0.0], [0.0], [0.0], [-1.0], [2.0], [-1.75], [0.0]]);
    let labels = (0..18).map(|i| if [1, 3, 5, 6].contains(&i) { -1.0 } else { 1.0 }).collect();
    let upper = vec![14.1, 3.9, 3.9, 8.4, 3.9, 3.9, 12.8, 3.9, 3.9, 2.2, 1.6, 3.9, 3.9, 3.9, 3.9, 4.7, 3.9, 3.9];
    let samples = maxmargin_data::Samples::from_rows(&points).expect("rows");
    let gram = KernelGram::new(&samples, Kernel::rbf(0.018), &RunControl::unlimited()).expect("a kernel");
    let dual = Dual::c_svc((0..18).collect(), labels, upper).expect("two classes");
    for first in 2..6 {
        let shrinking = Shrinking { from: 2, long_from: 2, first, ..Shrinking::NEVER };
        let found = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-6), &config(shrinking, Par::Seq));
        assert_eq!(found.status, Status::Converged);
        assert!(certify(&dual, &gram, &found, Par::Seq).holds(1e-6));
    }
}

#[test]
fn a_run_that_is_ended_knows_its_point() {
    let (gram, labels) = gram(600);
    let dual = classes(&gram, &labels, 10.0);
    let mut last = 0.0;
    for most in [1, 10, 50, 100, 200, 300, 400, 500] {
        let stop = Stop { max_iter: Some(most), ..Stop::at(1e-9) };
        let found = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &stop, &config(SMALL, Par::Seq));
        assert_eq!((found.status, found.work.iterations), (Status::IterationLimit, most));
        let exact = exact_gradient(&dual, &gram, &found.alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
        let off = found.gradient.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 1e-4, "the gradient is off by {off} after {most} iterations");
        assert!(Start::checked(&dual, found.alpha.clone()).is_ok());
        let now = objective(&dual, &gram, &found);
        assert!(now < last, "{now} after {last}");
        last = now;
    }
}

/// Callers that compute the exact gradient themselves save the sums of the last round.
#[test]
fn a_point_without_its_gradient_costs_fewer_values() {
    let (gram, labels) = gram(2000);
    let dual = classes(&gram, &labels, 10.0);
    let of = |refine| {
        let config = SmoConfig { refine, ..config(Shrinking { first: 200, ..SMALL }, Par::Seq) };
        let found = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-3), &config);
        assert_eq!(found.status, Status::Converged);
        let certificate = certify(&dual, &gram, &found, Par::Seq);
        assert!(certificate.kkt <= 1.1e-3, "{refine:?}: {certificate:?}");
        found
    };
    let [exact, never, point] = [Refine::Exact, Refine::Never, Refine::PointOnly].map(of);
    assert_eq!((&exact.alpha, exact.work.iterations), (&point.alpha, point.work.iterations));
    assert_eq!((&never.alpha, never.work.iterations), (&point.alpha, point.work.iterations));
    let [exact, never, point] = [exact, never, point].map(|found| found.work.rows_computed);
    assert!(exact == point && point < never, "{exact}, {never} and {point} rows");
}

/// A run that is ended before it knows the gradients after its last round returns the point before.
#[test]
fn a_run_that_is_ended_before_its_exact_gradient_knows_its_point() {
    let (gram, labels) = gram(2000);
    let dual = classes(&gram, &labels, 10.0);
    let config = config(Shrinking { first: 200, ..SMALL }, Par::Seq);
    // The control is asked before every block of values.
    let gram = Counting { operations: 1 << 24, ..Counting::new(gram) };
    let all = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-3), &config);
    let observer = |progress: &Progress| {
        if progress.iterations >= all.work.iterations { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let rows = Rows::new(&gram, 1 << 28, config.par);
    let start = Start::zero(&dual).expect("feasible");
    let ended =
        solve(&dual, &rows, start, &config, &Stop::at(1e-3), &RunControl::new(observer).traced()).expect("a problem for SMO");
    assert_eq!((ended.status, ended.work.iterations), (Status::Interrupted, all.work.iterations));
    let exact = exact_gradient(&dual, &gram, &ended.alpha, Par::Seq, &RunControl::unlimited()).expect("unlimited");
    let off = ended.gradient.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 1e-4, "the gradient is off by {off}");
    assert!(objective(&dual, &gram, &ended) > objective(&dual, &gram, &all), "the last round is taken back");
}

/// The store does not count the rows of a round. A limit based on the store's count once left no
/// time to certify thousands of support vectors.
#[test]
fn rounds_tell_what_their_end_would_cost() {
    let (gram, labels) = gram(4000);
    let dual = classes(&gram, &labels, 100.0);
    let rows = Rows::new(&gram, 1 << 28, Par::Seq);
    let mut told = 0;
    let observer = |progress: &Progress| {
        told = progress.owed;
        if told > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let shrinking = Shrinking { first: 400, ..SMALL };
    let start = Start::zero(&dual).expect("feasible");
    let ended = solve(&dual, &rows, start, &config(shrinking, Par::Seq), &Stop::at(1e-9), &RunControl::new(observer))
        .expect("a problem for SMO");
    assert_eq!(ended.status, Status::Interrupted);
    let support = ended.alpha.iter().filter(|a| **a != 0.0).count() as u64;
    // Support vectors are counted every 256 iterations, and each iteration makes two at most.
    assert!(support <= told + 512 && told <= 2 * support + 512, "{support} support vectors, {told} rows told");
}

#[test]
fn a_start_near_the_end_is_taken_up() {
    let (gram, labels) = gram(800);
    let dual = classes(&gram, &labels, 10.0);
    let cold = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &Stop::at(1e-3), &config(SMALL, Par::Seq));
    let start = Start::checked(&dual, cold.alpha.clone()).expect("feasible").with_gradient(cold.gradient.clone());
    let warm = run(&dual, &gram, start, &Stop::at(1e-4), &config(SMALL, Par::Seq));
    assert_eq!(warm.status, Status::Converged);
    assert!(2 * warm.work.iterations < cold.work.iterations, "{} after {}", warm.work.iterations, cold.work.iterations);
}

/// A gap as a goal costs no more steps than the violation at which it is reached.
#[test]
fn a_gap_is_not_followed_beyond_its_goal() {
    let data = maxmargin_data::generate::Generator::TwoGaussians.generate(4000, None, 5).expect("a generator");
    let gram = KernelGram::new(&data.samples, Kernel::Rbf { gamma: 1.0 }, &RunControl::unlimited()).expect("a kernel");
    let dual = classes(&gram, &data.labels, 0.2);
    let of = |goal: Goal| {
        let stop = Stop { goal, ..Stop::at(1e-3) };
        let found =
            run(&dual, &gram, Start::zero(&dual).expect("feasible"), &stop, &config(Shrinking { first: 300, ..SMALL }, Par::Seq));
        assert_eq!(found.status, Status::Converged, "{goal:?}");
        (found.work.iterations, certify(&dual, &gram, &found, Par::Seq))
    };
    for gap in [1e-2, 1e-3, 1e-4] {
        let (iterations, certificate) = of(Goal::Gap(gap));
        assert!(certificate.has_gap(gap), "{certificate:?}");
        let (by_violation, _) = of(Goal::Kkt(certificate.kkt));
        assert!(2 * iterations <= 3 * by_violation, "{iterations} iterations to the gap, {by_violation} to its violation");
    }
}

#[test]
fn a_gap_is_reached() {
    let (gram, labels) = gram(700);
    let dual = classes(&gram, &labels, 10.0);
    let stop = Stop { goal: Goal::Gap(1e-4), ..Stop::at(1e-3) };
    let found = run(&dual, &gram, Start::zero(&dual).expect("feasible"), &stop, &config(SMALL, Par::Seq));
    assert_eq!(found.status, Status::Converged);
    assert!(certify(&dual, &gram, &found, Par::Seq).relative_gap() <= 1e-4);
}

#[test]
fn the_common_suite() {
    conformance::run_solver(&Smo { shrinking: SMALL, ..Smo::default() });
    conformance::run_solver_to(&Smo { shrinking: SMALL, ..Smo::default() }, Goal::Gap);
}

#[test]
fn hard_problems_end() {
    for problem in generate::medium(11, 120) {
        let stop = Stop { max_iter: Some(2_000_000), ..Stop::at(1e-3) };
        let start = Start::zero(&problem.dual).expect("feasible");
        let found = run(&problem.dual, &problem.gram, start, &stop, &config(SMALL, Par::Seq));
        let certificate = certify(&problem.dual, &problem.gram, &found, Par::Seq);
        assert_eq!(found.status == Status::Converged, certificate.holds(1e-3), "{}: {:?}", problem.name, found.status);
    }
}
