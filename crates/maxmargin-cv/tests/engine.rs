//! The engine against what it replaces: trainings from scratch, one fold at a time.

use maxmargin_core::{Dual, Progress, Start, Status, Stop, certify};
use maxmargin_cv::{CvConfig, CvError, CvProgress, CvReport, FoldPlan, Order, Pool, Quiet, Seeding, cross_validate};
use maxmargin_data::{BinaryLabels, Dataset, Generator, Par};
use maxmargin_kernel::{Kernel, KernelGram, Rows};
use maxmargin_smo::{SmoConfig, solve};
use proptest::prelude::*;
use std::ops::ControlFlow;

const TOL: f64 = 1e-3;

struct Case {
    data: Dataset,
    signs: Vec<f64>,
    plan: FoldPlan,
    gamma: f64,
    c: f64,
}

impl Case {
    fn new(generator: Generator, rows: usize, folds: usize, gamma: f64, c: f64, seed: u64) -> Self {
        let data = generator.generate(rows, None, seed).expect("the generator's own limits hold");
        let signs = BinaryLabels::new(&data.labels).expect("two classes").signs;
        let plan = FoldPlan::stratified(&data.labels, folds, seed).expect("classes are large enough");
        Self { data, signs, plan, gamma, c }
    }

    fn run(&self, seeding: Seeding, tol: f64, budget: u64, par: Par) -> CvReport {
        let order = Order::new(&self.plan, &self.signs);
        let samples = self.data.samples.select(order.original());
        let gram = KernelGram::new(&samples, Kernel::Rbf { gamma: self.gamma }).expect("gamma is positive");
        let rows = Rows::new(&gram, budget, par);
        let pool = Pool { labels: order.sort(&self.signs), upper: vec![self.c; self.signs.len()] };
        let config = CvConfig { seeding, stop: Stop::at(tol) };
        cross_validate(&order, &pool, &rows, &config, par, &Quiet).expect("every fold has two classes")
    }

    /// Objective of fold `h` and the decision values of its test samples, from scratch and in the order of the data.
    fn scratch(&self, h: u32, tol: f64) -> (f64, Vec<(usize, f64)>) {
        let ids: Vec<usize> = (0..self.signs.len()).filter(|&i| self.plan.fold_of()[i] != h).collect();
        let labels = ids.iter().map(|&i| self.signs[i]).collect();
        let upper = vec![self.c; ids.len()];
        let dual = Dual::c_svc(ids, labels, upper).expect("two classes");
        let gram = KernelGram::new(&self.data.samples, Kernel::Rbf { gamma: self.gamma }).expect("gamma is positive");
        let rows = Rows::new(&gram, u64::MAX, Par::Seq);
        let start = Start::zero(&dual).expect("feasible");
        let watch = &mut |_: &Progress| ControlFlow::Continue(());
        let solution = solve(&dual, &rows, start, &SmoConfig::default(), &Stop::at(tol), watch).expect("a C-SVC");
        let certificate = certify(&dual, &gram, &solution, Par::Seq);
        assert!(certificate.holds(tol), "{certificate:?}");
        let point = [(&dual, &solution.alpha[..], solution.bias)];
        let decisions = maxmargin_core::audit(&gram, &point, Par::Seq).remove(0).decisions;
        let test = (0..self.signs.len()).filter(|&i| self.plan.fold_of()[i] == h).map(|i| (i, decisions[i])).collect();
        (-certificate.dual, test)
    }
}

/// Every seeding must end where a training from scratch ends.
fn agrees_with_scratch(case: &Case, seeding: Seeding, tol: f64) {
    let report = case.run(seeding, tol, u64::MAX, Par::Seq);
    assert_eq!(report.status(), Status::Converged, "{seeding:?}");
    for fold in &report.folds {
        let (objective, decisions) = case.scratch(fold.fold as u32, tol);
        assert!(fold.certificate.kkt <= tol, "{seeding:?} fold {}: {:?}", fold.fold, fold.certificate);
        // Both lie within their own gap of the optimum.
        // An exact solution's gap is rounding, of either sign.
        let gap = (fold.certificate.primal - fold.certificate.dual).max(0.0);
        assert!((fold.objective - objective).abs() <= 2.0 * gap + 1e-9, "{seeding:?}: {} {objective}", fold.objective);
        // Decision values differ by the radius of the gap ball and the width of the threshold.
        for (i, expected) in decisions {
            let found = report.decisions[i];
            assert!((found - expected).abs() <= 2.0 * (2.0 * gap).sqrt() + 2.0 * tol, "{seeding:?} {i}: {found} {expected}");
        }
    }
    let correct = (0..case.signs.len()).filter(|&i| (report.decisions[i] >= 0.0) == (case.signs[i] > 0.0)).count();
    assert_eq!(correct, report.correct);
}

#[test]
fn every_seeding_ends_where_scratch_does() {
    let cases = [
        Case::new(Generator::Banana, 120, 5, 1.0, 10.0, 3),
        Case::new(Generator::TwoGaussians, 90, 3, 0.5, 100.0, 4),
        Case::new(Generator::Blobs, 80, 4, 50.0, 1.0, 5),
    ];
    for case in &cases {
        for (_, seeding) in Seeding::ALL {
            agrees_with_scratch(case, seeding, 1e-6);
        }
    }
}

#[test]
fn full_saves_iterations() {
    let case = Case::new(Generator::Banana, 600, 10, 1.0, 10.0, 1);
    let cold = case.run(Seeding::Cold, TOL, u64::MAX, Par::Seq);
    let full = case.run(Seeding::Full, TOL, u64::MAX, Par::Seq);
    let price = full.total_iterations + full.seed_steps;
    assert!(price < cold.iterations, "{price} with the model of all data and the seeds, {} cold", cold.iterations);
}

#[test]
fn decremental_paths_need_no_smo() {
    for (generator, gamma, c) in [(Generator::Banana, 1.0, 10.0), (Generator::TwoGaussians, 0.5, 1.0)] {
        let case = Case::new(generator, 200, 10, gamma, c, 11);
        let report = case.run(Seeding::Dec, 1e-6, u64::MAX, Par::Seq);
        assert_eq!(report.status(), Status::Converged);
        for fold in &report.folds {
            assert_eq!(fold.iterations, 0, "fold {}", fold.fold);
            assert!(fold.certificate.kkt <= 1e-8, "fold {}: {:?}", fold.fold, fold.certificate);
        }
        assert!(report.folds.iter().any(|fold| fold.breakpoints > 0));
        assert!(report.full.is_some_and(|full| full.certificate.kkt <= 1e-8));
    }
}

#[test]
fn the_same_bits_for_any_threads_and_budget() {
    let case = Case::new(Generator::TwoGaussians, 300, 6, 0.5, 10.0, 2);
    let pool = rayon_pool();
    for (_, seeding) in Seeding::ALL {
        let one = case.run(seeding, TOL, u64::MAX, Par::Seq);
        for other in [
            pool.install(|| case.run(seeding, TOL, u64::MAX, Par::Pool)),
            pool.install(|| case.run(seeding, TOL, 40 * 4 * 300, Par::Pool)),
        ] {
            assert_eq!(one.decisions, other.decisions, "{seeding:?}");
            assert_eq!(one.iterations, other.iterations, "{seeding:?}");
        }
    }
}

fn rayon_pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads")
}

#[test]
fn leave_one_out_trains_support_vectors_only() {
    let mut case = Case::new(Generator::Blobs, 70, 2, 0.5, 1.0, 6);
    case.plan = FoldPlan::leave_one_out(70).expect("two samples or more");
    let report = case.run(Seeding::Full, 1e-6, u64::MAX, Par::Seq);
    let full = report.full.as_ref().expect("trained first");
    for fold in &report.folds {
        let (objective, decisions) = case.scratch(fold.fold as u32, 1e-6);
        assert!((fold.objective - objective).abs() <= 1e-5 * objective.abs(), "{} {objective}", fold.objective);
        let (i, expected) = decisions[0];
        assert!((report.decisions[i] - expected).abs() <= 1e-2, "{} {expected}", report.decisions[i]);
        if full.alpha[i] == 0.0 {
            assert_eq!((fold.iterations, fold.seed_steps), (0, 0));
        }
    }
    assert!(full.alpha.contains(&0.0), "the case must have samples without alpha");
}

#[test]
fn a_fold_without_its_class_is_named() {
    let mut case = Case::new(Generator::Blobs, 20, 2, 0.5, 1.0, 7);
    let text: String = case.signs.iter().map(|s| if *s > 0.0 { "0\n" } else { "1\n" }).collect();
    case.plan = FoldPlan::from_text(&text, 20).expect("two folds");
    let order = Order::new(&case.plan, &case.signs);
    let samples = case.data.samples.select(order.original());
    let gram = KernelGram::new(&samples, Kernel::Linear).expect("linear");
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let pool = Pool { labels: order.sort(&case.signs), upper: vec![1.0; 20] };
    let config = CvConfig { seeding: Seeding::Full, stop: Stop::at(TOL) };
    let result = cross_validate(&order, &pool, &rows, &config, Par::Seq, &Quiet);
    assert!(matches!(result, Err(CvError::Fold { fold: 0, .. })), "{result:?}");
}

#[test]
fn an_interrupt_reports_what_is_known() {
    let case = Case::new(Generator::Banana, 200, 4, 1.0, 10.0, 8);
    let order = Order::new(&case.plan, &case.signs);
    let samples = case.data.samples.select(order.original());
    let gram = KernelGram::new(&samples, Kernel::Rbf { gamma: 1.0 }).expect("gamma is positive");
    let rows = Rows::new(&gram, u64::MAX, Par::Seq);
    let pool = Pool { labels: order.sort(&case.signs), upper: vec![10.0; 200] };
    let config = CvConfig { seeding: Seeding::Full, stop: Stop::at(TOL) };
    let stop = |_: &CvProgress| ControlFlow::Break(());
    let report = cross_validate(&order, &pool, &rows, &config, Par::Seq, &stop).expect("two classes everywhere");
    assert_eq!(report.status(), Status::Interrupted);
    assert_eq!(report.folds.len(), 4);
    assert!(report.folds.iter().all(|f| f.certificate.primal.is_finite()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_case_is_certified(
        seed in 0..1000_u64, rows in 24..90_usize, folds in 2..6_usize, gamma in 0.01..20.0_f64, c in 0.01..1000.0_f64, which in 0..Seeding::ALL.len()
    ) {
        let case = Case::new(Generator::Banana, rows, folds, gamma, c, seed);
        let (_, seeding) = Seeding::ALL[which];
        let report = case.run(seeding, TOL, u64::MAX, Par::Seq);
        prop_assert_eq!(report.status(), Status::Converged);
        prop_assert!(report.folds.iter().all(|f| f.certificate.kkt <= TOL && f.certificate.relative_gap >= -1e-12));
    }
}
