//! LIBSVM's model text: nothing is lost, and LIBSVM's own program agrees.

use crate::common::{CLASSES, bits, changed, dense, kernels, model, sparse};
use maxmargin_data::classes::pairs;
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_kernel::Kernel;
use maxmargin_model::libsvm::{decision_values, looks_like_model, read_model, write_model};
use maxmargin_model::{Model, decode, encode, read};
use maxmargin_testkit::outside::program;
use proptest::prelude::*;
use std::process::Command;

fn written(model: &Model) -> String {
    let mut text = Vec::new();
    write_model(model, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The model of two classes as the text can hold it: positive class first.
fn grouped(model: &Model) -> Model {
    let coef = &model.machines()[0].coef;
    let mut order: Vec<usize> = (0..model.len()).collect();
    order.sort_by_key(|&i| coef[i] <= 0.0);
    let regrouped = changed(model, |parts| {
        parts.support = parts.support.select(&order).compact();
        parts.machines[0].coef = order.iter().map(|&i| coef[i]).collect();
    });
    regrouped.unwrap()
}

#[test]
fn text_keeps_every_bit() {
    for kernel in kernels() {
        for support in [dense(13, 6, 1), sparse(13, 6, 2)] {
            let model = grouped(&model(kernel.clone(), support, CLASSES[0]));
            let text = written(&model);
            assert!(looks_like_model(text.as_bytes()));
            let tables: [&[u8]; 5] = [b"label\n1\n", b"label\tlower\n", b"label lower upper\n0.5 0 1\n", b"label,a\n", b""];
            assert!(!tables.iter().any(|table| looks_like_model(table)));
            assert!(looks_like_model(b"label -1 1\nsvm_type c_svc\n"));
            let copy = read(text.as_bytes()).unwrap();
            assert_eq!(copy.classes(), model.classes());
            assert_eq!(copy.machines(), model.machines());
            let queries = dense(7, 6, 3);
            let before = model.decision_values(&queries, Par::Seq).unwrap();
            let after = copy.decision_values(&queries, Par::Seq).unwrap();
            assert_eq!(bits(&before), bits(&after));
        }
    }
}

/// The text and the native file keep any order of labels, and with it the rule of ties.
#[test]
fn the_order_of_labels_goes_through_texts_and_files() {
    let orders: [(&[f64], &[u32], &str); 5] = [
        (CLASSES[0], &[0, 1], "label -1 1"),
        (CLASSES[0], &[1, 0], "label 1 -1"),
        (CLASSES[1], &[1, 2, 0], "label 0 4 -3"),
        (CLASSES[2], &[3, 0, 2, 1], "label 4 7 3 -2"),
        (CLASSES[2], &[0, 1, 2, 3], "label 7 -2 3 4"),
    ];
    for (classes, order, line) in orders {
        for kernel in kernels() {
            let model = model(kernel, dense(13, 6, 1), classes).with_tie_order(order.to_vec()).unwrap();
            assert_eq!(decode(&encode(&model).unwrap()).unwrap(), model);
            let text = written(&model);
            assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
            let copy = read_model(text.as_bytes()).unwrap();
            assert_eq!(written(&copy), text);
            let (zeros, queries) = (vec![0.0; model.machines().len()], dense(40, 6, 3));
            assert_eq!(model.label(&zeros), copy.label(&zeros), "{line}");
            assert_eq!(model.predict(&queries, Par::Seq).unwrap(), copy.predict(&queries, Par::Seq).unwrap(), "{line}");
        }
    }
    let two = model(Kernel::Linear, dense(5, 6, 1), CLASSES[0]);
    for order in [vec![0], vec![0, 0], vec![1, 2], vec![0, 1, 2]] {
        assert!(two.clone().with_tie_order(order.clone()).is_err() && changed(&two, |parts| parts.tie_order = order).is_err());
    }
}

#[test]
fn decision_values_have_the_order_and_the_signs_of_the_labels() {
    let queries = dense(5, 6, 3);
    for (classes, order) in
        [(CLASSES[0], &[0, 1][..]), (CLASSES[0], &[1, 0]), (CLASSES[1], &[1, 2, 0]), (CLASSES[2], &[3, 0, 2, 1])]
    {
        let model = model(Kernel::Linear, dense(13, 6, 1), classes).with_tie_order(order.to_vec()).unwrap();
        let found = decision_values(&model, &queries, Par::Seq).unwrap();
        let own = model.decision_values(&queries, Par::Seq).unwrap();
        let machines = model.machines().len();
        let numbered: Vec<(usize, usize)> = pairs(classes.len()).collect();
        for (row, own) in found.chunks(machines).zip(own.chunks(machines)) {
            for ((a, b), value) in pairs(classes.len()).zip(row) {
                let (first, second) = (order[a] as usize, order[b] as usize);
                let machine = numbered.iter().position(|pair| [(first, second), (second, first)].contains(pair)).unwrap();
                // Our value is for the later class.
                assert_eq!(*value, if second > first { -own[machine] } else { own[machine] }, "{order:?}");
            }
        }
        let copy = read_model(written(&model).as_bytes()).unwrap();
        let again = decision_values(&copy, &queries, Par::Seq).unwrap();
        assert_eq!(again.len(), found.len());
        for (a, b) in again.iter().zip(&found) {
            // A sum of 13 products of numbers below 1 in another order.
            assert!((a - b).abs() <= 64.0 * f64::EPSILON, "{order:?}: {a} {b}");
        }
    }
}

#[test]
fn text_of_several_classes_keeps_every_number() {
    for (kernel, classes) in kernels().iter().flat_map(|kernel| [(kernel, CLASSES[1]), (kernel, CLASSES[2])]) {
        let queries = dense(9, 6, 3);
        for support in [dense(13, 6, 1), sparse(13, 6, 2)] {
            let model = model(kernel.clone(), support, classes);
            let copy = read(written(&model).as_bytes()).unwrap();
            assert_eq!(copy.classes(), classes);
            let before = model.decision_values(&queries, Par::Seq).unwrap();
            // LIBSVM's text has the vectors sorted by class: the sums have another order.
            for (a, b) in before.iter().zip(&copy.decision_values(&queries, Par::Seq).unwrap()) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{a} {b}");
            }
            // Now they have that order.
            assert_eq!(read(written(&copy).as_bytes()).unwrap(), copy);
        }
    }
}

#[test]
fn weights_alone_are_vectors_there() {
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).unwrap();
    let machines = [(vec![(0, 1.5)], 0.5), (vec![(1, -2.0), (3, 1.0)], -1.0), (vec![(2, 0.25)], 0.0)];
    let model = Model::from_weights(4, &classes, &machines).unwrap();
    let copy = read(written(&model).as_bytes()).unwrap();
    let x = Samples::from_dense(2, 4, vec![1.0, 1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 2.0]).unwrap();
    assert_eq!(copy.decision_values(&x, Par::Seq).unwrap(), model.decision_values(&x, Par::Seq).unwrap());
}

#[test]
fn a_vector_of_pairs_without_a_common_class_has_no_place_there() {
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0, 4.0]).unwrap();
    // One vector in the machines of classes 1 and 2 and of 3 and 4.
    let machines: Vec<_> = (0..6).map(|p| (if p == 0 || p == 5 { vec![(0, 1.0)] } else { vec![] }, 0.0)).collect();
    let model = Model::from_machines(Kernel::Linear, &dense(1, 2, 1), &classes, &machines).unwrap();
    let error = write_model(&model, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("without a common class"), "{error}");
}

#[test]
fn two_classes_are_written_positive_first_with_all_vectors() {
    let samples = Samples::from_dense(4, 1, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let classes = ClassLabels::new(&[-1.0, 2.0]).unwrap();
    let terms = vec![(0, -0.5), (1, 1.5), (2, 0.0), (3, 0.25)];
    let model = Model::from_machines(Kernel::Linear, &samples, &classes, &[(terms, 0.75)]).unwrap();
    let text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 4\nrho -0.75\nlabel 2 -1\nnr_sv 2 2\nSV\n\
                1.5 1:2 \n0.25 1:4 \n-0.5 1:1 \n0 1:3 \n";
    assert_eq!(written(&model), text);
    let copy = read(text.as_bytes()).unwrap();
    assert_eq!((copy.classes(), copy.len()), (&[-1.0, 2.0][..], 4));
    assert_eq!(written(&copy), text);
}

#[test]
fn header_lines_come_in_any_order_and_labels_too() {
    let text = "total_sv 2\nrho 0.5\nlabel -1 1\nkernel_type linear\nnr_class 2\nsvm_type c_svc\nnr_sv 1 1\nSV\n\
                1.5 1:2 \n-1.5 3:1 \n";
    let model = read_model(text.as_bytes()).unwrap();
    assert_eq!(model.classes(), [-1.0, 1.0]);
    // LIBSVM decides for its first label, -1, at w·x − rho > 0; here the sign is turned.
    let queries = Samples::from_dense(2, 3, vec![1.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
    assert_eq!(model.decision_values(&queries, Par::Seq).unwrap(), [-2.5, 2.0]);
    assert_eq!(model.predict(&queries, Par::Seq).unwrap(), [-1.0, 1.0]);
}

#[test]
fn wrong_text_is_refused_with_its_line() {
    let good = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1\nnr_sv 1 0\nSV\n1 1:1 \n";
    assert!(read_model(good.as_bytes()).is_ok());
    let cases = [
        ("gamma 0.5", "gamma x", "line 3: `x` is not a finite number"),
        ("gamma 0.5", "gamma nan", "line 3: `nan` is not a finite number"),
        ("gamma 0.5", "gamma -1", "gamma is -1"),
        ("gamma 0.5", "gamma 0.5\nspeed 3", "line 4: unknown word `speed`"),
        ("gamma 0.5\n", "", "no `gamma`"),
        ("kernel_type rbf", "kernel_type fancy", "not supported by this version: kernel_type fancy"),
        ("svm_type c_svc", "svm_type two_class", "not supported by this version: svm_type two_class"),
        ("nr_class 2", "nr_class 3", "2 labels for 3 classes"),
        ("nr_class 2\ntotal_sv", "nr_class 1\ntotal_sv", "2 labels for 1 classes"),
        (
            "nr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1",
            "nr_class 1\ntotal_sv 1\nrho\nlabel 1",
            "the model has one class, as svm-train",
        ),
        ("label 1 -1", "label 1 2 3", "3 labels for 2 classes"),
        ("total_sv 1", "total_sv 4000000000", "line 10: 1 support vectors, but total_sv is 4000000000"),
        ("1 1:1 ", "1 1:1 1:2", "line 10: index 1 does not ascend"),
        ("1 1:1 ", "1 1:1 2", "line 10: `2` is not `index:value`"),
        ("1 1:1 ", "1 0.5 1:1", "line 10: `0.5` is not `index:value`"),
        ("1 1:1 ", "1 -2:1", "line 10: `-2` is not a whole number"),
        ("1 1:1 ", "1 4294967295:1", "index 4294967295 is above"),
        ("SV\n1 1:1 ", "", "ends before the line `SV`"),
    ];
    for (from, to, says) in cases {
        let error = read_model(good.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
}

#[test]
fn wrong_text_of_three_classes_is_refused() {
    let good = "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 0 0 0\nlabel 1 2 3\nnr_sv 1 1 1\nSV\n\
                1 1 1:1 \n-1 1 2:1 \n-1 -1 1:3 \n";
    assert!(read(good.as_bytes()).is_ok());
    let cases = [
        ("nr_class 3", "nr_class 4", "3 labels for 4 classes"),
        ("nr_class 3", "nr_class 4294967295", "3 labels for 4294967295 classes"),
        ("rho 0 0 0", "rho 0 0", "2 values of rho for 3 classes"),
        ("nr_sv 1 1 1", "nr_sv 1 1 2", "nr_sv does not divide 3"),
        ("nr_sv 1 1 1", "nr_sv 4294967295 4294967295 1", "nr_sv does not divide 3"),
        ("nr_sv 1 1 1\n", "", "no `nr_sv`"),
        ("-1 -1 1:3", "-1 1:3", "`1:3` is not a finite number"),
        ("label 1 2 3", "label 1 2 2", "2 twice"),
        ("label 1 2 3", "label 1", "1 labels for 3 classes"),
    ];
    for (from, to, says) in cases {
        let error = read(good.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
}

#[test]
fn a_huge_index_does_not_cost_its_size() {
    let text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nlabel 1 -1\nSV\n1 4294967294:2 \n";
    let model = read_model(text.as_bytes()).unwrap();
    assert!(model.weights(0).is_none());
    let wide = Samples::from_sparse(4_294_967_294, vec![0, 1, 1], vec![4_294_967_293], vec![3.0]).unwrap();
    assert_eq!(model.decision_values(&wide, Par::Seq).unwrap(), [6.0, 0.0]);
    let model = read_model(text.replace("linear", "rbf\ngamma 0.5").as_bytes()).unwrap();
    let expected = [(-0.5_f64).exp(), (-2.0_f64).exp()];
    for (found, expected) in model.decision_values(&wide, Par::Seq).unwrap().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    let narrow = Samples::from_dense(1, 2, vec![1.0, 0.0]).unwrap();
    let found = model.decision_values(&narrow, Par::Seq).unwrap()[0];
    assert!((found - (-2.5_f64).exp()).abs() < 1e-14, "{found}");
}

#[test]
fn labels_must_be_integers_there() {
    let half = changed(&model(Kernel::Linear, dense(2, 2, 1), CLASSES[0]), |parts| parts.classes[1] = 1.5).unwrap();
    assert!(write_model(&half, &mut Vec::new()).unwrap_err().to_string().contains("1.5"));
}

#[test]
fn precomputed_models_hold_serial_numbers() {
    let serials = Samples::from_dense(2, 1, vec![3.0, 1.0]).unwrap();
    let model = model(Kernel::Precomputed, serials, CLASSES[0]);
    let copy = read(written(&model).as_bytes()).unwrap();
    let row = Samples::from_dense(1, 4, vec![9.0, 0.25, 0.5, 0.75]).unwrap();
    let machine = &model.machines()[0];
    let expected = machine.coef[0] * 0.75 + machine.coef[1] * 0.25 + machine.bias;
    assert!((model.decision_values(&row, Par::Seq).unwrap()[0] - expected).abs() < 1e-15);
    assert!((copy.decision_values(&row, Par::Seq).unwrap()[0] - expected).abs() < 1e-15);
    let short = Samples::from_dense(1, 3, vec![9.0, 0.25, 0.5]).unwrap();
    assert!(model.decision_values(&short, Par::Seq).is_err());
}

/// Returns the labels of `svm-predict`, or nothing if it is not installed.
fn svm_predict(model: &str, data: &Dataset, folder: &std::path::Path) -> Option<Vec<f64>> {
    let program = program("svm-predict")?;
    let [model_file, data_file, out] = ["model", "data", "out"].map(|name| folder.join(name));
    std::fs::write(&model_file, model).unwrap();
    let mut text = Vec::new();
    maxmargin_data::libsvm::write(data, &mut text).unwrap();
    std::fs::write(&data_file, text).unwrap();
    let run = Command::new(program).arg(&data_file).arg(&model_file).arg(&out).output().expect("svm-predict starts");
    assert!(run.status.success(), "{run:?}");
    Some(std::fs::read_to_string(out).unwrap().lines().map(|l| l.parse().unwrap()).collect())
}

/// The model with the bias that puts half of the samples on each side.
fn halving(model: &Model, samples: &Samples) -> Model {
    let mut decisions = model.decision_values(samples, Par::Seq).unwrap();
    decisions.sort_by(f64::total_cmp);
    changed(model, |parts| parts.machines[0].bias -= decisions[decisions.len() / 2]).unwrap()
}

#[test]
fn svm_predict_reads_our_models_and_agrees() {
    let folder = std::env::temp_dir().join(format!("maxmargin-model-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for kernel in kernels() {
        let samples = sparse(300, 10, 6);
        let model = halving(&model(kernel, sparse(40, 10, 5), CLASSES[0]), &samples);
        let decisions = model.decision_values(&samples, Par::Seq).unwrap();
        let labels: Vec<f64> = decisions.iter().map(|d| model.label(&[*d])).collect();
        let data = Dataset { samples, labels: labels.clone(), groups: None, index_base: 1, sha256: [0; 32], columns: None };
        let Some(theirs) = svm_predict(&written(&model), &data, &folder) else { break };
        for (i, (ours, theirs)) in labels.iter().zip(&theirs).enumerate() {
            // At the boundary itself rounding may decide.
            assert!(ours == theirs || decisions[i].abs() < 1e-9, "row {i}: decision {}", decisions[i]);
        }
        let classes = labels.iter().filter(|l| **l > 0.0).count();
        assert!((10..290).contains(&classes), "both classes must occur: {classes} of 300");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn svm_predict_elects_the_same_of_four_classes() {
    let folder = std::env::temp_dir().join(format!("maxmargin-multiclass-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for kernel in kernels() {
        let model = model(kernel, dense(60, 8, 5), CLASSES[2]);
        let samples = dense(300, 8, 6);
        let labels = model.predict(&samples, Par::Seq).unwrap();
        let data = Dataset { samples, labels: labels.clone(), groups: None, index_base: 1, sha256: [0; 32], columns: None };
        let Some(theirs) = svm_predict(&written(&model), &data, &folder) else { break };
        assert_eq!(labels, theirs);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

proptest! {
    #![proptest_config(maxmargin_testkit::cases(500))]

    #[test]
    fn damaged_text_never_panics(classes in 0..CLASSES.len(), at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let mut text = written(&model(Kernel::Rbf { gamma: 0.5 }, sparse(9, 4, 1), CLASSES[classes])).into_bytes();
        let length = text.len();
        text[at % length] = byte;
        text.truncate(length - cut % length);
        let _ = read(&text);
    }
}

/// A model text of each of LIBSVM's types, as its programs write it.
fn text_of(kind: &str, labels: &str) -> String {
    format!(
        "svm_type {kind}\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\n{labels}SV\n0.5 1:1 2:-0.30000000000000004 \n-1 2:2 \n0.125 1:0.1 \n"
    )
}

/// A text that is read and written again has the same bytes, also through the native format.
#[test]
fn every_type_makes_the_round_trip() {
    for (kind, labels) in [
        ("c_svc", "label 1 -1\nnr_sv 2 1\n"),
        ("nu_svc", "label 1 -1\nnr_sv 2 1\n"),
        ("one_class", ""),
        ("epsilon_svr", ""),
        ("nu_svr", ""),
    ] {
        let text = text_of(kind, labels);
        let model = read_model(text.as_bytes()).unwrap();
        let model = maxmargin_model::decode(&maxmargin_model::encode(&model).unwrap()).unwrap();
        let mut written = Vec::new();
        write_model(&model, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        if labels.is_empty() {
            assert_eq!(written, text, "{kind}");
        } else {
            // Vectors come grouped by class there.
            assert!(
                written.starts_with(&format!("svm_type {kind}\n")) && written.lines().count() == text.lines().count(),
                "{written}"
            );
        }
    }
}

#[test]
fn machines_without_classes_say_values_and_sides() {
    let x = maxmargin_data::Samples::from_dense(2, 2, vec![1.0, -0.3, 0.0, 2.0]).unwrap();
    let svr = read_model(text_of("epsilon_svr", "").as_bytes()).unwrap();
    let values = svr.decision_values(&x, Par::Seq).unwrap();
    assert_eq!(svr.predict(&x, Par::Seq).unwrap(), values);
    assert!(svr.classes().is_empty() && svr.sides(0).is_none());
    let one = read_model(text_of("one_class", "").as_bytes()).unwrap();
    assert_eq!(one.decision_values(&x, Par::Seq).unwrap(), values);
    assert_eq!(one.predict(&x, Par::Seq).unwrap(), [1.0, -1.0], "{values:?}");
}

#[test]
fn one_machine_has_one_rho() {
    let text = text_of("one_class", "").replace("rho 0.25", "rho 0.25 1");
    let error = read_model(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("2 values of rho for one_class"), "{error}");
}
