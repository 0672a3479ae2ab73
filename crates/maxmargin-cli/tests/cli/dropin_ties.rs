//! Ties as LIBSVM and LIBLINEAR decide them: a decision value of exactly 0 is for the second label
//! of the model, and of equals the first label wins.

use crate::common::{Bench, theirs};
use maxmargin_testkit::outside;

/// Rows of which the first two have no feature of any model here.
const ROWS: &str = "1 9:1\n-1 9:1\n2 1:1\n1 2:3\n";

/// Two classes with a support vector each.
fn two(labels: &str) -> String {
    format!(
        "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0\nlabel {labels}\nprobA -1\nprobB 0\nnr_sv 1 1\n\
         SV\n1 1:1 \n-1 2:1 \n"
    )
}

/// Three classes, each of which wins one pair of a row without known features: decision values of 0
/// are votes for 1, 2 and 2.
fn three(labels: &str) -> String {
    format!(
        "svm_type c_svc\nkernel_type linear\nnr_class 3\ntotal_sv 3\nrho 0 0 0\nlabel {labels}\nprobA -1 -1 -1\nprobB 0 0 0\n\
         nr_sv 1 1 1\nSV\n1 1 1:1 \n-1 1 2:1 \n-1 -1 3:1 \n"
    )
}

fn labels(text: &str) -> Vec<String> {
    text.lines().filter(|line| !line.starts_with("labels")).map(|line| line.split(' ').next().unwrap_or("").to_owned()).collect()
}

/// Predictions of `ROWS` by a LIBSVM model: of the program in its place, of our own command, and
/// through the native format and back.
fn predicted(bench: &Bench, model: &str, probabilities: bool) -> Vec<String> {
    bench.file("rows", ROWS);
    bench.file("model", model);
    let (b, decide) = if probabilities { (1, "coupled") } else { (0, "vote") };
    let ours = bench.run(&format!("svm-predict -q -b {b} rows model ours"));
    assert_eq!(ours.code, 0, "{ours:?}");
    let found = labels(&bench.read("ours"));
    if let Some(genuine) = theirs(bench, &format!("svm-predict -q -b {b} rows model theirs")) {
        assert_eq!(genuine.code, 0, "{genuine:?}");
        assert_eq!(labels(&bench.read("theirs")), found, "{model}");
    }
    for line in [
        "convert model native --format native --force".to_owned(),
        format!("predict rows native --decide {decide} -o own -q"),
        "convert native back --format libsvm --force".to_owned(),
        format!("svm-predict -q -b {b} rows native again"),
    ] {
        let answer = bench.run(&line);
        assert_eq!(answer.code, 0, "{line}: {answer:?}");
    }
    assert_eq!(bench.read("back"), model, "the order of labels is kept");
    assert_eq!((labels(&bench.read("own")), labels(&bench.read("again"))), (found.clone(), found.clone()), "{model}");
    found
}

#[test]
fn a_decision_value_of_0_is_for_the_second_label() {
    let bench = Bench::new();
    for (order, expected) in [
        ("1 -1", ["-1", "-1", "1", "-1"]),
        ("-1 1", ["1", "1", "-1", "1"]),
        ("1 2", ["2", "2", "1", "2"]),
        ("2 1", ["1", "1", "2", "1"]),
    ] {
        assert_eq!(predicted(&bench, &two(order), false), expected, "{order}");
    }
}

#[test]
fn equal_probabilities_are_for_the_first_label() {
    let bench = Bench::new();
    for (order, expected) in [
        ("1 -1", ["1", "1", "1", "-1"]),
        ("-1 1", ["-1", "-1", "-1", "1"]),
        ("1 2", ["1", "1", "1", "2"]),
        ("2 1", ["2", "2", "2", "1"]),
    ] {
        assert_eq!(predicted(&bench, &two(order), true), expected, "{order}");
    }
    for (order, expected) in [("3 1 2", ["3", "3", "3", "1"]), ("1 2 3", ["1", "1", "1", "2"]), ("2 3 1", ["2", "2", "2", "3"])] {
        assert_eq!(predicted(&bench, &three(order), true), expected, "{order}");
    }
}

#[test]
fn of_equal_votes_the_first_label_wins() {
    let bench = Bench::new();
    for (order, expected) in [("3 1 2", ["2", "2", "3", "1"]), ("1 2 3", ["3", "3", "1", "2"]), ("2 3 1", ["1", "1", "2", "3"])] {
        assert_eq!(predicted(&bench, &three(order), false), expected, "{order}");
    }
    // Each class wins one pair of the first row: (1,2) to 1, (1,3) to 3, (2,3) to 2.
    for (order, first) in [("3 1 2", "3"), ("2 1 3", "2"), ("1 3 2", "1")] {
        let model = three(order).replace("rho 0 0 0", "rho -1 1 -1").replace("probA -1 -1 -1\nprobB 0 0 0\n", "");
        bench.file("model", &model);
        bench.file("rows", ROWS);
        let ours = bench.run("svm-predict -q rows model ours");
        assert_eq!((ours.code, labels(&bench.read("ours"))[0].as_str()), (0, first), "{order}");
        if theirs(&bench, "svm-predict -q rows model theirs").is_some() {
            assert_eq!(bench.read("theirs"), bench.read("ours"), "{order}");
        }
    }
}

#[test]
fn one_class_is_inside_above_0_alone() {
    let bench = Bench::new();
    bench.file("rows", ROWS);
    bench.file("model", "svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 1:1 \n");
    assert_eq!(bench.run("svm-predict -q rows model ours").code, 0);
    assert_eq!(bench.read("ours"), "-1\n-1\n1\n-1\n");
    if theirs(&bench, "svm-predict -q rows model theirs").is_some() {
        assert_eq!(bench.read("theirs"), bench.read("ours"));
    }
}

#[test]
fn liblinears_models_decide_ties_alike_in_every_program() {
    let bench = Bench::new();
    bench.file("rows", ROWS);
    let two =
        |labels: &str| format!("solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel {labels}\nnr_feature 2\nbias -1\nw\n1 \n-1 \n");
    let three = |labels: &str| {
        format!("solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel {labels}\nnr_feature 2\nbias -1\nw\n1 0 0 \n0 1 1 \n")
    };
    for (model, expected) in [
        (two("1 -1"), "-1\n-1\n1\n-1\n"),
        (two("-1 1"), "1\n1\n-1\n1\n"),
        (two("1 2"), "2\n2\n1\n2\n"),
        (three("3 1 2"), "3\n3\n3\n1\n"),
        (three("2 3 1"), "2\n2\n2\n3\n"),
    ] {
        bench.file("model", &model);
        for line in [
            "liblinear-predict -q rows model ours",
            "convert model native --format native --force",
            "predict rows native -q -o own",
            "convert native back --format liblinear --force",
            "liblinear-predict -q rows back crossed",
        ] {
            let answer = bench.run(line);
            assert_eq!(answer.code, 0, "{line}: {answer:?}");
        }
        for name in ["ours", "own", "crossed"] {
            assert_eq!(bench.read(name), expected, "{name}: {model}");
        }
        if theirs(&bench, "liblinear-predict rows model theirs").is_some() {
            assert_eq!(bench.read("theirs"), expected, "{model}");
        }
    }
}

/// The machine of Crammer and Singer has a column of weights for each of two labels, and LIBLINEAR
/// looks at the first column alone.
#[test]
fn crammer_and_singers_machine_of_two_labels_decides_by_its_first_column() {
    let bench = Bench::new();
    bench.file("rows", ROWS);
    for (labels, w, expected) in [
        ("2 1", "1 -1 \n-1 1 \n", "1\n1\n2\n1\n"),
        ("1 2", "1 -1 \n-1 1 \n", "2\n2\n1\n2\n"),
        ("-1 1", "1 2 \n-1 -2 \n", "1\n1\n-1\n1\n"),
    ] {
        bench.file("model", format!("solver_type MCSVM_CS\nnr_class 2\nlabel {labels}\nnr_feature 2\nbias -1\nw\n{w}"));
        assert_eq!(bench.run("liblinear-predict -q rows model ours").code, 0);
        assert_eq!(bench.read("ours"), expected, "{labels}");
        if theirs(&bench, "liblinear-predict rows model theirs").is_some() {
            assert_eq!(bench.read("theirs"), expected, "{labels}");
        }
    }
}

/// Rows that share no feature with any other row: every machine that did not see one says exactly 0
/// of it.
#[test]
fn folds_of_liblinear_decide_ties_by_the_order_of_their_training_sets() {
    let bench = Bench::new();
    for (name, labels) in [("signs", &["-1", "1"][..]), ("two", &["7", "3"]), ("three", &["2", "9", "5"])] {
        let row = |i: usize| format!("{} {}:1\n", labels[(i * i / 3 + i / 5) % labels.len()], i + 1);
        bench.file(name, (0..30).map(row).collect::<String>());
        for solver in [1, 2, 3, 4] {
            let line = format!("liblinear-train -s {solver} -v 4 -q {name}");
            let ours = bench.run(&line);
            assert!(ours.code == 0 && ours.out.starts_with("Cross Validation Accuracy = "), "{line}: {ours:?}");
            if let Some(genuine) = theirs(&bench, &line) {
                assert_eq!(genuine.out, ours.out, "{line}");
            }
        }
    }
}

/// Of weak machines most rows have several classes with equally many votes: LIBSVM's numbers.
#[test]
fn ties_among_the_votes_of_26_classes_are_libsvms() {
    let Some(text) = outside::data_text("letter.scale") else { return };
    let bench = Bench::new();
    let rows: Vec<u8> = text.split_inclusive(|byte| *byte == b'\n').take(5000).flatten().copied().collect();
    bench.file("letter", String::from_utf8(rows).expect("text"));
    for (cell, rate) in [("-c 0.1 -g 0.01", "4.66"), ("-c 0.03 -g 0.5", "37.34")] {
        let ours = bench.run(&format!("svm-train -q -v 3 {cell} letter"));
        assert_eq!(ours.out, format!("Cross Validation Accuracy = {rate}%\n"), "{cell}");
    }
    assert_eq!(bench.run("svm-train -q -c 0.03 -g 0.5 letter m").code, 0);
    assert_eq!(bench.run("svm-predict letter m labels").out, "Accuracy = 49.1% (2455/5000) (classification)\n");
    // Our own command predicts the same of a model in LIBSVM's text.
    assert_eq!(bench.run("predict letter m -o own -q").code, 0);
    assert_eq!(bench.read("own"), bench.read("labels"));
}
