//! The guide's program in JavaScript predicts from JSON what models predict.

use crate::c::{expected, inputs, largest_difference};
use crate::models::all;
use maxmargin_export::program::InputKind;
use maxmargin_export::{Program, json};
use maxmargin_testkit::outside::program as installed;
use serde_json::{Value, json as value};
use std::process::Command;

const GUIDE: &str = include_str!("../../../../docs/guide/src/export.md");

/// The guide's blocks in JavaScript: predictions, and probabilities.
fn blocks() -> Vec<&'static str> {
    let parts = GUIDE.split("```js\n").skip(1);
    parts.map(|part| &part[..part.find("```").expect("the end of the block")]).collect()
}

#[test]
fn thirty_lines_predict() {
    let blocks = blocks();
    assert!(blocks[0].lines().count() <= 32, "{} lines", blocks[0].lines().count());
    let Some(node) = installed("node") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut work = Vec::new();
    let mut wanted = Vec::new();
    for case in all() {
        let program = Program::new(&case.model, None).expect("a program");
        let model: Value = serde_json::from_str(&json(&program).expect("a document")).expect("JSON");
        // Words as words, gaps as null.
        let word = |c: usize, x: &f64| match program.inputs.columns.get(c).map(|column| &column.kind) {
            _ if x.is_nan() => Value::Null,
            Some(InputKind::Category { words }) => {
                value!(words.get(*x as usize).filter(|_| *x >= 0.0).map_or("no word", |word| word))
            }
            _ => value!(x),
        };
        let rows: Vec<Value> =
            inputs(&case, &program).iter().map(|row| row.iter().enumerate().map(|(c, x)| word(c, x)).collect()).collect();
        work.push(value!({"model": model, "rows": rows}));
        wanted.push((case.name.clone(), expected(&case, &program)));
    }
    let script = format!(
        "{}\nconst work = JSON.parse(require('fs').readFileSync('work.json'));\nconst all = work.map(({{model, rows}}) => rows.map(row => {{\n  \
         const r = predict(model, row);\n  const label = model.labels ? model.labels.indexOf(r.label) : r.label;\n  \
         return [label, ...r.decisions, ...(r.probabilities || [])];\n}}));\nconsole.log(JSON.stringify(all));\n",
        blocks.concat()
    );
    std::fs::write(folder.path().join("run.js"), script).expect("a file");
    std::fs::write(folder.path().join("work.json"), Value::from(work).to_string()).expect("a file");
    let output = Command::new(node).current_dir(folder.path()).arg("run.js").output().expect("node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Vec<Vec<Vec<f64>>> = serde_json::from_slice(&output.stdout).expect("JSON");
    for ((name, expected), found) in wanted.iter().zip(&found) {
        let most = largest_difference(found, expected);
        assert!(most < 1e-12, "{name}: {most}");
    }
}
