//! ONNX graphs, run by the interpreter of their operators.

use crate::models::all;
use maxmargin_data::{Par, Samples};
use maxmargin_export::{ExportError, Labels, Precision, Program, check, graph};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Calibration, Model, Rule};

#[test]
fn graphs_predict_what_models_predict() {
    for case in all() {
        let program = Program::new(&case.model, None).expect("a program");
        let graph = graph(&program, Precision::Double);
        let found = check(&case.model, &program, &graph, &case.rows, &[], Par::Seq).expect("rows").expect("operators that exist");
        assert!(found.decisions < 1e-12 && found.probabilities < 1e-12, "{}: {found:?}", case.name);
        assert_eq!((found.rows, found.other_labels.unwrap_or(0)), (case.rows.len(), 0), "{}", case.name);
        let has_words = program.inputs.has_words();
        assert!(graph.nodes.iter().all(|node| !node.is_ml || has_words), "{}", case.name);
    }
}

/// Values of exactly 0 and equal votes go by the rule of the model.
#[test]
fn ties_are_decided_as_in_the_model() {
    let rows = Samples::from_rows(&[[0.0], [1.0], [-1.0], [2.0]]).expect("rows");
    let vectors = Samples::from_rows(&[[1.0]]).expect("rows");
    let classes = maxmargin_data::ClassLabels::new(&[1.0, 2.0, 3.0]).expect("classes");
    // All values are 0 for the first row, and each class has one vote for the others.
    let machines = [1.0, -1.0, 1.0].map(|weight| (vec![(0, weight)], 0.0));
    let plain = Model::from_machines(Kernel::Linear, &vectors, Rule::from(&classes), &machines).expect("a model");
    for order in [vec![], vec![0, 1, 2], vec![2, 1, 0], vec![1, 2, 0]] {
        let model = plain.clone().with_tie_order(order.clone()).expect("an order");
        let even = vec![Calibration::Sigmoid { a: 0.0, b: 0.0 }; 3];
        for model in [model.clone(), model.with_calibration(even).expect("a calibration")] {
            let program = Program::new(&model, None).expect("a program");
            let found = check(&model, &program, &graph(&program, Precision::Double), &rows, &[], Par::Seq).expect("rows");
            assert_eq!(found.and_then(|found| found.other_labels), Some(0), "{order:?}");
        }
    }
}

#[test]
fn labels_can_be_given() {
    let vectors = Samples::from_rows(&[[1.0]]).expect("rows");
    let classes = maxmargin_data::ClassLabels::new(&[1.0, 2.0]).expect("classes");
    let machine = (vec![(0, 1.0)], 0.0);
    let model = Model::from_machines(Kernel::Linear, &vectors, Rule::from(&classes), &[machine]).expect("a model");
    let words = |words: &[&str]| Some(Labels::Words(words.iter().map(|&word| word.to_owned()).collect()));
    let program = Program::new(&model, words(&["no", "yes"])).expect("a program");
    let bytes = graph(&program, Precision::Double).to_bytes(&[("key", "value".to_owned())]);
    assert!(["yes", "key", "value", "MatMul"].iter().all(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes())));
    let wrong = Program::new(&model, words(&["no"])).expect_err("two classes");
    assert!(matches!(wrong, ExportError::Labels { found: 1, expected: 2 }), "{wrong}");
}

#[test]
fn kernels_without_a_formula_are_refused() {
    let serials = Samples::from_rows(&[[1.0], [2.0]]).expect("rows");
    let machine = (vec![(0, 1.0), (1, -1.0)], 0.0);
    let user = Kernel::user("difference", |x, z| x.dot(z) - 1.0);
    for kernel in [Kernel::Precomputed, user] {
        let name = kernel.name();
        let model = Model::from_machines(kernel, &serials, Rule::VALUE, std::slice::from_ref(&machine)).expect("a model");
        let error = Program::new(&model, None).expect_err("no formula").to_string();
        assert!(error.starts_with(&format!("the model has a {name} kernel")), "{error}");
    }
}

/// A model of very many features is refused before its vectors are written out.
#[test]
fn wide_models_are_refused() {
    let wide = Samples::from_sparse(4_000_000_000, vec![0, 1], vec![3_999_999_999], vec![1.0]).expect("rows");
    let model = Model::from_machines(Kernel::rbf(1.0), &wide, Rule::VALUE, &[(vec![(0, 1.0)], 0.0)]).expect("a model");
    assert!(matches!(Program::new(&model, None), Err(ExportError::TooLarge { vectors: 1, .. })));
}

/// Without vectors every decision value is a bias.
#[test]
fn empty_models_are_their_bias() {
    let empty = Samples::from_sparse(3, vec![0], Vec::new(), Vec::new()).expect("rows");
    let rows = Samples::from_rows(&[[1.0, 2.0, 3.0]]).expect("rows");
    for kernel in [Kernel::rbf(1.0), Kernel::Linear] {
        let model = Model::from_machines(kernel, &empty, Rule::VALUE, &[(Vec::new(), 0.5)]).expect("a model");
        let program = Program::new(&model, None).expect("a program");
        let found = check(&model, &program, &graph(&program, Precision::Double), &rows, &[], Par::Seq).expect("rows");
        assert_eq!(found.map(|found| found.decisions), Some(0.0));
    }
}
