//! LIBLINEAR's programs beside ours, and models in the formats of others.

use crate::common::{Answer, Bench, SMALL, answer};
use maxmargin_testkit::outside;
use std::process::{Command, Stdio};

fn theirs(bench: &Bench, line: &str) -> Answer {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().expect("a program"));
    answer(command.current_dir(bench.folder()).args(words).stdin(Stdio::null()))
}

/// A folder with `heart` and `digits` in it, where the genuine programs and the data are at hand.
fn folder() -> Option<Bench> {
    ["liblinear-train", "liblinear-predict"].iter().all(|name| outside::program(name).is_some()).then_some(())?;
    let bench = Bench::new();
    bench.file("heart", outside::data_text("heart_scale")?);
    let digits = String::from_utf8(outside::data_text("pendigits")?).expect("text");
    // Scaled to 0 … 1, so that LIBLINEAR comes near its optimum.
    let scaled = |word: &str| match word.split_once(':') {
        Some((index, value)) => format!("{index}:{}", value.parse::<f64>().expect("a value") / 100.0),
        None => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(scaled).collect::<Vec<_>>().join(" ") + "\n";
    bench.file("digits", digits.lines().take(300).map(line).collect::<String>());
    Some(bench)
}

fn field(out: &str, name: &str) -> Vec<f64> {
    let value = |line: &str| line.strip_prefix(name)?.trim().parse().ok();
    out.lines().filter_map(value).collect()
}

#[test]
fn every_solver_reaches_liblinears_optimum_and_predicts_the_same() {
    let Some(bench) = folder() else { return };
    // Debian's LIBLINEAR has no -s 21 before 2.40, and no options -n and -R.
    let old = !theirs(&bench, "liblinear-train").out.contains("-R ");
    let mut cases = vec![
        ("heart", "-s 1"),
        ("heart", "-s 1 -c 0.25 -B 1 -w1 3"),
        ("heart", "-s 2 -B 2"),
        ("heart", "-s 3 -c 0.5"),
        ("heart", "-s 11 -B 1"),
        ("heart", "-s 12 -p 0.3"),
        ("heart", "-s 13 -B 1 -p 0.2"),
        ("digits", "-s 1 -c 0.1"),
        ("digits", "-s 2 -B 1 -w3 2"),
        ("digits", "-s 3 -c 0.5 -B 1"),
        ("heart", "-s 0 -B 2"),
        ("heart", "-s 7 -c 0.25 -B 1 -w1 3"),
        ("heart", "-s 5 -c 0.5"),
        ("heart", "-s 6 -B 1"),
        ("heart", "-s 4 -c 0.5 -B 1"),
        ("digits", "-s 0 -c 0.5"),
        ("digits", "-s 7 -B 1"),
        ("digits", "-s 5 -c 0.3"),
        ("digits", "-s 6 -B 1 -w3 2"),
        ("digits", "-s 4 -c 0.1 -w3 2"),
    ];
    if !old {
        cases.extend([
            ("heart", "-s 21 -n 0.3"),
            ("heart", "-s 0 -R -B 1"),
            ("heart", "-s 6 -R -B 1"),
            ("heart", "-s 2 -R -B 1"),
            ("heart", "-s 11 -R -B 1"),
        ]);
    }
    for (data, options) in cases {
        let genuine = theirs(&bench, &format!("liblinear-train {options} -e 1e-8 {data} theirs.model"));
        let ours = bench.run(&format!("liblinear-train {options} -e 1e-4 {data} ours.model"));
        assert_eq!((genuine.code, ours.code), (0, 0), "{options}: {ours:?}");
        // Its coordinate descent gives up far from the optimum of the hinge loss: then ours is
        // lower, and predicts something else.
        let gave_up = genuine.out.contains("reaching max number of iterations");
        let objectives = (field(&genuine.out, "Objective value ="), field(&ours.out, "Objective value ="));
        if !objectives.0.is_empty() {
            assert_eq!(objectives.0.len(), objectives.1.len(), "{options}");
            for (a, b) in objectives.0.iter().zip(&objectives.1) {
                let room = 1e-6 * a.abs() + 1e-6;
                assert!(*b <= a + room && (gave_up || *b >= a - room), "{options}: {a} {b}");
            }
        }
        let values = ["-s 11", "-s 12", "-s 13"].iter().any(|kind| options.starts_with(kind));
        let genuine = theirs(&bench, &format!("liblinear-predict {data} theirs.model theirs.out"));
        let ours = bench.run(&format!("liblinear-predict {data} ours.model ours.out"));
        theirs(&bench, &format!("liblinear-predict {data} ours.model crossed.out"));
        bench.run(&format!("liblinear-predict {data} theirs.model back.out"));
        // Two classes of a sample whose variables are between their bounds have the same value at
        // the optimum of Crammer and Singer's machine. LIBLINEAR's own labels differ between
        // tolerances.
        let has_ties = options.starts_with("-s 4");
        if !values && !gave_up && !has_ties {
            assert_eq!(genuine.out, ours.out, "{options}");
        }
        for (a, b) in [("theirs.out", "ours.out"), ("ours.out", "crossed.out"), ("theirs.out", "back.out")] {
            let (from, to) = (bench.read(a), bench.read(b));
            if values {
                let near = |(x, y): (&str, &str)| {
                    let (x, y): (f64, f64) = (x.parse().expect("a value"), y.parse().expect("a value"));
                    (x - y).abs() <= 1e-4 * (1.0 + x.abs())
                };
                assert!((gave_up && b == "ours.out") || from.lines().zip(to.lines()).all(near), "{options}: {a} {b}");
            } else if has_ties && b == "ours.out" {
                let others = from.lines().zip(to.lines()).filter(|(x, y)| x != y).count();
                assert!(others <= 6, "{options}: {others} of {} labels differ", from.lines().count());
            } else if !gave_up || b != "ours.out" {
                assert_eq!(from, to, "{options}: {a} {b}");
            }
        }
    }
}

#[test]
fn folds_are_liblinears() {
    let Some(bench) = folder() else { return };
    for (data, options) in [
        ("heart", "-s 1"),
        ("heart", "-s 3 -c 0.01 -B 1"),
        ("heart", "-s 12"),
        ("digits", "-s 2"),
        ("digits", "-s 3 -c 0.01"),
        ("heart", "-s 0 -B 1"),
        ("heart", "-s 5 -c 0.1"),
        ("digits", "-s 6 -B 1"),
        ("digits", "-s 4 -c 0.01"),
        ("digits", "-s 7 -c 0.5"),
    ] {
        let genuine = theirs(&bench, &format!("liblinear-train {options} -v 5 -q -e 1e-6 {data}"));
        let ours = bench.run(&format!("liblinear-train {options} -v 5 -q -e 1e-6 {data}"));
        let number = |out: &str| -> Vec<f64> { out.split([' ', '%', '\n']).filter_map(|word| word.parse().ok()).collect() };
        let (a, b) = (number(&genuine.out), number(&ours.out));
        assert!(!a.is_empty() && a.len() == b.len(), "{genuine:?} {ours:?}");
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs()), "{options} {data}: {a:?} {b:?}");
    }
}

#[test]
fn the_search_finds_liblinears_c() {
    let Some(bench) = folder() else { return };
    let genuine = theirs(&bench, "liblinear-train -C -s 2 -v 3 -e 1e-6 heart");
    let ours = bench.run("liblinear-train -C -s 2 -v 3 heart");
    let best = |out: &str| out.lines().find(|line| line.starts_with("Best C = ")).map(str::to_owned);
    assert_eq!(best(&genuine.out), best(&ours.out), "{genuine:?} {ours:?}");
    assert!(ours.out.starts_with("Doing parameter search with 3-fold cross validation.\nlog2c="), "{ours:?}");
    // The bias is a feature of every row.
    let first =
        |out: &str| out.lines().find(|line| line.starts_with("log2c=")).and_then(|line| line.get(..13)).map(str::to_owned);
    let [genuine, ours] =
        [theirs(&bench, "liblinear-train -C -s 2 -v 3 -B 3 heart"), bench.run("liblinear-train -C -s 2 -v 3 -B 3 heart")];
    assert_eq!(first(&genuine.out), first(&ours.out), "{genuine:?} {ours:?}");
}

#[test]
fn the_search_of_regression_finds_liblinears_c_and_p() {
    let Some(bench) = folder() else { return };
    for options in ["-p 0.1 -v 3", "-p 0.12 -v 3 -B 1", "-p 0.05 -c 0.25 -v 4"] {
        let genuine = theirs(&bench, &format!("liblinear-train -C -s 11 {options} -e 1e-9 heart"));
        let ours = bench.run(&format!("liblinear-train -C -s 11 {options} heart"));
        let best = |out: &str| -> Vec<String> {
            let line = out.lines().find(|line| line.starts_with("Best C = ")).unwrap_or_default().to_owned();
            line.split_whitespace().map(str::to_owned).collect()
        };
        let (a, b) = (best(&genuine.out), best(&ours.out));
        assert_eq!(a.len(), 12, "{genuine:?}");
        assert_eq!(a[..11], b[..11], "{options}: {genuine:?} {ours:?}");
        let [x, y] = [&a[11], &b[11]].map(|error| error.parse::<f64>().expect("an error"));
        assert!((x - y).abs() <= 1e-4 * x, "{options}: {x} {y}");
        // Every line that LIBLINEAR prints, it may end earlier.
        let tried = |out: &str| out.lines().filter(|line| line.starts_with("log2c=")).map(str::to_owned).collect::<Vec<_>>();
        let (there, here) = (tried(&genuine.out), tried(&ours.out));
        let known = |line: &String| here.iter().any(|own| own[..24] == line[..24]);
        assert!(!there.is_empty() && there.iter().all(known), "{options}: {there:?} {here:?}");
    }
}

#[test]
fn the_search_of_logistic_regression_finds_liblinears_c() {
    let Some(bench) = folder() else { return };
    let genuine = theirs(&bench, "liblinear-train -C -s 0 -v 3 -e 1e-6 heart");
    let ours = bench.run("liblinear-train -C -s 0 -v 3 heart");
    let lines =
        |out: &str, name: &str| -> Vec<String> { out.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect() };
    assert_eq!(lines(&genuine.out, "Best C = "), lines(&ours.out, "Best C = "), "{genuine:?} {ours:?}");
    let (there, here) = (lines(&genuine.out, "log2c="), lines(&ours.out, "log2c="));
    assert!(!there.is_empty() && there.iter().all(|line| here.contains(line)), "{there:?} {here:?}");
}

#[test]
fn options_that_are_none_are_refused_by_name() {
    let bench = Bench::new();
    bench.file("data", SMALL);
    // LIBLINEAR's program has no weights of samples.
    for option in ["-x", "-W"] {
        let refused = bench.run(&format!("liblinear-train {option} 1 data"));
        let said = format!("unknown option: {option}\n");
        assert!(refused.code == 1 && refused.err == said && refused.out.starts_with("Usage: train"), "{refused:?}");
    }
    for solver in [4, 5] {
        let refused = bench.run(&format!("liblinear-train -q -s {solver} -C data"));
        assert!(refused.code == 1 && refused.err.contains("only available for -s 0, -s 2 and -s 11"), "{refused:?}");
        bench.run(&format!("liblinear-train -q -s {solver} data m"));
        let refused = bench.run("liblinear-predict -b 1 data m o");
        assert_eq!((refused.code, refused.err.as_str()), (1, "probability output is only supported for logistic regression\n"));
    }
    let refused = bench.run("liblinear-train -s 4 -R -B 1 data");
    assert!(refused.code == 1 && refused.err.starts_with("ERROR: -R option supported only"), "{refused:?}");
}

/// The hull of standardised data has the origin: the optimum is 0, and no relative gap is small.
#[test]
fn one_class_around_the_origin_is_solved() {
    let bench = Bench::new();
    let value = |i: u32, j: u32| f64::from(((4 * i + j + 1).wrapping_mul(2_654_435_769) >> 7) % 2001) / 1000.0 - 1.0;
    let line = |i: u32| (1..5).fold("1".to_owned(), |line, j| format!("{line} {j}:{}", value(i, j)));
    bench.file("round", (0..300).map(line).collect::<Vec<_>>().join("\n") + "\n");
    let trained = bench.run("liblinear-train -s 21 -n 0.1 round m");
    assert_eq!((trained.code, trained.err.as_str()), (0, ""), "{trained:?}");
    assert!(trained.out.contains("Objective value = 0.000000"), "{trained:?}");
}

/// One class has a model in which everything is of that class, as in LIBLINEAR.
#[test]
fn data_of_one_class_has_a_model() {
    let bench = Bench::new();
    bench.file("one", "3 1:1 2:0.5\n3 1:0.5\n");
    for solver in [0, 4, 5, 6, 7] {
        let trained = bench.run(&format!("liblinear-train -q -s {solver} one m"));
        assert_eq!((trained.code, trained.err.as_str()), (0, ""), "{solver}");
        assert!(bench.read("m").contains("nr_class 1\nlabel 3\n"), "{solver}: {}", bench.read("m"));
        assert_eq!(bench.run("liblinear-predict one m o").out, "Accuracy = 100% (2/2)\n", "{solver}");
    }
}

/// The certificate of every solver is within its goal, and models have the same bits for any number
/// of threads.
#[test]
fn certificates_hold_on_any_number_of_threads() {
    let Some(bench) = folder() else { return };
    for data in ["heart", "digits"] {
        for solver in [0, 4, 5, 6, 7] {
            let line =
                |threads: usize| format!("liblinear-train -s {solver} --certificate --threads {threads} {data} m{threads}");
            let [one, two] = [1, 2].map(|threads| bench.run(&line(threads)));
            // A line for each column, and one where all classes are one problem.
            let columns = if data == "heart" || solver == 4 { 1 } else { 10 };
            assert_eq!((one.code, one.out.matches("certificate: primal = ").count()), (0, columns), "{one:?}");
            assert!(!one.out.contains("not what") && one.err.is_empty(), "{one:?}");
            assert_eq!((&one.out, bench.read("m1")), (&two.out, bench.read("m2")), "-s {solver} {data}");
        }
    }
}

#[test]
fn probabilities_of_logistic_regression_are_liblinears() {
    let Some(bench) = folder() else { return };
    for data in ["heart", "digits"] {
        for (program, solver) in [("genuine", 0), ("ours", 0), ("ours", 6), ("ours", 7)] {
            let line = format!("liblinear-train -q -s {solver} {data} m");
            let trained = if program == "ours" { bench.run(&line) } else { theirs(&bench, &line) };
            assert_eq!(trained.code, 0, "{trained:?}");
            let genuine = theirs(&bench, &format!("liblinear-predict -b 1 {data} m theirs.out"));
            let ours = bench.run(&format!("liblinear-predict -b 1 {data} m ours.out"));
            assert_eq!((genuine.out, bench.read("theirs.out")), (ours.out, bench.read("ours.out")), "{program} {solver} {data}");
        }
    }
}

#[test]
fn models_are_converted_there_and_back() {
    let bench = Bench::new();
    bench.file("data", SMALL);
    bench.run("train data --kernel linear -o native -q");
    bench.run("predict data native -o expected -q");
    for format in ["libsvm", "liblinear"] {
        assert_eq!(bench.run(&format!("convert native there --format {format} --force")).code, 0);
        assert_eq!(bench.run("convert there back --format native --force").code, 0);
        bench.run("predict data back -o found -q");
        assert_eq!(bench.read("expected"), bench.read("found"), "{format}");
    }
    assert!(
        bench.read("there").starts_with("solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n")
    );
    bench.file("three", "1 1:1\n2 1:-1\n3 2:1\n1 1:0.75 2:0.125\n2 1:-0.5\n3 2:0.875\n");
    bench.run("train three --kernel linear --classes one-vs-rest -o several -q");
    assert_eq!(bench.run("convert several there --format liblinear --force").code, 0);
    assert_eq!(bench.run("convert there again --format native --force").code, 0);
    bench.run("predict three several -o expected -q");
    bench.run("predict three again -o found -q");
    assert_eq!(bench.read("expected"), bench.read("found"));
    bench.run("liblinear-predict three there linear");
    assert_eq!(bench.read("expected"), bench.read("linear"));
    bench.run("train data -o kernel -q");
    bench.run("train data --kernel linear --scale minmax -o scaled -q");
    for (model, format, name) in
        [("kernel", "liblinear", "rbf"), ("scaled", "libsvm", "scales"), ("scaled", "liblinear", "scales")]
    {
        let refused = bench.run(&format!("convert {model} never --format {format}"));
        assert!(refused.code == 1 && refused.err.contains(name) && refused.err.lines().count() == 1, "{refused:?}");
        assert!(!bench.path("never").exists());
    }
    let refused = bench.run("convert native data --format libsvm");
    assert!(refused.code == 1 && refused.err.contains("--force"), "{refused:?}");
}
