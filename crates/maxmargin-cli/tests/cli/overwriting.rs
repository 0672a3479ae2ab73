//! Files that a command would destroy by writing to them are refused without `--force`, whatever
//! name they go by.

use crate::common::{Answer, Bench, SMALL};

/// Runs a command that must refuse, with one line that holds `says`.
fn refused(bench: &Bench, line: &str, says: &str) {
    let Answer { code, err, out } = bench.run(line);
    assert!(code == 1 || code == 2, "{line}: {code} {err}");
    let errors: Vec<&str> = err.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{line}: {err}");
    assert!(errors[0].contains(says), "{line}: {} does not say {says:?}", errors[0]);
    assert!(out.is_empty(), "{line}: {out}");
}

/// Data, folds, numbers and a model that keeps its data.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("small", SMALL);
    bench.file("folds", "0\n1\n2\n".repeat(4));
    bench.file("numbers", "3\n");
    assert_eq!(bench.run("train small --updatable -o m -q").code, 0);
    assert_eq!(bench.run("scale small --save-range ranges -o scaled -q").code, 0);
    bench
}

#[test]
fn outputs_do_not_destroy_the_inputs() {
    let bench = bench();
    let model = std::fs::read(bench.path("m")).unwrap();
    let reads = "this command reads the file that it would overwrite; choose another name, or pass --force";
    for line in [
        "train small -o small",
        "train small -o ./small",
        "cv small -k 3 -o small",
        "cv small -k 3 --write-folds small",
        "cv small --folds folds --write-folds folds",
        "cv small --folds folds -o folds",
        "grid small -k 3 --write-folds small",
        "loo small -o small",
        "scale small -o small",
        "scale small --save-range small -o other",
        "scale small --range ranges -o ranges",
        "predict small m -o small",
        "predict small m -o m",
        "update m --remove 1 -o m2 --write-data m",
        "update m --remove numbers --write-data numbers",
        "update m --add small -o small",
    ] {
        refused(&bench, &format!("{line} -q"), reads);
        assert_eq!(bench.read("small"), SMALL, "{line}");
        assert!(std::fs::read(bench.path("m")).unwrap() == model, "{line}");
    }
    assert_eq!(bench.names(), ["folds", "m", "numbers", "ranges", "scaled", "small"]);
    // What is asked for twice is done: the data was read before it is replaced.
    assert_eq!(bench.run("scale small -o small --force -q").code, 0);
    assert_eq!(bench.read("small"), bench.read("scaled"));
    assert_eq!(bench.run("train small -o small --force -q").code, 0);
    assert!(std::fs::read(bench.path("small")).unwrap().starts_with(b"maxmargin-model"));
}

#[test]
#[cfg(unix)]
fn another_name_of_an_input_is_the_input() {
    let bench = bench();
    std::fs::hard_link(bench.path("small"), bench.path("hard")).unwrap();
    std::os::unix::fs::symlink("small", bench.path("soft")).unwrap();
    std::os::unix::fs::symlink("m", bench.path("model")).unwrap();
    for line in
        ["scale small -o hard", "scale small -o soft", "cv soft -k 3 -o hard", "update model --remove 1 -o m2 --write-data m"]
    {
        refused(&bench, &format!("{line} -q"), "this command reads the file");
        assert_eq!(bench.read("hard"), SMALL);
    }
    // Standard input is a file here.
    let mut command = bench.command("scale - -o small -q");
    command.stdin(std::fs::File::open(bench.path("small")).unwrap());
    let answer = crate::common::answer(&mut command);
    assert!(answer.code == 1 && answer.err.contains("this command reads the file"), "{answer:?}");
    assert_eq!(bench.read("small"), SMALL);
    // A model is updated in its place by any of its names.
    assert_eq!(bench.run("update model --remove 1 -q").code, 0);
    assert!(bench.path("model").is_symlink());
}

#[test]
fn files_of_another_kind_are_kept() {
    let bench = bench();
    bench.file("thesis", "years of work\n");
    refused(&bench, "train small -o thesis -q", "thesis: the file exists and is not a maxmargin model");
    refused(&bench, "update m --remove 1 -o thesis -q", "thesis: the file exists and is not a maxmargin model");
    bench.file("libsvm", "svm_type c_svc\nkernel_type rbf\n");
    refused(&bench, "train small -o libsvm -q", "not a maxmargin model");
    assert_eq!(bench.run("train small -o other -q").code, 0);
    for line in
        ["predict small m -o other", "cv small -k 3 -o other", "scale small -o other", "update m --remove 1 --write-data other"]
    {
        refused(&bench, &format!("{line} -q"), "other: the file is a model; text would overwrite it");
    }
    bench.file("small.model", "not one\n");
    refused(&bench, "train small -q", "small.model: the file exists");
    std::fs::create_dir(bench.path("folder")).unwrap();
    for force in ["", " --force"] {
        refused(&bench, &format!("train small -o folder -q{force}"), "folder: this is a directory");
    }
    assert_eq!((&bench.read("thesis")[..], &bench.read("small.model")[..]), ("years of work\n", "not one\n"));
    // Models are replaced by models, text by text, nothing by anything.
    bench.file("empty", "");
    for line in ["train small -o other", "train small -o empty", "predict small m -o thesis", "train small -o libsvm --force"] {
        assert_eq!(bench.run(&format!("{line} -q")).code, 0, "{line}");
    }
}

#[test]
#[cfg(unix)]
fn links_that_lead_nowhere_are_not_replaced() {
    let bench = bench();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, bench.path(name)).unwrap();
    link("nothing", "dangling");
    link("loop2", "loop1");
    link("loop1", "loop2");
    for name in ["dangling", "loop1"] {
        let says = format!("{name}: this is a dangling symbolic link");
        for line in [
            "train small -o",
            "predict small m -o",
            "scale small -o",
            "cv small -k 3 --write-folds",
            "update m --remove 1 --write-data",
        ] {
            refused(&bench, &format!("{line} {name} -q"), &says);
        }
        assert!(bench.path(name).is_symlink());
    }
    assert_eq!(bench.run("train small -o dangling --force -q").code, 0);
    assert_eq!(bench.run("verify dangling small -q").code, 0);
}

#[test]
fn two_outputs_do_not_go_to_one_file() {
    let bench = bench();
    let says = "two outputs of this command go to this file";
    for line in [
        "update m --remove 1 --write-data m",
        "update m --remove 1 -o new --write-data new",
        "update m --remove 1 -o new --write-data ./new",
        "cv small -k 3 -o new --write-folds new",
        "scale small -o new --save-range new",
        "scale small --save-range -",
    ] {
        refused(&bench, &format!("{line} -q"), says);
        refused(&bench, &format!("{line} -q --force"), says);
    }
    assert!(!bench.names().contains(&"new".to_owned()));
}

#[test]
fn scaled_files_can_be_read_again() {
    let bench = Bench::new();
    bench.file("data", "1 1:1 4294967294:2\n-1 1:2 4294967294:1\n");
    bench.file("ranges", "x\n-1 1\n1 0 2\n4294967294 0 3\n");
    assert_eq!(bench.run("scale data --range ranges -o out -q").code, 0);
    assert_eq!(bench.json("info out")["data"]["features"], 4_294_967_294_u32);
    // One more is an index that no file may have: the reader of ranges says so, and nothing is
    // written.
    bench.file("ranges", "x\n-1 1\n1 0 2\n4294967295 0 3\n");
    refused(
        &bench,
        "scale data --range ranges -o new -q",
        "line 4: `4294967295 0 3` should be a feature number of at most 4294967294",
    );
    assert!(!bench.names().contains(&"new".to_owned()));
}
