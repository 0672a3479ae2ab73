//! Data without a download: the generated table, and files in the folder for data sets.

use crate::common::{Bench, answer};

#[test]
fn the_generated_table_is_data_for_every_command() {
    let bench = Bench::new();
    let info = bench.run("info penguins");
    assert!(info.code == 0 && info.err.contains("to train on it: maxmargin train penguins --impute median -o MODEL"), "{info:?}");
    assert_eq!(bench.json("info penguins")["data"]["table"]["labels"], serde_json::json!(["Adelie", "Chinstrap", "Gentoo"]));
    let refused = bench.run("train penguins -o m");
    assert!(refused.code == 1 && refused.err.contains("try: maxmargin train penguins -o m --impute median"), "{refused:?}");
    assert_eq!(bench.run("train penguins --impute median --scale standard -o m -q").code, 0);
    let found = bench.run("predict penguins m --id island -q --rows 5");
    assert_eq!((found.code, found.out.lines().count(), found.out.lines().next()), (0, 6, Some("island,label")), "{found:?}");
    assert_eq!(bench.run("verify m penguins -q").code, 0);
    // Seed and rows are those of a generator; columns are its own.
    assert_eq!(bench.json("info penguins --rows 40 --seed 3")["data"]["rows"], 40);
    assert_eq!(bench.run("info penguins --features 3").code, 2);
    // A file of this name is that file.
    bench.file("penguins", "1 1:1\n-1 1:2\n");
    assert_eq!(bench.json("info penguins")["data"]["rows"], 2);
}

#[test]
fn files_are_found_in_the_folder_for_data() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("sets")).expect("a folder");
    std::fs::create_dir_all(bench.path("datasets/files")).expect("a folder");
    bench.file("sets/one", "1 1:1\n-1 1:2\n1 1:3\n");
    bench.file("datasets/files/two.csv", "a,y\n1,0\n2,1\n");
    let run = |line: &str| answer(bench.command(line).env("MAXMARGIN_DATA", bench.path("sets")));
    let one = run("info one --json");
    assert!(one.code == 0 && one.json()["data"]["rows"] == 3 && one.err.contains("one: reading "), "{one:?}");
    assert_eq!(run("info two.csv --json").json()["data"]["rows"], 2);
    // A file in the current folder comes first, and a path is a path.
    bench.file("one", "1 1:1\n-1 1:2\n");
    assert_eq!(run("info one --json").json()["data"]["rows"], 2);
    assert!(run("info ./two.csv").err.contains("./two.csv: no such file"));
}
