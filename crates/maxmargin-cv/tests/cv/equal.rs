//! Equal samples of one class as one variable: the same optimum in fewer variables, in trainings
//! and in folds.

use maxmargin_core::{AuditPoint, Dual, Goal, Refine, Run, Solve, Solved, Start, Status, Stop, audit, certify};
use maxmargin_data::{Par, RunControl, Samples};
use maxmargin_kernel::{Exact, Gram, Kernel, KernelGram, Mark, Rows, Space};
use maxmargin_solvers::SmoFinish;
use maxmargin_testkit::conformance;
use proptest::prelude::*;
use std::ops::ControlFlow;

const JOINS: SmoFinish = SmoFinish { merge_equal_rows: true, ..APART };
const APART: SmoFinish = SmoFinish { smo: maxmargin_smo::Smo::PLAIN, hands_over: false, merge_equal_rows: false };

/// `n` samples of a few bits: most occur several times, some with contradicting labels.
fn copies(n: usize, bits: u64, seed: u64) -> (KernelGram, Vec<f64>) {
    let draw = |i: u64| (i ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 17;
    let rows: Vec<u64> = (0..n as u64).map(|i| draw(i) % (1 << bits)).collect();
    let values = rows.iter().flat_map(|row| (0..bits).map(move |k| f64::from((row >> k & 1) as u32))).collect();
    let samples = Samples::from_dense(n, bits as usize, values).expect("finite values");
    let label = |(i, row): (usize, &u64)| if (row.count_ones() % 2 == 0) ^ (draw(i as u64 + 7000) % 9 == 0) { 1.0 } else { -1.0 };
    let labels = rows.iter().enumerate().map(label).collect();
    (KernelGram::new(&samples, Kernel::Rbf { gamma: 0.3 }, &RunControl::unlimited()).expect("a kernel"), labels)
}

fn solve(how: SmoFinish, dual: &Dual, gram: &dyn Gram, start: Start, budget: u64) -> Solved {
    let rows = Rows::new(gram, budget, Par::Seq);
    let control = RunControl::unlimited();
    let stop = Stop { goal: Goal::Kkt(1e-6), max_iter: Some(10_000_000), max_time: None };
    let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &control };
    how.solve(dual, Space::Kernel(&rows), start, &mut run).expect("a problem for SMO")
}

fn joined(solved: &Solved) -> Option<u64> {
    solved.counts.iter().find(|(name, _)| *name == "joined_variables").map(|(_, count)| *count)
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]

    /// Boxes of any size, empty ones too, as folds have them.
    #[test]
    fn the_optimum_is_that_of_all_samples(seed in 0_u64..1000, bits in 3_u64..6, c in prop::sample::select(vec![0.1, 1.0, 30.0])) {
        let n = 120;
        let (gram, labels) = copies(n, bits, seed);
        let upper: Vec<f64> = (0..n as u64).map(|i| if (i * 7 + seed) % 10 == 3 { 0.0 } else { c * (1.0 + (i % 3) as f64) }).collect();
        let Ok(all) = Dual::c_svc((0..n).collect(), labels, upper) else { return Ok(()) };
        let dual = all.taking_part().map_or(all.clone(), |part| part.0);
        let zero = || Start::zero(&dual).expect("feasible");
        let (one, other) = (solve(JOINS, &dual, &gram, zero(), 1 << 24), solve(APART, &dual, &gram, zero(), 1 << 24));
        prop_assert!(joined(&one).is_some_and(|count| count <= 1 << (bits + 1)) && joined(&other).is_none());
        for solved in [&one, &other] {
            prop_assert_eq!(solved.solution.status, Status::Converged);
            prop_assert!(Start::checked(&dual, solved.solution.alpha.clone()).is_ok());
            prop_assert!(certify(&dual, &gram, &solved.solution, Par::Seq).holds(1e-6));
        }
        let objective = |solved: &Solved| -> f64 {
            let terms = solved.solution.alpha.iter().zip(&solved.solution.gradient).zip(dual.linear_term());
            0.5 * terms.map(|((a, g), p)| a * (g + p)).sum::<f64>()
        };
        let (a, b) = (objective(&one), objective(&other));
        prop_assert!((a - b).abs() <= 1e-5 * (1.0 + a.abs()), "{} and {}", a, b);
        // A start at the solution needs no iteration, with and without merging.
        let start = Start::checked(&dual, one.solution.alpha.clone()).expect("feasible").with_gradient(one.solution.gradient.clone());
        let again = solve(JOINS, &dual, &gram, start, 1 << 24);
        prop_assert!(again.solution.work.iterations <= 2, "{} more", again.solution.work.iterations);
        // A row store with room for a few rows only.
        let few = solve(JOINS, &dual, &gram, zero(), 0);
        prop_assert_eq!(few.solution.alpha, one.solution.alpha);
    }
}

/// If the matrix has marks of classes and folds, equal samples of one fold are contiguous and take
/// no part when that fold is left out. Only equal samples of both classes are two variables.
#[test]
fn what_a_fold_alone_has_is_left_out_with_it() {
    let n = 4500;
    let (gram, labels) = copies(n, 12, 3);
    let mark = |i: usize| Mark { class: u32::from(labels[i] > 0.0), fold: (3 * i / n) as u32 };
    let gram = gram.marked((0..n).map(mark).collect());
    let seen: Vec<usize> = (n / 3..n).collect();
    let dual = Dual::c_svc(seen.clone(), labels[n / 3..].to_vec(), vec![1.0; seen.len()]).expect("two classes");
    let solved = solve(JOINS, &dual, &gram, Start::zero(&dual).expect("feasible"), 1 << 26);
    assert!(certify(&dual, &gram, &solved.solution, Par::Seq).holds(1e-6));
    let distinct = gram.distinct(&RunControl::unlimited()).expect("nobody calls it off").expect("copies");
    let of = |i: usize| distinct.of[i] as usize;
    assert!((0..n).all(|i| (of(i) < distinct.spread) <= (0..n).all(|j| of(i) != of(j) || mark(i) == mark(j))));
    let mut variables: Vec<(usize, bool)> = seen.iter().map(|&i| (of(i), labels[i] > 0.0)).collect();
    variables.sort_unstable();
    variables.dedup();
    let most = variables.len() + 256;
    let all = 2 * distinct.first.len() - distinct.mixed;
    assert!(most < all, "{most} of {all}");
    assert!(
        joined(&solved).is_some_and(|count| (variables.len()..most).contains(&(count as usize))),
        "{most}: {:?}",
        joined(&solved)
    );
    // Wrong marks are detected.
    let (gram, labels) = copies(200, 4, 3);
    let dual = Dual::c_svc((0..200).collect(), labels, vec![1.0; 200]).expect("two classes");
    let gram = gram.marked(vec![Mark::default(); 200]);
    let solved = solve(JOINS, &dual, &gram, Start::zero(&dual).expect("feasible"), 1 << 24);
    assert!(joined(&solved).is_none() && certify(&dual, &gram, &solved.solution, Par::Seq).holds(1e-6));
}

#[test]
fn copies_share_alpha_by_their_boxes() {
    let (gram, labels) = copies(200, 3, 5);
    let upper: Vec<f64> = (0..200).map(|i| 1.0 + f64::from(i % 4)).collect();
    let dual = Dual::c_svc((0..200).collect(), labels.clone(), upper.clone()).expect("two classes");
    let solved = solve(JOINS, &dual, &gram, Start::zero(&dual).expect("feasible"), 1 << 24);
    let distinct = gram.distinct(&RunControl::unlimited()).expect("nobody calls it off").expect("copies");
    let share = |k: usize| solved.solution.alpha[k] / upper[k];
    let mut seen = 0;
    for (i, j) in (0..200).flat_map(|i| (0..i).map(move |j| (i, j))) {
        if distinct.of[i] == distinct.of[j] && labels[i] == labels[j] {
            assert!((share(i) - share(j)).abs() <= 1e-12);
            seen += 1;
        }
    }
    assert!(seen > 1000);
}

/// Audits of a space with merged rows compute one sum for all copies of a sample.
#[test]
fn an_audit_of_different_samples_is_that_of_all() {
    let n = 150;
    let (gram, labels) = copies(n, 5, 8);
    let dual = Dual::c_svc((0..n).collect(), labels, vec![2.0; n]).expect("two classes");
    let rows = Rows::new(&gram, 1 << 24, Par::Seq);
    assert!(Exact::from(Space::Kernel(&rows)).different().is_none(), "nobody has joined anything");
    assert!(rows.merged(&RunControl::unlimited()).is_ok_and(|merged| merged.is_some()));
    let (different, of) = Exact::from(Space::Kernel(&rows)).different().expect("solvers have joined copies");
    assert!(different.len() <= 32 && of.len() == n);
    let alpha: Vec<f64> = (0..n).map(|i| (i * 5 % 7) as f64 / 3.0).collect();
    let points = [0.1, -0.3].map(|bias| AuditPoint { dual: &dual, alpha: &alpha, bias, weights: None, known: None });
    let (joined, all) = (
        audit(Space::Kernel(&rows), &points, Par::Seq, &RunControl::unlimited()).expect("unlimited"),
        audit(&gram, &points, Par::Seq, &RunControl::unlimited()).expect("unlimited"),
    );
    for (one, other) in joined.iter().zip(&all) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs().max(b.abs()));
        assert!(one.sums.len() == n && one.sums.iter().zip(&other.sums).all(|(a, b)| near(*a, *b)));
        assert!(one.gradient.iter().zip(&other.gradient).all(|(a, b)| near(*a, *b)));
        assert!(near(one.certificate.primal, other.certificate.primal) && near(one.certificate.kkt, other.certificate.kkt));
    }
}

/// Comparing long rows takes time, so the cancellation check runs meanwhile.
#[test]
fn a_comparison_that_is_called_off_leaves_the_start() {
    let (n, d) = (4_000, 300);
    let values = (0..n * d).map(|at| ((at / d % 500 * d + at % d) as f64).sin()).collect();
    let samples = Samples::from_dense(n, d, values).expect("finite values");
    let gram = KernelGram::new(&samples, Kernel::Rbf { gamma: 0.1 }, &RunControl::unlimited()).expect("a kernel");
    let labels = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let dual = Dual::c_svc((0..n).collect(), labels, vec![1.0; n]).expect("two classes");
    let rows = Rows::new(&gram, 1 << 24, Par::Seq);
    let stop = Stop { goal: Goal::Kkt(1e-3), max_iter: None, max_time: None };
    let never = RunControl::new(|_| ControlFlow::Break(()));
    let mut run = Run { stop, refine: Refine::Exact, par: Par::Seq, machine: 0, control: &never };
    let solved = JOINS.solve(&dual, Space::Kernel(&rows), Start::zero(&dual).expect("feasible"), &mut run).expect("for SMO");
    assert_eq!((solved.solution.status, solved.solution.work.iterations), (Status::Interrupted, 0));
    assert!(solved.solution.alpha.iter().all(|alpha| *alpha == 0.0) && rows.merged_so_far().is_none());
    assert_eq!(run.stop, stop);
    let found = gram.distinct(&RunControl::unlimited()).expect("nobody calls it off").expect("copies");
    assert_eq!(found.first.len(), 500);
}

#[test]
fn samples_that_differ_are_left_alone() {
    let samples = maxmargin_data::generate::Generator::Banana.generate(150, None, 3).expect("a generator");
    let gram = KernelGram::new(&samples.samples, Kernel::Rbf { gamma: 1.0 }, &RunControl::unlimited()).expect("a kernel");
    assert_eq!(gram.distinct(&RunControl::unlimited()), Ok(None));
    let dual = Dual::c_svc((0..150).collect(), samples.labels, vec![1.0; 150]).expect("two classes");
    assert!(joined(&solve(JOINS, &dual, &gram, Start::zero(&dual).expect("feasible"), 1 << 24)).is_none());
}

#[test]
fn the_common_suite() {
    conformance::run_solver(&SmoFinish { merge_equal_rows: true, hands_over: true, ..SmoFinish::default() });
}
