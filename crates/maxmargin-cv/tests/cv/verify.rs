//! verify: every solver's model is certified from the data alone, and every changed model fails.

use crate::common::banana as data;
use maxmargin_core::{BiasTerm, Certificate, Formulation, GapScreening, Goal, Loss, Stop};
use maxmargin_cv::{Change, Claim, Fitted, Study, TrainOptions, TrainingData, UpdateError, Verdict, VerifyError, update, verify};
use maxmargin_data::scale::{ScaleMethod, Scaler};
use maxmargin_data::{ClassLabels, Dataset, Par, RunControl};
use maxmargin_kernel::{Gram, Kernel, KernelGram};
use maxmargin_model::libsvm::{read_model, write_model};
use maxmargin_model::{Model, Parts};
use maxmargin_solvers::Solver;

const EPS: f64 = 1e-3;

/// The options of a training besides data and solver.
#[derive(Clone)]
struct Asked {
    kernel: Kernel,
    problem: (Loss, BiasTerm),
    c: f64,
    weights: Option<Vec<f64>>,
    scale: Option<ScaleMethod>,
    goal: Option<Goal>,
}

fn asked(kernel: Kernel) -> Asked {
    Asked { kernel, problem: (Loss::Hinge, BiasTerm::Free), c: 2.0, weights: None, scale: None, goal: None }
}

fn train(data: &Dataset, solver: Solver, asked: &Asked) -> Fitted {
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let weights = asked.weights.clone().unwrap_or_else(|| vec![1.0; classes.count()]);
    let (loss, bias_term) = asked.problem;
    let (goal, solver) = (asked.goal.unwrap_or(solver.goal()), solver.build(7));
    let options = TrainOptions { kernel: asked.kernel.clone(), scale: asked.scale, par: Par::Pool, ..TrainOptions::default() };
    let study = Study {
        formulation: Formulation::Svc { c: asked.c, loss, bias_term },
        stop: Stop::when(goal),
        memory: 1 << 24,
        ..Study::new(data, Some(&classes), &options, &weights, &*solver)
    };
    study.train(&RunControl::unlimited()).expect("a training")
}

fn judged(model: &Model, data: &Dataset) -> Verdict {
    verify(model, data, None, None, Par::Pool).expect("a verdict")
}

fn failed(verdict: &Verdict) -> Vec<&'static str> {
    verdict.checks.iter().filter(|check| check.passed == Some(false)).map(|check| check.what).collect()
}

/// The recomputed certificate of each machine equals that of the training, up to rounding.
fn assert_genuine(trained: &Fitted, data: &Dataset, what: &str) {
    let verdict = judged(&trained.model, data);
    assert!(verdict.matches(), "{what}: {:?}", verdict.checks);
    assert!(verdict.met(), "{what}: {:?} {:?}", verdict.goal, verdict.certificate);
    assert_eq!(verdict.machines.len(), trained.machines.len());
    for (found, reported) in verdict.machines.iter().zip(&trained.machines) {
        let scale = found.certificate.primal.abs().max(1.0);
        assert!((found.certificate.dual - reported.certificate.dual).abs() <= 1e-9 * scale, "{what}");
        assert!(found.stored.is_some() && found.met);
    }
    assert!(verdict.checks.iter().all(|check| check.word() == "ok"), "{what}: {:?}", verdict.checks);
    // The same whatever threads there are.
    assert_eq!(verdict, verify(&trained.model, data, None, None, Par::Seq).expect("a verdict"));
}

#[test]
fn models_of_every_solver_are_what_they_say() {
    for count in [2, 4] {
        let data = data(120, count, 3);
        for solver in Solver::ALL {
            let (loss, bias_term) = solver.problem();
            let features =
                solver.build(0).takes(&Formulation::Svc { c: 1.0, loss, bias_term: BiasTerm::Feature(1.0) }, true).is_ok();
            if features {
                for problem in [
                    (Loss::Hinge, BiasTerm::Feature(1.0)),
                    (Loss::SquaredHinge, BiasTerm::Feature(0.5)),
                    (Loss::SquaredHinge, BiasTerm::None),
                    (Loss::Hinge, BiasTerm::None),
                    (Loss::Hinge, BiasTerm::Free),
                    (Loss::SquaredHinge, BiasTerm::Free),
                ] {
                    let formulation = Formulation::Svc { c: 1.0, loss: problem.0, bias_term: problem.1 };
                    if solver.build(0).takes(&formulation, true).is_ok() {
                        let trained = train(&data, solver, &Asked { problem, c: 0.5, ..asked(Kernel::Linear) });
                        assert!(trained.model.folded());
                        assert_genuine(&trained, &data, &format!("{solver:?} {problem:?} {count}"));
                    }
                }
            } else {
                for kernel in [Kernel::rbf(0.5), Kernel::poly(0.5, 1.0, 2), Kernel::Linear] {
                    let trained = train(&data, solver, &Asked { problem: (loss, bias_term), ..asked(kernel.clone()) });
                    assert_genuine(&trained, &data, &format!("{solver:?} {kernel:?} {count}"));
                }
            }
        }
    }
}

#[test]
fn weights_and_scalers_are_judged_as_they_were_trained() {
    for (count, weights) in [(2, vec![3.0, 0.5]), (4, vec![3.0, 0.5, 1.0, 2.0])] {
        let data = data(90, count, 5);
        for scale in [None, Some(ScaleMethod::MinMax { lower: -1.0, upper: 1.0 }), Some(ScaleMethod::Standard)] {
            let what = Asked { weights: Some(weights.clone()), scale, ..asked(Kernel::rbf(1.0)) };
            assert_genuine(&train(&data, Solver::Smo, &what), &data, &format!("{what:?}", what = what.scale));
            let linear = Asked { kernel: Kernel::Linear, problem: (Loss::SquaredHinge, BiasTerm::Feature(1.0)), ..what };
            assert_genuine(&train(&data, Solver::Linear, &linear), &data, &format!("linear {:?}", linear.scale));
        }
    }
}

/// A solver that stops by its gap has no goal for KKT violations. The verification, not the model,
/// limits the gap.
#[test]
fn a_model_that_was_asked_for_a_gap_is_judged_by_it() {
    let data = data(120, 4, 9);
    let simplex = Asked { problem: Solver::Cvm.problem(), c: 50.0, goal: Some(Goal::Gap(0.05)), ..asked(Kernel::rbf(0.5)) };
    for solver in [Solver::Cvm, Solver::Fw, Solver::Mfw] {
        let trained = train(&data, solver, &simplex);
        let verdict = judged(&trained.model, &data);
        assert_eq!(verdict.goal, Goal::Gap(EPS));
        assert!(verdict.matches(), "{verdict:?}");
        let verdict = verify(&trained.model, &data, None, Some(Goal::Gap(0.05)), Par::Seq).expect("a verdict");
        assert!(verdict.matches() && verdict.met(), "{verdict:?}");
        assert!(verdict.machines.iter().any(|m| m.certificate.kkt > EPS), "{solver:?} happens to meet both");
        let strict = verify(&trained.model, &data, None, Some(Goal::Kkt(1e-9)), Par::Seq).expect("a verdict");
        assert!(strict.matches() && !strict.met());
    }
    let both = Asked {
        problem: (Loss::Hinge, BiasTerm::Feature(1.0)),
        goal: Some(Goal::Both { kkt: EPS, gap: 1e-2 }),
        ..asked(Kernel::Linear)
    };
    let trained = train(&data, Solver::Linear, &both);
    assert_eq!(judged(&trained.model, &data).goal, Goal::Both { kkt: EPS, gap: EPS });
    let mut record = trained.model.record().expect("a record").clone();
    assert_eq!(record.goal(), Goal::Both { kkt: EPS, gap: 1e-2 });
    record.gap = None;
    assert_eq!(record.goal(), Goal::Kkt(EPS));
}

/// The empty model meets a tolerance of 10³⁰⁰. Its statements are true, but it is not certified:
/// neither by its own tolerance nor as an optimum.
#[test]
fn a_model_that_was_asked_for_nothing_is_not_certified() {
    let data = data(120, 2, 9);
    let classes = ClassLabels::new(&data.labels).expect("classes");
    let solver = Solver::Smo.build(1);
    let kernel = Kernel::rbf(0.5);
    let options = TrainOptions { kernel: kernel.clone(), ..TrainOptions::default() };
    let study = Study {
        formulation: Formulation::c_svc(1.0),
        stop: Stop::at(1e300),
        memory: 1 << 24,
        ..Study::new(&data, Some(&classes), &options, &[1.0, 1.0], &*solver)
    };
    let trained = study.train(&RunControl::unlimited()).expect("a training");
    assert_eq!((trained.model.support_vectors(), trained.certificate.kkt), (0, 2.0));
    let verdict = judged(&trained.model, &data);
    assert!(verdict.matches() && !verdict.met() && !verdict.is_optimal(), "{verdict:?}");
    assert_eq!(verdict.goal, Goal::Kkt(EPS));
    assert_eq!(verdict.machines[0].fixed_labels.as_ref().map(GapScreening::labels), Some(0), "its gap proves no label");
    // A solved one proves most.
    let trained = train(&data, Solver::Smo, &asked(Kernel::rbf(0.5)));
    let verdict = judged(&trained.model, &data);
    assert!(verdict.met() && verdict.is_optimal());
    let proved = verdict.machines[0].fixed_labels.as_ref().map_or(0, GapScreening::labels);
    assert!(proved > 60 && Some(proved) == trained.machines[0].certificate.fixed_labels, "{proved}");
}

fn tampered(model: &Model, tamper: impl Fn(&mut Parts)) -> Model {
    let mut parts = model.parts().clone();
    tamper(&mut parts);
    Model::new(parts).expect("a model")
}

/// A coefficient of machine `p` that is neither 0 nor C.
fn free(parts: &Parts, p: usize) -> Option<usize> {
    let bound = parts.record.as_ref().and_then(|record| record.formulation.c()).expect("a record with C");
    parts.machines[p].coef.iter().position(|coef| coef.abs() < 0.9 * bound)
}

/// The record of a model that has one.
fn record(parts: &mut Parts) -> &mut maxmargin_model::Record {
    parts.record.as_mut().expect("a record")
}

#[test]
fn what_was_changed_is_refuted() {
    type Tamper = (&'static str, fn(&mut Parts, usize));
    let cases: [Tamper; 13] = [
        ("bias", |p, m| p.machines[m].bias += 0.01),
        ("feasible", |p, m| p.machines[m].coef[0] *= 1.5),
        ("certificate", |p, m| {
            let at = free(p, m).expect("a free one");
            p.machines[m].coef[at] *= 0.999;
        }),
        ("feasible", |p, m| {
            let at = free(p, m).expect("a free one");
            p.machines[m].coef[at] *= 0.999;
        }),
        ("support vectors", |p, m| p.machines[m].coef[1] *= -1.0),
        ("support vectors", |p, m| {
            let rows = &mut record(p).machines[m].rows;
            let row = (0..=rows[0]).rev().find(|row| *row != rows[0]).unwrap_or(rows[0] + 1);
            rows[0] = row;
            rows.sort_unstable();
        }),
        ("certificate", |p, m| record(p).machines[m].certificate.dual += 1e-5),
        ("certificate", |p, m| record(p).machines[m].certificate.kkt = 1e-9),
        ("certificate", |p, _| {
            let doubled = record(p).formulation.c().map_or(1.0, |c| 2.0 * c);
            record(p).formulation = record(p).formulation.with_c(doubled);
        }),
        ("at C", |p, m| record(p).machines[m].bounded += 1),
        ("data hash", |p, _| record(p).data_sha256[3] ^= 1),
        ("shape", |p, _| record(p).rows += 1),
        ("classes", |p, _| p.classes[1] += 0.5),
    ];
    for count in [2, 4] {
        let data = data(120, count, 4);
        let model = train(&data, Solver::Smo, &asked(Kernel::rbf(0.5))).model;
        let machine = (0..model.machines().len()).rev().find(|&p| free(model.parts(), p).is_some()).expect("a free one");
        let (a, b) = judged(&model, &data).machines[machine].labels.expect("two classes");
        let a = a.expect("a pair");
        for (case, (check, tamper)) in cases.iter().enumerate() {
            let verdict = judged(&tampered(&model, |parts| tamper(parts, machine)), &data);
            assert!(failed(&verdict).contains(check), "{count} classes, case {case}: {:?}", verdict.checks);
            assert!(!verdict.matches());
            if matches!(*check, "bias" | "feasible" | "at C") && count == 4 {
                let named = verdict.checks.iter().find(|c| c.what == *check).expect("it failed");
                let name = format!("1 of 6 machines; first that of {a} and {b}: ");
                assert!(named.detail.starts_with(&name), "{case}: {}", named.detail);
                assert_eq!(named.word(), "MISMATCH");
            }
        }
    }
}

/// At features of size 10⁸ the sum over the support vectors is far from the weights.
#[test]
fn weights_with_a_certificate_of_their_own_are_verified() {
    for (count, problem) in [(2, (Loss::Hinge, BiasTerm::Free)), (4, (Loss::SquaredHinge, BiasTerm::Feature(1.0)))] {
        let small = data(100, count, 6);
        let rows: Vec<Vec<f64>> = (0..100)
            .map(|i| {
                let mut row = vec![0.0; 2];
                small.samples.row(i).for_each(|j, value| row[j] = 3e8 * value);
                row
            })
            .collect();
        // Wrong labels, so that the classes cannot be separated.
        let labels: Vec<f64> = (0..100).map(|i| small.labels[if i % 7 == 0 { (i + 7) % 100 } else { i }]).collect();
        let data = Dataset::from_rows(&rows, &labels).expect("data");
        let trained = train(&data, Solver::Linear, &Asked { problem, ..asked(Kernel::Linear) });
        assert_genuine(&trained, &data, &format!("{count} classes"));
        let last = trained.model.machines().len() - 1;
        let turned = tampered(&trained.model, |parts| {
            let rows: Vec<Vec<f64>> = (0..parts.support.len())
                .map(|i| {
                    let mut row = vec![0.0; parts.support.features()];
                    parts.support.row(i).for_each(|j, v| row[j] = v);
                    row[0] *= if i == last { 1.5 } else { 1.0 };
                    row
                })
                .collect();
            parts.support = maxmargin_data::Samples::from_rows(&rows).expect("numbers");
        });
        assert!(failed(&judged(&turned, &data)).contains(&"certificate"), "{:?}", judged(&turned, &data).checks);
    }
}

#[test]
fn folded_weights_are_added_up_again() {
    for (count, problem) in [(2, (Loss::Hinge, BiasTerm::Free)), (4, (Loss::SquaredHinge, BiasTerm::Feature(1.0)))] {
        let data = data(100, count, 6);
        let model = train(&data, Solver::Linear, &Asked { problem, ..asked(Kernel::Linear) }).model;
        let last = model.machines().len() - 1;
        let turned = tampered(&model, |parts| {
            let rows: Vec<Vec<f64>> = (0..parts.support.len())
                .map(|i| {
                    let mut row = vec![0.0; parts.support.features()];
                    parts.support.row(i).for_each(|j, v| row[j] = v);
                    row[0] += if i == last { 1e-3 } else { 0.0 };
                    row
                })
                .collect();
            parts.support = maxmargin_data::Samples::from_rows(&rows).expect("numbers");
        });
        assert_eq!(failed(&judged(&turned, &data)), ["weights"]);
        let other = tampered(&model, |parts| {
            let folded = record(parts).machines[last].folded.as_mut().expect("weights alone");
            folded[0] *= 0.5;
        });
        assert!(failed(&judged(&other, &data)).contains(&"weights"));
        let sign = tampered(&model, |parts| {
            let folded = record(parts).machines[last].folded.as_mut().expect("weights alone");
            folded[0] *= -1.0;
        });
        assert_eq!(failed(&judged(&sign, &data)), ["support vectors"]);
        // A bias that is a weight is as exact as the others.
        if problem.1 != BiasTerm::Free {
            let moved = tampered(&model, |parts| parts.machines[last].bias += 1e-5);
            assert_eq!(failed(&judged(&moved, &data)), ["bias"]);
        }
    }
}

#[test]
fn other_data_is_refuted() {
    for count in [2, 4] {
        let data = data(100, count, 8);
        let model = train(&data, Solver::Smo, &asked(Kernel::rbf(0.5))).model;
        let mut labels = data.clone();
        labels.labels.swap(0, 1);
        assert!(failed(&judged(&model, &labels)).contains(&"data hash"));
        let row = model.record().expect("a record").machines[0].rows[0] as usize;
        let mut moved = data.clone();
        moved.samples = moved.samples.select(&(0..100).map(|i| if i == row { (row + 2) % 100 } else { i }).collect::<Vec<_>>());
        let verdict = judged(&model, &moved);
        assert_eq!(failed(&verdict), ["data hash", "support vectors"]);
        assert!(verdict.certificate.is_none() && !verdict.met() && verdict.stored.is_some());
        let shorter = data.select(&(0..60).collect::<Vec<_>>());
        assert!(failed(&judged(&model, &shorter)).starts_with(&["shape", "data hash", "support vectors"]));
        let one = Dataset { labels: vec![data.labels[0]; 100], ..data.clone() };
        assert!(failed(&judged(&model, &one)).contains(&"classes"));
    }
}

/// LIBSVM's text has no record: C comes from the caller, rows are found by content.
#[test]
fn models_from_elsewhere_are_judged_by_what_is_claimed() {
    for (count, weights) in [(2, vec![1.0, 3.0]), (4, vec![1.0, 3.0, 1.0, 0.5])] {
        let mut data = data(80, count, 2);
        // Rows that occur twice are used in turn.
        data = data.select(&(0..80).chain(0..10).collect::<Vec<_>>());
        let trained = train(&data, Solver::Smo, &Asked { weights: Some(weights.clone()), ..asked(Kernel::rbf(0.5)) });
        let mut text = Vec::new();
        write_model(&trained.model, &mut text).expect("integer labels");
        let model = read_model(&text).expect("a model");
        assert!(model.record().is_none());
        let labels = trained.model.classes();
        let claim = Claim { formulation: Formulation::c_svc(2.0), weights: labels.iter().copied().zip(weights).collect() };
        let verdict = verify(&model, &data, Some(&claim), None, Par::Pool).expect("a verdict");
        assert_eq!(verdict.goal, Goal::Kkt(1e-3));
        assert!(verdict.matches() && verdict.met(), "{verdict:?}");
        let names: Vec<_> = verdict.checks.iter().map(|check| check.what).collect();
        assert_eq!(names, ["classes", "support vectors", "feasible", "bias"]);
        let ours = judged(&trained.model, &data).certificate.expect("judged");
        let theirs = verdict.certificate.expect("judged");
        assert!((ours.dual - theirs.dual).abs() <= 1e-9 * ours.dual.abs());
        let wrong = Claim { formulation: Formulation::c_svc(0.1), ..claim.clone() };
        let verdict = verify(&model, &data, Some(&wrong), None, Par::Seq).expect("a verdict");
        assert!(failed(&verdict).contains(&"feasible") && !verdict.met());
        let without = verify(&model, &data.select(&(5..60).collect::<Vec<_>>()), Some(&claim), None, Par::Seq);
        assert_eq!(failed(&without.expect("a verdict")), ["support vectors"]);
        let nothing = verify(&model, &data, None, None, Par::Seq);
        assert!(matches!(nothing, Err(VerifyError::NoClaim)));
        let twice = verify(&trained.model, &data, Some(&claim), None, Par::Seq);
        assert!(matches!(twice, Err(VerifyError::Claim)));
        let unknown = verify(
            &model,
            &data,
            Some(&Claim { formulation: Formulation::c_svc(1.0), weights: vec![(17.0, 2.0)] }),
            None,
            Par::Seq,
        );
        let message = unknown.expect_err("no such class").to_string();
        assert!(message.contains("17") && message.contains("-1"), "{message}");
        let impossible = verify(
            &model,
            &data,
            Some(&Claim { formulation: Formulation::c_svc(f64::NAN), weights: Vec::new() }),
            None,
            Par::Seq,
        );
        assert!(matches!(impossible, Err(VerifyError::Data(_))), "{impossible:?}");
    }
}

/// Rows of a precomputed kernel are known by their serial numbers.
#[test]
fn precomputed_kernels_are_judged_by_their_values() {
    for count in [2, 4] {
        let plain = data(50, count, 6);
        let mut values = vec![0.0; 50 * 50];
        let gram = KernelGram::new(&plain.samples, Kernel::rbf(0.5), &RunControl::unlimited()).expect("a kernel");
        gram.fill_exact(&(0..50).collect::<Vec<_>>(), 0..50, &mut values);
        let rows: Vec<Vec<f64>> = (0..50).map(|i| [&[(i + 1) as f64], &values[i * 50..(i + 1) * 50]].concat()).collect();
        let given = Dataset::from_rows(&rows, &plain.labels).expect("numbers");
        assert_genuine(&train(&given, Solver::Smo, &asked(Kernel::Precomputed)), &given, "precomputed");
        let squared = Asked { problem: Solver::Pairwise.problem(), ..asked(Kernel::Precomputed) };
        assert_genuine(&train(&given, Solver::Pairwise, &squared), &given, "precomputed, squared");
    }
}

/// Classes may stand in any order: LIBSVM has that of first occurrence.
#[test]
fn classes_in_another_order_are_the_same_model() {
    let data = data(80, 4, 2);
    let trained = train(&data, Solver::Smo, &asked(Kernel::rbf(0.5)));
    let parts = trained.model.parts().clone();
    // The classes turned round: pairs in another order, with the other sign.
    let count = parts.classes.len();
    let old: Vec<(usize, usize)> = maxmargin_data::classes::pairs(count).collect();
    let machines = old.iter().map(|&(a, b)| {
        let (a, b) = (count - 1 - b, count - 1 - a);
        let mut machine = parts.machines[old.iter().position(|pair| *pair == (a, b)).expect("a pair")].clone();
        machine.bias = -machine.bias;
        machine.coef.iter_mut().for_each(|coef| *coef = -*coef);
        machine
    });
    let turned = Parts {
        machines: machines.collect(),
        classes: parts.classes.iter().rev().copied().collect(),
        record: None,
        ..parts.clone()
    };
    let turned = Model::new(turned).expect("a model");
    let verdict =
        verify(&turned, &data, Some(&Claim { formulation: Formulation::c_svc(2.0), weights: Vec::new() }), None, Par::Pool)
            .expect("a verdict");
    assert!(verdict.matches() && verdict.met(), "{verdict:?}");
    let ours: Vec<Certificate> = judged(&trained.model, &data).machines.iter().map(|m| m.certificate).collect();
    assert!(verdict.machines.iter().all(|m| ours.iter().any(|c| (c.dual - m.certificate.dual).abs() < 1e-9)));
}

#[test]
fn what_cannot_be_checked_is_not_ok() {
    let data = data(60, 2, 3);
    let what = Asked { scale: Some(ScaleMethod::MinMax { lower: -1.0, upper: 1.0 }), ..asked(Kernel::rbf(0.5)) };
    let model = train(&data, Solver::Smo, &what).model;
    let kept = TrainingData::new(data.clone());
    let model = kept.put_into(model).expect("its own data");
    // The sample with the extreme value has been removed, or it has not.
    let mut first: Vec<(u64, f64)> = (0..60).map(|i| (i as u64 + 1, data.samples.row(i).entries()[0].1)).collect();
    first.sort_by(|a, b| a.1.total_cmp(&b.1));
    for (remove, state, word) in [(first[59].0, None, "not checked"), (first[30].0, Some(true), "ok")] {
        let change = Change { remove: &[remove], ..Change::default() };
        let go_on = |_: &maxmargin_path::Update| std::ops::ControlFlow::Continue(());
        let updated = update(&model, &kept, &change, 1 << 24, Par::Seq, &go_on).expect("an update");
        let verdict = judged(&updated.model, &updated.kept.data);
        let scaler = verdict.checks.iter().find(|check| check.what == "scaler").expect("a scaler");
        assert_eq!((scaler.passed, scaler.word()), (state, word));
        let unchecked: Vec<&str> = verdict.unchecked().map(|check| check.what).collect();
        assert_eq!(unchecked, if state.is_none() { vec!["scaler"] } else { vec![] });
        assert!(verdict.matches() && verdict.met());
    }
}

/// Data scaled before training, and a scaler attached to the model afterwards: the next update once
/// scaled the data again, half of the labels were wrong, and the model passed as certified.
#[test]
fn nothing_is_attached_after_the_record() {
    let raw = data(80, 2, 5);
    let method = ScaleMethod::MinMax { lower: -1.0, upper: 1.0 };
    let scaler = Scaler::fit(&raw.samples, method);
    let scaled = Dataset { samples: scaler.apply(&raw.samples).expect("numbers"), ..raw.clone() };
    let plain = train(&scaled, Solver::Smo, &asked(Kernel::rbf(0.5))).model;
    let refused = plain.clone().with_scaler(scaler.clone()).expect_err("the training had no scaler").to_string();
    assert!(refused.contains("record of a training without it"), "{refused}");
    assert!(plain.clone().with_index_base(0).is_err());
    // Parts are free, but neither data goes with such a model.
    let late = tampered(&plain, |parts| parts.scaler = Some(scaler.clone()));
    assert!(matches!(TrainingData::new(scaled.clone()).put_into(late.clone()), Err(UpdateError::ScaledBefore)));
    assert!(matches!(TrainingData::new(raw.clone()).put_into(late.clone()), Err(UpdateError::OtherData(_))));
    assert!(failed(&judged(&late, &scaled)).contains(&"support vectors"));
    // A scaler from the training itself, and data that is scaled already.
    let what = Asked { scale: Some(method), ..asked(Kernel::rbf(0.5)) };
    let model = train(&raw, Solver::Smo, &what).model;
    assert!(matches!(TrainingData::new(scaled).put_into(model.clone()), Err(UpdateError::OtherData(_))));
    let model = TrainingData::new(raw.clone()).put_into(model).expect("its own data");
    assert!(judged(&model, &raw).matches());
    // A model whose kept data is not its training data fails, whatever data it is verified against.
    let mut kept = TrainingData::of(&model).expect("whole").expect("kept");
    kept.data.labels[0] = -kept.data.labels[0];
    let parts = model.parts().clone();
    let bytes = maxmargin_data::codec::encode(&kept).expect("encodable");
    let other = Model::new(parts).expect("a model").with_section(*b"samples\0", bytes);
    assert_eq!(failed(&judged(&other, &raw)), ["kept data"]);
    let damaged = other.with_section(*b"samples\0", vec![1, 2, 3]);
    assert_eq!(failed(&judged(&damaged, &raw)), ["kept data"]);
}
