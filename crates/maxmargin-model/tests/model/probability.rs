//! Probabilities of models: what labels make of them, and that they come through files.

use crate::common::{CLASSES, changed, dense, model, noise, sparse};
use maxmargin_data::Par;
use maxmargin_kernel::Kernel;
use maxmargin_model::libsvm::{read_model, write_model};
use maxmargin_model::{Calibration, DecisionRule, Model, ModelError, Multiclass, decode, encode};

/// A sigmoid for each machine, its threshold away from 0.
fn sigmoids(model: &Model) -> Vec<Calibration> {
    let of = |(p, shift): (usize, f64)| Calibration::Sigmoid { a: -1.5 - 0.25 * p as f64, b: 0.8 * shift };
    noise(model.machines().len(), 5).into_iter().enumerate().map(of).collect()
}

fn calibrated(classes: &[f64]) -> Model {
    let model = model(Kernel::Rbf { gamma: 0.7 }, sparse(24, 6, 3), classes);
    let sigmoids = sigmoids(&model);
    model.with_calibration(sigmoids).expect("one for each machine")
}

#[test]
fn labels_are_those_of_the_greatest_probability_and_votes_where_asked_for() {
    let queries = dense(200, 6, 17);
    for classes in CLASSES {
        let model = calibrated(classes);
        assert_eq!((model.decision_rule(), model.outcomes()), (DecisionRule::Coupled, model.classes()));
        let probabilities = model.probabilities(&queries, Par::Seq).unwrap();
        let labels = model.predict(&queries, Par::Seq).unwrap();
        for (row, label) in probabilities.chunks_exact(classes.len()).zip(&labels) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14 && row.iter().all(|p| *p > 0.0 && *p < 1.0));
            let likeliest = row.iter().copied().fold(0.0, f64::max);
            let place = model.classes().iter().position(|class| class == label).unwrap();
            assert_eq!(row[place], likeliest);
        }
        let votes = model.clone().with_decision_rule(DecisionRule::Vote).unwrap();
        let plain = model.clone().without_calibration();
        assert_eq!(plain.decision_rule(), DecisionRule::Vote);
        assert_eq!(votes.predict(&queries, Par::Seq).unwrap(), plain.predict(&queries, Par::Seq).unwrap());
        assert_ne!(plain.predict(&queries, Par::Seq).unwrap(), labels, "the thresholds differ");
        assert!(matches!(plain.probabilities(&queries, Par::Seq), Err(ModelError::NoProbabilities(_))));
        assert!(plain.with_decision_rule(DecisionRule::Coupled).is_err());
    }
}

#[test]
fn equal_probabilities_leave_the_label_to_the_votes() {
    let model = model(Kernel::Linear, dense(6, 3, 1), CLASSES[0]);
    let even = model.with_calibration(vec![Calibration::Sigmoid { a: 0.0, b: 0.0 }]).unwrap();
    assert_eq!((even.label(&[-0.5]), even.label(&[0.0]), even.label(&[0.5])), (-1.0, 1.0, 1.0));
}

#[test]
fn each_class_against_the_rest_has_its_share() {
    let pairs = model(Kernel::Linear, dense(9, 4, 2), CLASSES[1]);
    let rest =
        changed(&pairs, |parts| (parts.multiclass, parts.decision_rule) = (Multiclass::OneVsRest, DecisionRule::Argmax)).unwrap();
    assert_eq!(rest.sides(1), Some((None, 0.0)));
    assert_eq!(rest.label(&[0.5, 0.75, 0.75]), 0.0);
    let even = vec![Calibration::Sigmoid { a: -1.0, b: 0.0 }; 3];
    let rest = rest.with_calibration(even).unwrap();
    let ln = |odds: f64| odds.ln();
    // Sigmoids 3/4, 1/2, 3/4.
    let p = rest.probabilities_of(&[ln(3.0), 0.0, ln(3.0)], Par::Seq).unwrap();
    assert!(p.iter().zip([0.375, 0.25, 0.375]).all(|(p, e)| (p - e).abs() < 1e-15), "{p:?}");
    assert_eq!(decode(&encode(&rest).unwrap()).unwrap(), rest);
    assert!(matches!(write_model(&rest, &mut Vec::new()), Err(ModelError::Unsupported(_))));
}

#[test]
fn rules_calibrations_and_machines_have_to_fit() {
    let plain = model(Kernel::Linear, dense(9, 4, 2), CLASSES[1]);
    let sigmoid = Calibration::Sigmoid { a: -1.0, b: 0.0 };
    assert!(plain.clone().with_calibration(vec![sigmoid.clone(); 2]).is_err());
    assert!(plain.clone().with_calibration(vec![Calibration::Laplace { scale: 1.0 }; 3]).is_err());
    assert!(plain.clone().with_calibration(vec![Calibration::Sigmoid { a: f64::NAN, b: 0.0 }; 3]).is_err());
    assert!(changed(&plain, |parts| parts.decision_rule = DecisionRule::Argmax).is_err());
    assert!(changed(&plain, |parts| parts.multiclass = Multiclass::OneVsRest).is_err());
    assert!(changed(&plain, |parts| parts.decision_rule = DecisionRule::Coupled).is_err());
    let two = model(Kernel::Linear, dense(9, 4, 2), CLASSES[0]);
    assert!(
        changed(&two, |parts| (parts.multiclass, parts.decision_rule) = (Multiclass::OneVsRest, DecisionRule::Argmax)).is_err()
    );
}

#[test]
fn probabilities_come_through_both_kinds_of_files() {
    let queries = dense(50, 6, 8);
    for classes in CLASSES {
        let model = calibrated(classes);
        assert_eq!(decode(&encode(&model).unwrap()).unwrap(), model);
        let mut text = Vec::new();
        write_model(&model, &mut text).unwrap();
        let read = read_model(&text).unwrap();
        assert_eq!((read.decision_rule(), read.classes()), (DecisionRule::Coupled, model.classes()));
        // Vectors are grouped by class there: sums differ in their last digits.
        let (ours, theirs) = (model.probabilities(&queries, Par::Seq).unwrap(), read.probabilities(&queries, Par::Seq).unwrap());
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-13));
        let mut again = Vec::new();
        write_model(&read, &mut again).unwrap();
        assert!(again == text);
    }
    let steps = Calibration::Steps { at: vec![-1.0, 0.5], probability: vec![0.25, 0.75] };
    let model = model(Kernel::Linear, dense(6, 6, 1), CLASSES[0]).with_calibration(vec![steps]).unwrap();
    assert_eq!(decode(&encode(&model).unwrap()).unwrap(), model);
    assert!(matches!(write_model(&model, &mut Vec::new()), Err(ModelError::Unsupported(_))));
}

#[test]
fn lines_of_one_machine_come_through_libsvms_text() {
    let text = |name: &str, line: &str| {
        format!("svm_type {name}\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\n{line}\nSV\n1 1:1 \n")
    };
    let svr = text("epsilon_svr", "probA 0.25");
    let model = read_model(svr.as_bytes()).unwrap();
    assert_eq!((model.error_scale(), model.outcomes()), (Some(0.25), &[][..]));
    // A half of the errors is smaller than s ln 2.
    assert!((model.half_interval(0.5).unwrap() - 0.25 * 2.0_f64.ln()).abs() < 1e-15 && model.half_interval(1.0).is_none());
    let marks = text("one_class", "prob_density_marks 0 1 2 3 4 5 6 7 8 9");
    let one = read_model(marks.as_bytes()).unwrap();
    assert_eq!(one.outcomes(), [1.0, -1.0]);
    // 3 − 0.5 lies between the marks 2 and 3.
    let query = maxmargin_data::Samples::from_dense(1, 1, vec![3.0]).unwrap();
    assert_eq!(one.probabilities(&query, Par::Seq).unwrap(), [0.3, 0.7]);
    for (model, text) in [(model, svr), (one, marks)] {
        let mut written = Vec::new();
        write_model(&model, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }
    assert_eq!(read_model(text("epsilon_svr", "probA 0").as_bytes()).unwrap().calibration(), []);
    for line in ["prob_density_marks 1 2", "prob_density_marks 9 8 7 6 5 4 3 2 1 0", "prob_density_marks 0 1 2 3 4 5 6 7 8 nan"] {
        assert!(read_model(text("one_class", line).as_bytes()).is_err(), "{line}");
    }
    assert!(read_model(text("epsilon_svr", "probA -1").as_bytes()).is_err());
}

#[test]
fn probabilities_do_not_depend_on_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let (model, queries) = (calibrated(CLASSES[2]), dense(300, 6, 4));
    let seq = model.probabilities(&queries, Par::Seq).unwrap();
    assert_eq!(pool.install(|| model.probabilities(&queries, Par::Pool).unwrap()), seq);
}

#[test]
fn a_threshold_moves_labels_and_nothing_else() {
    let queries = dense(200, 6, 17);
    let plain = model(Kernel::Rbf { gamma: 0.7 }, sparse(24, 6, 3), CLASSES[0]);
    let decisions = plain.decision_values(&queries, Par::Seq).unwrap();
    // One of the decision values: it belongs to the second class.
    let threshold = decisions[7];
    let moved = plain.clone().with_threshold(threshold).unwrap();
    assert_eq!((moved.decision_rule(), moved.threshold()), (DecisionRule::Threshold, Some(threshold)));
    assert_eq!(moved.decision_values(&queries, Par::Seq).unwrap(), decisions);
    let expected: Vec<f64> = decisions.iter().map(|f| plain.classes()[usize::from(*f >= threshold)]).collect();
    let labels = moved.predict(&queries, Par::Seq).unwrap();
    assert_eq!((labels[7], &labels), (plain.classes()[1], &expected));
    assert_ne!(labels, plain.predict(&queries, Par::Seq).unwrap());
    assert_eq!(decode(&encode(&moved).unwrap()).unwrap(), moved);
    assert_eq!(moved.clone().without_threshold(), plain);
    assert_eq!(
        moved.with_decision_rule(DecisionRule::Vote).unwrap().predict(&queries, Par::Seq).unwrap(),
        plain.predict(&queries, Par::Seq).unwrap()
    );
    assert!(plain.with_decision_rule(DecisionRule::Threshold).is_err());
}

#[test]
fn labels_of_a_threshold_stay_where_there_are_probabilities() {
    let plain = model(Kernel::Rbf { gamma: 0.7 }, sparse(24, 6, 3), CLASSES[0]);
    let (sigmoids, queries) = (sigmoids(&plain), dense(200, 6, 17));
    let moved = plain.clone().with_threshold(0.3).unwrap();
    let labels = moved.predict(&queries, Par::Seq).unwrap();
    let both = moved.clone().with_calibration(sigmoids.clone()).unwrap();
    assert_eq!(both.predict(&queries, Par::Seq).unwrap(), labels);
    let probable = plain.with_calibration(sigmoids).unwrap();
    assert_eq!(both.probabilities(&queries, Par::Seq).unwrap(), probable.probabilities(&queries, Par::Seq).unwrap());
    assert_eq!(both.clone().without_calibration(), moved);
    assert_eq!(both.clone().without_threshold(), probable);
    assert_eq!(
        both.with_decision_rule(DecisionRule::Coupled).unwrap().predict(&queries, Par::Seq).unwrap(),
        probable.predict(&queries, Par::Seq).unwrap()
    );
}

#[test]
fn thresholds_without_two_classes_or_without_a_place_are_refused() {
    let two = model(Kernel::Linear, dense(6, 3, 1), CLASSES[0]);
    let three = model(Kernel::Linear, dense(9, 4, 2), CLASSES[1]);
    assert!(two.clone().with_threshold(f64::NAN).is_err() && two.clone().with_threshold(f64::INFINITY).is_err());
    assert!(three.clone().with_threshold(0.5).is_err());
    assert!(changed(&three, |parts| parts.threshold = Some(0.5)).is_err());
    let moved = two.with_threshold(0.5).unwrap();
    let error = write_model(&moved, &mut Vec::new()).expect_err("no place for it");
    assert!(error.to_string().contains("threshold"), "{error}");
    let error = maxmargin_model::liblinear::LinearModel::from_model(&moved).expect_err("no place for it");
    assert!(error.to_string().contains("threshold"), "{error}");
    assert!(write_model(&moved.with_decision_rule(DecisionRule::Vote).unwrap(), &mut Vec::new()).is_ok());
}
