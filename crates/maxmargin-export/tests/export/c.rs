//! C files, compiled and run.

use crate::models::{Case, all};
use maxmargin_data::Par;
use maxmargin_export::program::{InputKind, Outcome};
use maxmargin_export::{Precision, Program, c_source};
use maxmargin_model::Model;
use maxmargin_testkit::outside::program as installed;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Inputs of C: numbers, and words by their numbers.
pub(crate) fn inputs(case: &Case, program: &Program) -> Vec<Vec<f64>> {
    let count = program.inputs.count();
    (0..case.rows.len())
        .map(|i| {
            let is_word = |c: usize| matches!(program.inputs.columns[c].kind, InputKind::Category { .. });
            let Some(columns) = case.model.columns() else {
                let mut row = vec![0.0; count];
                case.rows.row(i).for_each(|j, value| row[j] = value);
                return row;
            };
            let mut row: Vec<f64> = (0..count).map(|c| if is_word(c) { -1.0 } else { 0.0 }).collect();
            case.rows.row(i).for_each(|j, value| match j.checked_sub(columns.width()) {
                Some(gap) => row[gap] = f64::NAN,
                None => {
                    let c = (0..count).find(|&c| columns.features_of(c).contains(&j)).expect("a column");
                    row[c] = if is_word(c) { (j - columns.features_of(c).start) as f64 } else { value };
                }
            });
            row
        })
        .collect()
}

/// A program that prints label, decision values and probabilities of each row.
fn main_file(program: &Program, rows: &[Vec<f64>]) -> String {
    let real = |value: &f64| if value.is_nan() { "NAN".to_owned() } else { format!("{value:?}") };
    let mut text = String::from("#include <stdio.h>\n#include \"model.c\"\nstatic const REAL rows[][svm_INPUTS] = {\n");
    for row in rows {
        writeln!(text, "  {{ {} }},", row.iter().map(real).collect::<Vec<_>>().join(", ")).expect("memory");
    }
    let label = match &program.outcome {
        Outcome::Value => "(double)svm_predict(rows[i])",
        Outcome::Inlier => "(double)svm_predict(rows[i])",
        Outcome::Classes(_) => "(double)svm_predict(rows[i])",
    };
    let probabilities = if program.outcomes() > 0 {
        "    REAL p[svm_OUTCOMES];\n    svm_probabilities(rows[i], p);\n    for (int k = 0; k < svm_OUTCOMES; k++) printf(\" %.17g\", (double)p[k]);\n"
    } else {
        ""
    };
    write!(
        text,
        "}};\nint main(void) {{\n  for (int i = 0; i < {}; i++) {{\n    REAL d[svm_MACHINES];\n    svm_decision(rows[i], d);\n    \
         printf(\"%.17g\", {label});\n    for (int m = 0; m < svm_MACHINES; m++) printf(\" %.17g\", (double)d[m]);\n\
         {probabilities}    printf(\"\\n\");\n  }}\n  return 0;\n}}\n",
        rows.len()
    )
    .expect("memory");
    text
}

/// The printed numbers of each row.
fn run(gcc: &Path, folder: &Path, program: &Program, precision: Precision, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let source = c_source(program, precision, "svm").expect("a file");
    let real = if precision == Precision::Double { "double" } else { "float" };
    std::fs::write(folder.join("model.c"), source.text).expect("a file");
    std::fs::write(folder.join("main.c"), main_file(program, rows)).expect("a file");
    let strict =
        ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-pedantic", "-ffp-contract=off"];
    let define = format!("-DREAL={real}");
    let compiled = Command::new(gcc)
        .current_dir(folder)
        .args(strict)
        .args([&define[..], "main.c", "-o", "main", "-lm"])
        .output()
        .expect("gcc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(folder.join("main")).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
}

/// What the model says: the place of the label (or the value), decision values, probabilities.
pub(crate) fn expected(case: &Case, program: &Program) -> Vec<Vec<f64>> {
    let model: &Model = &case.model;
    let decisions = model.decision_values(&case.rows, Par::Seq).expect("values");
    let of = |row: &[f64]| {
        let label = model.label(row);
        let place = match &program.outcome {
            Outcome::Classes(_) => model.classes().iter().position(|class| *class == label).expect("a class") as f64,
            Outcome::Value | Outcome::Inlier => label,
        };
        let mut all = vec![place];
        all.extend_from_slice(row);
        if program.outcomes() > 0 {
            all.extend(model.probabilities_of(row, Par::Seq).expect("probabilities"));
        }
        all
    };
    decisions.chunks_exact(program.machines()).map(of).collect()
}

pub(crate) fn largest_difference(found: &[Vec<f64>], expected: &[Vec<f64>]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let of = |(a, b): (&f64, &f64)| (a - b).abs() / b.abs().max(1.0);
    found
        .iter()
        .zip(expected)
        .flat_map(|(a, b)| {
            assert_eq!(a.len(), b.len());
            a.iter().zip(b).map(of)
        })
        .fold(0.0, |most, one| if one.is_nan() { f64::INFINITY } else { most.max(one) })
}

#[test]
fn c_predicts_what_models_predict() {
    let Some(gcc) = installed("gcc") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for case in all() {
        let program = Program::new(&case.model, None).expect("a program");
        let rows = inputs(&case, &program);
        let found = run(&gcc, folder.path(), &program, Precision::Double, &rows);
        let most = largest_difference(&found, &expected(&case, &program));
        assert!(most < 1e-12, "{}: {most}", case.name);
    }
}

/// Float is within the bound that is computed for it, and labels are equal where it cannot turn them.
#[test]
fn single_precision_is_within_its_bound() {
    let Some(gcc) = installed("gcc") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Rows are cast to float as the graph has them; features of these cases are not scaled.
    for case in all().into_iter().filter(|case| case.name.ends_with("3 classes, OneVsOne") || case.name.ends_with("value")) {
        let program = Program::new(&case.model, None).expect("a program");
        let rows: Vec<Vec<f64>> =
            inputs(&case, &program).iter().map(|row| row.iter().map(|x| f64::from(*x as f32)).collect()).collect();
        let rounded = maxmargin_data::Samples::from_rows(&rows).expect("rows");
        let exact = case.model.decision_values(&rounded, Par::Seq).expect("values");
        let found = run(&gcc, folder.path(), &program, Precision::Single, &rows);
        for (i, (found, exact)) in found.iter().zip(exact.chunks_exact(program.machines())).enumerate() {
            let bounds = maxmargin_export::bound::bounds(&program.functions, rounded.row(i));
            for ((found, exact), bound) in found[1..].iter().zip(exact).zip(&bounds) {
                assert!((found - exact).abs() <= *bound, "{}: {found} {exact} {bound}", case.name);
                assert!(*bound < 1e-2, "{}: {bound}", case.name);
            }
        }
    }
}

#[test]
fn a_prefix_is_an_identifier() {
    let case = all().remove(0);
    let program = Program::new(&case.model, None).expect("a program");
    for wrong in ["", "1x", "a-b", "a b"] {
        assert!(c_source(&program, Precision::Double, wrong).is_err(), "{wrong}");
    }
    let source = c_source(&program, Precision::Double, "heart_2").expect("a file");
    assert!(source.text.contains("double heart_2_predict(const double *x)") && !source.text.contains('@'));
    // One weight for each feature, and the bias.
    assert_eq!(source.constants, 8 * 6);
}
