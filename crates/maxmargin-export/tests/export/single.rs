//! Graphs in single precision: their operators, and what their bound says.

use crate::models::all;
use maxmargin_export::{Precision, Program, check_single, graph};

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

#[test]
fn rows_near_a_border_are_open() {
    let mut open = 0;
    for case in all() {
        let program = Program::new(&case.model, None).expect("a program");
        let found = check_single(&case.model, &program, &case.rows).expect("rows");
        assert_eq!(found.rows, case.rows.len());
        assert!(found.bound > 0.0 && found.bound < 1.0, "{}: {found:?}", case.name);
        // Few rows are within rounding of a border; coupled labels of several classes are open.
        let is_coupled = program.outcomes() > 2 && program.machines() > 1;
        assert!(found.open < found.rows || is_coupled, "{}: {found:?}", case.name);
        open += found.open;
    }
    assert!(open > 0);
}
