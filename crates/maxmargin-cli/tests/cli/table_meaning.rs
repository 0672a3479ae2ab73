//! Tables as people have them: words for missing values, rows without labels, numbers in headers,
//! targets that are values.

use crate::common::{Answer, Bench};

fn failed(answer: &Answer, code: i32, parts: &[&str]) {
    assert_eq!(answer.code, code, "{answer:?}");
    assert_eq!(answer.err.lines().filter(|line| line.contains("error")).count(), 1, "{answer:?}");
    for part in parts {
        assert!(answer.err.contains(part), "{part}: {answer:?}");
    }
}

/// 120 rows of two classes; every tenth value of the first column is `word`.
fn with_word(word: &str) -> String {
    let row = |i: usize| {
        let value = if i % 10 == 3 { word.to_owned() } else { format!("{}", (i * 37 % 100) as f64 / 8.0) };
        format!("{value},{},{}\n", (i * 53 % 90) as f64 / 7.0, ["low", "high"][i % 2])
    };
    (0..120).fold("dose,mass,kind\n".to_owned(), |text, i| text + &row(i))
}

/// A number beside a word for a missing value stays a number, and the model is that of empty
/// fields.
#[test]
fn words_for_missing_values_are_known_and_told() {
    let bench = Bench::new();
    bench.file("empty.csv", with_word(""));
    bench.json("train empty.csv --impute median -o empty");
    let expected = std::fs::read(bench.path("empty")).unwrap();
    for word in ["-", ".", "None", "#N/A", "n.a.", "\\N", "NULL", "-nan"] {
        bench.file("word.csv", with_word(word));
        let answer = bench.run("train word.csv --impute median -o word");
        assert!(answer.code == 0, "{word}: {answer:?}");
        let told = format!("word.csv: column dose: 12 of 120 cells are missing (`{word}`)");
        assert!(answer.err.contains(&told), "{word}: {answer:?}");
        assert_eq!(std::fs::read(bench.path("word")).unwrap(), expected, "{word}");
        failed(
            &bench.run("cv word.csv"),
            1,
            &["word.csv:5: column dose: the value is missing (`", "--impute", "--category dose"],
        );
    }
    bench.file("below.csv", with_word("<0.5"));
    let ways = ["below.csv:5: column dose: `<0.5` is no number, but 108 of 120 values", "--missing '<0.5'", "--category dose"];
    for command in ["train", "cv", "loo", "grid", "search", "scale"] {
        let impute = if command == "scale" { "" } else { "--impute median" };
        failed(&bench.run(&format!("{command} below.csv {impute}")), 1, &ways);
    }
    // A description leaves the column out, and says how it can be read.
    let info = bench.run("info below.csv");
    assert!(
        info.code == 0 && info.err.contains("to train on it: maxmargin train below.csv --missing '<0.5' -o MODEL"),
        "{info:?}"
    );
    assert!(info.warnings().iter().any(|line| line.contains("line 5, column dose: `<0.5` is no number")), "{info:?}");
    assert_eq!(bench.run("train below.csv --impute median --missing <0.5 -o below").code, 0);
    // The model knows the word, and predicts what the model of empty fields does.
    for (data, model) in [("below.csv", "below"), ("empty.csv", "empty")] {
        assert_eq!(bench.run(&format!("predict {data} {model} -o {model}-labels --decision")).code, 0);
    }
    assert_eq!(bench.read("below-labels"), bench.read("empty-labels"));
    failed(&bench.run("predict below.csv empty"), 1, &["below.csv:5", "`<0.5` is not a number", "--missing '<0.5'"]);
    assert_eq!(bench.run("predict below.csv empty --missing <0.5").code, 0);
    assert_eq!(bench.run("verify below below.csv").code, 0);
    let info = bench.json("info below.csv --category dose");
    assert_eq!(info["columns"][0]["kind"], "category");
    bench.file("code.csv", with_word("-999"));
    bench.json("train code.csv --impute median --missing -999.0 -o code");
    assert_eq!(bench.run("predict empty.csv code -o code-labels --decision").code, 0);
    assert_eq!(bench.read("code-labels"), bench.read("empty-labels"));
}

#[test]
fn rows_without_a_label_are_predicted() {
    let bench = Bench::new();
    let whole = with_word("1");
    bench.file("whole.csv", &whole);
    bench.json("train whole.csv -o m");
    let all = bench.json("predict whole.csv m -o all");
    for word in ["", "?", "NA"] {
        let cut = |(i, line): (usize, &str)| {
            let hides = i > 0 && i % 4 == 1;
            if hides { format!("{},{word}\n", line.rsplit_once(',').expect("fields").0) } else { format!("{line}\n") }
        };
        bench.file("some.csv", whole.lines().enumerate().map(cut).collect::<String>());
        let some = bench.run("predict some.csv m -o some --json");
        assert_eq!(some.code, 0, "{some:?}");
        assert!(some.err.contains("30 of 120 rows have no label") && some.err.contains("the other 90"), "{some:?}");
        assert_eq!((&some.json()["unlabelled"], &some.json()["unknown_labels"]), (&30.into(), &0.into()));
        assert_eq!(bench.read("some"), bench.read("all"));
        let labels = bench.read("all");
        let right = whole.lines().skip(1).zip(labels.lines().skip(1)).enumerate();
        let right = right.filter(|(i, (line, label))| i % 4 != 0 && line.ends_with(label)).count();
        assert_eq!(some.json()["correct"], right);
        failed(
            &bench.run("train some.csv -o n"),
            1,
            &["some.csv:2: column kind: the label is missing", "predict it with the model"],
        );
        failed(&bench.run("verify m some.csv"), 1, &["some.csv:2: column kind: the label is missing"]);
    }
    bench.file("none.csv", whole.replace(",low", ",").replace(",high", ","));
    for line in ["predict none.csv m", "predict whole.csv m --no-target", "predict whole.csv m --drop kind"] {
        let none = bench.json(&format!("{line} -o none"));
        assert_eq!((&none["accuracy"], &none["unlabelled"]), (&serde_json::Value::Null, &120.into()), "{line}");
        assert_eq!(bench.read("none"), bench.read("all"));
    }
    // Labels may have another name in another table.
    bench.file("other.csv", whole.replace("kind", "outcome"));
    assert_eq!(bench.json("predict other.csv m --target outcome")["accuracy"], all["accuracy"]);
}

#[test]
fn numbers_in_a_header_are_names_where_the_rows_differ() {
    let bench = Bench::new();
    let rows = |head: &str, row: &dyn Fn(usize) -> String| (0..40).fold(format!("{head}\n"), |text, i| text + &row(i) + "\n");
    let real = |i: usize| format!("{},{}", (i * 37 % 40) as f64 / 8.0, (i * 11 % 40) as f64 / 16.0);
    let cases = [
        ("plants.csv", rows("plant,1,2,yield", &|i| format!("{},{},{}", ["rose", "lily"][i / 2 % 2], real(i), i % 2))),
        (
            "words.csv",
            rows("plant,1,2,yield", &|i| format!("{},{},{},{}", ["rose", "lily"][i / 2 % 2], i % 5, i % 7, ["hi", "lo"][i % 2])),
        ),
        ("index.csv", rows(",0,1,target", &|i| format!("{i},{},{}", real(i), i % 2))),
        ("counted.csv", rows("0,1,2", &|i| format!("{},{}", real(i), i % 2))),
        ("years.csv", rows("2019,2020,y", &|i| format!("{},{}", real(i), i % 2))),
    ];
    for (name, text) in cases {
        bench.file(name, text);
        let answer = bench.run(&format!("info {name} --json"));
        assert!(
            answer.err.contains("line 1 has numbers and is taken for a header") && answer.err.contains("--header no"),
            "{answer:?}"
        );
        assert_eq!(answer.json()["data"]["rows"], 40, "{name}");
    }
    bench.file("plain.csv", (0..40).fold(String::new(), |text, i| format!("{text}{},{}\n", real(i), i % 2)));
    let plain = bench.run("info plain.csv --json");
    assert!(plain.json()["data"]["rows"] == 40 && !plain.err.contains("line 1 has numbers"), "{plain:?}");
}

#[test]
fn targets_that_are_values_are_no_classes() {
    let bench = Bench::new();
    bench.file("values.csv", (0..60).fold("a,b,y\n".to_owned(), |text, i| format!("{text}{},{},{}\n", i % 7, i % 11, 1000 * i)));
    for command in
        ["train values.csv -o m", "cv values.csv -k 3", "loo values.csv", "grid values.csv -k 3", "search values.csv -k 3"]
    {
        let says = [
            "60 different numbers in 60 rows look like values",
            "1,770 machines",
            "--formulation epsilon-svr",
            "--formulation c-svc",
        ];
        failed(&bench.run(command), 1, &says);
    }
    assert_eq!(bench.run("train values.csv --formulation c-svc -o m -q").code, 0);
    for command in ["train values.csv --formulation epsilon-svr -o m", "cv values.csv --formulation epsilon-svr -k 3"] {
        let answer = bench.run(command);
        assert!(
            answer.warnings().iter().any(|w| w.contains("samples are at C = 1 and r2 is") && w.contains("larger -c")),
            "{answer:?}"
        );
        let better = bench.run(&format!("{command} -c 1e6 --scale standard"));
        assert!(!better.err.contains("samples are at C"), "{better:?}");
    }
}

/// Marks of gaps are no features: no kernel sees them.
#[test]
fn features_are_those_that_the_kernel_sees() {
    let bench = Bench::new();
    bench.file("gaps.csv", with_word("-"));
    let answer = bench.run("train gaps.csv --impute median -o m");
    assert!(answer.err.contains("120 rows, 2 features") && answer.err.contains("gamma 0.5"), "{answer:?}");
    let predicted = bench.run("predict gaps.csv m");
    assert!(!predicted.err.contains("features"), "{predicted:?}");
    assert_eq!(bench.json("info gaps.csv")["data"]["features"], 2);
}

#[test]
fn one_class_takes_all_columns() {
    let bench = Bench::new();
    bench.file("points.csv", (0..40).fold("a,b,c\n".to_owned(), |text, i| format!("{text}{},{},{}\n", i % 7, i % 11, i % 3)));
    for command in ["train points.csv -o m", "cv points.csv -k 4"] {
        let answer = bench.run(&format!("{command} --formulation one-class"));
        assert!(answer.code == 0 && answer.err.contains("one class has no target: all columns are features"), "{answer:?}");
        assert!(answer.err.contains("40 rows, 3 features"), "{answer:?}");
    }
    assert_eq!(bench.json("info m")["features"], 3);
    let predicted = bench.run("predict points.csv m -o labels");
    assert!(predicted.code == 0 && !predicted.err.contains("left out"), "{predicted:?}");
    assert_eq!(bench.json("train points.csv --formulation one-class --target c -o two")["data"]["features"], 2);
}

/// Whether commas are decimal ones is a question of numbers: a word is the same word whatever other
/// rows of its file hold.
#[test]
fn commas_in_words_are_not_decimal_commas() {
    let bench = Bench::new();
    let text = |words: &[&str]| {
        let row = |i: usize| format!("{};{},5;{}\n", words[i % words.len()], i * 7 % 11, ["low", "high"][i % words.len() % 2]);
        (0..36).fold("size;mass;kind\n".to_owned(), |text, i| text + &row(i))
    };
    // More numbers than words, which `--category` makes words, and fewer.
    for (words, option) in [(&["1,5", "2,5", "small", "large"][..], "--category size"), (&["1,5", "small", "large"], "")] {
        bench.file("all.csv", text(words));
        let trained = bench.run(&format!("train all.csv {option} -o m"));
        assert!(trained.code == 0 && trained.err.contains("1 of numbers, 1 of words"), "{trained:?}");
        assert_eq!(bench.run("predict all.csv m --decision -o all -q").code, 0);
        let all = bench.read("all");
        for (k, word) in words.iter().enumerate() {
            // Each word by itself: alone in its column, with others above and below.
            let rows: Vec<usize> = (0..36).filter(|i| i % words.len() == k).collect();
            let lines = |text: &str| rows.iter().map(|i| text.lines().nth(i + 1).unwrap().to_owned()).collect::<Vec<_>>();
            bench.file("some.csv", format!("size;mass;kind\n{}\n", lines(&text(words)).join("\n")));
            let some = bench.run("predict some.csv m --decision -o some");
            assert!(some.code == 0 && !some.err.contains("was not in the training data"), "{word}: {some:?}");
            assert_eq!(bench.read("some").lines().skip(1).collect::<Vec<_>>(), lines(&all), "{word}");
        }
        // A column that is written as it stands is a feature all the same.
        let kept = bench.run("predict all.csv m --id mass,size -o kept -q");
        assert_eq!(kept.code, 0, "{kept:?}");
        assert!(bench.read("kept").starts_with("mass;size;label\n0,5;1,5;"), "{}", bench.read("kept"));
    }
}

/// A model without names takes a table column for feature. Rows to predict have no labels, and no
/// feature is taken for one.
#[test]
fn a_model_without_names_takes_all_columns_of_a_table_without_labels() {
    let bench = Bench::new();
    let features = |i: usize| [(i * 37 % 17) as f64 / 4.0, (i * 53 % 19) as f64 / 8.0, (i * 29 % 23) as f64 / 2.0];
    let label = |i: usize| if features(i).iter().sum::<f64>() > 9.0 { 1 } else { -1 };
    let libsvm = |i: usize| {
        let [a, b, c] = features(i);
        format!("{} 1:{a} 2:{b} 3:{c}\n", label(i))
    };
    let row = |i: usize| features(i).map(|value| value.to_string()).join(",");
    let table = |header: &str, row: &dyn Fn(usize) -> String| (0..40).fold(header.to_owned(), |text, i| text + &row(i) + "\n");
    bench.file("rows", table("", &|i| libsvm(i).trim_end().to_owned()));
    bench.file("bare.csv", table("", &row));
    bench.file("named.csv", table("x,y,z\n", &row));
    bench.file("labelled.csv", table("x,y,z,label\n", &|i| format!("{},{}", row(i), label(i))));
    bench.file("narrow.csv", table("x,z,label\n", &|i| format!("{},{},{}", features(i)[0], features(i)[2], label(i))));
    for line in
        ["train rows --kernel linear -o m -q", "convert m libsvm --format libsvm", "predict rows m --decision -o expected -q"]
    {
        assert_eq!(bench.run(line).code, 0, "{line}");
    }
    let expected = bench.read("expected");
    for model in ["m", "libsvm"] {
        for data in ["bare.csv", "named.csv", "labelled.csv"] {
            let answer = bench.run(&format!("predict {data} {model} --decision -o found"));
            assert_eq!(answer.code, 0, "{data}: {answer:?}");
            let decision = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
            for (found, expected) in bench.read("found").lines().skip(1).zip(expected.lines()) {
                assert!((decision(found) - decision(expected)).abs() <= 1e-12, "{data} {model}: {found} {expected}");
            }
        }
        failed(
            &bench.run(&format!("predict narrow.csv {model}")),
            1,
            &["narrow.csv: the table has 2 columns besides the target, and the model 3 features without names"],
        );
    }
    failed(&bench.run("update m --data rows --add narrow.csv -o n"), 1, &["and the model 3 features without names"]);
    // `update` needs labels: it takes the last column for them, and a feature is missing.
    failed(&bench.run("update m --data rows --add bare.csv -o n"), 1, &["and the model 3 features without names"]);
}

/// Each column with gaps has a mark of them behind the features.
#[test]
fn marks_of_gaps_are_no_features() {
    let bench = Bench::new();
    let row = |i: usize, gap: &str| format!("{},{},{}\n", if i == 3 { gap } else { "2" }, i % 7 + 1, i % 2);
    let rows = |gap: &str| (0..40).fold(String::new(), |text, i| text + &row(i, gap));
    for (name, gap) in [("full.csv", "0"), ("gap.csv", "")] {
        bench.file(name, format!("a,b,y\n{}", rows(gap)));
    }
    let [full, gap] = ["full.csv", "gap.csv"].map(|name| bench.json(&format!("info {name}")));
    for key in ["non_zeros", "density", "constant_features", "median_range", "storage", "storage_bytes", "maximum"] {
        assert_eq!(gap[key], full[key], "{key}");
    }
}

/// The advice was `have it imputed`.
#[test]
fn gaps_that_are_not_filled_come_with_the_option_that_fills_them() {
    let bench = Bench::new();
    bench.file("gap.csv", (0..40).fold("a,b\n".to_owned(), |text, i| format!("{text}{},{i}\n", if i == 3 { "" } else { "2" })));
    bench.file("gaps.csv", bench.read("gap.csv").replace("2,7\n", "2,\n"));
    assert_eq!(bench.run("train two-gaussians --rows 40 -o numbers -q").code, 0);
    let ours = &["take a model that fills gaps in: one of train TABLE --impute median"];
    failed(&bench.run("predict gap.csv numbers"), 1, ours);
    failed(
        &bench.run("scale gap.csv"),
        1,
        &["gap.csv:5: column a: ", "train, cv, grid and search fill gaps in by --impute median"],
    );
    let several = bench.run("scale gaps.csv --no-target");
    assert!(several.code == 1 && several.err.contains("by --impute median") && !several.err.contains("or try:"), "{several:?}");
}
