//! Every formulation through everything: certificates, folds, models, verification, and LIBSVM's
//! own programs on real data.
//!
//! Real data: `heart_scale`, `diabetes_scale`, `a1a`. Programs: `svm-train`, `svm-predict`.

use maxmargin::core::{BiasTerm, Formulation, Goal, Loss, Status};
use maxmargin::cv::{Claim, CvReport, Fitted, FoldPlan, Probability, Seeding, verify};
use maxmargin::data::libsvm::write;
use maxmargin::data::{Dataset, Generator, Par, RunControl, Samples};
use maxmargin::kernel::Kernel;
use maxmargin::model::{Model, decode, encode, libsvm};
use maxmargin::{Error, Ranges, Solver, Svm};
use maxmargin_testkit::outside::{dataset, program};
use std::fs;
use std::process::Command;

const GAMMA: f64 = 0.5;

/// Points of the plane with values of a function and noise, some of them far off.
fn waves(rows: usize, seed: u64) -> Dataset {
    let mut data = Generator::GaussM.generate(rows, Some(2), seed).expect("data");
    for i in 0..rows {
        let x: Vec<f64> = data.samples.row(i).entries().iter().map(|e| e.1).collect();
        let noise = ((i * 7919 + 13) % 101) as f64 / 101.0 - 0.5;
        let far = if i % 37 == 5 { 3.0 } else { 0.0 };
        data.labels[i] = x.iter().map(|v| (1.5 * v).sin()).sum::<f64>() + 0.3 * noise + far;
    }
    data
}

/// ε-SVR with the squared loss.
fn squared(c: f64) -> Formulation {
    Formulation::Svr { c, epsilon: 0.1, loss: Loss::SquaredHinge, bias_term: BiasTerm::Free }
}

/// Every formulation with data for it.
fn all() -> Vec<(Formulation, Dataset)> {
    let classes = Generator::Banana.generate(120, None, 3).expect("data");
    let mut three = Generator::Banana.generate(120, None, 4).expect("data");
    for i in 0..120 {
        let x = three.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        three.labels[i] = if x > 0.5 { 7.0 } else { three.labels[i] };
    }
    vec![
        (Formulation::epsilon_svr(5.0, 0.1), waves(120, 1)),
        (Formulation::epsilon_svr(1.0, 0.0), waves(80, 2)),
        (squared(5.0), waves(120, 1)),
        (Formulation::NuSvr { c: 2.0, nu: 0.4 }, waves(120, 1)),
        (Formulation::quantile(5.0, 0.9), waves(120, 1)),
        (Formulation::quantile(1.0, 0.3), waves(80, 2)),
        (Formulation::expectile(5.0, 0.9), waves(120, 1)),
        (Formulation::OneClass { nu: 0.2 }, classes.clone()),
        (Formulation::NuSvc { nu: 0.3 }, classes),
        (Formulation::NuSvc { nu: 0.1 }, three),
    ]
}

/// The estimator of a formulation, with its loss.
fn of(formulation: Formulation) -> Svm {
    let svm = Svm::of(formulation);
    // Those of ν have the hinge loss alone.
    if formulation.nu().is_some() { svm } else { svm.loss(formulation.loss()) }
}

fn svm(formulation: Formulation, eps: f64) -> Svm {
    of(formulation).kernel(Kernel::rbf(GAMMA)).eps(eps)
}

fn fit(formulation: Formulation, data: &Dataset, eps: f64) -> Fitted {
    let fitted = svm(formulation, eps).fit(data).expect("a training");
    assert_eq!(fitted.status, Status::Converged, "{formulation:?}: {:?}", fitted.certificate);
    assert!(
        fitted.certificate.holds && fitted.certificate.kkt <= eps && fitted.certificate.infeasible <= 1e-9,
        "{formulation:?}"
    );
    assert!(fitted.certificate.relative_gap >= -1e-12, "{formulation:?}: {:?}", fitted.certificate);
    fitted
}

#[test]
fn models_are_certified_verified_and_refuted_when_changed() {
    for (formulation, data) in all() {
        let fitted = fit(formulation, &data, 1e-5);
        let model = maxmargin::model::decode(&maxmargin::model::encode(&fitted.model).expect("bytes")).expect("a model");
        assert_eq!(model.record().map(|record| record.formulation), Some(formulation));
        let verdict = verify(&model, &data, None, None, Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met() && verdict.unchecked().count() == 0, "{formulation:?}: {:?}", verdict.checks);
        let mut parts = model.clone().into_parts();
        // The largest weight, because a change of a millionth would not show in one that is
        // almost 0.
        let largest = parts.machines[0].coef.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs())).expect("a coefficient");
        *largest *= 1.0 + 1e-6;
        let changed = Model::new(parts).expect("still a model");
        let verdict = verify(&changed, &data, None, None, Par::Seq).expect("a verdict");
        assert!(!verdict.matches(), "{formulation:?}: {:?}", verdict.checks);
        let mut parts = model.into_parts();
        parts.machines[0].bias += 0.1;
        let verdict = verify(&Model::new(parts).expect("still a model"), &data, None, None, Par::Seq).expect("a verdict");
        assert!(verdict.checks.iter().any(|check| check.what == "bias" && check.passed == Some(false)), "{formulation:?}");
    }
}

/// A bound on how far two certified objectives may be apart.
fn gap(report: &CvReport, fold: usize) -> f64 {
    let machines = report.folds[fold].machines.iter().chain(report.full.iter().flat_map(|full| &full.machines));
    machines.map(|m| (m.certificate.primal - m.certificate.dual).max(0.0)).sum()
}

#[test]
fn seeded_folds_are_those_of_cold_trainings() {
    for (formulation, data) in all() {
        let n = data.samples.len();
        let plan = FoldPlan::shuffled(n, 5, 1).expect("folds");
        let cold = svm(formulation, 1e-6).seeding(Seeding::Cold).cross_validate(&data, &plan).expect("a cross-validation");
        let full = svm(formulation, 1e-6).cross_validate(&data, &plan).expect("a cross-validation");
        for (h, (a, b)) in cold.folds.iter().zip(&full.folds).enumerate() {
            assert!(a.certificate.holds && b.certificate.holds && a.train + a.test == n, "{formulation:?}, fold {h}");
            let most = gap(&cold, h) + gap(&full, h) + 1e-9 * (1.0 + a.objective.abs());
            assert!((a.objective - b.objective).abs() <= most, "{formulation:?}, fold {h}: {} {}", a.objective, b.objective);
            // What a training of the fold's rows alone gives.
            let rows = plan.train(h);
            let alone = fit(formulation, &data.select(&rows), 1e-6);
            let objective: f64 = alone.machines.iter().map(|m| m.objective).sum();
            assert!(
                (objective - a.objective).abs() <= 2.0 * most + 1e-6,
                "{formulation:?}, fold {h}: {objective} {}",
                a.objective
            );
            let test = plan.test(h);
            let decided = alone.decision_values(&data.samples.select(test)).expect("decisions");
            let width = alone.machines.len();
            let own: Vec<f64> = test.iter().flat_map(|&i| &full.decisions[i * width..(i + 1) * width]).copied().collect();
            let scale = own.iter().fold(1.0_f64, |most, d| most.max(d.abs()));
            let near = decided.iter().zip(&own).all(|(a, b)| (a - b).abs() <= 2e-3 * scale);
            assert!(near, "{formulation:?}, fold {h}: {decided:?} {own:?}");
        }
        assert_eq!(cold.scores.len(), full.scores.len());
    }
}

/// A fold without support vectors is another problem where ν asks for a share of the samples: it
/// may not have the model of all data.
#[test]
fn leave_one_out_trains_what_has_changed() {
    for (formulation, data) in all() {
        let data = data.select(&(0..40).collect::<Vec<_>>());
        let report = svm(formulation, 1e-6).leave_one_out(&data).expect("a leave-one-out");
        for i in [0, 11, 39] {
            let rows: Vec<usize> = (0..40).filter(|&row| row != i).collect();
            let alone = fit(formulation, &data.select(&rows), 1e-6);
            let objective: f64 = alone.machines.iter().map(|m| m.objective).sum();
            let most = gap(&report, i) + 1e-6 * (1.0 + objective.abs());
            assert!((report.folds[i].objective - objective).abs() <= most, "{formulation:?}, {i}");
        }
        let own = report.folds.iter().filter(|fold| !fold.machines.is_empty()).count();
        assert!(formulation.nu().is_none() || own == 40, "{formulation:?}: {own} folds of their own");
    }
}

#[test]
fn threads_change_no_bit() {
    let pool = rayon_pool();
    for (formulation, data) in all() {
        let plan = FoldPlan::shuffled(data.samples.len(), 4, 1).expect("folds");
        let one = svm(formulation, 1e-4).cross_validate(&data, &plan).expect("a cross-validation");
        let many = pool.install(|| svm(formulation, 1e-4).threads(Par::Pool).cross_validate(&data, &plan));
        let bits = |report: &CvReport| report.decisions.iter().map(|d| d.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&one), bits(&many.expect("a cross-validation")), "{formulation:?}");
    }
}

fn rayon_pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads")
}

/// At most the share ν is outside, at least the share ν are support vectors (Schölkopf et al. 2000,
/// proposition 5).
#[test]
fn nu_is_a_share() {
    for (formulation, data) in all() {
        let Some(nu) = formulation.nu() else { continue };
        for machine in &fit(formulation, &data, 1e-6).machines {
            let n = machine.train as f64;
            let (bounded, support) = (machine.bounded as f64, machine.support_vectors as f64);
            assert!(bounded <= nu * n + 1e-9 && support >= nu * n - 1e-9, "{formulation:?}: {bounded} {support} of {n}");
        }
    }
}

/// A sample of weight 2 is one that is there twice, of weight 0 one that is not there; folds and
/// models know of it.
#[test]
fn weights_are_copies() {
    let with_classes = Generator::Banana.generate(60, None, 9).expect("data");
    let mut every = all();
    every.push((Formulation::c_svc(2.0), with_classes));
    for (formulation, data) in every {
        let n = data.samples.len();
        let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 1.0, 0.0, 1.0][i % 5]).collect();
        let copies: Vec<usize> = (0..n).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let weighted = svm(formulation, 1e-6).sample_weights(weights.clone());
        let one = weighted.fit(&data).expect("a training");
        let other = fit(formulation, &data.select(&copies), 1e-6);
        let bounds = |fitted: &Fitted| {
            let of =
                |side: fn(&maxmargin::cv::CertificateReport) -> f64| fitted.machines.iter().map(|m| side(&m.certificate)).sum();
            let (dual, primal): (f64, f64) = (of(|c| c.dual), of(|c| c.primal));
            (dual, primal)
        };
        let (a, b) = (bounds(&one), bounds(&other));
        let slack = 1e-9 * (1.0 + a.0.abs());
        assert!(one.certificate.holds && a.0 <= b.1 + slack && b.0 <= a.1 + slack, "{formulation:?}: {a:?} {b:?}");
        let model = maxmargin::model::decode(&maxmargin::model::encode(&one.model).expect("bytes")).expect("a model");
        let verdict = verify(&model, &data, None, None, Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met(), "{formulation:?}: {:?}", verdict.checks);
        let plan = FoldPlan::shuffled(n, 3, 1).expect("folds");
        let report = weighted.cross_validate(&data, &plan).expect("a cross-validation");
        for (h, fold) in report.folds.iter().enumerate() {
            let rows: Vec<usize> = copies.iter().copied().filter(|i| !plan.test(h).contains(i)).collect();
            let alone: f64 = fit(formulation, &data.select(&rows), 1e-6).machines.iter().map(|m| m.objective).sum();
            assert!((fold.objective - alone).abs() <= gap(&report, h) + 1e-6 * (1.0 + alone.abs()), "{formulation:?}, fold {h}");
        }
        let short = svm(formulation, 1e-3).sample_weights(vec![1.0; 3]).fit(&data);
        assert!(matches!(short, Err(Error::SampleWeights { found: 3, .. })), "{formulation:?}");
        let negative = svm(formulation, 1e-3).sample_weights((0..n).map(|i| 1.0 - i as f64).collect()).fit(&data);
        assert!(matches!(negative, Err(Error::SampleWeight { row: 2, .. })), "{formulation:?}");
    }
}

/// Kernel values from a file, and a kernel of one's own that is not positive definite: each
/// formulation, an honest status.
#[test]
fn any_kernel_will_do() {
    use maxmargin::kernel::{Gram, KernelGram, UserKernel};
    for (formulation, data) in all() {
        let n = data.samples.len();
        let plain = fit(formulation, &data, 1e-5);
        let gram = KernelGram::new(&data.samples, Kernel::rbf(GAMMA), &RunControl::unlimited()).expect("a kernel");
        let mut row = vec![0.0; n];
        let mut table = Vec::with_capacity(n * (n + 1));
        for i in 0..n {
            gram.fill_exact(&[i], 0..n, &mut row);
            table.push((i + 1) as f64);
            table.extend_from_slice(&row);
        }
        let samples = Samples::from_dense(n, n + 1, table).expect("numbers");
        let given = Dataset { samples, index_base: 0, ..data.clone() };
        let read = of(formulation).kernel(Kernel::Precomputed).eps(1e-5).fit(&given).expect("a training");
        let (a, b) = (plain.certificate, read.certificate);
        assert!(b.holds && a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9, "{formulation:?}: {a:?} {b:?}");
        let indefinite = UserKernel::new("minus the distance, and more", |x, z| {
            let mut distance = 0.0;
            x.for_each_pair(z, |_, x, z| distance += (x - z) * (x - z));
            (-distance).exp() - 0.3 * (-0.1 * distance).exp()
        });
        let svm = of(formulation).kernel(Kernel::User(indefinite)).max_iter(20_000);
        let found = svm.fit(&data).expect("a status, not an error");
        assert!(found.certificate.holds || found.status != Status::Converged, "{formulation:?}: {:?}", found.certificate);
    }
}

/// Every solver that takes a formulation comes to the same optimum.
#[test]
fn solvers_agree() {
    for (formulation, data) in all() {
        let one = fit(formulation, &data, 1e-6);
        let irwls = svm(formulation, 1e-6).solver(maxmargin::Solver::Irwls).fit(&data);
        assert_eq!(
            irwls.is_ok(),
            !matches!(
                formulation,
                Formulation::NuSvc { .. }
                    | Formulation::NuSvr { .. }
                    | Formulation::Svr { loss: Loss::SquaredHinge, .. }
                    | Formulation::Expectile { .. }
            ),
            "{formulation:?}"
        );
        let Ok(irwls) = irwls else { continue };
        assert_eq!(irwls.status, Status::Converged, "{formulation:?}");
        let (a, b) = (one.certificate, irwls.certificate);
        assert!(b.holds && a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9, "{formulation:?}: {a:?} {b:?}");
    }
}

/// Without a kernel: coordinate descent and Newton steps beside SMO over the linear kernel, both
/// losses, three biases, one class.
#[test]
fn linear_machines_are_those_of_smo() {
    use maxmargin::Solver;
    use maxmargin::core::{BiasTerm, Loss};
    let (data, n) = (waves(150, 8), 150);
    let linear = |formulation| of(formulation).eps(1e-6);
    for c in [0.01, 1.0, 100.0] {
        for formulation in [Formulation::epsilon_svr(c, 0.1), Formulation::epsilon_svr(c, 0.0)] {
            let smo = linear(formulation).solver(Solver::Smo).fit(&data).expect("a training");
            for solver in [Solver::Linear, Solver::Newton] {
                let found = linear(formulation).solver(solver).fit(&data).expect("a training");
                let (a, b) = (smo.certificate, found.certificate);
                assert!(found.model.folded() && b.holds && b.relative_gap < 1e-5, "{formulation:?} {solver:?}: {b:?}");
                let slack = 1e-9 * a.dual.abs();
                assert!(a.dual <= b.primal + slack && b.dual <= a.primal + slack, "{formulation:?} {solver:?}: {a:?} {b:?}");
                let verdict = verify(&found.model, &data, None, None, Par::Seq).expect("a verdict");
                assert!(verdict.matches() && verdict.met(), "{formulation:?} {solver:?}: {:?}", verdict.checks);
            }
        }
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for bias_term in [BiasTerm::Free, BiasTerm::Feature(1.0), BiasTerm::None] {
                let svm = linear(Formulation::epsilon_svr(c, 0.1)).loss(loss).bias_term(bias_term);
                let mut bounds = (f64::NEG_INFINITY, f64::INFINITY);
                for solver in [Solver::Linear, Solver::Newton, Solver::Descent, Solver::Avsf] {
                    if c > 1.0 && [Solver::Descent, Solver::Avsf].contains(&solver) {
                        continue; // they take for ever there
                    }
                    let Ok(found) = svm.clone().solver(solver).fit(&data) else {
                        assert!(bias_term == BiasTerm::Free && [Solver::Descent, Solver::Avsf].contains(&solver), "{solver:?}");
                        continue;
                    };
                    let b = found.certificate;
                    // What descends alone may come to its floor before, and says so.
                    let floor = [Solver::Descent, Solver::Avsf].contains(&solver) && found.status == Status::Stalled;
                    let met = b.holds && found.status == Status::Converged;
                    assert!(met || (floor && b.relative_gap < 1e-9), "{loss:?} {bias_term:?} {solver:?}: {b:?}");
                    bounds = (bounds.0.max(b.dual), bounds.1.min(b.primal));
                    let verdict = verify(&found.model, &data, None, None, Par::Seq).expect("a verdict");
                    assert!(verdict.matches(), "{loss:?} {bias_term:?} {solver:?}: {:?}", verdict.checks);
                }
                // Every lower bound is below every upper one.
                assert!(bounds.0 <= bounds.1 + 1e-9 * bounds.1.abs(), "{loss:?} {bias_term:?}, C = {c}: {bounds:?}");
            }
        }
    }
    let plan = FoldPlan::shuffled(n, 5, 1).expect("folds");
    let svr = linear(Formulation::epsilon_svr(1.0, 0.1));
    let (full, cold) = (svr.cross_validate(&data, &plan), svr.clone().seeding(Seeding::Cold).cross_validate(&data, &plan));
    let (full, cold) = (full.expect("a cross-validation"), cold.expect("a cross-validation"));
    for (h, (a, b)) in full.folds.iter().zip(&cold.folds).enumerate() {
        assert!((a.objective - b.objective).abs() <= gap(&full, h) + gap(&cold, h) + 1e-9, "fold {h}");
    }
    let outliers = Dataset { labels: vec![1.0; n], ..data };
    let one = linear(Formulation::OneClass { nu: 0.3 });
    let (a, b) = (one.clone().solver(Solver::Smo).fit(&outliers), one.solver(Solver::Linear).fit(&outliers));
    let (a, b) = (a.expect("a training").certificate, b.expect("a training").certificate);
    assert!(b.holds && a.dual <= b.primal + 1e-9 && b.dual <= a.primal + 1e-9, "{a:?} {b:?}");
}

/// Another origin of the values moves the bias alone; another unit, with ε and C to fit it, the
/// whole.
#[test]
fn regression_follows_origin_and_unit() {
    let data = waves(90, 5);
    let base = fit(Formulation::epsilon_svr(2.0, 0.1), &data, 1e-7);
    let say = |fitted: &Fitted| fitted.predict(&data.samples).expect("values");
    let moved = Dataset { labels: data.labels.iter().map(|y| y + 100.0).collect(), ..data.clone() };
    let doubled = Dataset { labels: data.labels.iter().map(|y| 2.0 * y).collect(), ..data.clone() };
    let there = fit(Formulation::epsilon_svr(2.0, 0.1), &moved, 1e-7);
    let twice = fit(Formulation::epsilon_svr(4.0, 0.2), &doubled, 1e-7);
    for ((a, b), c) in say(&base).iter().zip(say(&there)).zip(say(&twice)) {
        assert!((a + 100.0 - b).abs() < 1e-4 && (2.0 * a - c).abs() < 1e-4, "{a} {b} {c}");
    }
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-5 * a.abs();
    assert!(near(base.certificate.dual, there.certificate.dual) && near(4.0 * base.certificate.dual, twice.certificate.dual));
}

#[test]
fn grids_of_c_and_what_has_none() {
    let data = waves(100, 6);
    let plan = FoldPlan::shuffled(100, 5, 1).expect("folds");
    let ranges = Ranges::new().c(&[0.1, 1.0, 10.0]);
    let grid = svm(Formulation::epsilon_svr(1.0, 0.1), 1e-5).grid(&data, &plan, &ranges).expect("reports");
    let reports: Vec<_> = grid.cells.into_iter().map(|cell| cell.result).collect();
    assert_eq!(reports.iter().map(|r| r.c).collect::<Vec<_>>(), [Some(0.1), Some(1.0), Some(10.0)]);
    for report in &reports {
        let alone = svm(Formulation::epsilon_svr(report.c.expect("C"), 0.1), 1e-5).cross_validate(&data, &plan).expect("one");
        for (h, (a, b)) in report.folds.iter().zip(&alone.folds).enumerate() {
            assert!((a.objective - b.objective).abs() <= gap(report, h) + gap(&alone, h) + 1e-9, "{:?} {h}", report.c);
        }
        assert_eq!((report.accuracy, report.samples_counted), (None, 100));
    }
    let one = svm(Formulation::OneClass { nu: 0.5 }, 1e-4).cross_validate(&data, &plan).expect("a cross-validation");
    assert_eq!((one.c, one.scores.len()), (None, 1), "labels that are no sides are not looked at");
}

#[test]
fn what_cannot_be_is_one_clear_line() {
    let classes = Dataset::from_rows(&[[0.0], [1.0], [2.0], [3.0]], &[1.0, -1.0, -1.0, -1.0]).expect("data");
    let says = |svm: Svm| svm.fit(&classes).expect_err("impossible").to_string();
    let text = says(Svm::nu_svc(0.6).kernel(Kernel::rbf(1.0)));
    assert!(text.contains("infeasible") && text.contains("at most 0.5, twice the share of the smaller class"), "{text}");
    assert!(says(Svm::nu_svr(1.0, 1.5)).contains("at most 1"));
    assert!(says(Svm::one_class(0.0)).contains("above 0"));
    assert!(says(Svm::epsilon_svr(1.0, -0.5)).contains("epsilon is -0.5"));
    assert!(says(Svm::epsilon_svr(-1.0, 0.5)).contains("C times the weight of sample 0 (from 0) is -1"));
    let weighted = Svm::epsilon_svr(1.0, 0.1).class_weight(1.0, 2.0).fit(&classes);
    assert!(matches!(weighted, Err(Error::Classes("epsilon-svr"))));
    let squared = Svm::nu_svc(0.3).loss(maxmargin::core::Loss::SquaredHinge).fit(&classes);
    assert!(matches!(squared, Err(Error::Fixed("nu-svc"))));
    let irwls = Svm::nu_svc(0.3).kernel(Kernel::rbf(1.0)).solver(maxmargin::Solver::Irwls).fit(&classes);
    let text = irwls.expect_err("refused").to_string();
    assert!(text.contains("it does not solve nu-svc") && text.contains("smo"), "{text}");
    let pairwise = Svm::one_class(0.3).kernel(Kernel::rbf(1.0)).solver(maxmargin::Solver::Pairwise).fit(&classes);
    let text = pairwise.expect_err("refused").to_string();
    assert!(text.contains("it does not solve one-class") && text.contains("smo"), "{text}");
    let sir = svm(Formulation::epsilon_svr(1.0, 0.1), 1e-3).seeding(Seeding::Sir);
    let plan = FoldPlan::contiguous(4, 2).expect("folds");
    assert!(matches!(sir.cross_validate(&classes, &plan), Err(Error::Seeding { .. })));
    // A fold whose training set has too little of a class for ν.
    let few = Dataset::from_rows(
        &[[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [8.0], [9.0]],
        &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0],
    );
    let plan = FoldPlan::from_text(&("1\n".repeat(3) + &"2\n".repeat(3) + "0\n1\n"), 8).expect("folds");
    let lost =
        svm(Formulation::NuSvc { nu: 0.5 }, 1e-3).cross_validate(&few.expect("data"), &plan).expect_err("one negative sample");
    assert!(lost.to_string().contains("fold 0"), "{lost}");
}

#[test]
fn updates_of_other_formulations_are_refused_by_name() {
    let data = waves(30, 7);
    let model = svm(Formulation::epsilon_svr(1.0, 0.1), 1e-3).keep_vectors().fit(&data).expect("a model").model;
    let kept = maxmargin::cv::TrainingData::new(data);
    let change = maxmargin::cv::Change { c: Some(2.0), ..Default::default() };
    let watch = |_: &maxmargin::path::Update| std::ops::ControlFlow::Continue(());
    let error = maxmargin::cv::update(&model, &kept, &change, 1 << 20, Par::Seq, &watch).expect_err("not yet").to_string();
    assert!(error.contains("epsilon-svr") && error.contains("C-SVC"), "{error}");
}

/// LIBSVM's solution of a problem.
struct Theirs {
    objective: f64,
    rho: f64,
    support: usize,
    model: String,
    predictions: Vec<f64>,
}

/// Returns the text after `key` in the last line that contains it.
fn after(text: &str, key: &str) -> f64 {
    let rest = text.rsplit(key).next().expect("a part");
    rest[..rest.find([',', '\n']).unwrap_or(rest.len())].trim().parse().unwrap_or_else(|e| panic!("{key}: {e} in {text}"))
}

fn libsvm_says(data: &Dataset, options: &str, ours: &Model) -> (Theirs, Vec<f64>) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let at = |name: &str| folder.path().join(name);
    let mut text = Vec::new();
    write(data, &mut text).expect("writing to memory");
    fs::write(at("data"), text).expect("writing a temporary file");
    let run = |program: &str, args: &[&str]| {
        let paths = args.iter().map(|arg| arg.strip_prefix('@').map_or_else(|| arg.into(), at));
        let done = Command::new(program).args(paths).output().expect("LIBSVM's program runs");
        assert!(done.status.success(), "{program} {args:?}: {done:?}");
        String::from_utf8(done.stdout).expect("text")
    };
    let gamma = GAMMA.to_string();
    let mut args = vec!["-g", &gamma, "-e", "1e-6", "-m", "200"];
    args.extend(options.split_whitespace());
    args.extend(["@data", "@model"]);
    let said = run("svm-train", &args);
    let mut own = Vec::new();
    libsvm::write_model(ours, &mut own).expect("LIBSVM's text");
    fs::write(at("own"), own).expect("writing a temporary file");
    let predict = |model: &str| -> Vec<f64> {
        run("svm-predict", &["@data", model, "@out"]);
        fs::read_to_string(at("out")).expect("predictions").lines().map(|line| line.parse().expect("a number")).collect()
    };
    let (predictions, of_ours) = (predict("@model"), predict("@own"));
    let theirs = Theirs {
        objective: after(&said, "obj = "),
        rho: after(&said, "rho = "),
        support: after(&said, "nSV = ") as usize,
        model: fs::read_to_string(at("model")).expect("a model"),
        predictions,
    };
    (theirs, of_ours)
}

/// Objective, bias, number of support vectors, predictions; models of each read by the other.
fn same_as_libsvm(what: &str, formulation: Formulation, options: &str, data: &Dataset) {
    let fitted = fit(formulation, data, 1e-6);
    let (machine, certificate) = (&fitted.machines[0], &fitted.certificate);
    let (theirs, of_ours) = libsvm_says(data, options, &fitted.model);
    // ν-SVC: LIBSVM divides by ρ², which the coefficients tell: their sum is ν n / ρ.
    let coefs: f64 = fitted.model.machines()[0].coef.iter().map(|c| c.abs()).sum();
    let scale = match formulation {
        Formulation::NuSvc { nu } => (coefs / (nu * data.labels.len() as f64)).powi(2),
        _ => 1.0,
    };
    let (ours, slack) = (machine.objective * scale, 1e-5 * theirs.objective.abs() + 1e-5);
    assert!((ours - theirs.objective).abs() <= slack, "{what}: objective {ours}, LIBSVM {}", theirs.objective);
    assert!(-certificate.dual <= machine.objective + 1e-12 * machine.objective.abs(), "{what}");
    // Of labels ±1 LIBSVM's positive class is 1, whichever comes first.
    let rho = -machine.bias;
    let room = 1e-3 * (1.0 + theirs.rho.abs());
    assert!((rho - theirs.rho).abs() <= room, "{what}: rho {rho}, LIBSVM {}", theirs.rho);
    let most = 2 + theirs.support / 50;
    assert!(machine.support_vectors.abs_diff(theirs.support) <= most, "{what}: {} {}", machine.support_vectors, theirs.support);
    // LIBSVM keeps eight digits of a vector in its own file, all of them in ours.
    let read = libsvm::read_model(theirs.model.as_bytes()).expect("LIBSVM's model");
    let said = read.predict(&data.samples, Par::Seq).expect("predictions");
    let decided = fitted.decision_values(&data.samples).expect("decisions");
    let ours = fitted.predict(&data.samples).expect("predictions");
    let spread = decided.iter().fold(1.0_f64, |most, d| most.max(d.abs()));
    for i in 0..data.labels.len() {
        let near = |a: f64, b: f64, room: f64| (a - b).abs() <= room * spread;
        let values = formulation.target_kind() == maxmargin::core::TargetKind::Values;
        let unsure = !values && decided[i].abs() < 1e-3 * spread;
        assert!(
            unsure || near(said[i], theirs.predictions[i], 1e-6),
            "{what}, {i}: their model {} {}",
            said[i],
            theirs.predictions[i]
        );
        assert!(unsure || near(ours[i], of_ours[i], 1e-12), "{what}, {i}: our model {} {}", ours[i], of_ours[i]);
        assert!(unsure || near(ours[i], theirs.predictions[i], 2e-3), "{what}, {i}: {} {}", ours[i], theirs.predictions[i]);
    }
}

/// A column of the data as what is to be predicted from the others.
fn column_as_target(data: &Dataset, column: usize) -> Dataset {
    let n = data.samples.len();
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut labels = vec![0.0; n];
    for (i, label) in labels.iter_mut().enumerate() {
        for (j, v) in data.samples.row(i).entries() {
            if j == column {
                *label = v;
            } else {
                indices.push(u32::try_from(j).expect("few columns"));
                values.push(v);
            }
        }
        offsets.push(indices.len());
    }
    let samples = Samples::from_sparse(data.samples.features(), offsets, indices, values).expect("rows").compact();
    Dataset { samples, labels, groups: None, ..data.clone() }
}

#[test]
fn regression_and_nu_are_libsvms_on_real_data() {
    if program("svm-train").is_none() || program("svm-predict").is_none() {
        return;
    }
    if let Some(heart) = dataset("heart_scale") {
        let pressure = column_as_target(&heart, 3);
        for (c, epsilon) in [(1.0, 0.1), (10.0, 0.01)] {
            same_as_libsvm("heart", Formulation::epsilon_svr(c, epsilon), &format!("-s 3 -c {c} -p {epsilon}"), &pressure);
        }
        for nu in [0.2, 0.8] {
            same_as_libsvm("heart", Formulation::NuSvr { c: 2.0, nu }, &format!("-s 4 -c 2 -n {nu}"), &pressure);
        }
        for nu in [0.3, 0.6] {
            same_as_libsvm("heart", Formulation::NuSvc { nu }, &format!("-s 1 -n {nu}"), &heart);
            same_as_libsvm("heart", Formulation::OneClass { nu }, &format!("-s 2 -n {nu}"), &heart);
        }
    }
    if let Some(diabetes) = dataset("diabetes_scale") {
        let mass = column_as_target(&diabetes, 5);
        same_as_libsvm("diabetes", Formulation::epsilon_svr(10.0, 0.05), "-s 3 -c 10 -p 0.05", &mass);
        same_as_libsvm("diabetes", Formulation::NuSvr { c: 10.0, nu: 0.5 }, "-s 4 -c 10 -n 0.5", &mass);
        same_as_libsvm("diabetes", Formulation::NuSvc { nu: 0.5 }, "-s 1 -n 0.5", &diabetes);
    }
    if let Some(adult) = dataset("a1a") {
        same_as_libsvm("a1a", Formulation::OneClass { nu: 0.1 }, "-s 2 -n 0.1", &adult);
        same_as_libsvm("a1a", Formulation::NuSvc { nu: 0.4 }, "-s 1 -n 0.4", &adult);
    }
}

/// A weight of 0 was once refused as "not negative".
#[test]
fn a_sample_of_weight_0_takes_no_part_in_a_squared_loss() {
    let data = Generator::Banana.generate(60, None, 3).expect("data");
    let weights: Vec<f64> = (0..60).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 }).collect();
    let kept: Vec<usize> = (0..60).filter(|i| i % 5 != 0).collect();
    let labels = kept.iter().map(|&i| data.labels[i]).collect();
    let rest = Dataset { samples: data.samples.select(&kept), labels, ..data.clone() };
    for solver in [Solver::Linear, Solver::Descent, Solver::Newton] {
        let svm = Svm::c_svc(2.0).solver(solver).loss(Loss::SquaredHinge).bias_term(BiasTerm::Feature(1.0)).eps(1e-6);
        let (all, some) = (svm.clone().sample_weights(weights.clone()).fit(&data), svm.fit(&rest));
        let (all, some) = (all.expect("weights"), some.expect("a model"));
        assert!(all.certificate.holds && some.certificate.holds, "{solver:?}");
        let off = (all.certificate.dual - some.certificate.dual).abs();
        assert!(off <= 1e-5 * some.certificate.dual.abs(), "{solver:?}: {off}");
    }
}

/// SMO over a linear kernel and the solver of features, with a weight for each sample, which are
/// ridges of their own there.
#[test]
fn the_squared_loss_of_values_is_one_problem_with_and_without_a_kernel() {
    let data = waves(120, 6);
    let weights: Vec<f64> = (0..120).map(|i| 0.25 + f64::from(i % 7)).collect();
    for svm in [of(squared(2.0)), of(squared(2.0)).sample_weights(weights)] {
        let svm = svm.kernel(Kernel::Linear).eps(1e-8);
        let [kernel, features] =
            [Solver::Smo, Solver::Linear].map(|solver| svm.clone().solver(solver).fit(&data).expect("a model"));
        for fitted in [&kernel, &features] {
            assert!(fitted.certificate.holds && fitted.certificate.relative_gap.abs() < 1e-7, "{:?}", fitted.certificate);
        }
        let (a, b) = (kernel.certificate, features.certificate);
        assert!((a.dual - b.dual).abs() <= 1e-7 * a.dual.abs(), "{a:?} {b:?}");
        let [a, b] = [&kernel, &features].map(|fitted| fitted.decision_values(&data.samples).expect("values"));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{a:?} {b:?}");
        assert!(verify(&kernel.model, &data, None, None, Par::Seq).expect("a verdict").met());
    }
}

/// A width of 0: every sample is at its value, and what both variables of a sample have in common
/// is in no coefficient. `verify` called such models infeasible.
#[test]
fn a_tube_of_width_0_is_verified() {
    let mut data = waves(80, 7);
    data.labels.iter_mut().for_each(|target| *target *= 0.01);
    let formulation = Formulation::NuSvr { c: 8.0, nu: 0.25 };
    let fitted = of(formulation).kernel(Kernel::rbf(500.0)).eps(1e-9).fit(&data).expect("a model");
    let sum: f64 = fitted.model.machines()[0].coef.iter().map(|coef| coef.abs()).sum();
    assert!(sum < 0.5 * 8.0 * 0.25 * 80.0, "the sums are in the coefficients: {sum}");
    let verdict = verify(&fitted.model, &data, None, None, Par::Seq).expect("a verdict");
    assert!(verdict.matches() && verdict.met(), "{verdict:?}");
    let (found, stored) = (verdict.machines[0].certificate, fitted.certificate);
    assert!((found.dual - stored.dual).abs() <= 1e-9 * (1.0 + stored.dual.abs()), "{found:?} {stored:?}");
}

/// A width of 0, to a coarse tolerance: `verify` divided the common part of both variables of a
/// sample otherwise than the solver, and called the certificate a mismatch.
#[test]
fn both_variables_of_a_sample_go_through_a_file() {
    let data = crate::quantiles::waves(10, 93);
    let svm = of(Formulation::NuSvr { c: 10_f64.powf(1.9568), nu: 0.3 }).kernel(Kernel::rbf(0.5)).eps(1e-4);
    let fitted = svm.fit(&data).expect("a model");
    let section = *b"twins\0\0\0";
    let bytes = fitted.model.section(section).expect("samples with two positive variables").to_vec();
    let model = decode(&encode(&fitted.model).expect("bytes")).expect("a model");
    let verdict = verify(&model, &data, None, Some(Goal::Kkt(1e-4)), Par::Seq).expect("a verdict");
    assert!(verdict.matches() && verdict.met(), "{verdict:?}");
    // A start from the stored α is already optimal on all data.
    let calibrated = svm.probability(Probability::Platt).calibrate(model.clone(), &data).expect("probabilities");
    assert_eq!(calibrated.calibration.expect("folds").run.status, Status::Converged);
    let refuted = |bytes: Vec<u8>| {
        let verdict = verify(&model.clone().with_section(section, bytes), &data, None, None, Par::Seq).expect("a verdict");
        !verdict.matches() && verdict.checks.iter().any(|check| check.what == "support vectors" && check.passed == Some(false))
    };
    // The last bits of an α may be below the rounding of its coefficient.
    let damaged = |at: usize| bytes.iter().enumerate().map(|(i, byte)| if i == at { byte ^ 0x11 } else { *byte }).collect();
    let found = (0..bytes.len()).filter(|&at| refuted(damaged(at))).count();
    assert!(2 * found > bytes.len(), "{found} of {} changes", bytes.len());
    assert!(refuted(bytes[..bytes.len() - 1].to_vec()));
}

/// LIBSVM's text does not say which of equal rows a vector is: `verify` took the first, whose
/// target may be another's.
#[test]
fn equal_rows_of_other_values_are_told_apart_by_them() {
    let once = waves(40, 8);
    let mut data = once.select(&(0..120).map(|i| i % 40).collect::<Vec<_>>());
    data.labels.iter_mut().enumerate().for_each(|(i, target)| *target += [0.5, -0.25, 0.0][i / 40]);
    for formulation in [Formulation::epsilon_svr(2.0, 0.1), Formulation::NuSvr { c: 2.0, nu: 0.4 }] {
        let fitted = fit(formulation, &data, 1e-6);
        let mut text = Vec::new();
        libsvm::write_model(&fitted.model, &mut text).expect("text");
        let model = libsvm::read_model(&text).expect("a model");
        let claim = Claim { formulation, weights: Vec::new() };
        let verdict = verify(&model, &data, Some(&claim), None, Par::Seq).expect("a verdict");
        let found = verdict.machines[0].certificate;
        assert!(
            verdict.met() && (found.dual - fitted.certificate.dual).abs() <= 1e-6 * found.dual.abs(),
            "{formulation:?}: {found:?}"
        );
    }
}

/// Many features of large values and half as many as samples: Newton steps began again after forty,
/// and a minute later ended where they had begun. Real data: `madelon`.
#[test]
fn the_squared_loss_over_unscaled_features_converges() {
    let Some(data) = dataset("madelon") else { return };
    let data = data.select(&(0..1000).collect::<Vec<_>>());
    for bias_term in [BiasTerm::Feature(1.0), BiasTerm::Free] {
        let svm =
            of(Formulation::Svc { c: 1.0, loss: Loss::SquaredHinge, bias_term }).loss(Loss::SquaredHinge).bias_term(bias_term);
        let fitted = svm.kernel(Kernel::Linear).eps(1e-3).fit(&data).expect("a model");
        assert_eq!(fitted.status, Status::Converged, "{bias_term:?}: {:?}", fitted.certificate);
        assert!(fitted.certificate.holds && fitted.certificate.relative_gap < 1e-3, "{bias_term:?}: {:?}", fitted.certificate);
    }
}
