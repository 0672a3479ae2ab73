//! The machine of all classes at once: certificates, and two classes against the hinge loss.

use maxmargin_core::{BiasTerm, CrammerSinger, Dual, Goal, Loss, RunControl, Start, Status, Stop, certify_crammer_singer};
use maxmargin_data::{Par, Samples};
use maxmargin_linear::{ClassesSolution, Config, Matrix, Method, solve, solve_crammer_singer};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn solved(matrix: &Matrix, problem: &CrammerSinger, gap: f64) -> ClassesSolution {
    solved_by(Method::Hybrid, matrix, problem, gap)
}

fn solved_by(method: Method, matrix: &Matrix, problem: &CrammerSinger, gap: f64) -> ClassesSolution {
    let (stop, control) = (Stop::when(Goal::Gap(gap)), RunControl::unlimited());
    solve_crammer_singer(matrix, problem, &Config { method, ..Config::default() }, &stop, &control).expect("a problem")
}

/// Two classes have `w_1 = −w_2 = v / 2` with the hinge loss of margins `v·x`: its squared norm is
/// half, so that the problem is that of one machine with twice the cost, halved.
#[test]
fn two_classes_are_a_machine_with_twice_the_cost() {
    let data = maxmargin_data::Generator::Blobs.generate(120, Some(4), 2).expect("data");
    let matrix = Matrix::new(&data.samples, Some(1.0), Par::Seq);
    let class = data.labels.iter().map(|label| usize::from(*label > 0.0)).collect();
    let found = solved_by(Method::Descent, &matrix, &CrammerSinger::new(2, class, vec![0.5; 120]).expect("a problem"), 1e-9);
    let dual = Dual::svc(Loss::Hinge, BiasTerm::Feature(1.0), (0..120).collect(), data.labels.clone(), vec![1.0; 120]);
    let dual = dual.expect("a problem");
    let start = Start::zero(&dual).expect("feasible");
    let stop = Stop::when(Goal::Gap(1e-9));
    let one = solve(&matrix, &dual, start, &Config::default(), &stop, &RunControl::unlimited()).expect("a problem");
    assert_eq!(found.status, Status::Converged);
    let (all, half) = (found.certificate.dual, 0.5 * one.certificate.dual);
    assert!((all - half).abs() <= 1e-7 * half, "{all} {half}");
}

/// Sweeps over the rows of all classes took more than 100,000 at a large C.
#[test]
fn two_classes_reach_the_gap_at_a_large_c() {
    let mut data = maxmargin_data::Generator::Blobs.generate(3000, Some(40), 2).expect("data");
    // A few wrong labels: no weights separate the classes.
    data.labels.iter_mut().step_by(17).for_each(|label| *label = -*label);
    let matrix = Matrix::new(&data.samples, Some(1.0), Par::Seq);
    let class: Vec<usize> = data.labels.iter().map(|label| usize::from(*label > 0.0)).collect();
    let mut cost = vec![1e4; 3000];
    cost[7] = 0.0;
    let problem = CrammerSinger::new(2, class, cost).expect("a problem");
    let found = solved(&matrix, &problem, 1e-8);
    assert!(found.status == Status::Converged && found.certificate.has_gap(1e-8), "{:?}", found.certificate);
    assert!(found.work.sweeps < 1000 && found.work.newton_steps < 200, "{:?}", found.work);
    assert_eq!(found.alpha[14..16], [0.0, 0.0], "a row of cost 0 takes no part");
}

proptest! {
    /// Both ways to solve two classes lead to one optimum, also with rows without entries and of
    /// cost 0.
    #[test]
    fn both_solvers_of_two_classes_agree(
        numbers in proptest::collection::vec(-2.0..2.0_f64, 12 * 3),
        of in proptest::collection::vec(0_usize..2, 12),
        costs in proptest::collection::vec(0.01..3.0_f64, 12),
        empty in 0_usize..12,
    ) {
        let (mut numbers, mut costs) = (numbers, costs);
        numbers[3 * empty..3 * empty + 3].fill(0.0);
        costs[(empty + 1) % 12] = 0.0;
        let samples = Samples::from_dense(12, 3, numbers).expect("samples");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let problem = CrammerSinger::new(2, of, costs).expect("a problem");
        let (one, all) = (solved(&matrix, &problem, 1e-8), solved_by(Method::Descent, &matrix, &problem, 1e-8));
        prop_assert!(one.status == Status::Converged && one.certificate.has_gap(1e-8), "{:?}", one);
        // Sweeps end at their cap on some of these problems: their bounds hold all the same.
        let (first, second) = (one.certificate, all.certificate);
        let rounding = 1e-12 * first.primal.max(1e-12);
        prop_assert!(first.dual <= second.primal + rounding && second.dual <= first.primal + rounding, "{:?} {:?}", one, all);
        if all.status == Status::Converged {
            let (one, all) = (first.dual, second.dual);
            prop_assert!((one - all).abs() <= 1e-7 * all.abs().max(1e-12), "{} {}", one, all);
        } else {
            prop_assert_eq!(all.status, Status::Slow, "{:?}", all);
        }
    }
}

/// Labels of five classes by direction, every 13th of them wrong: no weights separate them.
fn five_classes(rows: usize, features: usize) -> (Samples, Vec<usize>) {
    let data = maxmargin_data::Generator::Blobs.generate(rows, Some(features), 5).expect("data");
    let sector = |i: usize| {
        let row = data.samples.row(i).entries();
        let at = |column: usize| row.iter().find(|(j, _)| *j == column).map_or(0.0, |(_, v)| *v);
        let sector = ((at(1).atan2(at(0)) / std::f64::consts::TAU + 0.5) * 5.0) as usize;
        (sector + usize::from(i.is_multiple_of(13))) % 5
    };
    let class = (0..rows).map(sector).collect();
    (data.samples, class)
}

/// At a large C sweeps over 1,000 rows of five classes end at their cap of 100,000.
#[test]
fn many_classes_reach_the_gap_at_a_large_c() {
    let (samples, class) = five_classes(1000, 12);
    let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
    let mut cost = vec![1e3; 1000];
    cost[7] = 0.0;
    let problem = CrammerSinger::new(5, class, cost).expect("a problem");
    let found = solved(&matrix, &problem, 1e-8);
    assert!(found.status == Status::Converged && found.certificate.has_gap(1e-8), "{:?} {:?}", found.certificate, found.work);
    assert!(found.work.sweeps < 1000 && found.work.newton_steps < 300, "{:?}", found.work);
    assert_eq!(found.alpha[35..40], [0.0; 5], "a row of cost 0 takes no part");
    let alone = solved_by(Method::Newton, &matrix, &problem, 1e-8);
    let (one, other) = (found.certificate.dual, alone.certificate.dual);
    assert!(alone.status == Status::Converged && (one - other).abs() <= 1e-7 * one, "{one} {other}");
}

/// With more weights than a system may have, Newton steps are over the columns of free rows.
#[test]
fn many_features_reach_the_gap_at_a_large_c() {
    let (samples, class) = five_classes(120, 1000);
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let problem = CrammerSinger::new(5, class, vec![10.0; 120]).expect("a problem");
    let found = solved_by(Method::Newton, &matrix, &problem, 1e-8);
    assert!(found.status == Status::Converged && found.work.newton_steps > 0, "{:?} {:?}", found.certificate, found.work);
    // Without memory for systems there are sweeps alone.
    let little = Matrix::new(&samples, None, Par::Seq).with_budget(1 << 10);
    let sweeps = solved(&little, &problem, 1e-5);
    assert!(sweeps.status == Status::Converged && sweeps.work.newton_steps == 0, "{:?}", sweeps.work);
    let (one, other) = (found.certificate.dual, sweeps.certificate.dual);
    assert!((one - other).abs() <= 1e-5 * one, "{one} {other}");
}

/// Newton steps from zero have 5,200 free directions and 10,000 weights at first: too many, so that
/// sweeps come before them.
#[test]
fn systems_that_are_too_large_wait_for_sweeps() {
    let (samples, class) = five_classes(1300, 2000);
    let matrix = Matrix::new(&samples, None, Par::Seq);
    let problem = CrammerSinger::new(5, class, vec![0.01; 1300]).expect("a problem");
    let found = solved_by(Method::Newton, &matrix, &problem, 1e-6);
    assert!(found.status == Status::Converged && found.work.sweeps > 0, "{:?} {:?}", found.certificate, found.work);
}

/// The bits do not depend on the threads.
#[test]
fn threads_change_no_bit_of_newton_steps() {
    let (samples, class) = five_classes(3000, 12);
    let matrix = Matrix::new(&samples, None, Par::Pool);
    let problem = CrammerSinger::new(5, class, vec![10.0; 3000]).expect("a problem");
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let config = Config { par: Par::Pool, ..Config::default() };
        let (stop, control) = (Stop::when(Goal::Gap(1e-7)), RunControl::unlimited());
        pool.install(|| solve_crammer_singer(&matrix, &problem, &config, &stop, &control).expect("a problem"))
    };
    let (one, three) = (on(1), on(3));
    assert!(one.work.newton_steps > 0, "{:?}", one.work);
    assert_eq!(one, three);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// The gap is reached, also with rows without entries and rows of cost 0, which sweeps alone
    /// did not do within their cap on one problem of 10,000. Zero has a gap of at least that of the
    /// optimum.
    #[test]
    fn the_gap_is_reached(
        numbers in proptest::collection::vec(-2.0..2.0_f64, 10 * 3),
        of in proptest::collection::vec(0_usize..4, 10),
        costs in proptest::collection::vec(0.01..3.0_f64, 10),
        empty in 0_usize..10,
    ) {
        let (mut numbers, mut costs) = (numbers, costs);
        numbers[3 * empty..3 * empty + 3].fill(0.0);
        costs[(empty + 1) % 10] = 0.0;
        let samples = Samples::from_dense(10, 3, numbers).expect("samples");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let problem = CrammerSinger::new(4, of, costs).expect("a problem");
        let found = solved(&matrix, &problem, 1e-8);
        prop_assert!(found.status == Status::Converged && found.certificate.has_gap(1e-8), "{:?}", found);
        let again = certify_crammer_singer(&problem, &matrix, &found.alpha, Par::Seq);
        prop_assert_eq!(again.certificate, found.certificate);
        let at_zero = certify_crammer_singer(&problem, &matrix, &[0.0; 40], Par::Seq).certificate;
        prop_assert!(at_zero.primal >= found.certificate.dual - 1e-9 && at_zero.dual <= found.certificate.primal + 1e-9);
    }
}

/// Changes of dual variables below 10⁻¹² of their cost once did not reach the weights. Where rows
/// are separable and the cost is far above all variables, sweeps then stood still, and α went away
/// from the weights until the gap was 3e-4.
#[test]
fn small_changes_reach_the_weights() {
    let data = maxmargin_data::Generator::Blobs.generate(200, Some(30), 26).expect("data");
    let sector = |i: usize| {
        let row = data.samples.row(i).entries();
        let at = |column: usize| row.iter().find(|(j, _)| *j == column).map_or(0.0, |(_, v)| *v);
        ((at(1).atan2(at(0)) / std::f64::consts::TAU + 0.5) * 4.0) as usize % 4
    };
    let matrix = Matrix::new(&data.samples, None, Par::Seq);
    let problem = CrammerSinger::new(4, (0..200).map(sector).collect(), vec![10.0; 200]).expect("a problem");
    let found = solved(&matrix, &problem, 1e-8);
    assert_eq!(found.status, Status::Converged, "{:?} {:?}", found.certificate, found.work);
    assert!(found.certificate.has_gap(1e-8));
}

/// Small costs leave a gap below 0 by rounding: the certificate took it for that of a matrix which
/// is not positive semidefinite, and steps that nothing could end went on for ever.
#[test]
fn small_costs_end() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for case in 0..600 {
        let (n, d) = (random.random_range(3..11), random.random_range(1..4));
        let numbers = (0..n * d).map(|_| (random.random_range(-300.0..300.0_f64)).round() / 100.0).collect();
        let cost = 10.0_f64.powi(-random.random_range(0..9));
        let samples = Samples::from_dense(n, d, numbers).expect("samples");
        let matrix = Matrix::new(&samples, None, Par::Seq);
        let problem = CrammerSinger::new(3, (0..n).map(|i| i % 3).collect(), vec![cost; n]).expect("a problem");
        for goal in [Goal::Kkt(1e-4), Goal::Both { kkt: 1e-6, gap: 1e-9 }] {
            let (stop, control) = (Stop { max_iter: Some(1_000_000), ..Stop::when(goal) }, RunControl::unlimited());
            let found = solve_crammer_singer(&matrix, &problem, &Config::default(), &stop, &control).expect("a problem");
            assert_eq!(found.status, Status::Converged, "{case} {goal:?} {cost}: {:?} {:?}", found.certificate, found.work);
        }
    }
}

/// Proximal steps end above what double precision holds, and sweeps went no further.
#[test]
fn small_violations_are_reached() {
    for seed in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let samples = Samples::from_dense(30, 3, (0..90).map(|_| random.random_range(-2.0..2.0)).collect()).expect("samples");
        let matrix = Matrix::new(&samples, Some(1.0), Par::Seq);
        let problem = CrammerSinger::new(6, (0..30).map(|i| i % 6).collect(), vec![1e-3; 30]).expect("a problem");
        for kkt in [1e-6, 1e-8, 1e-10] {
            let (stop, control) = (Stop::when(Goal::Kkt(kkt)), RunControl::unlimited());
            let found = solve_crammer_singer(&matrix, &problem, &Config::default(), &stop, &control).expect("a problem");
            assert_eq!(found.status, Status::Converged, "{seed} {kkt}: {:?} {:?}", found.certificate, found.work);
            assert!(found.work.sweeps < 2000 && found.work.newton_steps < 100, "{:?}", found.work);
        }
    }
}
