//! The spellings of options, the help, and the advice for the options of other programs.

use crate::common::{Bench, SMALL};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.file("small", SMALL);
    bench
}

#[test]
fn long_and_short_options_are_the_same() {
    let bench = bench();
    let model = |name: &str| std::fs::read(bench.path(name)).expect("a model");
    for (short, long) in [
        ("-c 2 -g 0.5", "--cost 2 --gamma 0.5 --kernel RBF"),
        ("--kernel poly -d 2 -r 1 -g 1", "--kernel Poly --degree 2 --coef0 1 --gamma 1"),
    ] {
        for (options, name) in [(short, "short"), (long, "long")] {
            let answer = bench.run(&format!("train small {options} --memory 1 -o {name} -q"));
            assert_eq!(answer.code, 0, "{answer:?}");
        }
        assert_eq!(model("short"), model("long"), "{long}");
    }
    let scores = |line: &str| {
        let document = bench.json(&format!("{line} -q"));
        (document["k"].clone(), document["scores"].clone(), document["best"].clone())
    };
    assert_eq!(scores("cv small -k 3 -c 2"), scores("cv small --folds 3 --cost 2"));
    assert_eq!(scores("grid small -c 1,2 -g 1 -k 3"), scores("grid small --cost 1,2 --gamma 1 --folds=3 --kernel Rbf"));
}

/// `--folds 5` once looked for a file of this name.
#[test]
fn a_number_of_folds_is_no_file() {
    let bench = bench();
    assert_eq!(bench.json("cv small --folds 3")["k"], 3);
    let twice = bench.run("cv small --folds 3 -k 4");
    assert!(twice.code == 2 && twice.err.contains("multiple times"), "{twice:?}");
    assert!(bench.run("cv small --folds 1").err.contains("at least 2 folds"));
    bench.file("2", "0\n1\n".repeat(6));
    assert_eq!(bench.json("cv small --folds ./2")["fold_plan"], bench.json("cv small --folds=./2")["fold_plan"]);
    assert_eq!(
        (bench.json("cv small --folds 2")["k"].clone(), bench.json("cv small --folds shuffled -k 4")["k"].clone()),
        (2.into(), 4.into())
    );
}

#[test]
fn options_of_other_programs_lead_to_ours() {
    let bench = bench();
    for (line, says) in [
        ("train small --class-weight balanced", "--weight"),
        ("train small --gama 1", "--gamma"),
        ("predict small m --verbose", "--quiet"),
        ("train small -s 1", "--formulation NAME; `maxmargin svm-train`"),
        ("train small -t 0", "--kernel NAME; `maxmargin svm-train`"),
        ("train small -v 5", "the command cv with -k N; `maxmargin svm-train`"),
        ("train small -b 1", "--probability platt; `maxmargin svm-train`"),
        ("cv small --tol 0.1", "--eps"),
        ("train small --memory 4096", "4096M"),
    ] {
        let answer = bench.run(line);
        assert!(answer.code == 2 && answer.err.starts_with("error: ") && answer.err.contains(says), "{line}: {answer:?}");
    }
    let other = bench.run("train small --frobnicate");
    assert!(other.code == 2 && !other.err.contains("LIBSVM's"), "{other:?}");
}

#[test]
fn short_help_fits_a_screen() {
    let bench = bench();
    for command in ["train", "grid"] {
        let short = bench.run(&format!("{command} -h"));
        assert_eq!(short.code, 0, "{short:?}");
        assert!(short.out.lines().count() <= 24, "{} lines:\n{}", short.out.lines().count(), short.out);
        assert!(short.out.lines().all(|line| line.chars().count() <= 80), "{}", short.out);
        assert_eq!(short.out.matches(&format!("  maxmargin {command} ")).count(), 3, "{}", short.out);
        let long = bench.run(&format!("{command} --help"));
        for option in ["--equal-rows", "--no-shrinking", "--solver"] {
            assert!(!short.out.contains(option) && long.out.contains(option), "{command} {option}");
        }
    }
    let cv = bench.run("cv -h");
    assert!(cv.out.contains("--folds") && !cv.out.contains("--seeding") && bench.run("cv --help").out.contains("--seeding"));
}

/// The model of `predict` once stood among the options of tables, and `-o` among probabilities.
#[test]
fn headings_are_those_of_their_options() {
    let bench = bench();
    let heading = |command: &str, option: &str| {
        let help = bench.run(&format!("{command} --help")).out;
        let mut found = None;
        for line in help.lines() {
            let is_heading = !line.starts_with(' ') && line.ends_with(':');
            found = if is_heading { Some(line.to_owned()) } else { found };
            if line.trim_start().starts_with(option) {
                return found.unwrap_or_default();
            }
        }
        panic!("{command}: no {option}")
    };
    for (command, option, under) in [
        ("predict", "<MODEL>", "Arguments:"),
        ("verify", "[DATA]", "Arguments:"),
        ("predict", "-o,", "Predictions:"),
        ("predict", "--id", "Predictions:"),
        ("explain", "<MODEL>", "Arguments:"),
        ("explain", "--background", "Explanation:"),
        ("explain", "--plot", "Output:"),
        ("export", "<MODEL>", "Arguments:"),
        ("export", "--onnx", "Formats:"),
        ("loo", "--suspects", "Output:"),
        ("train", "-o,", "Output:"),
        ("grid", "-o,", "Output:"),
        ("grid", "--csv", "Output:"),
        ("train", "--probability", "Probabilities, threshold:"),
    ] {
        assert_eq!(heading(command, option), under, "{command} {option}");
    }
}

/// Colours are for terminals alone.
#[test]
fn pipes_have_no_colours() {
    let bench = bench();
    let failed = bench.run("train gone");
    assert!(failed.err.starts_with("error: ") && !failed.err.contains('\u{1b}'), "{failed:?}");
    let grid = bench.run("grid small -c 1,2 -g 1,2 -k 3");
    assert!(!grid.out.contains('\u{1b}') && !grid.err.contains('\u{1b}'), "{grid:?}");
}
