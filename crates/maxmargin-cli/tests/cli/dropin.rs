//! The drop-in programs beside the genuine ones: files, printed lines (but iterations),
//! predictions, folds.

use crate::common::{Answer, Bench, answer};
use maxmargin_testkit::outside;
use std::path::Path;
use std::process::{Command, Stdio};

/// Genuine program and ours on the same command line, in a folder with the test's files.
struct Pair {
    bench: Bench,
}

impl Pair {
    /// None where the genuine programs are not installed.
    fn new() -> Option<Self> {
        ["svm-train", "svm-predict", "svm-scale"].iter().all(|name| outside::program(name).is_some()).then_some(())?;
        Some(Self { bench: Bench::new() })
    }

    fn theirs(&self, line: &str) -> Answer {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        answer(command.current_dir(self.bench.folder()).args(words).stdin(Stdio::null()))
    }

    /// Returns the output of both programs for a line whose `%` stands for `theirs` and `ours`.
    fn both(&self, line: &str) -> (Answer, Answer) {
        (self.theirs(&line.replace('%', "theirs")), self.bench.run(&line.replace('%', "ours")))
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.bench.folder().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.bench.folder().join(name), text).expect("room");
    }
}

/// Printed lines without their progress marks and iterations: words, and numbers that may differ in
/// their last digits.
fn lines(out: &str) -> Vec<String> {
    let told = |line: &&str| !line.is_empty() && !line.chars().all(|c| matches!(c, '.' | '*')) && !line.contains("#iter");
    out.lines().filter(told).map(str::to_owned).collect()
}

/// Tolerance for LIBSVM's kernel values of 24 bits in thresholds and decision values.
const ROUNDED: f64 = 1e-4;

/// Returns whether two lines have the same words, and numbers that agree up to this relative
/// difference or the last printed digit.
fn agree(a: &str, b: &str, relative: f64) -> bool {
    let words = |line: &str| -> Vec<String> { line.split([' ', ',', '=', '%', '(', ')', '/']).map(str::to_owned).collect() };
    let (a, b) = (words(a), words(b));
    let same = |(x, y): (&String, &String)| match (x.parse::<f64>(), y.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= relative * x.abs().max(1.0) + 2e-6,
        _ => x == y,
    };
    a.len() == b.len() && a.iter().zip(&b).all(same)
}

fn assert_lines(theirs: &Answer, ours: &Answer, relative: f64, about: &str) {
    assert_eq!((theirs.code, ours.code), (0, 0), "{about}: {theirs:?} {ours:?}");
    let (theirs, ours) = (lines(&theirs.out), lines(&ours.out));
    assert_eq!(theirs.len(), ours.len(), "{about}:\n{theirs:#?}\n{ours:#?}");
    for (a, b) in theirs.iter().zip(&ours) {
        // LIBSVM's kernel values have 24 bits: its thresholds show that before its objectives do.
        let (objective, rho) = (|line: &str| line.split(", rho").next().unwrap_or_default().to_owned(), a.contains(", rho = "));
        assert!(agree(&objective(a), &objective(b), relative), "{about}:\n{a}\n{b}");
        assert!(!rho || agree(a, b, ROUNDED), "{about}:\n{a}\n{b}");
    }
}

fn heart(pair: &Pair) -> Option<()> {
    pair.write("heart", &String::from_utf8(outside::data_text("heart_scale")?).expect("text"));
    Some(())
}

/// A label, and the features of a row.
type Row = (String, Vec<(usize, f64)>);

/// Kernel values of the linear kernel of a file, as precomputed.
fn precomputed(text: &str) -> String {
    let row = |line: &str| -> Row {
        let mut words = line.split_whitespace();
        let label = words.next().expect("a label").to_owned();
        let pair = |word: &str| {
            let (index, value) = word.split_once(':').expect("index:value");
            (index.parse().expect("an index"), value.parse().expect("a value"))
        };
        (label, words.map(pair).collect())
    };
    let rows: Vec<_> = text.lines().map(row).collect();
    let dot = |a: &[(usize, f64)], b: &[(usize, f64)]| -> f64 {
        a.iter().map(|(j, v)| b.iter().find(|(k, _)| k == j).map_or(0.0, |(_, w)| v * w)).sum()
    };
    let line = |(i, (label, own)): (usize, &Row)| {
        let values = rows.iter().enumerate().map(|(j, other)| format!("{}:{:.12}", j + 1, dot(own, &other.1)));
        format!("{label} 0:{} {}\n", i + 1, values.collect::<Vec<_>>().join(" "))
    };
    rows.iter().enumerate().map(line).collect()
}

#[test]
fn every_type_and_kernel_prints_and_predicts_what_libsvm_does() {
    let Some(pair) = Pair::new() else { return };
    let Some(()) = heart(&pair) else { return };
    pair.write("values", &values());
    pair.write("matrix", &precomputed(&pair.text("heart")));
    let cases = [
        ("heart", "-s 0"),
        ("heart", "-s 0 -t 0 -c 0.5"),
        ("heart", "-s 0 -t 1 -r 1 -w1 2 -w-1 0.5"),
        ("heart", "-s 0 -t 3 -g 0.01"),
        ("heart", "-s 0 -c 100 -g 0.5 -h 0"),
        ("matrix", "-s 0 -t 4 -c 0.1"),
        ("heart", "-s 1 -n 0.3"),
        ("heart", "-s 2 -n 0.2"),
        ("values", "-s 3 -c 10 -p 0.05"),
        ("values", "-s 4 -n 0.4 -c 10"),
    ];
    for (data, options) in cases {
        let (theirs, ours) = pair.both(&format!("svm-train {options} -e 1e-7 {data} %.model"));
        assert_lines(&theirs, &ours, 1e-6, options);
        let (theirs, ours) = pair.both(&format!("svm-predict {data} %.model %.out"));
        // Rows of one class lie on its border, where the last digit decides.
        let about_values = options.contains("-s 3") || options.contains("-s 4");
        let border = options.contains("-s 2");
        assert!(
            border || lines(&theirs.out).iter().zip(&lines(&ours.out)).all(|(a, b)| agree(a, b, ROUNDED)),
            "{options}: {theirs:?} {ours:?}"
        );
        // Models go both ways.
        pair.theirs(&format!("svm-predict {data} ours.model crossed.out"));
        pair.bench.run(&format!("svm-predict {data} theirs.model back.out"));
        for (a, b) in [("theirs.out", "ours.out"), ("ours.out", "crossed.out"), ("theirs.out", "back.out")] {
            let (from, to) = (pair.text(a), pair.text(b));
            if about_values {
                assert!(from.lines().zip(to.lines()).all(|(x, y)| agree(x, y, ROUNDED)), "{options}: {a} {b}");
            } else if !border || b != "ours.out" {
                assert_eq!(from, to, "{options}: {a} {b}");
            }
        }
    }
}

/// A smooth function with noise from a generator of whole numbers.
fn values() -> String {
    let mut state = 12_345_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let row = |_| {
        let (a, b, noise) = (next(), next(), next());
        format!("{:.6} 1:{a:.6} 2:{b:.6}\n", (6.0 * a).sin() + b * b + 0.1 * noise)
    };
    (0..150).map(row).collect()
}

#[test]
fn folds_are_libsvms_sample_by_sample() {
    let Some(pair) = Pair::new() else { return };
    let Some(()) = heart(&pair) else { return };
    pair.write("values", &values());
    let few: String = pair.text("heart").lines().take(25).flat_map(|line| [line, "\n"]).collect();
    pair.write("few", &few);
    let alone: String = few.lines().filter(|line| line.starts_with("+1")).flat_map(|line| [line, "\n"]).collect();
    pair.write("alone", &alone);
    let mut cases = vec![
        ("heart", "-v 5"),
        ("heart", "-v 3 -t 0"),
        ("heart", "-v 10 -s 1 -n 0.4"),
        ("heart", "-v 4 -s 2"),
        ("few", "-v 25"),
        ("few", "-v 7 -c 10"),
        ("few", "-v 100"),
        ("alone", "-v 3"),
        ("values", "-v 5 -s 3 -e 1e-7"),
        ("values", "-v 5 -s 4 -e 1e-7"),
    ];
    if let Some(text) = outside::data_text("pendigits") {
        let text = String::from_utf8(text).expect("text");
        pair.write("digits", &text.lines().take(300).flat_map(|line| [line, "\n"]).collect::<String>());
        // With eight folds some training sets have classes of a few samples, with many vote ties.
        pair.write("scarce", &text.lines().take(40).flat_map(|line| [line, "\n"]).collect::<String>());
        cases.extend([
            ("digits", "-v 5 -g 0.0001"),
            ("scarce", "-v 8 -g 0.0001"),
            ("scarce", "-v 40 -g 0.0001"),
            ("scarce", "-v 8"),
        ]);
    }
    for (data, options) in cases {
        let (theirs, ours) = pair.both(&format!("svm-train {options} -q {data}"));
        assert_lines(&theirs, &ours, 1e-6, &format!("{options} {data}"));
        assert!(ours.out.starts_with("Cross Validation "), "{ours:?}");
    }
}

#[test]
fn one_class_of_data_is_a_constant() {
    let Some(pair) = Pair::new() else { return };
    pair.write("alone", "7 1:1\n7 1:2\n7 2:1\n");
    let (theirs, ours) = pair.both("svm-train -t 0 alone %.model");
    assert_lines(&theirs, &ours, 0.0, "one class");
    assert_eq!(pair.text("theirs.model").replace("rho \n", "rho\n"), pair.text("ours.model"));
    let (theirs, ours) = pair.both("svm-predict alone %.model %.out");
    assert_lines(&theirs, &ours, 0.0, "one class");
    assert_eq!(pair.text("ours.out"), "7\n7\n7\n");
}

#[test]
fn scaled_files_and_ranges_are_the_same_bytes() {
    let Some(pair) = Pair::new() else { return };
    let text = "3 1:0.1 2:7 5:-2\n-1 1:0.25 5:1e-5\n0 2:3 4:1\n2.5 1:0.1 2:7 4:1 5:123456.789\n";
    pair.write("data", text);
    pair.write("other", "1 1:0.9 2:1 3:5 6:2\n2 3:4 4:1\n");
    for options in ["", "-l 0", "-l -2.5 -u 3 -s %.range", "-y 0 1 -l 0 -s %.range"] {
        let (theirs, ours) = pair.both(&format!("svm-scale {options} data"));
        assert_eq!((theirs.code, &theirs.out, &theirs.err), (ours.code, &ours.out, &ours.err), "{options}");
        if options.contains("-s") {
            assert_eq!(pair.text("theirs.range"), pair.text("ours.range"), "{options}");
            let (theirs, ours) = (pair.theirs("svm-scale -r ours.range other"), pair.bench.run("svm-scale -r ours.range other"));
            assert_eq!((theirs.code, &theirs.out, &theirs.err), (ours.code, &ours.out, &ours.err), "{options}");
        }
    }
    for wrong in ["-l 1 -u 1 data", "-y 2 1 data", "-r a -s b data", "absent"] {
        let (theirs, ours) = pair.both(&format!("svm-scale {wrong}"));
        assert_eq!((theirs.code, theirs.err), (ours.code, ours.err), "{wrong}");
    }
}

#[test]
fn what_is_wrong_is_said_as_libsvm_says_it() {
    let Some(pair) = Pair::new() else { return };
    pair.write("data", crate::common::SMALL);
    pair.write("bad", "1 1:1\n-1 1:x\n");
    pair.write("twice", "1 1:1 1:2\n-1 1:1\n");
    // The same line on standard error.
    for line in [
        "svm-train -s 9 data",
        "svm-train -t 7 data",
        "svm-train -g -1 data",
        "svm-train -c 0 data",
        "svm-train -e 0 data",
        "svm-train -m 0 data",
        "svm-train -h 2 data",
        "svm-train -s 1 -n 2 data",
        "svm-train -s 3 -p -1 data",
        "svm-train absent",
        "svm-train data nowhere/model",
        "svm-train -t 4 data",
        "svm-train -q -w9 2 data %.model",
        "svm-predict absent m o",
        "svm-predict data absent o",
    ] {
        let (theirs, ours) = pair.both(line);
        assert_eq!((theirs.code, theirs.err), (ours.code, ours.err), "{line}");
    }
    // The same beginning: ours goes on with what is wrong there.
    for (line, begins) in [("svm-train bad", "Wrong input format at line 2"), ("svm-train twice", "Wrong input format at line 1")]
    {
        let (theirs, ours) = pair.both(line);
        assert_eq!(theirs.err.trim_end(), begins);
        assert!(ours.err.starts_with(&format!("{begins} (")) && ours.err.lines().count() == 1, "{line}: {ours:?}");
        assert_eq!((theirs.code, ours.code), (1, 1));
    }
    // Usages are on standard output, ours in our words; the line before them is on standard error.
    for line in [
        "svm-train",
        "svm-train -v 1 data",
        "svm-train -z 3 data",
        "svm-train -q",
        "svm-predict a b",
        "svm-scale",
        "svm-scale a b",
    ] {
        let (theirs, ours) = pair.both(line);
        assert_eq!((theirs.code, theirs.err), (ours.code, ours.err), "{line}");
        assert!(theirs.out.starts_with("Usage: svm-") && ours.out.starts_with("Usage: svm-"), "{line}");
    }
}

#[test]
fn models_are_named_after_their_data_in_the_current_folder() {
    let bench = Bench::new();
    std::fs::create_dir(bench.folder().join("deep")).expect("room");
    std::fs::write(bench.folder().join("deep/data.txt"), crate::common::SMALL).expect("room");
    let answer = bench.run("svm-train -q deep/data.txt");
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (0, "", ""));
    assert!(Path::new(&bench.folder().join("data.txt.model")).exists());
    let answer = bench.run("svm-train --certificate --threads 1 --memory 64M deep/data.txt");
    assert!(answer.out.contains("Total nSV = ") && answer.out.contains("certificate: primal = "), "{answer:?}");
}

#[test]
fn data_numbered_from_0_meet_models_numbered_from_1() {
    let Some(pair) = Pair::new() else { return };
    let Some(()) = heart(&pair) else { return };
    pair.write("from0", "1 0:1 1:0.5 3:1\n-1 1:0.5 3:1\n1 0:-7 2:1\n");
    pair.bench.run("svm-train -q heart ours.model");
    let theirs = pair.theirs("svm-predict from0 ours.model theirs.out");
    let ours = pair.bench.run("svm-predict from0 ours.model ours.out");
    assert_eq!((theirs.out, pair.text("theirs.out")), (ours.out, pair.text("ours.out")));
}

#[test]
fn probabilities_go_both_ways_and_are_near_libsvms() {
    let Some(pair) = Pair::new() else { return };
    let Some(()) = heart(&pair) else { return };
    pair.write("values", &values());
    let mut cases = vec![("heart", "-s 0"), ("heart", "-s 1 -n 0.4"), ("values", "-s 3 -c 10"), ("values", "-s 4 -c 10")];
    if let Some(text) = outside::data_text("pendigits") {
        let text = String::from_utf8(text).expect("text");
        pair.write("digits", &text.lines().take(300).flat_map(|line| [line, "\n"]).collect::<String>());
        cases.push(("digits", "-s 0 -g 0.0001 -c 10"));
    }
    for (data, options) in cases {
        let (theirs, ours) = pair.both(&format!("svm-train -b 1 {options} {data} %.model"));
        assert_eq!((theirs.code, ours.code), (0, 0), "{options}: {ours:?}");
        assert_eq!(theirs.out.contains("sigma= "), ours.out.contains("sigma= "), "{options}");
        for model in ["theirs.model", "ours.model"] {
            let a = pair.theirs(&format!("svm-predict -b 1 {data} {model} a"));
            let b = pair.bench.run(&format!("svm-predict -b 1 {data} {model} b"));
            assert!(a.code == 0 && a.out.lines().zip(b.out.lines()).all(|(x, y)| agree(x, y, ROUNDED)), "{options}: {a:?} {b:?}");
            let (a, b) = (pair.text("a"), pair.text("b"));
            assert!(
                options.contains("-s 3") || options.contains("-s 4") || a.lines().next() == b.lines().next(),
                "{options}: {a} {b}"
            );
            assert_eq!(a.lines().count(), b.lines().count());
            // LIBSVM couples several classes to a tolerance of 0.005 / k.
            let near = |(x, y): (&str, &str)| {
                let (x, y) = (x.split_whitespace(), y.split_whitespace());
                x.zip(y).skip(1).all(|(x, y)| match (x.parse::<f64>(), y.parse::<f64>()) {
                    (Ok(x), Ok(y)) => (x - y).abs() <= 2e-3,
                    _ => x == y,
                })
            };
            assert!(a.lines().zip(b.lines()).all(near), "{options} {model}");
        }
        let disabled = pair.bench.run(&format!("svm-predict {data} ours.model b"));
        assert!(disabled.out.starts_with("Model supports probability estimates, but disabled in prediction.\n"), "{disabled:?}");
    }
    let plain = pair.bench.run("svm-train -q -s 0 heart plain");
    let (theirs, ours) = pair.both("svm-predict -b 1 heart plain %.out");
    assert_eq!((plain.code, theirs.code, theirs.err), (0, ours.code, ours.err));
    // Debian's LIBSVM has no probabilities of one class.
    pair.bench.run("svm-train -q -s 2 -b 1 -n 0.3 heart one");
    let one = pair.bench.run("svm-predict -b 1 heart one one.out");
    let (text, out) = (pair.text("one.out"), one.out);
    assert!(text.starts_with("label normal outlier\n") && out.starts_with("Accuracy = "), "{out}");
    let folds = pair.bench.run("svm-train -q -v 5 -b 1 heart");
    assert!(folds.out.starts_with("Cross Validation Accuracy = 8"), "{folds:?}");
}

#[test]
fn links_call_the_programs_and_replace_nothing_else() {
    let bench = Bench::new();
    bench.file("data", crate::common::SMALL);
    assert_eq!(bench.run("links bin").code, 0);
    assert_eq!(bench.run("links bin").code, 0, "links of ours are replaced");
    let mut linked = Command::new(bench.path("bin/svm-train"));
    let through = answer(linked.current_dir(bench.folder()).args(["data", "m"]));
    assert_eq!((through.code, through.out), (0, bench.run("svm-train data m").out));
    let mut linked = Command::new(bench.path("bin/train"));
    assert!(answer(linked.current_dir(bench.folder()).arg("data")).out.contains("Objective value = "));
    std::fs::remove_file(bench.path("bin/predict")).expect("a link");
    bench.file("bin/predict", "somebody else's");
    std::fs::remove_file(bench.path("bin/svm-scale")).expect("a link");
    let refused = bench.run("links bin");
    assert!(refused.code == 1 && refused.err.contains("bin/predict") && refused.err.contains("--force"), "{refused:?}");
    assert!(!bench.path("bin/svm-scale").exists(), "all or none");
    assert_eq!(bench.run("links bin --force").code, 0);
    assert!(bench.path("bin/svm-scale").exists());
}

/// A gamma of 0 is LIBSVM's default width, and a polynomial of degree 0 a kernel that is 1
/// everywhere.
#[test]
fn a_gamma_and_a_degree_of_0_are_what_they_are_to_libsvm() {
    let Some(pair) = Pair::new() else { return };
    pair.write("data", "1 1:0.5 2:1\n-1 1:-0.5 3:1\n1 1:0.7 2:0.2\n-1 1:-0.1 2:-1\n1 2:0.4\n");
    // No kernel tells rows apart here: which of them are support vectors is free, rho and
    // predictions are not.
    for (options, gamma, rho) in [("-g 0", "gamma 0.3333333333333333", None), ("-t 1 -d 0", "degree 0", Some("rho -1"))] {
        let (theirs, ours) = pair.both(&format!("svm-train -q -e 1e-7 {options} data %.model"));
        assert_eq!((theirs.code, ours.code), (0, 0), "{options}: {theirs:?} {ours:?}");
        let (theirs, ours) = (pair.text("theirs.model"), pair.text("ours.model"));
        assert!(theirs.contains(gamma) && ours.contains(gamma), "{options}:\n{theirs}\n{ours}");
        assert!(rho.is_none_or(|rho| theirs.contains(rho) && ours.contains(rho)), "{options}:\n{theirs}\n{ours}");
        let (theirs, ours) = pair.both("svm-predict data %.model %.out");
        assert_eq!(theirs.out, ours.out, "{options}");
        assert_eq!(pair.text("theirs.out"), pair.text("ours.out"), "{options}");
    }
}
