//! LIBSVM's own scripts, which call its programs: `svm-easy`, `svm-grid` and `svm-subset` as Debian
//! has them, on the genuine programs and on ours.
#![cfg(unix)]

use crate::common::{Bench, answer};
use maxmargin_testkit::outside;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Rows to choose parameters from; as many others test them.
const ROWS: usize = 90;

/// A folder as LIBSVM's sources have it: programs, and the scripts in `tools` beside the data. None
/// where something is missing.
struct Tools {
    bench: Bench,
    /// With a `python` first, as the scripts' first line calls it.
    path: String,
}

impl Tools {
    fn new(ours: bool) -> Option<Self> {
        let bench = Bench::new();
        let python = outside::program("python3")?;
        let scripts = [("easy.py", "svm-easy"), ("grid.py", "svm-grid"), ("subset.py", "svm-subset")];
        std::fs::create_dir(bench.path("tools")).expect("a folder");
        std::fs::create_dir(bench.path("bin")).expect("a folder");
        symlink(python, bench.path("bin/python")).expect("a link");
        for (name, installed) in scripts {
            let text = std::fs::read_to_string(outside::program(installed)?).expect("a script");
            // The plot is not what is tried here, and the program for it is not everywhere.
            executable(&bench.path("tools").join(name), &text.replace("/usr/bin/gnuplot", "./no-plot"));
        }
        executable(&bench.path("tools/no-plot"), "#!/bin/sh\ncat > no-plot.in\n");
        if ours {
            assert_eq!(bench.run("links .").code, 0);
        } else {
            for name in ["svm-train", "svm-predict", "svm-scale"] {
                symlink(outside::program(name)?, bench.path(name)).expect("a link");
            }
        }
        let heart = String::from_utf8(outside::data_text("heart_scale")?).expect("text");
        let lines: Vec<&str> = heart.lines().collect();
        bench.file("tools/heart", lines[..ROWS].join("\n") + "\n");
        bench.file("tools/heart.t", lines[ROWS..2 * ROWS].join("\n") + "\n");
        let rest = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{rest}", bench.path("bin").display());
        Some(Self { bench, path })
    }

    /// Returns the output of a script, which must succeed.
    fn run(&self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let mut command = Command::new(self.bench.path("tools").join(words.next().expect("a script")));
        let said = answer(command.current_dir(self.bench.path("tools")).args(words).env("PATH", &self.path));
        assert_eq!(said.code, 0, "{line}: {said:?}");
        said.out
    }
}

fn executable(path: &Path, text: &str) {
    std::fs::write(path, text).expect("room");
    set_permissions(path, Permissions::from_mode(0o755)).expect("a mode");
}

fn both() -> Option<(Tools, Tools)> {
    Some((Tools::new(false)?, Tools::new(true)?))
}

/// Lines of words and numbers: the same but for rates, which may be off by one sample: both stop
/// within a tolerance, and a sample may lie there.
fn assert_near(theirs: &str, ours: &str, most: usize) {
    let words = |text: &str| -> Vec<String> { text.split_inclusive([' ', '=', ',', ')', '\n']).map(str::to_owned).collect() };
    let number = |word: &str| word.trim_end_matches([' ', '=', ',', ')', '\n']).parse::<f64>().ok();
    let (a, b) = (words(theirs), words(ours));
    assert_eq!(a.len(), b.len(), "{theirs}\n{ours}");
    let other: Vec<_> = a.iter().zip(&b).filter(|(a, b)| a != b).collect();
    let by_one = |(a, b): &(&String, &String)| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.min(b) >= 50.0 && (a - b).abs() < 100.01 / ROWS as f64,
        _ => false,
    };
    assert!(other.len() <= most && other.iter().all(by_one), "{other:?}");
}

#[test]
fn from_start_to_end_by_one_script() {
    let Some((theirs, ours)) = both() else { return };
    let line = "easy.py heart heart.t";
    let (theirs_said, said) = (theirs.run(line), ours.run(line));
    assert!(
        said.contains("Best c=") && said.contains("Accuracy = ") && said.contains("Output prediction: heart.t.predict"),
        "{said}"
    );
    assert_eq!(theirs_said, said);
    for name in ["heart.scale", "heart.range", "heart.t.scale", "heart.t.predict"].map(|name| format!("tools/{name}")) {
        assert_eq!(theirs.bench.read(&name), ours.bench.read(&name), "{name}");
    }
    let cells = ours.bench.read("tools/heart.scale.out");
    assert_eq!(cells.lines().count(), 110);
    assert_near(&theirs.bench.read("tools/heart.scale.out"), &cells, 3);
}

#[test]
fn grids_of_other_formulations_and_what_was_begun() {
    let Some((theirs, ours)) = both() else { return };
    let line = "grid.py -log2c -1,3,2 -log2g null -v 3 -gnuplot null -svmtrain ../svm-train -s 1 -n 0.3 -t 0 heart";
    assert_near(&theirs.run(line), &ours.run(line), 9);
    // One more value of C: the others are taken from the file.
    let line =
        "grid.py -log2c -1,5,2 -log2g null -v 3 -gnuplot null -resume heart.out -svmtrain ../svm-train -s 1 -n 0.3 -t 0 heart";
    assert_near(&theirs.run(line), &ours.run(line), 9);
    assert_near(&theirs.bench.read("tools/heart.out"), &ours.bench.read("tools/heart.out"), 4);
    assert_eq!(ours.bench.read("tools/heart.out").lines().count(), 4);
}

#[test]
fn subsets_are_data_for_ours() {
    let Some(ours) = Tools::new(true) else { return };
    ours.run("subset.py -s 0 heart 40 part rest");
    let part = ours.bench.run("svm-train -q tools/part part.model");
    assert_eq!((part.code, ours.bench.read("tools/part").lines().count()), (0, 40), "{part:?}");
    assert_eq!(ours.bench.run("svm-predict tools/rest part.model rest.out").code, 0);
    assert_eq!(ours.bench.read("rest.out").lines().count(), ROWS - 40);
}
