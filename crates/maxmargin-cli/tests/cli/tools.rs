//! Output about the program and the machine: `doctor`, `--version`, completions and
//! manual pages.

use crate::common::{Bench, answer};
use maxmargin_testkit::outside::program;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The commands that `--help` lists.
fn commands(bench: &Bench) -> Vec<String> {
    let help = bench.run("--help").out;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let names: Vec<String> = names.filter_map(|rest| rest.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.contains(&"train".to_owned()) && names.len() > 10, "{help}");
    names
}

#[test]
fn the_doctor_finds_this_machine_healthy() {
    let bench = Bench::new();
    let found = bench.run("doctor");
    assert_eq!(found.code, 0, "{found:?}");
    for what in ["system", "processor", "vectors", "cores", "memory", "huge pages", "kernel", "linear", "threads", "model file"] {
        assert!(found.out.lines().any(|line| line.starts_with(&format!(" {what} "))), "{what}: {}", found.out);
    }
    assert!(found.out.ends_with('\n') && found.out.contains("\nhealthy: 5 of 5 checks"), "{}", found.out);
    let document = bench.json("doctor");
    assert_eq!(document["healthy"], true);
    let levels = document["machine"]["levels"].as_array().expect("levels");
    assert_eq!(levels[0], "portable");
    assert!(levels.contains(&document["machine"]["vectors"]));
    let alone = bench.json("doctor --threads 1");
    assert_eq!(alone["machine"]["threads"], 1);
}

#[test]
fn the_doctor_says_what_does_not_work() {
    let bench = Bench::new();
    let nowhere = bench.path("nowhere");
    let found = answer(bench.command("doctor").env("TMPDIR", &nowhere).env("TMP", &nowhere).env("TEMP", &nowhere));
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains(" model file     FAILED: no temporary folder"), "{}", found.out);
    assert!(found.out.contains("NOT healthy: 1 of 5 checks failed"), "{}", found.out);
}

#[test]
fn the_long_version_tells_the_build_and_the_level() {
    let bench = Bench::new();
    let short = bench.run("-V").out;
    assert_eq!(short, format!("maxmargin {}\n", env!("CARGO_PKG_VERSION")));
    let long = bench.run("--version").out;
    assert!(long.starts_with(&short), "{long}");
    let vectors = bench.json("doctor")["machine"]["vectors"].as_str().expect("a level").to_owned();
    assert!(long.contains(&format!("vectors    {vectors} (of ")), "{long}");
    assert!(long.contains("models     format ") && long.contains(std::env::consts::ARCH), "{long}");
    for (feature, is_built) in
        [("Parquet", cfg!(feature = "parquet")), ("Arrow", cfg!(feature = "arrow")), ("PNG", cfg!(feature = "png"))]
    {
        assert_eq!(long.contains(&format!(", {feature}")), is_built, "{long}");
    }
}

/// As many levels as this machine has: the last digits of portable products of reals may be others,
/// the rest has the same bits.
#[test]
fn a_lower_level_of_vectors_can_be_asked_for() {
    let bench = Bench::new();
    let levels = bench.json("doctor")["machine"]["vectors"].clone();
    let run = |level: &str, line: &str| answer(bench.command(line).env("MAXMARGIN_VECTORS", level));
    assert!(run("portable", "--version").out.contains("vectors    portable (of "));
    assert_eq!(run("", "doctor --json").json()["machine"]["vectors"], levels);
    for level in ["portable", "avx2", "avx512"] {
        let trained = run(level, &format!("train banana --rows 300 -c 10 -g 2 -q -o {level}"));
        assert_eq!(trained.code, 0, "{trained:?}");
        assert_eq!(bench.run(&format!("verify {level} banana --rows 300")).code, 0);
    }
    let model = |level: &str| std::fs::read(bench.path(level)).expect("a model");
    if levels != "portable" {
        assert_eq!(model("avx2"), model("avx512"));
    }
    let wrong = run("sse", "--version");
    assert_eq!((wrong.code, &wrong.out[..]), (2, ""));
    assert!(wrong.err.contains("MAXMARGIN_VECTORS: `sse`") && wrong.err.contains("portable, avx2 or avx512"), "{}", wrong.err);
}

#[test]
fn every_shell_has_completions_for_every_command() {
    let bench = Bench::new();
    let commands = commands(&bench);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let found = bench.run(&format!("completions {shell}"));
        assert_eq!((found.code, found.err.as_str()), (0, ""), "{shell}");
        for command in &commands {
            assert!(found.out.contains(command.as_str()), "{shell}: {command}");
        }
        assert!(found.out.contains("formulation"), "{shell}: options");
    }
    let wrong = bench.run("completions tcsh");
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("bash, elvish, fish, powershell, zsh"), "{}", wrong.err);
}

#[test]
fn bash_completes_commands_and_names_of_solvers() {
    let bench = Bench::new();
    let Some(bash) = program("bash") else { return };
    bench.file("script", bench.run("completions bash").out);
    let ask = |words: &str, at: usize| {
        let previous = words.split(' ').nth(at - 1).unwrap_or_default();
        let current = words.split(' ').nth(at).unwrap_or_default();
        let control = format!(
            "source ./script; COMP_WORDS=({words}); COMP_CWORD={at}; _maxmargin maxmargin '{current}' '{previous}'; echo ${{COMPREPLY[@]}}"
        );
        answer(Command::new(&bash).args(["--norc", "-c", &control]).current_dir(bench.folder())).out
    };
    assert_eq!(ask("maxmargin calib", 1).trim(), "calibrate");
    assert_eq!(ask("maxmargin train --solver pa", 3).trim(), "pairwise");
}

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    assert_eq!(bench.run("man pages/deep").code, 0);
    let mut expected: Vec<String> =
        commands(&bench).iter().filter(|name| *name != "help").map(|name| format!("maxmargin-{name}.1")).collect();
    expected.push("maxmargin.1".to_owned());
    expected.sort();
    let entries = std::fs::read_dir(bench.path("pages/deep")).expect("the folder of the pages");
    let mut found: Vec<String> = entries.map(|e| e.expect("a page").file_name().to_string_lossy().into_owned()).collect();
    found.sort();
    assert_eq!(found, expected);
    for name in &found {
        let page = bench.read(&format!("pages/deep/{name}"));
        assert!(page.contains(&format!(".TH {} 1", name.trim_end_matches(".1"))), "{name}: {page}");
        assert!(page.contains(&format!("maxmargin {}", env!("CARGO_PKG_VERSION"))), "{name}");
    }
    assert!(bench.read("pages/deep/maxmargin-train.1").contains("\\-\\-solver"));
    // Again, over what is there; and where there can be no folder.
    assert_eq!(bench.run("man pages/deep").code, 0);
    bench.file("file", "");
    let wrong = bench.run("man file/pages");
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.starts_with("error: file/pages: cannot make it: "), "{}", wrong.err);
}

/// The words of `text` that begin with two dashes.
fn options_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("--").filter_map(move |(at, _)| {
        let name = &text[at + 2..];
        let end = name.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(name.len());
        let joined = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        (!joined && name.starts_with(|c: char| c.is_ascii_lowercase())).then(|| &text[at..at + 2 + end])
    })
}

/// Calls `each` with every file of Rust below a folder.
fn sources(folder: &Path, each: &mut dyn FnMut(&Path)) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, each);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            each(&path);
        }
    }
}

/// `verify` once advised an export that no command does.
#[test]
fn what_messages_advise_can_be_done() {
    let bench = Bench::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for command in commands(&bench) {
        known.extend(options_in(&bench.run(&format!("{command} --help")).out).map(str::to_owned));
    }
    assert!(known.contains("--time-limit") && known.contains("--write-data"), "{known:?}");
    // Of the programs that stand in for LIBSVM's.
    known.insert("--certificate".to_owned());
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["cli", "cv", "core", "data", "kernel", "model", "path"] {
        sources(&crates.join(format!("maxmargin-{name}/src")), &mut |path| {
            let text = std::fs::read_to_string(path).expect("text");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                // Every other piece between quotes is a literal.
                for option in line.split('"').skip(1).step_by(2).flat_map(options_in) {
                    assert!(known.contains(option), "{}: no command has {option}: {line}", path.display());
                }
            }
        });
    }
}
