//! C files, compiled and run.

use crate::models::{Case, all};
use maxmargin_data::{Par, Samples};
use maxmargin_export::bound::bounds;
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
            case.rows.row(i).for_each(|j, value| {
                if let Some(gap) = j.checked_sub(columns.width()) {
                    row[gap] = f64::NAN;
                    return;
                }
                let c = (0..count).find(|&c| columns.features_of(c).contains(&j)).expect("a column");
                row[c] = if is_word(c) { (j - columns.features_of(c).start) as f64 } else { value };
            });
            row
        })
        .collect()
}

/// A program to run on rows of inputs.
pub(crate) struct Work<'a> {
    program: &'a Program,
    rows: Vec<Vec<f64>>,
}

/// One C file with all programs, and a function that prints label, decision values and
/// probabilities of all their rows. One file takes gcc less time than many.
fn file(works: &[Work], precision: Precision) -> String {
    let number = |value: &f64| if value.is_nan() { "NAN".to_owned() } else { format!("{value:?}") };
    let real = if precision == Precision::Double { "double" } else { "float" };
    let (mut text, mut calls) = (String::from("#include <stdio.h>\n"), String::new());
    for (k, Work { program, rows }) in works.iter().enumerate() {
        let name = format!("m{k}");
        text += &c_source(program, precision, &name).expect("a file").text;
        writeln!(text, "static const {real} {name}_rows[][{name}_INPUTS] = {{").expect("memory");
        for row in rows {
            writeln!(text, "  {{ {} }},", row.iter().map(number).collect::<Vec<_>>().join(", ")).expect("memory");
        }
        let probabilities = if program.outcomes() > 0 {
            format!(
                "      {real} p[{name}_OUTCOMES];\n      {name}_probabilities(x, p);\n      \
                 for (int m = 0; m < {name}_OUTCOMES; m++) printf(\" %.17g\", (double)p[m]);\n"
            )
        } else {
            String::new()
        };
        text += "};\n";
        write!(
            calls,
            "    for (int i = 0; i < {}; i++) {{\n      const {real} *x = {name}_rows[i];\n      {real} d[{name}_MACHINES];\n      \
             {name}_decision(x, d);\n      printf(\"%.17g\", (double){name}_predict(x));\n      \
             for (int m = 0; m < {name}_MACHINES; m++) printf(\" %.17g\", (double)d[m]);\n{probabilities}      \
             printf(\"\\n\");\n    }}\n",
            rows.len()
        )
        .expect("memory");
    }
    format!("{text}int main(void) {{\n{calls}    return 0;\n}}\n")
}

/// The printed numbers of each row of all programs.
fn run(gcc: &Path, folder: &Path, works: &[Work], precision: Precision) -> Vec<Vec<f64>> {
    std::fs::write(folder.join("main.c"), file(works, precision)).expect("a file");
    let strict =
        ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-unused-const-variable", "-pedantic", "-ffp-contract=off"];
    let mut compiler = Command::new(gcc);
    let compiled = compiler.current_dir(folder).args(strict).args(["main.c", "-o", "main", "-lm"]).output().expect("gcc runs");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(folder.join("main")).output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
}

/// The predictions of the model: place of the label (or value), decision values, probabilities.
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
    let cases = all();
    let programs: Vec<Program> = cases.iter().map(|case| Program::new(&case.model, None).expect("a program")).collect();
    let works = cases.iter().zip(&programs).map(|(case, program)| Work { program, rows: inputs(case, program) });
    let found = run(&gcc, folder.path(), &works.collect::<Vec<_>>(), Precision::Double);
    let mut rows = found.iter();
    for (case, program) in cases.iter().zip(&programs) {
        let own: Vec<Vec<f64>> = rows.by_ref().take(case.rows.len()).cloned().collect();
        let most = largest_difference(&own, &expected(case, program));
        assert!(most < 1e-12, "{}: {most}", case.name);
    }
    assert_eq!(rows.next(), None);
}

/// Float is within the bound that is computed for it.
#[test]
fn single_precision_is_within_its_bound() {
    let Some(gcc) = installed("gcc") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Features of these cases are not scaled; inputs are rounded, as for a graph.
    let is_plain = |case: &Case| case.name.ends_with("3 classes, OneVsOne") || case.name.ends_with("value");
    let cases: Vec<Case> = all().into_iter().filter(is_plain).collect();
    let programs: Vec<Program> = cases.iter().map(|case| Program::new(&case.model, None).expect("a program")).collect();
    let rounded = |row: &Vec<f64>| row.iter().map(|x| f64::from(*x as f32)).collect();
    let works = cases.iter().zip(&programs);
    let works: Vec<Work> =
        works.map(|(case, program)| Work { program, rows: inputs(case, program).iter().map(rounded).collect() }).collect();
    let found = run(&gcc, folder.path(), &works, Precision::Single);
    let mut printed = found.iter();
    for (case, Work { program, rows }) in cases.iter().zip(&works) {
        let samples = Samples::from_rows(rows).expect("rows");
        let exact = case.model.decision_values(&samples, Par::Seq).expect("values");
        for (i, exact) in exact.chunks_exact(program.machines()).enumerate() {
            let own = &printed.next().expect("a row")[1..];
            for ((found, exact), bound) in own.iter().zip(exact).zip(bounds(&program.functions, samples.row(i))) {
                assert!((found - exact).abs() <= bound && bound < 1e-2, "{}: {found} {exact} {bound}", case.name);
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
