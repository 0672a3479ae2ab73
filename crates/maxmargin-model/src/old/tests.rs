//! Files of formats 1 to 3 made of the structs that those formats were.

use super::*;
use crate::file::{decode, sealed};
use maxmargin_data::Par;
use maxmargin_data::scale::Method;

fn samples() -> Samples {
    Samples::from_dense(3, 2, vec![1.0, 0.5, -0.25, 2.0, 0.1, -1.0]).expect("finite numbers")
}

fn certificate() -> Certificate {
    Certificate { primal: 3.5, dual: 3.25, kkt: 9e-4, infeasible: 0.0, rounding: maxmargin_core::Rounding::NONE }
}

fn first() -> Record1 {
    Record1 {
        c: 2.0,
        weights: [1.0, 0.5],
        eps: 1e-3,
        rows: 12,
        features: 2,
        data_sha256: [7; 32],
        support_rows: vec![1, 4, 9],
        bounded: 2,
        status: Status::Stalled,
        iterations: 1234,
        certificate: certificate(),
    }
}

fn two<R>(record: R) -> Two<R> {
    Two {
        kernel: Kernel::Rbf { gamma: 0.5 },
        support: samples(),
        coef: vec![0.5, -1.25, 0.75],
        bias: 0.125,
        negative: -1.0,
        positive: 4.0,
        index_base: 0,
        scaler: Some(Scaler::fit(&samples(), Method::Standard)),
        record: Some(record),
        sections: vec![Section { tag: *b"path\0\0\0\0", bytes: vec![1, 2, 3] }],
    }
}

/// The same with its weights alone.
fn weights<R>(record: R) -> Two<R> {
    let w = Samples::from_dense(1, 2, vec![0.5, -2.0]).expect("finite numbers");
    Two { kernel: Kernel::Linear, support: w, coef: vec![1.0], scaler: None, sections: Vec::new(), ..two(record) }
}

fn file(format: u32, content: &impl serde::Serialize) -> Vec<u8> {
    sealed(format, &codec::encode(content).expect("encodable"))
}

fn is_the_first(parts: &Parts) {
    let record = parts.record.as_ref().expect("a record");
    assert_eq!((record.formulation.c(), record.eps, &record.weights[..]), (Some(2.0), 1e-3, &[1.0, 0.5][..]));
    assert_eq!((record.rows, record.features, record.data_sha256), (12, 2, [7; 32]));
    assert_eq!((record.gap, &record.solver[..]), (None, ""));
    let [machine] = &record.machines[..] else { panic!("one machine") };
    assert_eq!((&machine.rows[..], machine.bounded), (&[1, 4, 9][..], 2));
    assert_eq!((machine.status, machine.iterations, machine.certificate), (Status::Stalled, 1234, certificate()));
    assert_eq!((parts.decide, &parts.classes[..], parts.index_base), (Decide::Vote, &[-1.0, 4.0][..], 0));
}

#[test]
fn two_classes_of_every_format() {
    let record2 = Record2 { first: first(), folded: None };
    let record3 = Record3 { first: first(), loss: Loss::SquaredHinge, offset: Offset::None, folded: None };
    let files = [
        (file(1, &two(first())), Loss::Hinge, Offset::Free),
        (file(2, &two(record2)), Loss::Hinge, Offset::Free),
        (file(3, &Either::Two(Box::new(two(record3)))), Loss::SquaredHinge, Offset::None),
    ];
    for (file, loss, offset) in files {
        let model = decode(&file).expect("an old model");
        is_the_first(model.parts());
        let record = model.record().expect("a record");
        assert_eq!((record.formulation.loss(), record.formulation.offset(), &record.machines[0].folded), (loss, offset, &None));
        assert_eq!(model.machines(), [Machine { support: vec![0, 1, 2], coef: vec![0.5, -1.25, 0.75], bias: 0.125 }]);
        assert_eq!((model.kernel(), &model.parts().support), (&Kernel::Rbf { gamma: 0.5 }, &samples()));
        assert_eq!(model.parts().scaler, Some(Scaler::fit(&samples(), Method::Standard)));
        assert_eq!(model.section(*b"path\0\0\0\0"), Some(&[1, 2, 3][..]));
    }
}

#[test]
fn two_classes_of_weights_alone() {
    let coef = vec![0.25, -0.5, 1.0];
    let folded = Folded2 { coef: coef.clone(), loss: Loss::SquaredHinge, offset: Offset::Feature(2.0) };
    let record2 = Record2 { first: first(), folded: Some(folded) };
    let (loss, offset) = (Loss::SquaredHinge, Offset::Feature(2.0));
    let record3 = Record3 { first: first(), loss, offset, folded: Some(coef.clone()) };
    for file in [file(2, &weights(record2)), file(3, &Either::Two(Box::new(weights(record3))))] {
        let model = decode(&file).expect("an old model");
        is_the_first(model.parts());
        let record = model.record().expect("a record");
        assert_eq!(
            (record.formulation.loss(), record.formulation.offset(), &record.machines[0].folded),
            (loss, offset, &Some(coef.clone()))
        );
        assert_eq!((model.weights(0), model.support_vectors(), model.len()), (Some(&[0.5, -2.0][..]), 3, 1));
        let x = Samples::from_dense(1, 2, vec![1.0, 0.25]).expect("finite numbers");
        assert_eq!(model.decision_values(&x, Par::Seq).expect("a linear model"), [0.125]);
    }
}

#[test]
fn several_classes_of_format_3() {
    let pair = |rows: Vec<u64>| Pair {
        bounded: rows.len().min(1) as u64,
        rows,
        folded: None,
        status: Status::Converged,
        iterations: 5,
        certificate: certificate(),
    };
    let machine = |support: Vec<u32>, bias| Machine3 { coef: vec![0.5; support.len()], support, bias };
    let many = Many {
        kernel: Kernel::Linear,
        support: samples(),
        classes: vec![1.0, 2.0, 3.0],
        machines: vec![machine(vec![0, 1], 0.0), machine(vec![2], 1.0), machine(vec![], 2.0)],
        index_base: 1,
        scaler: None,
        record: Some(ManyRecord {
            c: 2.0,
            weights: vec![1.0, 0.5, 0.25],
            eps: 1e-3,
            rows: 12,
            features: 2,
            data_sha256: [7; 32],
            loss: Loss::SquaredHinge,
            offset: Offset::None,
            pairs: vec![pair(vec![1, 4]), pair(vec![9]), pair(vec![])],
        }),
    };
    let model = decode(&file(3, &Either::Many(Box::new(many)))).expect("an old model");
    let record = model.record().expect("a record");
    assert_eq!(
        (&record.weights[..], record.formulation.loss(), record.formulation.offset()),
        (&[1.0, 0.5, 0.25][..], Loss::SquaredHinge, Offset::None)
    );
    assert_eq!((&record.machines[0].rows[..], record.iterations(), record.status()), (&[1, 4][..], 15, Status::Converged));
    let x = Samples::from_dense(1, 2, vec![2.0, 4.0]).expect("finite numbers");
    assert_eq!(model.decision_values(&x, Par::Seq).expect("a linear model"), [0.5 * 4.0 + 0.5 * 7.5, 0.5 * -3.8 + 1.0, 2.0]);
    assert_eq!(model.parts().sections, []);
}

#[test]
fn damage_to_old_content_is_refused() {
    let record2 = Record2 { first: first(), folded: None };
    let record3 = Record3 { first: first(), loss: Loss::Hinge, offset: Offset::Free, folded: None };
    let contents = [
        (1, codec::encode(&two(first()))),
        (2, codec::encode(&two(record2))),
        (3, codec::encode(&Either::Two(Box::new(two(record3))))),
    ];
    for (format, content) in contents {
        let content = content.expect("encodable");
        for length in 0..content.len() {
            let error = decode(&sealed(format, &content[..length])).expect_err("a cut file");
            let says = if format == 1 { "train the model again" } else { "malformed" };
            assert!(error.to_string().contains(says), "{length} bytes of format {format}: {error}");
        }
        for at in 0..content.len() - 8 {
            let mut hostile = content.clone();
            hostile[at..at + 8].copy_from_slice(&(1_u64 << 62).to_le_bytes());
            let _ = decode(&sealed(format, &hostile));
        }
    }
}

#[test]
fn too_many_coefficients_are_refused() {
    let error = decode(&file(1, &Two { coef: vec![1.0; 4], ..two(first()) })).expect_err("4 for 3 vectors");
    assert!(error.to_string().contains("list of support vectors"), "{error}");
}

#[test]
fn what_formats_6_to_8_added() {
    let parts = decode(&file(1, &two(first()))).expect("an old model").into_parts();
    let Parts { kernel, support, machines, decide, classes, index_base, scaler, record, sections, scheme, .. } = parts.clone();
    let calibration = vec![Calibration::Sigmoid { a: -1.0, b: 0.5 }];
    let six = Parts6 {
        calibration: calibration.clone(),
        kernel,
        support,
        machines,
        decide,
        classes,
        index_base,
        scaler,
        record,
        sections,
        scheme,
    };
    let model = decode(&file(6, &six)).expect("an old model");
    assert_eq!(*model.parts(), Parts { calibration: calibration.clone(), ..parts.clone() });
    assert_eq!(model.columns(), None);
    let seven = Parts7 { first: six, encoder: None };
    let read = decode(&file(7, &seven)).expect("an old model");
    assert_eq!(*read.parts(), Parts { calibration: calibration.clone(), ..parts.clone() });
    assert_eq!(read.threshold(), None);
    let eight = decode(&file(8, &Parts8 { first: seven, threshold: Some(0.25) })).expect("an old model");
    assert_eq!(*eight.parts(), Parts { calibration, threshold: Some(0.25), ..parts });
}

/// `a,w,y` with the rows `1,None,0`, `2,red,1`, `3,None,0` and `5,blue,1`, trained with `--impute
/// median` when `None` was a word like others.
#[test]
fn columns_of_format_8_have_no_words_of_their_own() {
    let model = decode(include_bytes!("../../tests/data/format8.model")).expect("an old model");
    let columns = model.columns().expect("of a table");
    let names: Vec<_> = (0..columns.width()).filter_map(|j| columns.feature_name(j)).collect();
    assert_eq!(names, ["a", "w = None", "w = blue", "w = red"]);
    assert_eq!(*columns.missing(), maxmargin_data::table::MissingWords::default());
    let again = decode(&crate::file::encode(&model).expect("bytes")).expect("a model of now");
    assert_eq!(again.parts(), model.parts());
}
