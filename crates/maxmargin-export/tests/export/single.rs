//! Graphs in single precision: their operators, and what their bound says.

use crate::models::all;
use maxmargin_data::{ClassLabels, Par, Samples};
use maxmargin_export::onnx::Attribute;
use maxmargin_export::{Precision, Program, check_single, graph};
use maxmargin_kernel::Kernel;
use maxmargin_model::{Model, Rule};

#[test]
fn sums_are_operators_for_machine_learning() {
    for case in all().into_iter().filter(|case| !case.name.starts_with("table")) {
        let program = Program::new(&case.model, None).expect("a program");
        let graph = graph(&program, Precision::Single);
        let ml: usize = graph.nodes.iter().filter(|node| node.is_ml).count();
        let is_linear = case.name.starts_with("linear");
        assert_eq!(ml, if is_linear { 1 } else { program.machines() }, "{}", case.name);
        assert!(graph.run(Vec::new()).is_none());
    }
}

/// Machines of pairs whose vectors each belong to one class are one operator.
#[test]
fn pairs_of_classes_are_one_classifier() {
    let vectors = Samples::from_rows(&[[0.0], [1.0], [2.0]]).expect("rows");
    let classes = ClassLabels::new(&[1.0, 2.0, 3.0]).expect("classes");
    // Vector k is of class k: below 0 as the first of a pair, above as the second.
    let pair = |a: usize, b: usize| (vec![(a, -1.0), (b, 2.0)], 0.5);
    let machines = [pair(0, 1), pair(0, 2), pair(1, 2)];
    let model = Model::from_machines(Kernel::rbf(1.0), &vectors, Rule::from(&classes), &machines).expect("a model");
    let graph = graph(&Program::new(&model, None).expect("a program"), Precision::Single);
    let own: Vec<_> = graph.nodes.iter().filter(|node| node.is_ml).collect();
    assert_eq!((own.len(), own[0].operator), (1, "SVMClassifier"));
    let attribute = |name: &str| own[0].attributes.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
    assert_eq!(attribute("vectors_per_class"), Some(Attribute::Ints(vec![1, 1, 1])));
    // The first line has the coefficients with the first other class, the second with the next.
    assert_eq!(attribute("coefficients"), Some(Attribute::Floats(vec![1.0, -2.0, -2.0, 1.0, 1.0, -2.0])));
    assert_eq!(attribute("rho"), Some(Attribute::Floats(vec![-0.5; 3])));
}

#[test]
fn rows_near_a_border_are_open() {
    let mut open = 0;
    for case in all() {
        let program = Program::new(&case.model, None).expect("a program");
        let found = check_single(&case.model, &program, &case.rows, Par::Seq).expect("rows");
        assert_eq!(found.rows, case.rows.len());
        assert!(found.bound > 0.0 && found.bound < 1.0, "{}: {found:?}", case.name);
        // Few rows are within rounding of a border; coupled labels of several classes are open.
        let is_coupled = program.outcomes() > 2 && program.machines() > 1;
        assert!(found.open < found.rows || is_coupled, "{}: {found:?}", case.name);
        open += found.open;
    }
    assert!(open > 0);
}
