//! Data at the edges of the drop-in programs: one class, classes of one row, labels beyond 32 bits,
//! indices beyond any memory.

use crate::common::{Bench, theirs};

const FIVE_AND_ONE: &str = "1 1:1\n1 1:2\n1 1:3\n1 1:4\n1 1:5\n-1 1:-1\n";
const ONE_CLASS: &str = "7 1:1\n7 1:2\n7 1:3 2:-1\n7 1:4\n7 1:5\n";
const CLASS_OF_ONE: &str = "3 1:1\n3 1:2\n3 1:3\n3 1:5\n8 1:4\n";

fn refused(bench: &Bench, line: &str, says: &[&str]) {
    let found = bench.run(line);
    assert_eq!((found.code, found.out.as_str()), (1, ""), "{line}: {found:?}");
    assert!(says.iter().all(|word| found.err.contains(word)), "{line}: {found:?} does not say {says:?}");
}

fn weights(model: &str) -> Vec<f64> {
    let text = model.split("\nw\n").nth(1).expect("weights");
    text.split_ascii_whitespace().map(|word| word.parse().expect("a number")).collect()
}

#[test]
fn folds_without_a_class_are_predicted_as_liblinear_predicts_them() {
    let bench = Bench::new();
    bench.file("five", FIVE_AND_ONE);
    bench.file("one", ONE_CLASS);
    for (line, rate) in [
        ("liblinear-train -q -v 3 five", "83.3333"),
        ("liblinear-train -q -s 2 -v 2 five", "83.3333"),
        ("liblinear-train -q -s 3 -v 3 five", "83.3333"),
        ("liblinear-train -q -v 3 one", "100"),
        ("svm-train -q -v 3 five", "83.3333"),
        ("svm-train -q -v 3 one", "100"),
        ("svm-train -q -v 2 -b 1 one", "100"),
    ] {
        let ours = bench.run(line);
        assert_eq!(ours.out, format!("Cross Validation Accuracy = {rate}%\n"), "{line}: {ours:?}");
        if let Some(genuine) = theirs(&bench, line) {
            assert_eq!(genuine.out, ours.out, "{line}");
        }
    }
}

#[test]
fn one_class_is_trained_as_liblinear_trains_it() {
    let bench = Bench::new();
    bench.file("one", ONE_CLASS);
    for options in ["-s 1", "-s 2", "-s 3", "-s 1 -B 1", "-s 3 -B 2 -c 0.01", "-s 2 -w7 0.1", "-s 1 -c 0.001"] {
        let ours = bench.run(&format!("liblinear-train {options} one ours"));
        assert_eq!(ours.code, 0, "{options}: {ours:?}");
        assert!(bench.read("ours").contains("nr_class 1\nlabel 7\nnr_feature 2\n"), "{}", bench.read("ours"));
        assert_eq!(bench.run("liblinear-predict one ours labels").out, "Accuracy = 100% (5/5)\n");
        assert_eq!(bench.read("labels"), "7\n".repeat(5));
        if theirs(&bench, &format!("liblinear-train -q {options} -e 1e-8 one theirs")).is_some() {
            let (a, b) = (weights(&bench.read("theirs")), weights(&bench.read("ours")));
            // A relative gap g of a strongly convex objective f leaves w within sqrt(2 g f) of the
            // optimum.
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 2e-3 * (1.0 + a.abs());
            assert!(a.len() == b.len() && a.iter().zip(&b).all(near), "{options}: {a:?} {b:?}");
        }
    }
}

#[test]
fn one_class_with_probabilities_has_a_model() {
    let bench = Bench::new();
    bench.file("one", ONE_CLASS);
    assert_eq!(bench.run("svm-train -q -b 1 one ours").code, 0);
    assert_eq!(bench.run("svm-predict -q -b 1 one ours labels").code, 0);
    assert_eq!(bench.read("labels"), format!("labels 7\n{}", "7 1\n".repeat(5)));
    if theirs(&bench, "svm-train -q -b 1 one theirs").is_some() {
        assert_eq!(bench.read("ours"), bench.read("theirs"));
        theirs(&bench, "svm-predict -q -b 1 one ours crossed");
        assert_eq!(bench.read("crossed"), bench.read("labels"));
    }
}

#[test]
fn a_class_of_one_row_has_probabilities_as_libsvm_has() {
    let bench = Bench::new();
    bench.file("data", CLASS_OF_ONE);
    for line in ["svm-train -q -b 1 data m", "svm-train -q -b 1 -s 1 -n 0.1 data m"] {
        let found = bench.run(line);
        assert_eq!(found.code, 0, "{line}: {found:?}");
        assert!(bench.read("m").contains("\nprobA "), "{}", bench.read("m"));
    }
    let found = bench.run("svm-train -q -b 1 -v 2 data");
    assert!(found.code == 0 && found.out.starts_with("Cross Validation Accuracy = "), "{found:?}");
}

#[test]
fn folds_that_leave_nothing_are_refused() {
    let bench = Bench::new();
    bench.file("single", "1 1:1\n");
    bench.file("each", "1 1:1\n2 1:2\n3 1:3\n");
    for line in ["svm-train -q -v 3 single", "liblinear-train -q -v 3 single", "svm-train -q -v 2 each"] {
        refused(&bench, line, &["tests all rows, so that none is left to train on"]);
    }
}

#[test]
fn labels_beyond_32_bits_are_refused_with_their_line() {
    let bench = Bench::new();
    bench.file("wide", "# comment\n1 1:1\n2 1:2\n3000000000 1:3\n");
    bench.file("low", "-2147483649 1:1\n2 1:2\n");
    for program in ["svm-train", "liblinear-train"] {
        for options in ["", "-v 2"] {
            refused(&bench, &format!("{program} -q {options} wide"), &["line 4", "3000000000", "32 bits"]);
            refused(&bench, &format!("{program} -q {options} low"), &["line 1", "-2147483649", "32 bits"]);
        }
        let found = bench.run(&format!("{program} -q -w3000000000 2 wide"));
        assert!(found.code == 1 && found.err.contains("-w3000000000"), "{found:?}");
    }
    // Values have no such limit.
    assert_eq!(bench.run("svm-train -q -s 3 wide m").code, 0);
    assert_eq!(bench.run("liblinear-train -q -s 12 wide l").code, 0);
    // Our own models hold such labels; the texts of others do not.
    assert_eq!(bench.run("train wide -q -o native").code, 0);
    for format in ["libsvm", "liblinear"] {
        let kernel = bench.run("train wide --kernel linear --classes one-vs-rest -q -o linear --force");
        assert_eq!(kernel.code, 0, "{kernel:?}");
        let model = if format == "libsvm" { "native" } else { "linear" };
        refused(&bench, &format!("convert {model} out --format {format}"), &["3000000000", "32 bits"]);
    }
    bench.file("edge", "2147483647 1:1\n-2147483648 1:2\n");
    assert_eq!(bench.run("svm-train -q edge m").code, 0);
    assert!(bench.read("m").contains("label 2147483647 -2147483648\n"));
}

#[test]
fn fractions_as_class_labels_are_cut_and_told() {
    let bench = Bench::new();
    bench.file("cut", "1 1:1\n-1.75 1:2\n1.5 1:1.5\n");
    for program in ["svm-train", "liblinear-train"] {
        let found = bench.run(&format!("{program} -q cut m"));
        assert!(found.code == 0 && found.err.contains("line 2: the class label -1.75 is cut to -1"), "{found:?}");
        assert!(bench.read("m").contains("label 1 -1\n"), "{}", bench.read("m"));
    }
    assert_eq!(bench.run("svm-train -q -s 3 cut m").err, "");
}

#[test]
fn an_index_beyond_any_memory_is_refused_or_packed() {
    let bench = Bench::new();
    bench.file("huge", "1 1:1 2:3\n-1 2:1\n1 1:2 4000000000:1\n-1 2:3\n");
    refused(&bench, "liblinear-train -q huge m", &["line 3", "4000000000", "32 GB", "number the features"]);
    assert!(!bench.names().contains(&"m".to_owned()));
    for line in [
        "liblinear-train -q -v 2 huge",
        "svm-train -q -t 0 huge m",
        "svm-predict -q huge m labels",
        "svm-train -q -t 0 -v 2 huge",
        "svm-scale huge",
        "train huge --kernel linear -q -o native",
        "predict huge native -q -o own",
        "cv huge --kernel linear -k 2 -q",
        "train huge --kernel linear --scale standard -q -o scaled",
        "predict huge scaled -q -o own --force",
        "verify native huge -q",
    ] {
        let found = bench.run(line);
        assert_eq!(found.code, 0, "{line}: {found:?}");
    }
    refused(&bench, "convert native out --format liblinear", &["4000000000", "32 GB"]);
    // A matrix of kernel values of which only some columns are read.
    bench.file("matrix", "1 0:1 1:1 2:0.5 4000000000:9\n-1 0:2 1:0.5 2:1\n1 0:1 1:1 2:0.5\n-1 0:2 1:0.5 2:1\n");
    assert_eq!(bench.run("svm-train -q -t 4 matrix pre").code, 0);
    assert_eq!(bench.run("svm-predict -q matrix pre labels").code, 0);
    assert_eq!(bench.read("labels"), "1\n-1\n1\n-1\n");
}

/// NaN used to be a number that is too small, and an infinite C the weight of a sample.
#[test]
fn parameters_that_are_no_finite_numbers_are_named() {
    let bench = Bench::new();
    bench.file("data", "1 1:1\n1 1:2\n-1 1:-1\n-1 1:-2\n");
    for (options, says) in [
        ("svm-train -c nan", "ERROR: C is not a number"),
        ("svm-train -c 1e400", "ERROR: C is infinite"),
        ("svm-train -g nan", "ERROR: gamma is not a number"),
        ("svm-train -g inf", "ERROR: gamma is infinite"),
        ("svm-train -t 1 -r nan", "ERROR: coef0 is not a finite number"),
        ("svm-train -e nan", "ERROR: eps is not a number"),
        ("svm-train -s 2 -n nan", "ERROR: nu is not a number"),
        ("svm-train -s 3 -p nan", "ERROR: p is not a number"),
        ("svm-train -s 3 -p inf", "ERROR: p is infinite"),
        ("svm-train -w1 nan", "ERROR: the weight of a class (-wi) is not a finite number"),
        ("liblinear-train -c nan", "ERROR: C is not a number"),
        ("liblinear-train -s 2 -c 1e400", "ERROR: C is infinite"),
        ("liblinear-train -e nan", "ERROR: eps is not a number"),
        ("liblinear-train -s 11 -p nan", "ERROR: p is not a number"),
        ("liblinear-train -s 21 -n nan", "ERROR: nu is not a number"),
        ("liblinear-train -B nan", "ERROR: the bias (-B) is not a finite number"),
        ("liblinear-train -w1 inf", "ERROR: the weight of a class (-wi) is not a finite number"),
    ] {
        refused(&bench, &format!("{options} data model"), &[says]);
    }
}

/// The errors were about folds, which nobody asked for.
#[test]
fn probabilities_of_too_few_rows_say_what_they_need() {
    let bench = Bench::new();
    bench.file("pair", "1 1:1\n-1 1:-1\n");
    bench.file("value", "0.5 1:1\n");
    let classes = "probabilities need a class with at least two samples";
    refused(&bench, "svm-train -b 1 pair model", &[classes, "train without probabilities"]);
    refused(&bench, "svm-train -s 3 -b 1 value model", &["probabilities need at least two rows"]);
    refused(&bench, "train pair -q --probability platt -o model", &["pair: ", classes]);
    // Two classes of one row in the same fold.
    bench.file("singles", "1 1:0\n2 1:1 2:1 3:1\n2 1:2\n2 3:2\n3 1:3 2:3 3:3\n");
    let trained = bench.run("svm-train -q -b 1 singles model");
    assert!(trained.code == 0 && bench.read("model").contains("probA"), "{trained:?}");
    let told = bench.run("train singles --probability platt -o other");
    assert!(told.code == 0 && told.out.contains("not judged: classes have too few rows"), "{told:?}");
}

/// The square of 1e160 is no number of 64 bits, but a Gaussian kernel has the value 0 there.
#[test]
fn rows_whose_distances_overflow_are_predicted() {
    let bench = Bench::new();
    bench.file("data", "1 1:1\n1 1:2\n-1 1:-1\n-1 1:-2\n-1 1:-3\n");
    bench.file("far", "1 1:1.5\n0 1:1e160\n-1 1:-1.5\n0 2:-1e300\n");
    assert_eq!(bench.run("svm-train -q -g 1 data model").code, 0);
    assert_eq!(bench.run("svm-predict far model labels").code, 0);
    let rho: f64 = bench.read("model").lines().find_map(|line| line.strip_prefix("rho ")?.parse().ok()).expect("rho");
    let beyond = if rho < 0.0 { 1 } else { -1 };
    assert_eq!(bench.read("labels"), format!("1\n{beyond}\n-1\n{beyond}\n"));
    bench.file("wide", "1 1:1e160\n-1 1:-1e160\n");
    let says = "wide: gamma by the rule `scale` is 0, because values of the data are too large or too small; scale the data";
    refused(&bench, "train wide -q -g scale -o other", &[says]);
}
