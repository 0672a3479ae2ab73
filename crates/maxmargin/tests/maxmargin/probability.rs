//! Probabilities of every formulation: what they are fitted to, that they are the same however they
//! are come by, and LIBSVM's own programs.
//!
//! Real data: `heart_scale`, `diabetes_scale`. Programs: `svm-train`, `svm-predict`.

use maxmargin::cv::{CvError, ModelMismatch, Probability, calibration_plan, cross_fitted};
use maxmargin::data::classes::pairs;
use maxmargin::data::libsvm::write;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::data::{ClassLabels, Dataset, Generator, Par};
use maxmargin::kernel::{Gamma, Kernel};
use maxmargin::metrics::F1;
use maxmargin::metrics::Reliability;
use maxmargin::model::{Calibration, DecisionRule, Model, Multiclass, decode, encode, libsvm};
use maxmargin::{Error, Fitted, Svm};
use maxmargin_testkit::outside::{dataset, program};
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Points of the plane in two curved classes that overlap, or in three: one is cut off by a line.
fn banana(rows: usize, classes: usize, seed: u64) -> Dataset {
    let mut data = Generator::Banana.generate(rows, None, seed).expect("data");
    for i in (0..rows).filter(|_| classes == 3) {
        let x = data.samples.row(i).entries().iter().find(|e| e.0 == 0).map_or(0.0, |e| e.1);
        data.labels[i] = if x + 0.1 * ((i * 7 % 11) as f64 - 5.0) > 0.5 { 7.0 } else { data.labels[i] };
    }
    data
}

/// Values of a function and noise.
fn waves(rows: usize) -> Dataset {
    let mut data = Generator::GaussM.generate(rows, Some(2), 1).expect("data");
    for i in 0..rows {
        let x: f64 = data.samples.row(i).entries().iter().map(|e| (1.5 * e.1).sin()).sum();
        data.labels[i] = x + 0.3 * (((i * 7919 + 13) % 101) as f64 / 101.0 - 0.5);
    }
    data
}

fn rbf(c: f64) -> Svm {
    Svm::rbf(0.5).c(c).eps(1e-6)
}

fn fit(svm: &Svm, data: &Dataset) -> Fitted {
    svm.fit(data).expect("a training")
}

#[test]
fn the_model_is_the_one_without_probabilities() {
    for (svm, data) in
        [(rbf(2.0), banana(150, 2, 3)), (rbf(2.0), banana(150, 3, 3)), (Svm::linear().eps(1e-6), banana(150, 3, 4))]
    {
        let plain = fit(&svm, &data);
        let fitted = fit(&svm.clone().probability(Probability::Platt), &data);
        assert_eq!(fitted.model.clone().without_calibration(), plain.model);
        let found = fitted.calibration.expect("a calibration");
        assert_eq!((found.method, found.run.folds, found.missing), ("platt", 5, None));
        assert!(found.run.certificate.is_some_and(|certificate| certificate.holds));
        assert_eq!(decode(&encode(&fitted.model).expect("bytes")).expect("a model"), fitted.model);
    }
}

#[test]
fn labels_agree_with_probabilities() {
    for classes in [2, 3] {
        for way in Probability::ALL {
            let data = banana(200, classes, 5);
            let fitted = fit(&rbf(2.0).probability(way), &data);
            let p = fitted.model.probabilities(&data.samples, Par::Seq).expect("probabilities");
            let labels = fitted.predict(&data.samples).expect("labels");
            assert_eq!(fitted.model.decision_rule(), DecisionRule::Coupled);
            for (row, label) in p.chunks_exact(classes).zip(&labels) {
                let place = fitted.model.classes().iter().position(|class| class == label).expect("a class");
                assert!(row.iter().all(|p| *p <= row[place]) && (row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            }
        }
    }
}

/// Returns the data with every row again, under another label and of weight 0.
fn with_rows_of_weight_0(data: &Dataset, other: impl Fn(f64) -> f64) -> (Dataset, Vec<f64>) {
    let n = data.labels.len();
    let mut more = data.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>());
    more.labels[n..].iter_mut().for_each(|label| *label = other(*label));
    (more, (0..2 * n).map(|i| f64::from(u8::from(i < n))).collect())
}

/// Weight 0 leaves a sample out of the machines; it has to be left out of what is fitted to them.
#[test]
fn samples_of_weight_0_take_no_part_in_probabilities_and_thresholds() {
    let near = |a: &[f64], b: &[f64], what: &str| {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4), "{what}");
    };
    for classes in [2, 3] {
        let data = banana(120, classes, 9);
        let known = ClassLabels::new(&data.labels).expect("classes").labels().to_vec();
        let next = |label: f64| known[(known.iter().position(|known| *known == label).expect("a class") + 1) % known.len()];
        let (more, weights) = with_rows_of_weight_0(&data, next);
        for way in Probability::ALL {
            let svm = rbf(1.0).eps(1e-8).probability(way);
            let (alone, weighted) = (fit(&svm, &data), fit(&svm.clone().sample_weights(weights.clone()), &more));
            let of = |fitted: &Fitted| fitted.model.probabilities(&data.samples, Par::Seq).expect("probabilities");
            near(&of(&alone), &of(&weighted), &format!("{classes} classes, {way:?}"));
        }
    }
    let data = banana(150, 2, 3);
    let (more, weights) = with_rows_of_weight_0(&data, |label| -label);
    let svm = rbf(1.0).eps(1e-8).threshold(&F1);
    let (alone, weighted) = (fit(&svm, &data), fit(&svm.clone().sample_weights(weights), &more));
    near(&[alone.model.threshold().expect("one")], &[weighted.model.threshold().expect("one")], "threshold");
    let data = waves(120);
    let (more, weights) = with_rows_of_weight_0(&data, |value| 50.0 - value);
    let svm = Svm::epsilon_svr(2.0, 0.05).kernel(Kernel::rbf(0.5)).eps(1e-8).probability(Probability::Platt);
    let scale = |fitted: &Fitted| fitted.calibration.as_ref().and_then(|report| report.scale).expect("a scale");
    near(&[scale(&fit(&svm, &data))], &[scale(&fit(&svm.clone().sample_weights(weights), &more))], "errors");
}

/// Folds that stand in for a model have the width of its kernel, whatever rule that came from: who
/// calibrates later has the model alone.
#[test]
fn folds_of_a_calibration_have_the_width_of_the_model() {
    let data = banana(100, 2, 7);
    for rule in [Gamma::Scale, Gamma::Mean, Gamma::Auto] {
        for scale in [None, Some(ScaleMethod::MinMax { lower: 0.0, upper: 1.0 })] {
            let svm =
                scale.into_iter().fold(Svm::rbf(1.0).c(1.0).eps(1e-6).gamma(rule), Svm::scale).probability(Probability::Platt);
            let ruled = fit(&svm, &data);
            let width = ruled.model.kernel().gamma().expect("a width");
            let named = fit(&svm.gamma(Gamma::Value(width)), &data);
            assert_eq!(ruled.model.calibration(), named.model.calibration(), "{rule:?} {scale:?}");
        }
    }
}

/// Sigmoids of decision values of machines that were trained by themselves on the other folds.
#[test]
fn sigmoids_are_fitted_to_machines_that_did_not_see_the_sample() {
    for (classes, scale) in [(2, None), (3, None), (2, Some(ScaleMethod::Standard))] {
        let data = banana(120, classes, 9);
        let labels = ClassLabels::new(&data.labels).expect("classes");
        let svm = scale.into_iter().fold(rbf(1.0).eps(1e-8).seed(4), Svm::scale);
        let fitted = fit(&svm.clone().probability(Probability::Platt), &data);
        let plan = calibration_plan(Some(&labels), &data.labels, 4).expect("folds");
        let width = labels.pairs();
        let mut decisions = vec![0.0; width * 120];
        for fold in 0..5 {
            let (train, test) = (plan.train(fold), plan.test(fold));
            let alone = fit(&svm, &data.select(&train));
            let of = alone.decision_values(&data.samples.select(test)).expect("decisions");
            test.iter()
                .zip(of.chunks_exact(width))
                .for_each(|(i, row)| decisions[i * width..(i + 1) * width].copy_from_slice(row));
        }
        for (p, (a, b)) in pairs(classes).enumerate() {
            let rows: Vec<usize> = (0..120).filter(|&i| [a, b].contains(&(labels.of()[i] as usize))).collect();
            let of: Vec<f64> = rows.iter().map(|i| decisions[i * width + p]).collect();
            let later: Vec<bool> = rows.iter().map(|&i| labels.of()[i] as usize == b).collect();
            let expected = Calibration::platt(&of, &later).expect("a sigmoid");
            let (Calibration::Sigmoid { a: x, b: y }, Calibration::Sigmoid { a: u, b: v }) =
                (&fitted.model.calibration()[p], &expected)
            else {
                panic!("sigmoids")
            };
            assert!((x - u).abs() < 1e-5 * u.abs() && (y - v).abs() < 1e-5, "{classes} {p}: {x} {y}, alone {u} {v}");
        }
        let honest =
            cross_fitted(&decisions, &plan, &labels, Multiclass::OneVsOne, Probability::Platt, Par::Seq).expect("probabilities");
        let expected = Reliability::of(&honest, classes, labels.of()).expect("scores");
        let found = fitted.calibration.and_then(|found| found.reliability).expect("scores");
        assert!((found.log_loss - expected.log_loss).abs() < 1e-6 && (found.brier - expected.brier).abs() < 1e-6);
        // Better than the shares of the classes.
        let shares: f64 = labels.sizes().iter().map(|n| *n as f64 / 120.0).map(|share| -share * share.ln()).sum();
        assert!(found.log_loss < 0.8 * shares, "{} {shares}", found.log_loss);
    }
}

/// A sample has no influence on the calibration of its own probability: with all labels of a fold
/// flipped, the probabilities of that fold stay the same.
#[test]
fn cross_fitted_probabilities_do_not_know_the_label() {
    let data = banana(100, 2, 2);
    let labels = ClassLabels::new(&data.labels).expect("classes");
    let plan = calibration_plan(Some(&labels), &data.labels, 1).expect("folds");
    let decisions = rbf(1.0).cross_validate(&data, &plan).expect("folds").decisions;
    let turned: Vec<f64> = (0..100).map(|i| if plan.test(2).contains(&i) { -data.labels[i] } else { data.labels[i] }).collect();
    let turned = ClassLabels::new(&turned).expect("classes");
    for way in Probability::ALL {
        let said = |labels| cross_fitted(&decisions, &plan, labels, Multiclass::OneVsOne, way, Par::Pool).expect("probabilities");
        let (one, other) = (said(&labels), said(&turned));
        let same = |i: usize| one[2 * i..2 * i + 2] == other[2 * i..2 * i + 2];
        assert!((0..100).filter(|&i| plan.test(2).contains(&i)).all(same));
        assert!((0..100).filter(|&i| !plan.test(2).contains(&i)).any(|i| !same(i)), "the others' calibrations saw these labels");
    }
}

#[test]
fn threads_do_not_change_probabilities() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
    for way in Probability::ALL {
        let (data, svm) = (banana(150, 3, 6), rbf(1.0).probability(way));
        let one = fit(&svm, &data);
        let three = pool.install(|| fit(&svm.clone().threads(Par::Pool), &data));
        assert_eq!(one.model, three.model);
        assert_eq!(one.calibration.map(|c| c.reliability), three.calibration.map(|c| c.reliability));
    }
}

#[test]
fn a_model_calibrated_later_is_the_one_calibrated_at_once() {
    let squared = Svm::linear().loss(maxmargin::core::Loss::SquaredHinge).class_weight(7.0, 2.0);
    let cases = [
        (rbf(2.0).scale(ScaleMethod::MinMax { lower: -1.0, upper: 1.0 }), banana(120, 3, 8)),
        (squared, banana(120, 3, 8)),
        (rbf(1.0).sample_weights((0..90).map(|i| 0.5 + f64::from(i % 3)).collect()), banana(90, 2, 8)),
        (Svm::nu_svc(0.3).kernel(Kernel::rbf(0.5)), banana(100, 2, 1)),
        (Svm::epsilon_svr(5.0, 0.1).kernel(Kernel::rbf(0.5)), waves(100)),
        (Svm::nu_svr(2.0, 0.4).kernel(Kernel::rbf(0.5)), waves(100)),
        (Svm::one_class(0.2).kernel(Kernel::rbf(0.5)), banana(100, 2, 1)),
    ];
    for (svm, data) in cases {
        let at_once = fit(&svm.clone().probability(Probability::Platt), &data);
        let plain = decode(&encode(&fit(&svm, &data).model).expect("bytes")).expect("a model");
        let again = Svm::of_model(&plain).expect("a record").calibrate(plain.clone(), &data).expect("a calibration");
        assert_eq!(again.model, at_once.model, "{:?}", svm.formulation());
        let found = at_once.calibration.expect("asked for");
        assert_eq!((found.missing, again.calibration.and_then(|found| found.reliability)), (None, found.reliability));
        // Once more, from a model that has probabilities already.
        let third = Svm::of_model(&again.model).expect("a record").calibrate(again.model.clone(), &data).expect("a calibration");
        assert_eq!(third.model, again.model);
        let mut other = data.clone();
        other.labels.swap(0, 99.min(data.labels.len() - 1));
        other.sha256 = [9; 32];
        assert!(matches!(svm.calibrate(plain.clone(), &other), Err(Error::OtherModel(ModelMismatch::Data))));
        let bare = Model::new(maxmargin::model::Parts { record: None, ..plain.into_parts() }).expect("a model");
        assert!(matches!(Svm::of_model(&bare), Err(Error::OtherModel(ModelMismatch::NoRecord))));
    }
}

#[test]
fn regressions_have_a_scale_and_one_class_its_marks() {
    let data = waves(150);
    let fitted = fit(&Svm::epsilon_svr(5.0, 0.1).kernel(Kernel::rbf(0.5)).probability(Probability::Isotonic), &data);
    let scale = fitted.model.error_scale().expect("a scale");
    // The noise alone is 0.075 from its middle in the mean.
    assert!(scale > 0.05 && scale < 0.3, "{scale}");
    assert_eq!(fitted.calibration.map(|c| (c.method, c.scale)), Some(("laplace", Some(scale))));
    assert!(fitted.model.probabilities(&data.samples, Par::Seq).is_err());
    let fitted = fit(&Svm::one_class(0.2).kernel(Kernel::rbf(0.5)).probability(Probability::Platt), &data);
    let p = fitted.model.probabilities(&data.samples, Par::Seq).expect("probabilities");
    assert!(p.chunks_exact(2).all(|row| row[0] + row[1] == 1.0) && fitted.model.outcomes() == [1.0, -1.0]);
    assert!(p.iter().step_by(2).any(|p| *p < 0.5) && p.iter().step_by(2).any(|p| *p > 0.8));
    // Twenty samples have no five outside.
    let few = Dataset::from_rows(&[[0.0], [0.1], [0.2], [0.3], [0.15], [0.05], [0.25]], &[0.0; 7]).expect("data");
    let fitted = fit(&Svm::one_class(0.2).kernel(Kernel::rbf(0.5)).probability(Probability::Platt), &few);
    assert!(fitted.model.calibration().is_empty() && fitted.calibration.is_some_and(|c| c.missing.is_some()));
}

#[test]
fn what_has_no_probabilities_says_why() {
    // Of a class of one sample one of two folds knows nothing: it says the other class, and is
    // named.
    let lonely = Dataset::from_rows(&[[0.0], [1.0], [2.0], [3.0]], &[1.0, 1.0, 1.0, 2.0]).expect("data");
    let svm = Svm::linear().probability(Probability::Platt);
    let run = fit(&svm, &lonely).calibration.expect("probabilities").run;
    assert!(run.folds == 2 && run.missing_classes.len() == 1 && run.missing_classes[0].label == 2.0, "{run:?}");
    let threshold = Svm::linear().threshold(&F1).fit(&lonely);
    assert!(matches!(threshold, Err(CvError::Alone { label: 2.0 })));
    // Both samples of a pair of classes in one fold: nothing is left to judge their probabilities,
    // and the model has them all the same.
    let sizes = [30, 1, 31, 1];
    let labels: Vec<f64> = (0_u8..4).flat_map(|class| vec![f64::from(class); sizes[usize::from(class)]]).collect();
    let rows: Vec<[f64; 1]> = labels.iter().enumerate().map(|(i, class)| [class + (i % 7) as f64 / 9.0]).collect();
    for probability in [Probability::Platt, Probability::Isotonic] {
        let together = Dataset::from_rows(&rows, &labels).expect("data");
        let found = fit(&Svm::linear().probability(probability), &together);
        assert_eq!((found.model.calibration().len(), found.calibration.map(|c| c.reliability)), (6, Some(None)));
    }
    // One sample of each class, and one value, used to be errors about folds that nobody chose.
    let [singles, value] = [&[[0.0], [1.0]][..], &[[0.0]]].map(|rows| {
        let labels: Vec<f64> = (1..=rows.len()).map(|label| label as f64).collect();
        Dataset::from_rows(rows, &labels).expect("data")
    });
    let refused = svm.fit(&singles).map(drop).expect_err("no fold").to_string();
    assert!(refused.starts_with("probabilities need a class with at least two samples, "), "{refused}");
    let regression = Svm::epsilon_svr(1.0, 0.1).probability(Probability::Platt);
    let refused = regression.fit(&value).map(drop).expect_err("no fold").to_string();
    assert!(refused.starts_with("probabilities need at least two rows, "), "{refused}");
    // Two samples of a class are two folds.
    let pair = Dataset::from_rows(&[[0.0], [1.0], [2.0], [3.0]], &[1.0, 1.0, 2.0, 2.0]).expect("data");
    assert_eq!(fit(&svm, &pair).calibration.map(|c| c.run.folds), Some(2));
    // Out of time: the model is there, its probabilities are not.
    let fitted = fit(&rbf(1.0).probability(Probability::Platt).max_time(Duration::ZERO), &banana(200, 2, 1));
    assert!(fitted.status.ended_early() && fitted.model.calibration().is_empty());
    assert!(fitted.calibration.is_some_and(|c| c.missing.is_some()));
}

/// LIBSVM's coupling, which ends when no class is off by more than 0.005 of its share: what its
/// program prints for more than two classes.
fn stopped_early(classes: usize, of_later: &[f64]) -> Vec<f64> {
    let mut r = vec![0.0; classes * classes];
    pairs(classes).zip(of_later).for_each(|((i, j), p)| (r[j * classes + i], r[i * classes + j]) = (*p, 1.0 - p));
    let q = |t: usize, j: usize| {
        if t == j {
            (0..classes).filter(|&s| s != t).map(|s| r[s * classes + t].powi(2)).sum()
        } else {
            -r[j * classes + t] * r[t * classes + j]
        }
    };
    let mut p = vec![1.0 / classes as f64; classes];
    for _ in 0..classes.max(100) {
        let of = |p: &[f64], t: usize| (0..classes).map(|j| q(t, j) * p[j]).sum::<f64>();
        let whole = |p: &[f64]| (0..classes).map(|t| p[t] * of(p, t)).sum::<f64>();
        if (0..classes).all(|t| (of(&p, t) - whole(&p)).abs() < 0.005 / classes as f64) {
            break;
        }
        for t in 0..classes {
            p[t] += (whole(&p) - of(&p, t)) / q(t, t);
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
        }
    }
    p
}

/// Reads a file of `svm-predict -b 1`: the labels of the columns, and rows of label and
/// probabilities.
fn printed(path: &std::path::Path) -> (Vec<f64>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path).expect("its output");
    let numbers = |line: &str| -> Vec<f64> { line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect() };
    let mut lines = text.lines();
    (numbers(lines.next().expect("a line of labels")), lines.map(numbers).collect())
}

/// Ours against what the genuine program printed of the same model.
fn agrees(model: &Model, data: &Dataset, printed: &(Vec<f64>, Vec<Vec<f64>>), what: &str) {
    let count = model.classes().len();
    let decisions = model.decision_values(&data.samples, Par::Seq).expect("decisions");
    let exact = model.probabilities_of(&decisions, Par::Seq).expect("probabilities");
    let place: Vec<usize> =
        printed.0.iter().map(|label| model.classes().iter().position(|class| class == label).expect("a class")).collect();
    assert_eq!((printed.1.len(), place.len()), (data.labels.len(), count), "{what}");
    for (i, theirs) in printed.1.iter().enumerate() {
        let row = &decisions[i * model.machines().len()..(i + 1) * model.machines().len()];
        let of_later: Vec<f64> = model.calibration().iter().zip(row).map(|(one, f)| one.probability(*f)).collect();
        // The order of the classes is the order of the sweep.
        let ours = if count == 2 { exact[2 * i..2 * i + 2].to_vec() } else { stopped_early(count, &of_later) };
        for (column, &class) in place.iter().enumerate() {
            let (a, b) = (ours[class], theirs[column + 1]);
            // Six digits are printed.
            assert!((a - b).abs() <= 1e-6 + 1e-5 * b, "{what}, row {i}: {a} {b}");
            assert!((exact[i * count + class] - b).abs() < 0.02, "{what}, row {i}: {} {b}", exact[i * count + class]);
        }
    }
}

#[test]
fn probabilities_are_those_of_svm_predict() {
    let (Some(train), Some(predict)) = (program("svm-train"), program("svm-predict")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let mut sets = vec![("banana", banana(300, 2, 4)), ("three", banana(300, 3, 4))];
    sets.extend(["heart_scale", "diabetes_scale"].into_iter().filter_map(|name| Some((name, dataset(name)?))));
    for (name, data) in sets {
        fs::write(path("data"), text_of(&data)).expect("room");
        let run = |command: &mut Command| assert!(command.output().expect("it runs").status.success(), "{name}");
        // Our model, read by theirs.
        let fitted = fit(&rbf(1.0).probability(Probability::Platt), &data);
        let mut text = Vec::new();
        libsvm::write_model(&fitted.model, &mut text).expect("their text");
        fs::write(path("ours"), text).expect("room");
        run(Command::new(&predict).args(["-b", "1"]).args([path("data"), path("ours"), path("said")]));
        agrees(&fitted.model, &data, &printed(&path("said")), &format!("{name}, our model"));
        // Their model, read by us.
        run(Command::new(&train).args(["-b", "1", "-g", "0.5", "-q"]).args([path("data"), path("theirs")]));
        run(Command::new(&predict).args(["-b", "1"]).args([path("data"), path("theirs"), path("said")]));
        let model = libsvm::read_model(&fs::read(path("theirs")).expect("a model")).expect("their model");
        agrees(&model, &data, &printed(&path("said")), &format!("{name}, their model"));
    }
}

fn text_of(data: &Dataset) -> Vec<u8> {
    let mut text = Vec::new();
    write(data, &mut text).expect("memory");
    text
}

#[test]
fn a_regressions_scale_comes_through_their_programs() {
    let (Some(train), Some(predict)) = (program("svm-train"), program("svm-predict")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let data = waves(120);
    fs::write(path("data"), text_of(&data)).expect("room");
    let fitted = fit(&Svm::epsilon_svr(1.0, 0.1).kernel(Kernel::rbf(0.5)).probability(Probability::Platt), &data);
    let mut text = Vec::new();
    libsvm::write_model(&fitted.model, &mut text).expect("their text");
    fs::write(path("ours"), text).expect("room");
    let said = |model: &str| {
        let output =
            Command::new(&predict).args(["-b", "1"]).args([path("data"), path(model), path("said")]).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        text.split("sigma=")
            .nth(1)
            .and_then(|rest| rest.trim().split_ascii_whitespace().next()?.parse::<f64>().ok())
            .expect("a scale")
    };
    let scale = fitted.model.error_scale().expect("a scale");
    assert!((said("ours") - scale).abs() < 1e-5 * scale);
    let status =
        Command::new(&train).args(["-s", "3", "-b", "1", "-g", "0.5", "-q"]).args([path("data"), path("theirs")]).status();
    assert!(status.expect("it runs").success());
    let model = libsvm::read_model(&fs::read(path("theirs")).expect("a model")).expect("their model");
    let theirs = model.error_scale().expect("a scale");
    assert!((said("theirs") - theirs).abs() < 1e-5 * theirs);
    // Other folds, the same errors about.
    assert!((theirs / scale - 1.0).abs() < 0.3, "{theirs} {scale}");
}
