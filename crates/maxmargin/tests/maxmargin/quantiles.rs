//! Quantiles and expectiles beside an interior point method on their duals, and what their optima
//! imply for the shares of samples.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use maxmargin::core::{BiasTerm, Formulation, Status, TargetKind};
use maxmargin::cv::{FoldPlan, Unlogged};
use maxmargin::data::{Dataset, Generator, Par, RunControl};
use maxmargin::kernel::Kernel;
use maxmargin::metrics::{COVERAGE, metrics_of};
use maxmargin::model::libsvm;
use maxmargin::{Error, Fitted, Ranges, Search, SearchHooks, Solver, Svm};
use proptest::prelude::*;

const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

/// Values of a wave with noise whose spread grows with the first feature.
pub(crate) fn waves(rows: usize, seed: u64) -> Dataset {
    let mut data = Generator::GaussM.generate(rows, Some(2), seed).expect("data");
    for i in 0..rows {
        let x: Vec<f64> = data.samples.row(i).entries().iter().map(|e| e.1).collect();
        let noise = ((i * 7919 + 13 * seed as usize) % 101) as f64 / 101.0 - 0.5;
        data.labels[i] = x.iter().map(|v| (1.5 * v).sin()).sum::<f64>() + noise * (0.2 + x[0].abs());
    }
    data
}

/// Six sets: sizes, rounded targets with ties, a constant feature's worth of equal rows.
fn sets() -> Vec<Dataset> {
    let mut sets: Vec<Dataset> = [(30, 1), (50, 2), (80, 3), (80, 4)].map(|(rows, seed)| waves(rows, seed)).to_vec();
    let mut tied = waves(60, 5);
    tied.labels.iter_mut().for_each(|y| *y = (2.0 * *y).round() / 2.0);
    sets.push(tied);
    let rows: Vec<usize> = (0..25).flat_map(|i| [i, i]).collect();
    let mut twice = waves(25, 6).select(&rows);
    twice.labels.iter_mut().step_by(2).for_each(|y| *y += 0.3);
    sets.push(twice);
    sets
}

pub(crate) fn fit(svm: &Svm, data: &Dataset) -> Fitted {
    let fitted = svm.fit(data).expect("a training");
    assert_eq!(fitted.status, Status::Converged, "{svm:?}: {:?}", fitted.certificate);
    assert!(fitted.certificate.holds, "{svm:?}: {:?}", fitted.certificate);
    fitted
}

/// Returns clarabel's minimum of `½ βᵀKβ − yᵀβ + ½ Σ (r a² + s b²)`. Here `β = a − b`, `a` is
/// between 0 and `above`, `b` between 0 and `below`, and `Σ β = 0` if the bias is free.
fn interior_point(gram: &[Vec<f64>], y: &[f64], formulation: Formulation) -> f64 {
    let n = y.len();
    let (c, tau) = (formulation.c().expect("a price"), formulation.level().expect("a level").tau());
    let squared = matches!(formulation, Formulation::Expectile { .. });
    let (upper, ridge): (_, fn(f64) -> f64) =
        if squared { ([f64::INFINITY; 2], |cost| 0.5 / cost) } else { ([c * tau, c * (1.0 - tau)], |_| 0.0) };
    let ridges = [c * tau, c * (1.0 - tau)].map(ridge);
    let sign = |k: usize| if k < n { 1.0 } else { -1.0 };
    let entry = |i: usize, j: usize| sign(i) * sign(j) * gram[i % n][j % n] + if i == j { ridges[i / n] } else { 0.0 };
    let m = 2 * n;
    let triangle = (0..m).flat_map(|j| (0..=j).map(move |i| (i, j))).map(|(i, j)| entry(i, j)).collect();
    let starts = (0..=m).map(|j| j * (j + 1) / 2).collect();
    let p = CscMatrix::new(m, m, starts, (0..m).flat_map(|j| 0..=j).collect(), triangle);
    let q: Vec<f64> = (0..m).map(|k| -sign(k) * y[k % n]).collect();
    let free = formulation.bias_term() == BiasTerm::Free;
    // A row for the sum, one for each lower bound, and one for each finite upper bound.
    let (mut values, mut rows, mut columns, mut b) = (Vec::new(), Vec::new(), vec![0], Vec::new());
    let equalities = usize::from(free);
    for k in 0..m {
        let sum = free.then(|| (0, sign(k)));
        let bound = (!squared).then_some((equalities + m + k, 1.0));
        for (row, value) in sum.into_iter().chain([(equalities + k, -1.0)]).chain(bound) {
            rows.push(row);
            values.push(value);
        }
        columns.push(rows.len());
    }
    b.extend(vec![0.0; equalities + m]);
    b.extend((0..if squared { 0 } else { m }).map(|k| upper[k / n]));
    let a = CscMatrix::new(b.len(), m, columns, rows, values);
    let mut cones = vec![SupportedConeT::NonnegativeConeT(b.len() - equalities)];
    if free {
        cones.insert(0, SupportedConeT::ZeroConeT(1));
    }
    let settings = DefaultSettings {
        verbose: false,
        max_threads: 1,
        tol_gap_abs: 1e-11,
        tol_gap_rel: 1e-11,
        tol_feas: 1e-11,
        ..DefaultSettings::default()
    };
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).expect("a problem");
    solver.solve();
    solver.solution.obj_val
}

/// The kernel matrix, from the features.
fn gram(data: &Dataset, value: impl Fn(f64, f64) -> f64) -> Vec<Vec<f64>> {
    let n = data.samples.len();
    let row = |i: usize| data.samples.row(i).entries().iter().map(|e| e.1).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    let of = |x: &[f64], z: &[f64]| {
        let distance = x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum();
        value(distance, x.iter().zip(z).map(|(x, z)| x * z).sum())
    };
    rows.iter().map(|x| rows.iter().map(|z| of(x, z)).collect()).collect()
}

#[test]
fn objectives_are_those_of_an_interior_point_method() {
    for (at, data) in sets().into_iter().enumerate() {
        let rbf = gram(&data, |distance, _| (-0.5 * distance).exp());
        let linear = gram(&data, |_, product| product);
        for (tau, c) in LEVELS.into_iter().zip([0.3, 3.0, 30.0]) {
            for formulation in [Formulation::quantile(c, tau), Formulation::expectile(c, tau)] {
                let close = |what: &str, found: &Fitted, expected: f64| {
                    let own = found.machines[0].objective;
                    let off = (own - expected).abs() / (1.0 + expected.abs());
                    assert!(off < 1e-8, "set {at}, {formulation:?}, {what}: {own} and {expected}, {off:e} apart");
                };
                let kernel = fit(&Svm::of(formulation).kernel(Kernel::rbf(0.5)).eps(1e-9).gap(1e-10), &data);
                close("rbf", &kernel, interior_point(&rbf, &data.labels, formulation));
                let bias_none = formulation.with(formulation.loss(), BiasTerm::None);
                for formulation in [formulation, bias_none] {
                    let expected = interior_point(&linear, &data.labels, formulation);
                    let svm = Svm::of(formulation).bias_term(formulation.bias_term()).eps(1e-9).gap(1e-10);
                    close("linear", &fit(&svm.solver(Solver::Linear), &data), expected);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(24))]
    /// With a free bias `Σ β = 0`, and β is `C τ` above the function and `C (τ − 1)` below it: at
    /// most the share τ of the samples is below, at most the share 1 − τ above.
    #[test]
    fn shares_are_those_of_the_level(seed in 1_u64..1000, rows in 5_usize..60, tau in 0.02..0.98_f64, c in 0.01..50.0_f64) {
        let data = waves(rows, seed);
        let fitted = fit(&Svm::quantile(c, tau).kernel(Kernel::rbf(0.5)).eps(1e-8), &data);
        let predicted = fitted.predict(&data.samples).expect("values");
        let errors: Vec<f64> = data.labels.iter().zip(&predicted).map(|(y, f)| y - f).collect();
        // Free samples are on the function to the tolerance.
        let (below, above) = (errors.iter().filter(|e| **e < -1e-7).count(), errors.iter().filter(|e| **e > 1e-7).count());
        let n = rows as f64;
        prop_assert!(below as f64 <= tau * n + 1e-9, "{below} of {rows} below, tau {tau}");
        prop_assert!(above as f64 <= (1.0 - tau) * n + 1e-9, "{above} of {rows} above, tau {tau}");
        // A sample above or below the function has its coefficient at the bound of that side.
        prop_assert!(fitted.machines[0].bounded >= below + above, "{} of {below} and {above}", fitted.machines[0].bounded);
    }

    /// The upper quantile of the targets is the lower one of the targets with the other sign.
    #[test]
    fn levels_are_mirrored(seed in 1_u64..1000, tau in 0.05..0.95_f64) {
        let data = waves(40, seed);
        let mut mirrored = data.clone();
        mirrored.labels.iter_mut().for_each(|y| *y = -*y);
        for (one, other) in [
            (Formulation::quantile(2.0, tau), Formulation::quantile(2.0, 1.0 - tau)),
            (Formulation::expectile(2.0, tau), Formulation::expectile(2.0, 1.0 - tau)),
        ] {
            let of = |formulation, data: &Dataset| {
                fit(&Svm::of(formulation).kernel(Kernel::rbf(0.5)).eps(1e-9), data).machines[0].objective
            };
            let (a, b) = (of(one, &data), of(other, &mirrored));
            prop_assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}

/// The two prices of τ = ½ are those of an error of ε-SVR at half of C and ε = 0: the same dual.
#[test]
fn the_median_is_epsilon_svr_without_a_tube() {
    let data = waves(80, 7);
    let squared = Svm::epsilon_svr(2.0, 0.0).loss(maxmargin::core::Loss::SquaredHinge);
    for (one, other) in [(Svm::quantile(4.0, 0.5), Svm::epsilon_svr(2.0, 0.0)), (Svm::expectile(4.0, 0.5), squared)] {
        let of = |svm: Svm| fit(&svm.kernel(Kernel::rbf(0.5)), &data).decision_values(&data.samples).expect("values");
        assert_eq!(of(one), of(other));
    }
}

/// The expectile of a constant function is where the weighted errors cancel.
#[test]
fn the_expectile_of_no_features_by_hand() {
    // A constant row: 0.9 (14 − m) = 0.1 (4 m − 6).
    let data = Dataset::from_rows(&[[0.0]; 5], &[0.0, 1.0, 2.0, 3.0, 14.0]).expect("data");
    let of = |svm: Svm| fit(&svm.kernel(Kernel::rbf(1.0)).eps(1e-9), &data).predict(&data.samples).expect("values")[0];
    assert!((of(Svm::expectile(1.0, 0.9)) - 13.2 / 1.3).abs() < 1e-6);
    assert!((of(Svm::expectile(1.0, 0.5)) - 4.0).abs() < 1e-6);
    // Four of five values are at or below 3.
    assert!((of(Svm::quantile(1.0, 0.7)) - 3.0).abs() < 1e-6);
}

#[test]
fn levels_outside_0_and_1_are_refused() {
    let data = waves(20, 1);
    for tau in [0.0, 1.0, -0.5, 1.5, f64::NAN] {
        for svm in [Svm::quantile(1.0, tau), Svm::expectile(1.0, tau)] {
            let error = svm.fit(&data).expect_err("no level").to_string();
            let of_number = format!("tau is {tau}: it must be above 0 and below 1");
            assert!(
                error.contains(if tau.is_nan() { "or one is NaN: it must be above 0 and below 1" } else { &of_number }),
                "{error}"
            );
        }
    }
    let loss = Svm::quantile(1.0, 0.5).loss(maxmargin::core::Loss::SquaredHinge).fit(&data);
    assert!(matches!(loss, Err(Error::OwnLoss("quantile"))), "{loss:?}");
}

#[test]
fn searches_are_for_the_least_pinball_loss() {
    let data = waves(60, 3);
    let svm = Svm::quantile(1.0, 0.9).kernel(Kernel::rbf(0.5));
    let (plan, ranges) = (FoldPlan::shuffled(60, 4, 1).expect("folds"), Ranges::new().c(&[0.01, 1.0, 100.0]));
    let control = RunControl::unlimited();
    let hooks = || SearchHooks { control: &control, logs: &Unlogged };
    let found = svm.search(&data, &plan, &Search::new(ranges.clone()), hooks(), |_, report| report.scores).expect("cells");
    let metric = metrics_of(svm.formulation())[0];
    let losses: Vec<f64> = found.cells.iter().map(|cell| cell.result[0].1).collect();
    assert!(found.cells.iter().all(|cell| cell.result[0].0 == "pinball_loss" && cell.result[1].0 == "coverage"));
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(found.best_cell(metric).map(|at| losses[at]), Some(least), "{losses:?}");
    let refused = svm.search(&data, &plan, &Search::new(ranges).metric(&COVERAGE), hooks(), |_, _| ());
    assert!(matches!(&refused, Err(Error::Search { option: "metric", .. })), "{:?}", refused.err());
    assert_eq!(svm.formulation().target_kind(), TargetKind::Values);
}

/// LIBSVM's text holds the function, as that of a regression.
#[test]
fn libsvm_reads_a_quantile_as_a_regression() {
    let data = waves(40, 2);
    let fitted = fit(&Svm::quantile(1.0, 0.9).kernel(Kernel::rbf(0.5)), &data);
    let mut text = Vec::new();
    libsvm::write_model(&fitted.model, &mut text).expect("text");
    assert!(text.starts_with(b"svm_type epsilon_svr\n"), "{}", String::from_utf8_lossy(&text));
    let back = libsvm::read_model(&text[..]).expect("a model");
    let of = |model: &maxmargin::model::Model| model.decision_values(&data.samples, Par::Seq).expect("values");
    assert_eq!(of(&back), of(&fitted.model));
}
