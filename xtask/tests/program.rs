//! The program from outside: data sets from a mirror, and a whole table measured with a stand-in
//! for the measured binary.
#![cfg(unix)]

use maxmargin_testkit::outside::data_file;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Answers as maxmargin-bench would: sir takes half the iterations of the others, mir misses its
/// tolerance, top fails.
const STAND_IN: &str = r#"#!/bin/sh
request=$(cat)
case "$request" in
*'"seeding":"sir"'*) iterations=500; kkt=0.0009 ;;
*'"seeding":"mir"'*) iterations=400; kkt=0.0011 ;;
*'"seeding":"top"'*) echo "no such seed" >&2; exit 2 ;;
*) iterations=1000; kkt=0.0009 ;;
esac
echo "{\"iterations\":$iterations,\"kkt\":$kkt,\"accuracy\":55.5,\"rows_computed\":270,\"kernel_seconds\":0.01}"
"#;

const PEER: &str = "#!/bin/sh\necho 'optimization finished, #iter = 700'\necho 'Cross Validation Accuracy = 55.5%'\n";

fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("write");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
    path
}

fn xtask(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).env_remove("MAXMARGIN_DATA").output().expect("xtask runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_table_is_measured_and_rendered() {
    let folder = tempfile::tempdir().expect("folder");
    let bench = program(folder.path(), "bench", STAND_IN);
    let raw = folder.path().join("out/run.jsonl");
    let measure = |extra: &[&str]| {
        let fixed = ["bench", "alpha-seeding", "--table", "1", "--only", "two-gaussians", "--repeats", "2", "--uncommitted"];
        let paths = ["--bench-bin", bench.to_str().expect("path"), "--out", raw.to_str().expect("path")];
        xtask(&[&fixed[..], &paths[..], extra].concat())
    };
    let done = measure(&[]);
    let said = text(&done.stderr);
    assert!(!done.status.success(), "two variants do not count");
    assert!(said.contains("mir: KKT violation 1.10e-3 exceeds") && said.contains("no such seed"), "{said}");

    // Ten variants, two repeats, in turn; LIBSVM's folds need a file.
    let lines = fs::read_to_string(&raw).expect("raw");
    assert_eq!(lines.lines().count(), 20);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().expect("line")).expect("json");
    assert_eq!((&first["repeat"], &first["measured"]["kernel_seconds"]), (&0.into(), &0.01.into()));
    assert!(first["machine"]["rustc"].as_str().is_some_and(|version| version.starts_with("rustc")), "{first}");
    let repeats: Vec<bool> = lines.lines().map(|line| line.contains("\"repeat\":1")).collect();
    assert!(repeats.is_sorted(), "all cells once before any cell twice");

    let report = fs::read_to_string(raw.with_extension("md")).expect("report");
    let row = |variant: &str| {
        report.lines().find(|l| l.contains(&format!("folds=contiguous | {variant} |"))).expect(variant).to_owned()
    };
    assert!(row("sir").contains("| 500 |") && row("sir").ends_with("| 9.0e-4 |"), "{}", row("sir"));
    assert!(!row("mir").contains("| 400 |") && row("mir").contains("exceeds the tolerance"), "{}", row("mir"));
    assert!(row("top").contains("no such seed"), "{}", row("top"));
    let plot = fs::read_to_string(raw.with_file_name("run-table1.svg")).expect("plot");
    assert!(plot.contains("two-gaussians") && plot.contains("<rect"), "bars");

    // The command of a row adds that row's two repeats and no other; rendering alone changes
    // nothing.
    let command =
        "cargo xtask bench alpha-seeding --table 1 --only two-gaussians --setting folds=contiguous --variant sir --repeats 2";
    assert!(report.lines().any(|line| line == command), "{report}");
    assert!(measure(&["--setting", "folds=contiguous", "--variant", "sir"]).status.success());
    assert_eq!(fs::read_to_string(&raw).expect("raw").lines().count(), 22);
    let unknown = measure(&["--variant", "sri"]);
    assert!(
        !unknown.status.success() && text(&unknown.stderr).contains("nothing is called `sri`; there is:\n  ato\n  auto\n  avg")
    );
    let again = measure(&["--render"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    let same = xtask(&["bench-diff", raw.to_str().expect("path"), raw.to_str().expect("path")]);
    assert!(same.status.success() && text(&same.stdout).contains("1.00"), "{}", text(&same.stdout));
}

#[test]
fn a_tree_with_changes_is_not_measured() {
    let folder = tempfile::tempdir().expect("folder");
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/maxmargin-repro/specs");
    let specs = folder.path().join("tree/crates/maxmargin-repro/specs");
    fs::create_dir_all(&specs).expect("folders");
    for spec in fs::read_dir(ours).expect("specs") {
        let spec = spec.expect("a spec");
        fs::copy(spec.path(), specs.join(spec.file_name())).expect("a copy");
    }
    let tree = folder.path().join("tree");
    let git = |arguments: &str| {
        let who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"];
        let done = Command::new("git").args(who).args(arguments.split(' ')).current_dir(&tree).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    let bench = program(folder.path(), "bench", &STAND_IN.replace("exit 2", "exit 0"));
    let raw = folder.path().join("out/run.jsonl");
    let measure = |more: &[&str]| {
        let fixed = ["bench", "alpha-seeding", "--table", "1", "--only", "two-gaussians", "--bench-bin"];
        let paths = [bench.to_str().expect("path"), "--out", raw.to_str().expect("path")];
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(fixed).args(paths).args(more).env("CARGO_MANIFEST_DIR", tree.join("xtask"));
        text(&command.output().expect("xtask runs").stderr)
    };
    git("init -q");
    git("add .");
    git("commit -q -m specs");
    fs::write(specs.join("more.toml"), "").expect("a change");
    let said = measure(&[]);
    assert!(said.contains("the tree has changes") && said.contains("--uncommitted"), "{said}");
    assert!(!raw.exists(), "nothing was measured");
    // There is nothing else here: what goes on fails later.
    assert!(!measure(&["--uncommitted"]).contains("the tree has changes"));
    fs::remove_file(specs.join("more.toml")).expect("as committed");
    assert!(!measure(&[]).contains("the tree has changes"));
}

#[test]
fn peers_run_on_the_same_file() {
    let folder = tempfile::tempdir().expect("folder");
    let Some(data) = mirror() else { return };
    let bench = program(folder.path(), "bench", &STAND_IN.replace("exit 2", "exit 0"));
    let peer = format!("svm-train={}", program(folder.path(), "peer", PEER).display());
    let raw = folder.path().join("run.jsonl");
    let paths = ["--bench-bin", bench.to_str().expect("path"), "--out", raw.to_str().expect("path"), "--data", &data];
    let options = ["bench", "alpha-seeding", "--uncommitted", "--table", "1", "--only", "heart", "--peers", "--peer", &peer];
    xtask(&[&options[..], &paths[..]].concat());
    let lines = fs::read_to_string(&raw).expect("raw");
    assert_eq!(lines.lines().filter(|line| line.contains("\"program\":\"LIBSVM\"")).count(), 1, "once for both fold plans");
    assert!(
        lines.contains("a29dc2c92ec163987895c167cf9b078d77055af5bc91eccfdda44668a22f4cd3"),
        "the data's hash is written down"
    );
    let report = fs::read_to_string(raw.with_extension("md")).expect("report");
    let row = report.lines().find(|line| line.contains("folds=libsvm | sir |")).expect("row of the wide table");
    assert!(row.contains("| 3,968 | 500 | 0.126 | 700 | 55.56 | 55.50 |"), "{row}");
}

/// Answers as maxmargin-bench would to a linear training: AVSF is cut off, LIBLINEAR needs its
/// program.
const LINEAR: &str = r#"#!/bin/sh
request=$(cat)
status=Converged; seconds=0.5
case "$request" in
*'"solver":"avsf"'*) status=TimeLimit; seconds=100.5 ;;
*'"solver":"liblinear"'*) case "$request" in *'"program":"'*) ;; *) exit 2 ;; esac; seconds=0.25 ;;
esac
case "$request" in *'"bounds":"'*) ;; *) exit 2 ;; esac
echo "{\"kkt\":0.0001,\"status\":\"$status\",\"train_seconds\":$seconds,\"process_seconds\":$seconds,\"excess\":0.001,\"limit_seconds\":100}"
"#;

#[test]
fn a_figure_measures_the_tables_that_it_draws() {
    let folder = tempfile::tempdir().expect("folder");
    let bench = program(folder.path(), "bench", LINEAR);
    let liblinear = program(folder.path(), "uncapped", "#!/bin/sh\n");
    let raw = folder.path().join("out/run.jsonl");
    let path = |of: &Path| of.to_str().expect("path").to_owned();
    let problem = "synthetic rcv1-like small";
    let paths = ["--bench-bin", &path(&bench), "--out", &path(&raw), "--liblinear", &path(&liblinear)];
    let done = xtask(&[&["bench", "linear", "--figure", "1", "--quick", "--only", problem][..], &paths[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let lines = fs::read_to_string(&raw).expect("raw");
    // Two tables, three values of C, our three solvers and the program that was named; the
    // installed one needs --peers.
    assert_eq!(lines.lines().count(), 24);
    assert!(!lines.contains(&path(folder.path())), "records are published");
    let report = fs::read_to_string(raw.with_extension("md")).expect("report");
    let row = |variant: &str| report.lines().find(|line| line.contains(&format!("c=1 | {variant} |"))).expect(variant).to_owned();
    assert!(row("AVSF").contains("| > 100 |") && row("AVSF").ends_with("| cut off |"), "{}", row("AVSF"));
    assert!(row("LIBLINEAR, no cap").contains("| 0.25 |"), "{}", row("LIBLINEAR, no cap"));
    assert!(report.contains("(run-figure1.svg)") && report.contains("*Figure 1: seconds"), "{report}");
    let plot = fs::read_to_string(raw.with_file_name("run-figure1.svg")).expect("plot");
    assert!(plot.contains(problem) && plot.contains("baseline") && !plot.contains("AVSF"), "a line ends where a run was cut off");
}

#[test]
fn data_from_a_mirror() {
    let folder = tempfile::tempdir().expect("folder");
    let Some(data) = mirror() else { return };
    let out = folder.path().to_str().expect("path");
    let take = |name: &str| xtask(&["datasets", "--mirror", &data, "--out", out, name]);
    let first = take("heart");
    assert!(text(&first.stdout).contains("installed from the mirror"), "{}", text(&first.stderr));
    assert!(text(&take("heart").stdout).contains("already here"));
    fs::write(folder.path().join("heart"), "damaged").expect("write");
    assert!(text(&take("heart").stdout).contains("installed from the mirror"));
    let unknown = take("hart");
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("--list"));
}

/// The folder of real data; without one these tests have nothing to say.
fn mirror() -> Option<String> {
    Some(data_file("heart")?.parent()?.to_string_lossy().into_owned())
}

/// Answers as LIBLINEAR's train and as ours: a model without weights within the gap at any `-e`,
/// or one that is far away and at the cap.
const TRAIN: &str = r#"#!/bin/sh
for model; do :; done
features='0 0 0 0 0 0 0 0 0 0 0 0'
case "$*" in
*--certificate*) first=0; echo "certificate: primal = 270, dual = 269.9, relative gap = 3e-4, KKT violation = 0" ;;
liblinear-train*) first=0 ;;
*) first=WEIGHT; echo "WARNING: reaching max number of iterations" ;;
esac
{ printf 'solver_type X\nnr_class 2\nlabel 1 -1\nnr_feature 13\nbias -1\nw\n'; printf '%s\n' $first $features; } > "$model"
"#;

#[test]
fn liblinears_solvers_are_compared_at_equal_gap() {
    let Some(data) = mirror() else { return };
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    program(folder.path(), "near", &TRAIN.replace("WEIGHT", "0"));
    program(folder.path(), "far", &TRAIN.replace("WEIGHT", "20"));
    let measure = |theirs: &str, more: &[&str]| {
        let [ours, theirs] = [format!("maxmargin={}", at("near")), format!("liblinear-train={}", at(theirs))];
        let problem = ["liblinear", "--only", "heart_scale", "--solver", "3", "--uncommitted"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(problem).args(["--program", &ours, "--program", &theirs, "--out", &at("out")]).args(more);
        command.env("MAXMARGIN_DATA", &data).output().expect("xtask runs")
    };
    let done = measure("near", &[]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let page = fs::read_to_string(at("out/liblinear.md")).expect("page");
    assert!(page.contains("| heart_scale | 3 | hinge, dual |") && page.contains("| 3.7e-4 | 3.7e-4 | 1e0 |"), "{page}");
    assert!(page.contains("does not reach the gap in\n0 of them"), "{page}");
    // Far from the optimum at its cap of sweeps, LIBLINEAR is a lower bound.
    assert!(measure("far", &[]).status.success());
    let page = fs::read_to_string(at("out/liblinear.md")).expect("page");
    assert!(page.contains("| its cap |") && page.contains("does not reach the gap in\n1 of them"), "{page}");
    assert_eq!(fs::read_to_string(at("out/liblinear.jsonl")).expect("lines").lines().count(), 1);
    // A model of ours that is not within the gap, and an unknown solver.
    let fault = measure("near", &["--gap", "1e-4"]);
    assert!(!fault.status.success() && text(&fault.stderr).contains("did not reach a gap of 1e-4"), "{}", text(&fault.stderr));
    let unknown = xtask(&["liblinear", "--solver", "8"]);
    assert!(text(&unknown.stderr).contains("LIBLINEAR has no -s 8"), "{}", text(&unknown.stderr));
}
