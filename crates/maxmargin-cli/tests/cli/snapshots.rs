//! The numbers that the program gives, pinned: iterations, objectives, biases, certificates,
//! decision values.
//!
//! `MAXMARGIN_RECORD=1 cargo test -p maxmargin-cli --test cli snapshots` rewrites the stored files;
//! those of real data only where it is at hand. Without a recording, whatever is stored must be
//! found again: every bit of every number, except where faer's Cholesky factors take part (see
//! `Case::exact`), whose bits may differ between instruction sets. There floats may differ by 1e-9,
//! and counts not at all. `MAXMARGIN_EXACT=1` asks for every bit there too: for a comparison on the
//! machine that has recorded. Every run has a seed, a memory budget and one thread, so that nothing
//! depends on the machine.

mod cases;
mod extract;
mod numbers;
mod store;

use crate::common::Bench;
use cases::{Case, Group, Run};
use extract::Numbers;
use maxmargin_testkit::outside::data_file;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A sequence in (-0.5, 0.5) that is the same everywhere.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 17_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }
}

/// Four classes of unequal size that overlap, three features, one of them of no use.
fn four(rows: usize) -> String {
    let mut noise = noise();
    let places = [(-3, -1.0, 0.0), (1, 1.0, 0.0), (1, 1.0, 0.25), (5, 0.0, 1.5), (12, 0.5, -1.0)];
    let line = |i: usize| {
        let (label, x, y) = places[i % places.len()];
        format!("{label} 1:{} 2:{} 3:{}\n", x + 2.0 * noise(), y + 2.0 * noise(), noise())
    };
    (0..rows).map(line).collect()
}

/// The products of two features among rows of two classes.
fn kernel(rows: usize) -> String {
    let mut noise = noise();
    let place = |i: usize| if i.is_multiple_of(2) { 0.25 } else { -0.25 };
    let points: Vec<[f64; 2]> = (0..rows).map(|i| [place(i) + noise(), noise()]).collect();
    points.iter().enumerate().fold(String::new(), |mut text, (i, a)| {
        let _ = write!(text, "{} 0:{}", if place(i) > 0.0 { 1 } else { -1 }, i + 1);
        for (j, b) in points.iter().enumerate() {
            let _ = write!(text, " {}:{}", j + 1, a[0] * b[0] + a[1] * b[1]);
        }
        text + "\n"
    })
}

/// Adds how the program ended.
fn ended(found: &mut Numbers, what: &str, code: i32) {
    found.push((format!("{what} exit"), code.to_string()));
}

/// Runs a case on `threads` threads; its data is generated, or the file `real`.
fn run(case: &Case, real: Option<&Path>, threads: usize) -> Numbers {
    let bench = Bench::new();
    bench.file("four", four(240));
    bench.file("kernel", kernel(60));
    let (source, size) = case.data.split_once(' ').unwrap_or((case.data, ""));
    let source = real.map_or_else(|| source.to_owned(), |file| file.display().to_string());
    let (short, long) =
        (format!("--threads {threads} --quiet --json"), format!("--memory 1G --threads {threads} --quiet --json"));
    let data = format!("{source} {size} --seed 1");
    let options = case.options;
    let mut found = Numbers::new();
    let mut tell = |what: &str, line: &str, extract: fn(&str) -> Numbers| {
        let answer = bench.run(line);
        assert!(!answer.out.is_empty(), "{}: {line}: {answer:?}", case.name());
        ended(&mut found, what, answer.code);
        found.extend(extract(&answer.out));
    };
    match case.run {
        Run::Train => tell("train", &format!("train {data} {options} {long} -o model"), extract::train),
        Run::Cv => tell("cv", &format!("cv {data} {options} {long}=full -o tested"), extract::cv),
        Run::Loo => tell("loo", &format!("loo {data} {options} {long}=full -o tested"), extract::cv),
        Run::Grid => tell("grid", &format!("grid {data} {options} {long}"), extract::grid),
        Run::Update(change) => {
            tell("train", &format!("train {data} {options} {long} --updatable -o model"), extract::train);
            tell("update", &format!("update model {change} {long}"), |json| renamed("update", extract::update(json)));
        }
    }
    if let Run::Train | Run::Update(_) = case.run {
        // An updated model keeps its data, which is no longer that of the command line.
        let of = if matches!(case.run, Run::Train) { data.as_str() } else { "" };
        tell("verify", &format!("verify model {of} {short}"), extract::verify);
        tell("predict", &format!("predict {data} model --decision -o decisions {short}"), |_| Numbers::new());
        found.extend(extract::decisions(&bench.read("decisions")));
    } else if let Run::Cv | Run::Loo = case.run {
        found.extend(extract::tested(&bench.read("tested")));
    }
    found
}

fn renamed(prefix: &str, found: Numbers) -> Numbers {
    found.into_iter().map(|(name, value)| (format!("{prefix} {name}"), value)).collect()
}

/// Records or compares; the lines of a report on what differs.
fn check(group: &Group, real: &[PathBuf]) -> Vec<String> {
    let cases = group.cases.iter().enumerate().map(|(i, case)| (case.name(), run(case, real.get(i).map(PathBuf::as_path), 1)));
    let cases: Vec<(String, Numbers)> = cases.collect();
    if store::recording() {
        store::write(group.name, &cases);
        return Vec::new();
    }
    let stored = store::read(group.name);
    let bits = std::env::var_os("MAXMARGIN_EXACT").is_some();
    let mut report = Vec::new();
    for (case, (name, found)) in group.cases.iter().zip(&cases) {
        report.extend(store::differences(name, &stored[name.as_str()], found, bits || case.exact()));
    }
    for name in stored.as_object().into_iter().flat_map(|cases| cases.keys()) {
        if !cases.iter().any(|(case, _)| case == name) {
            report.push(format!("{name}: stored, and no case of {}", group.name));
        }
    }
    report
}

#[test]
fn numbers_are_what_they_were() {
    let report: Vec<String> = cases::made().iter().flat_map(|group| check(group, &[])).collect();
    assert!(report.is_empty(), "{} differences:\n{}", report.len(), report.join("\n"));
}

#[test]
fn numbers_of_real_data_are_what_they_were() {
    let mut report = Vec::new();
    for group in cases::real() {
        let files: Option<Vec<PathBuf>> = group.cases.iter().map(|case| data_file(case.data)).collect();
        report.extend(files.iter().flat_map(|files| check(&group, files)));
    }
    assert!(report.is_empty(), "{} differences:\n{}", report.len(), report.join("\n"));
}

#[test]
fn two_threads_give_the_numbers_of_one() {
    let banana = "banana --rows 300";
    for (run_of, data, options) in [
        (Run::Train, banana, "-c 2 -g 0.5"),
        (Run::Train, "four", "-c 2 -g 0.5"),
        (Run::Train, "four", "-c 0.5 --kernel linear"),
        (Run::Cv, banana, "-k 4 -c 5 -g 0.5"),
        (Run::Cv, banana, "-k 4 -c 5 -g 0.5 --seeding sir"),
        (Run::Cv, banana, "-k 3 -c 0.5 --kernel linear"),
        (Run::Cv, "four", "-k 4 -c 5 -g 0.5"),
        (Run::Cv, "four", "-k 3 -c 2 -g 0.5 --loss squared"),
    ] {
        let case = Case { run: run_of, data, options };
        // Who computes a kernel row that several folds need is a matter of time.
        let found = |threads| -> Numbers {
            run(&case, None, threads).into_iter().filter(|(name, _)| !name.ends_with("rows_computed")).collect()
        };
        assert_eq!(found(1), found(2), "{}", case.name());
    }
}
