//! Tables on the command line: every command takes them, predictions have names, faults say where
//! they are.

use crate::common::{Answer, Bench};
use maxmargin_testkit::outside::dataset;
use std::fmt::Write;

/// Rows of two kinds of animals with a number, a word, a truth and, every seventh row, a gap.
fn animals(rows: usize) -> String {
    let mut text = String::from("weight,food,tame,kind\n");
    for i in 0..rows {
        let cat = i % 2 == 0;
        let weight =
            if i % 7 == 3 { "NA".to_owned() } else { format!("{}", if cat { 4.0 } else { 11.0 } + (i * 13 % 10) as f64) };
        let food = ["fish", "meat", "corn"][(i / 2 + usize::from(cat && i % 3 > 0)) % 3];
        writeln!(text, "{weight},{food},{},{}", if i % 5 < 3 { "yes" } else { "no" }, if cat { "cat" } else { "big dog" })
            .expect("memory");
    }
    text
}

fn failed(answer: &Answer, code: i32, parts: &[&str]) {
    assert_eq!(answer.code, code, "{answer:?}");
    assert_eq!(answer.err.lines().filter(|line| line.contains("error")).count(), 1, "{answer:?}");
    for part in parts {
        assert!(answer.err.contains(part), "{part}: {answer:?}");
    }
}

#[test]
fn every_command_takes_a_table() {
    let bench = Bench::new();
    bench.file("pets.csv", animals(60));
    bench.file(
        "more.csv",
        animals(66).lines().enumerate().filter(|(i, _)| *i == 0 || *i > 60).map(|l| l.1.to_owned() + "\n").collect::<String>(),
    );
    for command in [
        "cv pets.csv --impute median --scale standard -k 3",
        "loo pets.csv --impute mean",
        "grid pets.csv --impute median -c 1,10 -g 0.1,1 -k 3 -o best",
        "search pets.csv --impute median -k 3 -o found",
        "train pets.csv --impute most-frequent --scale minmax -c 10 --updatable -o m",
        "verify m pets.csv",
        "verify m",
        "predict pets.csv m -o labels",
        "calibrate m pets.csv -o probable",
        "predict pets.csv probable --probability -o probabilities",
        "update m --add more.csv --remove 1-3 -o m2",
        "verify m2",
        "predict more.csv m2",
        "info pets.csv",
        "info m",
    ] {
        let answer = bench.run(command);
        assert_eq!(answer.code, 0, "{command}: {answer:?}");
        assert!(!answer.out.contains("class 0") && !answer.out.contains("0 and 1"), "classes have names: {command}: {answer:?}");
    }
    let labels = bench.read("labels");
    assert_eq!((labels.lines().count(), labels.lines().next()), (61, Some("label")));
    assert!(labels.lines().skip(1).all(|label| label == "cat" || label == "big dog"), "{labels}");
    let probabilities = bench.read("probabilities");
    assert!(probabilities.starts_with("label,probability_big dog,probability_cat\n"), "{probabilities}");
    let data = &bench.json("cv pets.csv --impute median -k 3")["data"];
    assert_eq!(data["table"]["labels"], serde_json::json!(["big dog", "cat"]));
    assert_eq!(data["table"]["columns"], serde_json::json!(["weight", "food", "tame"]));
    assert_eq!((&data["table"]["target"], &data["classes"][1]["label"]), (&"kind".into(), &1.0.into()));
    let info = bench.json("info m");
    assert_eq!(
        (&info["columns"][1]["kind"], &info["columns"][1]["features"], &info["impute"]),
        (&"category".into(), &3.into(), &"most-frequent".into())
    );
    // Without gaps, scaled as svm-scale writes it: numbers to -1…1, words as 0 and 1.
    bench.file("whole.csv", animals(20).replace("NA", "6"));
    let scaled = bench.run("scale whole.csv -q");
    assert_eq!(scaled.code, 0, "{scaled:?}");
    assert!(
        scaled.out.contains(" 1:-1 ") && !["2:-1", "3:-1", "4:-1", "5:-1"].iter().any(|word| scaled.out.contains(word)),
        "{scaled:?}"
    );
}

#[test]
fn heart_as_a_table_gives_the_same_documents() {
    let Some(data) = dataset("heart") else { return };
    let bench = Bench::new();
    let (mut csv, mut text) = ("x1;x2;x3;x4;x5;x6;x7;x8;x9;x10;x11;x12;x13;label\n".to_owned(), String::new());
    for i in 0..data.samples.len() {
        write!(text, "{}", data.labels[i]).expect("memory");
        data.samples.row(i).for_each(|j, value| write!(text, " {}:{value}", j + 1).expect("memory"));
        text.push('\n');
        data.samples.dense_rows(i..i + 1).iter().for_each(|value| write!(csv, "{value};").expect("memory"));
        writeln!(csv, "{}", data.labels[i]).expect("memory");
    }
    bench.file("heart.csv", csv);
    bench.file("heart", text);
    for options in ["-c 2 -g 0.01 -k 5", "-c 2 --scale minmax -k 5", "--kernel linear --scale standard -k 5"] {
        let of = |data: &str| bench.json(&format!("cv {data} {options} -o decisions"));
        let (ours, mine) = (of("heart.csv"), bench.read("decisions"));
        let (plain, theirs) = (of("heart"), bench.read("decisions"));
        assert_eq!(mine, theirs, "{options}");
        assert_eq!((&ours["scores"], &ours["iterations"]), (&plain["scores"], &plain["iterations"]), "{options}");
    }
    assert_eq!(bench.run("train heart -c 2 -g 0.01 -o m -q").code, 0);
    // A model of numbers without names takes a table of numbers.
    assert_eq!(bench.json("predict heart.csv m")["scores"], bench.json("predict heart m")["scores"]);
    assert_eq!(bench.run("verify m heart.csv -q").code, 1, "another text than it was trained on");
    bench.file("pets.csv", animals(20).replace("NA", "6"));
    failed(&bench.run("predict pets.csv m"), 1, &["pets.csv: the model was trained on numbers without names"]);
}

#[test]
fn predictions_need_names_and_nothing_else() {
    let bench = Bench::new();
    bench.file("pets.csv", animals(40));
    assert_eq!(bench.run("train pets.csv --impute median -c 10 -g 0.5 -o m -q").code, 0);
    let all = bench.json("predict pets.csv m -o whole");
    assert_eq!(all["unknown_labels"], 0);
    // Another order, another delimiter, no target, one more column, and an unknown word.
    let mut text = String::from("tame\tid\tfood\tweight\n");
    for (i, line) in animals(40).lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        writeln!(text, "{}\t{i}\t{}\t{}", fields[2], fields[1], fields[0]).expect("memory");
    }
    bench.file("new.tsv", &text);
    let answer = bench.run("predict new.tsv m -o labels --json");
    assert_eq!(answer.code, 0, "{answer:?}");
    assert_eq!(bench.read("labels"), bench.read("whole"));
    assert_eq!((&answer.json()["accuracy"], &answer.json()["unknown_labels"]), (&serde_json::Value::Null, &0.into()));
    assert!(answer.err.contains("columns that the model does not know are left out: id"), "{answer:?}");
    assert!(answer.err.contains("there is no column kind"), "{answer:?}");
    bench.file("odd.tsv", text.replacen("\tcorn\t", "\thay\t", 2));
    let odd = bench.run("predict odd.tsv m");
    assert_eq!((odd.code, odd.warnings().len()), (0, 1), "{odd:?}");
    assert!(odd.warnings()[0].contains("column food: `hay` was not in the training data; 2 of 40 rows"), "{odd:?}");
    bench.file("less.tsv", text.replace("food", "fodder"));
    failed(&bench.run("predict less.tsv m"), 1, &["the column `food`, which the model was trained with, is not there"]);
    bench.file("cow.csv", animals(40).replace("big dog", "cow"));
    let unknown = bench.json("predict cow.csv m");
    assert_eq!((&unknown["unknown_labels"], &unknown["correct"]), (&20.into(), &all["confusion"][1][1]));
    failed(
        &bench.run("update m --data pets.csv --add cow.csv"),
        1,
        &["cow.csv:3", "the label `cow` is none of the model's: big dog, cat"],
    );
    failed(
        &bench.run("predict pets.csv m --category tame"),
        2,
        &["--category tame: the model was not trained with it as a category"],
    );
    failed(&bench.run("predict pets.csv m --drop food"), 1, &["column food: the model was trained with it"]);
    failed(&bench.run("update m --data pets.csv --add pets.csv --no-target"), 2, &["--no-target: this needs the labels"]);
}

#[test]
fn faults_of_tables_say_where_they_are() {
    let bench = Bench::new();
    let rows = animals(40);
    let cases: [(&str, String, &str, i32, &[&str]); 9] = [
        (
            "gap.csv",
            rows.clone(),
            "",
            1,
            &[
                "gap.csv:5: column weight: the value is missing (`NA`); fill it in, pass --drop, or --impute",
                "--category weight if this is a word",
            ],
        ),
        (
            "comma.csv",
            rows.replace("\nNA,", "\n\"6,5\",").replacen("\n4,", "\n\"4,5\",", 1),
            "",
            1,
            &["comma.csv:2: column weight: `4,5` has a comma"],
        ),
        (
            "short.csv",
            rows.replacen(",yes,cat", ",cat", 1),
            "",
            1,
            &["short.csv:2: 3 fields, where the first row has 4", "--delimiter"],
        ),
        (
            "open.csv",
            rows.replacen("meat", "\"meat", 1),
            "",
            1,
            &["open.csv:", "a quoted field begins in this row and never ends"],
        ),
        ("twice.csv", rows.replace("food,tame", "food,food"), "", 1, &["twice.csv:1: the header has two columns `food`"]),
        (
            "none.csv",
            rows.clone(),
            "--target species",
            1,
            &["none.csv: there is no column `species`; there are weight, food, tame, kind"],
        ),
        (
            "words.csv",
            rows.clone(),
            "--impute mean --formulation epsilon-svr",
            1,
            &["words.csv: column kind: the target has words, such as `big dog`"],
        ),
        (
            "weight.csv",
            rows.clone(),
            "--impute mean --weight cow=2",
            2,
            &["--weight cow=…: the classes of the data are big dog and cat"],
        ),
        (
            "libsvm.csv",
            "1 1:0.5\n-1 1:2\n".repeat(10),
            "--target y",
            2,
            &["--target: it is for tables, and this is LIBSVM's format"],
        ),
    ];
    for (name, text, options, code, parts) in cases {
        bench.file(name, text);
        failed(&bench.run(&format!("cv {name} -k 2 {options}")), code, parts);
    }
    bench.file("ids.csv", (0..80).fold(String::from("name,x,y\n"), |text, i| format!("{text}n{i},{},{}\n", i % 9, i % 2)));
    failed(&bench.run("cv ids.csv"), 1, &["column name: 80 different words in 80 rows", "--drop name"]);
    assert_eq!(bench.run("cv ids.csv --drop name -k 2 -q").code, 0);
    bench.file("plain", "1 1:0.5\n-1 1:2\n".repeat(10));
    failed(&bench.run("cv plain --impute mean -k 2"), 2, &["--impute mean: only tables have missing values"]);
    // What its name says and what it holds differ: what it holds counts, and it is said.
    let answer = bench.run("cv libsvm.csv -k 2");
    assert!(answer.code == 0 && answer.err.contains("this is LIBSVM's format, whatever its name says"), "{answer:?}");
    let forced = bench.run("cv libsvm.csv -k 2 --format csv");
    failed(&forced, 1, &["there is one column alone", "pass --delimiter"]);
}

#[test]
fn classes_may_weigh_the_same_by_option() {
    let bench = Bench::new();
    bench.file("pets.csv", animals(40).replace("big dog", "dog").replacen("dog", "cat", 15));
    let balanced = bench.json("cv pets.csv --impute mean -k 2 --weight balanced");
    let by_hand = bench.json("cv pets.csv --impute mean -k 2 --weight cat=0.5714285714285714 --weight dog=4 --target kind");
    assert_eq!(balanced["weights"], by_hand["weights"]);
}

#[test]
fn odd_columns_are_said() {
    let bench = Bench::new();
    let text: String = animals(40).lines().enumerate().fold(String::new(), |text, (i, line)| {
        let more = if i == 0 { "row,same,".to_owned() } else { format!("{i},1,") };
        text + &more + line + "\n"
    });
    bench.file("odd.csv", text);
    let answer = bench.run("info odd.csv");
    assert!(answer.warnings().iter().any(|warning| warning.contains("column row: counts the rows")), "{answer:?}");
    assert!(answer.out.contains("tells nothing") && answer.out.contains("most frequent"), "{answer:?}");
    assert_eq!(bench.json("info odd.csv")["columns"][2]["missing"], 6);
}

/// A columnar format: its name, the ending of its files, and whether the program reads it.
const COLUMNAR: [(&str, &str, bool); 2] =
    [("Parquet", "parquet", cfg!(feature = "parquet")), ("Arrow", "arrow", cfg!(feature = "arrow"))];

/// The same rows as text and in columns (crates/maxmargin-data/tests/data/write.py wrote them).
fn insects(bench: &Bench, ending: &str) {
    for name in ["insects.csv".to_owned(), format!("insects.{ending}"), format!("odd.{ending}")] {
        let path = format!("{}/../maxmargin-data/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        bench.file(&name, std::fs::read(path).expect("a file of the tests"));
    }
    // Its name tells nothing.
    std::fs::copy(bench.path(&format!("insects.{ending}")), bench.path("unnamed")).expect("a copy");
}

#[test]
fn files_of_columns_are_tables() {
    for (name, ending, _) in COLUMNAR.iter().filter(|(.., is_read)| *is_read) {
        let bench = Bench::new();
        insects(&bench, ending);
        let file = format!("insects.{ending}");
        let of_text = bench.run("train insects.csv --impute median --scale standard -g 0.1 -o text");
        let of_file = bench.run("train unnamed --impute median --scale standard -g 0.1 -o file");
        assert_eq!((of_text.code, of_file.code), (0, 0), "{of_file:?}");
        let said =
            format!("a table of {name}; columns 7 of numbers, 1 of truths, 2 of words; the target is the last column, kind");
        assert!(of_file.err.contains(&said), "{}", of_file.err);
        assert_eq!(std::fs::read(bench.path("text")).unwrap(), std::fs::read(bench.path("file")).unwrap());
        for (data, model) in [("insects.csv", "file"), (&file, "text"), (&file, "file")] {
            assert_eq!(bench.run(&format!("predict {data} {model} -o {data}-{model}")).code, 0);
            assert_eq!(bench.run(&format!("verify {model} {data}")).code, 0);
        }
        assert!(bench.read("insects.csv-file").contains("bee"));
        assert_eq!(bench.read("insects.csv-file"), bench.read(&format!("{file}-text")));
        // The same numbers, bit by bit, but for what things cost.
        for command in ["cv FILE --impute mean -g 0.1 -k 5", "grid FILE --impute mean -c 1,10 -g 0.1,0.01 -k 5"] {
            let [one, other] = ["insects.csv", &file].map(|file| bench.json(&command.replace("FILE", file)));
            let numbers = |answer: &serde_json::Value| match answer["cells"].as_array() {
                Some(cells) => cells.iter().map(|cell| [cell["accuracy"].clone(), cell["iterations"].clone()]).collect(),
                None => vec![[answer["accuracy"].clone(), answer["folds"][0]["objective"].clone()]],
            };
            assert!(numbers(&one).iter().flatten().any(serde_json::Value::is_number), "{one}");
            assert_eq!(numbers(&one), numbers(&other), "{command}");
        }
        let columns = bench.json(&format!("info {file}"))["columns"].clone();
        assert_eq!((columns.as_array().map(Vec::len), &columns), (Some(10), &bench.json("info insects.csv")["columns"]));
        assert_eq!(bench.run(&format!("train odd.{ending} --drop list,struct,when,day,raw,none -o odd")).code, 0);
        assert_eq!(bench.run(&format!("predict odd.{ending} odd -o odd-said")).code, 0);
        let why = ["column list", "more than one value", "--drop list"];
        failed(&bench.run(&format!("train odd.{ending} -o x")), 1, &why);
        let gaps = ["column legs: 8 of 60 values are missing, the first on line 7", "--impute median"];
        failed(&bench.run(&format!("train {file} -o x")), 1, &gaps);
        let tells = format!("a file of {name} tells it by itself");
        failed(&bench.run(&format!("train {file} --impute median --delimiter tab -o x")), 2, &["--delimiter", &tells]);
        let other = format!("insects.csv: this is no file of {name}");
        failed(&bench.run(&format!("train insects.csv --impute median --format {ending} -o x")), 1, &[&other]);
    }
}

/// A panic of a library stays invisible.
#[test]
fn a_damaged_file_of_columns_is_one_error() {
    for (name, ending, _) in COLUMNAR.iter().filter(|(.., is_read)| *is_read) {
        let bench = Bench::new();
        insects(&bench, ending);
        let whole = std::fs::read(bench.path("unnamed")).unwrap();
        bench.file("cut", &whole[..200]);
        failed(&bench.run("train cut -o x"), 1, &[&format!("cut: the {name} file cannot be read")]);
        let mut refused = 0;
        for place in (6..whole.len()).step_by(101) {
            let mut bytes = whole.clone();
            bytes[place] ^= 0xff;
            bench.file("flipped", &bytes);
            let answer = bench.run("info flipped");
            assert!(!answer.err.contains("panicked") && [0, 1].contains(&answer.code), "{place}: {answer:?}");
            if answer.code == 1 {
                refused += 1;
                failed(&answer, 1, &["flipped"]);
            }
        }
        assert!(refused > 20, "{refused}");
    }
}

#[test]
fn a_file_of_columns_says_how_to_build_for_it() {
    for (name, ending, _) in COLUMNAR.iter().filter(|(.., is_read)| !is_read) {
        let bench = Bench::new();
        insects(&bench, ending);
        bench.json("train insects.csv --impute median -g 0.5 -o text");
        let file = format!("insects.{ending}");
        for command in ["train FILE -o x", "train unnamed -o x", "predict FILE text", "info unnamed"] {
            let why = [format!("this is a file of {name}"), format!("--features {ending}")];
            failed(&bench.run(&command.replace("FILE", &file)), 1, &[&why[0], &why[1]]);
        }
    }
}

#[test]
fn a_cache_that_is_not_used_is_told() {
    let bench = Bench::new();
    bench.file("t.csv", "a,b,y\n1,2,p\n2,1,q\n3,5,p\n4,1,q\n");
    bench.file("t.svm", "1 1:2\n-1 1:3\n1 1:1\n-1 1:4\n");
    for (source, is_told) in [("t.csv", true), ("penguins", true), ("banana", true), ("t.svm", false)] {
        let told = bench.run(&format!("info {source} --cache folder -q"));
        let says = told.warnings().iter().any(|line| line.contains("only files of LIBSVM's format are cached"));
        assert_eq!((told.code, says), (0, is_told), "{source}: {told:?}");
    }
    assert!(bench.path("folder").is_dir());
}
