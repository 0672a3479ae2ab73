//! Files that earlier versions wrote, byte for byte: decisions are, to rounding, what the program that wrote them printed (formats 1 and 2: the library of that
//! time, from commits c94d5c9 and 45c2281).

use maxmargin_core::{Formulation, Loss, Offset};
use maxmargin_data::{Par, ReadOptions, Samples, libsvm};
use maxmargin_kernel::Kernel;
use maxmargin_model::libsvm::write_model;
use maxmargin_model::{Decide, Model, Scheme, decode, encode, read};

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a test's file")
}

fn numbers(name: &str) -> Vec<f64> {
    let text = String::from_utf8(data(name)).expect("text");
    text.split_ascii_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn queries(name: &str) -> Samples {
    libsvm::parse(&data(name), &ReadOptions::default(), Par::Seq).expect("a data file").samples
}

/// Reads a file, asserts what the old program printed, and that the model goes through today's format.
fn read_back(name: &str, queries: &Samples) -> Model {
    let model = read(&data(&format!("{name}.model"))).expect("an old model");
    let (found, printed) = (model.decision_values(queries, Par::Seq).unwrap(), numbers(&format!("{name}.decisions")));
    // How kernel values are rounded is no matter of formats: coefficients here are at most 5.
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 64.0 * f64::EPSILON;
    assert!(found.len() == printed.len() && found.iter().zip(&printed).all(near), "{name}: {found:?} for {printed:?}");
    assert_eq!(decode(&encode(&model).unwrap()).unwrap(), model);
    model
}

#[test]
fn format_1() {
    let model = read_back("format1", &queries("format1.data"));
    assert!(model.record().is_some_and(|record| record.solver.is_empty() && record.gap.is_none()));
    assert_eq!((model.kernel(), model.classes(), model.len()), (&Kernel::Rbf { gamma: 0.5 }, &[-1.0, 1.0][..], 5));
    assert!(model.parts().scaler.is_some());
    assert_eq!(model.section(*b"path\0\0\0\0"), Some(&[1, 2, 3][..]));
    let record = model.record().unwrap();
    assert_eq!((record.formulation.c(), &record.weights[..], record.rows), (Some(2.0), &[1.0, 0.5][..], 20));
    assert_eq!(
        (record.formulation.loss(), record.formulation.offset(), record.data_sha256),
        (Loss::Hinge, Offset::Free, [7; 32])
    );
    let [machine] = &record.machines[..] else { panic!("one machine") };
    assert_eq!((&machine.rows[..], machine.iterations, &machine.folded), (&[1, 4, 7, 10, 13][..], 1234, &None));
}

#[test]
fn format_2_keeps_weights() {
    let model = read_back("format2", &queries("format2.data"));
    assert_eq!((model.weights(0), model.support_vectors()), (Some(&[0.1, 0.0, -0.7, 1.0 / 3.0][..]), 3));
    let record = model.record().unwrap();
    assert_eq!((record.formulation.loss(), record.formulation.offset()), (Loss::SquaredHinge, Offset::Feature(2.0)));
    assert_eq!(record.machines[0].folded, Some(vec![0.5, -0.25, 1.5]));
}

#[test]
fn format_3_of_two_classes() {
    let queries = queries("two.data");
    let model = read_back("format3-two", &queries);
    assert_eq!(model.classes(), [-7.0, 3.0]);
    assert_eq!(model.predict(&queries, Par::Seq).unwrap(), [3.0, 3.0, 3.0, 3.0, -7.0, -7.0, -7.0, 3.0]);
    let record = model.record().unwrap();
    assert_eq!((record.formulation.c(), &record.weights[..], record.rows, record.features), (Some(5.0), &[1.0, 2.0][..], 8, 4));
    assert_eq!((record.formulation.loss(), record.formulation.offset()), (Loss::Hinge, Offset::Free));
    // What `verify` of that version says: row 1 is no support vector, one is at C.
    assert_eq!(record.machines[0].rows, [0, 2, 3, 4, 5, 6, 7]);
    assert_eq!((record.machines[0].bounded, model.support_vectors()), (1, 7));
    assert!(model.parts().scaler.is_some() && record.worst().is_some_and(|worst| worst.certificate.holds(1e-3)));
}

#[test]
fn format_3_of_two_linear_classes_keeps_weights() {
    let model = read_back("format3-two-linear", &queries("two.data"));
    let record = model.record().unwrap();
    assert_eq!((record.formulation.loss(), record.formulation.offset()), (Loss::SquaredHinge, Offset::Feature(1.0)));
    assert!(model.folded() && model.len() == 1 && model.weights(0).is_some_and(|w| w.len() == 4));
    assert_eq!(record.machines[0].folded.as_ref().map(Vec::len), Some(model.support_vectors()));
}

#[test]
fn format_3_of_three_classes() {
    let queries = queries("three.data");
    let model = read_back("format3-three", &queries);
    assert_eq!(model.classes(), [1.0, 2.0, 5.0]);
    assert_eq!(model.predict(&queries, Par::Seq).unwrap(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0]);
    assert_eq!(model.record().unwrap().machines.iter().map(|m| m.iterations).collect::<Vec<_>>(), [8, 19, 10]);
    let linear = read_back("format3-three-linear", &queries);
    assert_eq!((linear.folded(), linear.len(), &linear.record().unwrap().weights[..]), (true, 3, &[1.0, 1.0, 0.5][..]));
}

#[test]
fn format_4() {
    let queries = queries("three.data");
    let model = read_back("format4", &queries);
    assert_eq!(model.predict(&queries, Par::Seq).unwrap(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 5.0, 5.0, 5.0]);
    let record = model.record().unwrap();
    assert_eq!((record.formulation, &*record.solver, record.eps), (Formulation::c_svc(2.0), "smo", 1e-4));
    assert_eq!((&record.weights[..], record.rows, record.machines.len()), (&[1.0, 1.0, 0.5][..], 9, 3));
}

#[test]
fn format_8() {
    let queries = queries("two.data");
    let model = read_back("format8-threshold", &queries);
    assert_eq!((model.decide(), model.tie_order(), model.label_order()), (Decide::Threshold, &[][..], vec![1, 0]));
    assert!(model.threshold().is_some());
}

#[test]
fn the_text_for_libsvm_is_what_it_was() {
    for name in ["two", "two-linear", "three", "three-linear"] {
        let mut text = Vec::new();
        write_model(&decode(&data(&format!("format3-{name}.model"))).unwrap(), &mut text).unwrap();
        assert!(text == data(&format!("format3-{name}.txt")), "{name}: {}", String::from_utf8_lossy(&text));
    }
}

#[test]
fn format_5() {
    let queries = queries("three.data");
    let model = read_back("format5", &queries);
    let record = model.record().unwrap();
    assert_eq!((record.formulation, record.sample_weights.as_ref().map(Vec::len)), (Formulation::NuSvc { nu: 0.5 }, Some(9)));
    assert_eq!((model.decide(), model.scheme(), model.calibration()), (Decide::Vote, Scheme::Pairs, &[][..]));
}

#[test]
fn format_7() {
    let queries = queries("three.data");
    let model = read_back("format7", &queries);
    assert_eq!((model.decide(), model.calibration().len(), model.threshold()), (Decide::Coupled, 3, None));
    assert!(model.columns().is_some_and(|columns| columns.width() == model.parts().support.features()));
    assert_eq!(model.record().map(|record| record.rows), Some(9));
}
