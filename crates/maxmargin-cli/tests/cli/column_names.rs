//! Names of columns with commas and quotes on the command line.

use crate::common::{Answer, Bench, answer};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Sixty rows: a column with names, whose name has a comma, three of numbers, and the classes.
fn bench() -> Bench {
    let mut text = "\"who, where\",\"size, cm\",\"a \"\"b\"\", c\",d,kind\n".to_owned();
    for i in 0..60 {
        let (size, other) = (f64::from(i * 37 % 30) / 8.0, f64::from(i * 53 % 61) / 7.0);
        let kind = if size + 0.3 * other > 5.0 { "big" } else { "small" };
        writeln!(text, "N{}{},{size},{},{other},{kind}", i * 7919 % 1009, i, i % 5).expect("memory");
    }
    let bench = Bench::new();
    bench.file("t.csv", text);
    bench
}

/// Runs a line of a shell that begins with `maxmargin`.
fn shell(bench: &Bench, line: &str) -> Answer {
    let folder = Path::new(env!("CARGO_BIN_EXE_maxmargin")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path"));
    answer(Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(bench.folder()).stdin(Stdio::null()))
}

#[test]
#[cfg(unix)]
fn names_with_commas_are_quoted_as_in_csv() {
    let bench = bench();
    let quoted = bench.run("train t.csv -o m");
    assert!(quoted.code == 1 && quoted.err.contains("--drop '\"who, where\"'"), "{quoted:?}");
    let info = bench.run("info t.csv");
    let (_, proposed) = info.err.split_once("to train on it: ").expect("a command");
    let trained = shell(&bench, &proposed.lines().next().expect("a line").replace("MODEL", "m"));
    assert_eq!(trained.code, 0, "{trained:?}");
    let names = r#"'"a ""b"", c","who, where"'"#;
    let trained = shell(&bench, &format!("maxmargin train t.csv --drop {names} --drop d -g 1 -o m --json"));
    assert_eq!(trained.json()["data"]["table"]["columns"], serde_json::json!(["size, cm"]), "{trained:?}");
    let grid = format!("maxmargin grid t.csv --drop {names} --category '\"size, cm\"' -c 1 -g 0.5 -k 3 -o n --json");
    let found = shell(&bench, &grid);
    let command = found.json()["train_command"].as_str().unwrap_or_else(|| panic!("{found:?}")).to_owned();
    let (first, again) = (std::fs::read(bench.path("n")).expect("a model"), shell(&bench, &command));
    assert!(again.code == 0 && std::fs::read(bench.path("n")).expect("a model") == first, "{command}: {again:?}");
    let predicted = shell(&bench, r#"maxmargin predict t.csv m --id '"who, where",d' -q -o p"#);
    assert!(predicted.code == 0 && bench.read("p").starts_with("\"who, where\",d,label\n"), "{predicted:?}");
    let open = shell(&bench, r#"maxmargin train t.csv --drop '"who, where' -o x"#);
    assert!(open.code == 2 && open.err.contains("a name in double quotes ends with one"), "{open:?}");
}

/// An option with the beginning of a name, as a message gave it, did not find the column.
#[test]
fn options_in_advice_hold_whole_names() {
    let bench = Bench::new();
    let word = "below the limit of detection of the instrument in use (0.05)";
    let rows: String = (0..40)
        .map(|i| if i == 7 { format!("{word},{i},{}\n", i % 2) } else { format!("{}.5,{},{}\n", i % 5, i % 7, i % 2) })
        .collect();
    bench.file("t.csv", format!("a,b,class\n{rows}"));
    let refused = bench.run("train t.csv -o m -q");
    let option = format!("--missing '{word}'");
    assert!(refused.code == 1 && refused.err.contains(&option), "{refused:?}");
    let name = "Concentration of dissolved oxygen at the first sampling point";
    let row = |i: usize| format!("{},{}.5,{}.25\n", ["a", "b"][i % 2], i % 7, i * 3 % 11);
    let rows = (0..40).fold(String::new(), |rows, i| rows + &row(i));
    bench.file("n.csv", format!("{name},{name} (second),b\n{rows}"));
    let refused = bench.run("train n.csv -o m -q");
    assert!(refused.code == 1 && refused.err.contains(&format!("--target '{name}'")), "{refused:?}");
    let unknown = bench.run("train n.csv --target Concentration -o m -q");
    assert!(unknown.code == 1 && unknown.err.contains(&format!("{name}, {name} (second), b")), "{unknown:?}");
}
