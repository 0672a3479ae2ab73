//! Pairs of classes: their machines are those of trainings by themselves, folds vote as machines trained from nothing do.

use maxmargin_core::{Certificate, Dual, DualError, Loss, Offset, Solution, Start, Status, Stop, Watch};
use maxmargin_cv::{
    ClassOrder, CvConfig, CvError, FoldPlan, JudgedFold, LinearCv, LinearStart, MulticlassCvReport, Order, PairRows, Quiet,
    Seeding, cross_validate_linear_multiclass, cross_validate_multiclass, cross_validate_multiclass_apart, train_c_svc,
};
use maxmargin_data::classes::{elected, pairs};
use maxmargin_data::{ClassLabels, Generator, Par, Samples};
use maxmargin_kernel::{Kernel, KernelGram, Rows, decision_values};
use maxmargin_linear::Config;
use maxmargin_smo::solve_certified;
use proptest::prelude::*;

const KERNEL: Kernel = Kernel::Rbf { gamma: 1.5 };

/// Points of the plane in four classes that overlap: two curved classes, each cut in two by a line that noise moves.
fn data(rows: usize, seed: u64) -> (Samples, ClassLabels) {
    let data = Generator::Banana.generate(rows, None, seed).expect("data");
    let cut = |i: usize| {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        x + 0.1 * ((i * 7 % 11) as f64 - 5.0) / 5.0 > 0.0
    };
    let labels: Vec<f64> = (0..rows).map(|i| data.labels[i] * if cut(i) { 1.0 } else { 2.5 }).collect();
    (data.samples, ClassLabels::new(&labels).expect("classes"))
}

/// SMO, as pairs are given to it.
#[expect(clippy::unnecessary_wraps, reason = "solvers may refuse a problem")]
fn smo(
    dual: &Dual,
    rows: &Rows,
    start: Start,
    par: Par,
    stop: &Stop,
    watch: &mut dyn Watch,
) -> Result<(Solution, Certificate), DualError> {
    Ok(solve_certified(dual, rows, start, par, stop, watch).expect("one balance of sums"))
}

fn own(gram: &KernelGram, par: Par) -> PairRows<'_> {
    PairRows::Own { gram, budget: 1 << 24, par }
}

/// The C-SVC of some rows from nothing: its terms by row, its bias.
fn alone(samples: &Samples, rows: &[usize], signs: &[f64], c: f64, tol: f64) -> (Vec<(usize, f64)>, f64) {
    let chosen = samples.select(rows);
    let gram = KernelGram::new(&chosen, KERNEL).expect("a kernel");
    let store = Rows::new(&gram, 1 << 24, Par::Seq);
    let dual = Dual::c_svc((0..rows.len()).collect(), signs.to_vec(), vec![c; rows.len()]).expect("a problem");
    let start = Start::zero(&dual).expect("a start");
    let (solution, _) =
        solve_certified(&dual, &store, start, Par::Seq, &Stop::at(tol), &mut maxmargin_core::Silent).expect("solved");
    let terms = rows.iter().zip(signs).zip(&solution.alpha).map(|((&row, s), a)| (row, s * a)).collect();
    (terms, solution.bias)
}

#[test]
fn machines_are_those_of_trainings_by_themselves() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    let (samples, labels) = data(300, 3);
    let order = ClassOrder::new(&labels);
    let gram = KernelGram::new(&samples.select(order.original()), KERNEL).expect("a kernel");
    let upper = vec![4.0; 300];
    let stop = Stop::at(1e-7);
    let reference = train_c_svc(&order, &upper, own(&gram, Par::Seq), &stop, Par::Seq, &Quiet, smo).expect("a problem");
    assert_eq!(reference.len(), 6);
    pool.install(|| {
        for par in [Par::Seq, Par::Pool] {
            let store = Rows::new(&gram, 1 << 24, par);
            for rows in [own(&gram, par), PairRows::Shared(&store)] {
                let found = train_c_svc(&order, &upper, rows, &stop, par, &Quiet, smo).expect("a problem");
                for (a, b) in found.iter().zip(&reference) {
                    assert_eq!((&a.solution.alpha, a.solution.bias), (&b.solution.alpha, b.solution.bias));
                    assert!(a.certificate.holds(1e-7), "{:?}", a.certificate);
                }
            }
        }
    });
    for (pair, (a, b)) in reference.iter().zip(pairs(4)) {
        assert_eq!(pair.pair.classes, (a, b));
        let of = |class: usize| (0..300).filter(|&i| labels.of()[i] as usize == class).collect::<Vec<usize>>();
        let rows = [of(a), of(b)].concat();
        let signs: Vec<f64> = rows.iter().map(|&i| if labels.of()[i] as usize == b { 1.0 } else { -1.0 }).collect();
        let (expected, bias) = alone(&samples, &rows, &signs, 4.0, 1e-7);
        let mut coef = vec![0.0; 300];
        expected.iter().for_each(|t| coef[t.0] += t.1);
        pair.terms_of_data(&order).iter().for_each(|t| coef[t.0] -= t.1);
        assert!(coef.iter().all(|c| c.abs() < 1e-4) && (pair.solution.bias - bias).abs() < 1e-4, "{coef:?}");
    }
}

/// Every fold from nothing, by the definition: each pair on the training rows, votes on the test rows.
fn by_definition(samples: &Samples, labels: &ClassLabels, plan: &FoldPlan, c: f64, tol: f64) -> MulticlassCvReport {
    let report = cross_validate_multiclass_apart(plan, labels, |_, train, test| -> Result<JudgedFold, CvError> {
        let queries = samples.select(test);
        let mut columns = Vec::new();
        for (a, b) in pairs(labels.count()) {
            let class = |i: usize| labels.of()[i] as usize;
            let rows: Vec<usize> = train.iter().copied().filter(|&i| class(i) == a || class(i) == b).collect();
            let signs: Vec<f64> = rows.iter().map(|&i| if class(i) == b { 1.0 } else { -1.0 }).collect();
            let (terms, bias) = alone(samples, &rows, &signs, c, tol);
            let coef: Vec<f64> = terms.iter().map(|t| t.1).collect();
            columns.push(decision_values(&KERNEL, &samples.select(&rows), &coef, bias, &queries, Par::Seq).expect("decisions"));
        }
        let decisions = (0..test.len()).flat_map(|q| columns.iter().map(move |column| column[q])).collect();
        Ok(JudgedFold { machines: Vec::new(), decisions, support_vectors: 0, rows_computed: 0 })
    });
    report.expect("a cross-validation")
}

fn engine(samples: &Samples, labels: &ClassLabels, plan: &FoldPlan, seeding: Seeding, tol: f64, par: Par) -> MulticlassCvReport {
    let order = Order::by_class(plan, labels);
    let gram = KernelGram::new(&samples.select(order.original()), KERNEL).expect("a kernel");
    let upper = vec![4.0; samples.len()];
    let config = CvConfig { seeding, stop: Stop::at(tol) };
    cross_validate_multiclass(plan, labels, &order, &upper, &gram, 1 << 24, &config, par, &Quiet).expect("a cross-validation")
}

#[test]
fn every_seeding_elects_what_trainings_from_nothing_elect() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
    let (samples, labels) = data(260, 5);
    let values: Vec<f64> = labels.of().iter().map(|&class| f64::from(class)).collect();
    let plan = FoldPlan::stratified(&values, 5, 3).expect("folds");
    let expected = by_definition(&samples, &labels, &plan, 4.0, 1e-6);
    for seeding in [Seeding::Cold, Seeding::Sir, Seeding::Full] {
        let report = engine(&samples, &labels, &plan, seeding, 1e-6, Par::Seq);
        assert_eq!(report.elected, expected.elected, "{seeding:?}");
        assert_eq!((report.correct, report.status()), (expected.correct, Status::Converged));
        assert_eq!(report.correct, report.folds.iter().map(|f| f.correct).sum::<usize>());
        assert!(report.folds.iter().all(|f| f.kkt <= 1e-6 && f.train + f.test == 260 && f.support_vectors.is_some()));
        assert_eq!(report.pairs.len(), 6);
        let again = pool.install(|| engine(&samples, &labels, &plan, seeding, 1e-6, Par::Pool));
        assert_eq!((again.elected, again.iterations), (report.elected, report.iterations));
    }
    // Chance would be a quarter or a little more.
    assert!(expected.accuracy > 0.75, "{}", expected.accuracy);
}

/// Folds that test no sample of some pairs are voted on by these pairs' machines of all data.
#[test]
fn folds_without_a_pair_use_all_of_its_samples() {
    let (samples, labels) = data(200, 8);
    // Classes 0 and 1 are dealt to folds 0 and 1, the others to all three.
    let mut text = String::new();
    for (i, &class) in labels.of().iter().enumerate() {
        text += if class < 2 { ["0\n", "1\n"][i / 2 % 2] } else { ["0\n", "1\n", "2\n"][i / 2 % 3] };
    }
    let plan = FoldPlan::from_text(&text, 200).expect("folds");
    let expected = by_definition(&samples, &labels, &plan, 4.0, 1e-6);
    for seeding in [Seeding::Cold, Seeding::Full] {
        assert_eq!(engine(&samples, &labels, &plan, seeding, 1e-6, Par::Seq).elected, expected.elected);
    }
    let linear = LinearCv { loss: Loss::Hinge, offset: Offset::Free, stop: Stop::at(1e-6), config: Config::default() };
    let upper = vec![4.0; 200];
    let report = cross_validate_linear_multiclass(&plan, &labels, &upper, &samples, &linear, LinearStart::Full(None), &Quiet);
    let report = report.expect("a cross-validation");
    assert_eq!((report.status(), report.pairs.len()), (Status::Converged, 6));
    assert!(report.accuracy > 0.6, "{}", report.accuracy);
}

#[test]
fn a_class_in_one_fold_is_refused() {
    let (samples, labels) = data(60, 1);
    let text: String =
        labels.of().iter().enumerate().map(|(i, &c)| if c == 3 { "1\n" } else { ["0\n", "1\n"][i / 2 % 2] }).collect();
    let plan = FoldPlan::from_text(&text, 60).expect("folds");
    let order = Order::by_class(&plan, &labels);
    let gram = KernelGram::new(&samples.select(order.original()), KERNEL).expect("a kernel");
    let config = CvConfig { seeding: Seeding::Full, stop: Stop::at(1e-3) };
    let refused = cross_validate_multiclass(&plan, &labels, &order, &[1.0; 60], &gram, 1 << 20, &config, Par::Seq, &Quiet);
    assert_eq!(refused, Err(CvError::ClassInOneFold { label: labels.labels()[3], fold: 1 }));
}

/// A linear solver and SMO on the linear kernel elect the same.
#[test]
fn linear_machines_vote_like_kernel_machines() {
    let (samples, labels) = data(150, 4);
    let plan = FoldPlan::shuffled(150, 3, 5).expect("folds");
    let upper = vec![20.0; 150];
    let linear = LinearCv { loss: Loss::Hinge, offset: Offset::Free, stop: Stop::at(1e-8), config: Config::default() };
    let order = Order::by_class(&plan, &labels);
    let gram = KernelGram::new(&samples.select(order.original()), Kernel::Linear).expect("a kernel");
    let config = CvConfig { seeding: Seeding::Cold, stop: Stop::at(1e-8) };
    let kernel = cross_validate_multiclass(&plan, &labels, &order, &upper, &gram, 1 << 24, &config, Par::Seq, &Quiet);
    let kernel = kernel.expect("a cross-validation");
    for start in [LinearStart::Cold, LinearStart::Full(None)] {
        let report = cross_validate_linear_multiclass(&plan, &labels, &upper, &samples, &linear, start, &Quiet);
        let report = report.expect("a cross-validation");
        assert_eq!(report.elected, kernel.elected);
        assert!(report.folds.iter().all(|f| f.kkt <= 1e-8));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whoever is elected has as many votes as anybody, and nobody before has as many.
    #[test]
    fn the_first_with_most_votes_is_elected(classes in 2_usize..8, values in prop::collection::vec(-1.0_f64..1.0, 28)) {
        let values = &values[..classes * (classes - 1) / 2];
        let mut votes = vec![0; classes];
        pairs(classes).zip(values).for_each(|((a, b), v)| votes[if *v >= 0.0 { b } else { a }] += 1);
        let winner = elected(classes, values);
        prop_assert!(votes.iter().all(|v| *v <= votes[winner]));
        prop_assert!(votes[..winner].iter().all(|v| *v < votes[winner]));
    }
}
