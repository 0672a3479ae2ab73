//! Conformal promises for each group from the command line: groups in a file and in a column.

use crate::common::Bench;
use std::fmt::Write;

/// Values of a line, whose noise is ten times as large in every other row, and the groups of rows.
fn two_noises(bench: &Bench, rows: usize) {
    let (mut text, mut table, mut groups) = (String::new(), "x,y,where\n".to_owned(), String::new());
    for i in 0..rows {
        let (x, noise) = ((i * 37 % 101) as f64 / 25.0, (i * 7919 % 101) as f64 / 101.0 - 0.5);
        let (group, y) = if i % 2 == 0 { ("loud", 2.0 * x + 2.0 * noise) } else { ("still", 2.0 * x + 0.2 * noise) };
        writeln!(text, "{y} 1:{x}").expect("memory");
        writeln!(table, "{x},{y},{group}").expect("memory");
        writeln!(groups, "{group}").expect("memory");
    }
    bench.file("values", text);
    bench.file("values.csv", table);
    bench.file("groups", groups);
}

/// The widths of the intervals in a file, for the loud and the still rows.
fn widths(text: &str, delimiter: char) -> [f64; 2] {
    let mut widths = [Vec::new(), Vec::new()];
    for (row, line) in text.lines().skip(1).enumerate() {
        let numbers: Vec<f64> = line.split(delimiter).map(|field| field.parse().expect("a number")).collect();
        widths[row % 2].push(numbers[2] - numbers[1]);
    }
    widths.map(|of| of.iter().sum::<f64>() / of.len() as f64)
}

#[test]
fn each_group_has_intervals_of_its_own() {
    let bench = Bench::new();
    two_noises(&bench, 160);
    let svm = "--formulation epsilon-svr --kernel linear -c 10 --epsilon 0.01 --conformal 0.1 -k 8";
    let trained = bench.json(&format!("train values {svm} --conformal-groups groups -o m"));
    let groups = trained["conformal"]["groups"].as_array().expect("groups");
    assert_eq!(groups.iter().map(|of| of["group"].as_str().expect("a name")).collect::<Vec<_>>(), ["loud", "still"]);
    assert!(groups.iter().all(|of| of["rows"] == 80 && of["has_enough_rows"] == true));
    assert!(groups.iter().all(|of| (of["coverage"].as_f64().expect("a share") - 0.9).abs() < 0.1));
    let text = bench.run(&format!("train values {svm} --conformal-groups groups -o m")).out;
    assert!(text.contains("cv+ at 0.1, each group by itself: held-out coverage") && text.contains(" of group "), "{text}");
    bench.json("predict values m --intervals --conformal-groups groups -o p");
    let [loud, still] = widths(&bench.read("p"), ' ');
    assert!(loud > 5.0 * still, "{loud} {still}");
    assert_eq!(bench.run("verify m values").code, 0);
    // A column of a table says the same, and is no feature.
    let of_table = bench.json(&format!("train values.csv --target y {svm} --conformal-groups where -o t"));
    assert_eq!(of_table["data"]["features"], 1);
    assert_eq!(of_table["conformal"]["groups"], trained["conformal"]["groups"]);
    bench.json("predict values.csv t --intervals --conformal-groups where -o q");
    assert_eq!(widths(&bench.read("q"), ','), [loud, still]);
    // So does a file beside a table.
    let of_file = bench.json(&format!("train values.csv --target y --drop where {svm} --conformal-groups groups -o u"));
    assert_eq!(of_file["conformal"]["groups"], trained["conformal"]["groups"]);
    bench.json("predict values.csv u --intervals --conformal-groups groups -o q --force");
    assert_eq!(widths(&bench.read("q"), ','), [loud, still]);
    // Two columns beside the predictions: one that is copied, and the one with the groups.
    bench.json("predict values.csv t --intervals --conformal-groups where --id where -o r");
    assert!(bench.read("r").starts_with("where,label,lower,upper\nloud,"));
    // Cross-validations report the same groups.
    let cv = bench.json(&format!("cv values {svm} --conformal-groups groups"));
    assert_eq!(cv["conformal"]["groups"].as_array().expect("groups").len(), 2);
    let loo = "loo values.csv --target y --formulation epsilon-svr --kernel linear --conformal 0.1 --conformal-groups where";
    assert_eq!(bench.json(loo)["conformal"]["groups"][1]["rows"], 80);
    assert!(bench.run("export m --c m.c").warnings().iter().any(|line| line.contains("or of groups")));
}

#[test]
fn sets_and_outliers_have_groups() {
    let bench = Bench::new();
    two_noises(&bench, 120);
    let signs: String = bench
        .read("values")
        .lines()
        .map(|l| if l.starts_with('-') { "-1 " } else { "1 " }.to_owned() + &l[l.find("1:").expect("a feature")..] + "\n")
        .collect();
    bench.file("signs", signs);
    let train = "train signs -g 1 --conformal 0.2 --conformal-groups groups -k 4";
    let trained = bench.run(&format!("{train} --per-class -o m"));
    assert!(trained.out.contains("each class in each group by itself"), "{trained:?}");
    let predicted = bench.json("predict signs m --sets --conformal-groups groups -o p");
    assert!(predicted["conformal"]["size"].as_f64().is_some_and(|size| size > 0.5));
    bench.json("train values --formulation one-class --nu 0.1 -g 0.5 --conformal 0.1 --conformal-groups groups -o o");
    let found = bench.json("predict values o --fdr 0.2 --conformal-groups groups -o q");
    assert!(found["conformal"]["outliers"].as_u64().is_some_and(|count| count < 30));
}

#[test]
fn wrong_groups_are_refused() {
    let bench = Bench::new();
    two_noises(&bench, 60);
    bench.file("short", "loud\nstill\n");
    bench.file("gap", bench.read("groups").replacen("still", " ", 1));
    bench.file("other", bench.read("groups").replacen("still", "quiet", 1));
    bench.file("gap.csv", bench.read("values.csv").replacen("still", "", 1));
    let svm = "--formulation epsilon-svr --kernel linear -k 4";
    for (line, code, what) in [
        ("train values --formulation epsilon-svr --conformal-groups groups -o x".to_owned(), 2, "--conformal"),
        (format!("train values {svm} --conformal 0.1 --conformal-groups short -o x"), 1, "2 groups for 60 rows of values"),
        (format!("train values {svm} --conformal 0.1 --conformal-groups none -o x"), 1, "cannot read the groups"),
        (format!("train values {svm} --conformal 0.1 --conformal-groups gap -o x"), 1, "gap:2: this row has no group"),
        (
            format!("train values {svm} --conformal 0.1 --conformal-groups groups -o groups"),
            1,
            "reads the file that it would overwrite",
        ),
        (format!("train values.csv --target y {svm} --conformal 0.1 --conformal-groups nowhere -o x"), 1, "nowhere"),
        (
            format!("train gap.csv --target y {svm} --conformal 0.1 --conformal-groups where -o x"),
            1,
            "column where: this row has no group",
        ),
    ] {
        let answer = bench.run(&line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
        assert!(!bench.names().contains(&"x".to_owned()), "{line}");
    }
    bench.json(&format!("train values {svm} --conformal 0.1 --conformal-groups groups -o m"));
    bench.json(&format!("train values {svm} --conformal 0.1 -o plain"));
    for (line, code, what) in [
        ("predict values m --intervals", 1, "--conformal-groups FILE or COLUMN"),
        ("predict values m --intervals --conformal-groups other", 1, "row 2 is of group `quiet`, which no training row has"),
        ("predict values m --intervals --conformal-groups short", 1, "2 groups for 60 rows"),
        ("predict values plain --intervals --conformal-groups groups", 1, "trained without groups"),
        ("predict values m --conformal-groups groups", 2, "--intervals, --sets or --fdr"),
        ("predict values m --sets --full --conformal-groups groups", 2, "cannot be used with"),
    ] {
        let answer = bench.run(line);
        assert!(answer.code == code && answer.err.contains(what), "{line}: {answer:?}");
    }
}

#[test]
fn small_groups_get_a_warning() {
    let bench = Bench::new();
    two_noises(&bench, 60);
    bench.file("few", bench.read("groups").replacen("still", "rare", 3));
    let train = "train values --formulation epsilon-svr --kernel linear --conformal 0.1 -k 4 --conformal-groups few -o m";
    let answer = bench.run(train);
    let warnings = answer.warnings();
    let of_group: Vec<_> = warnings.iter().filter(|line| line.contains("too few")).collect();
    assert!(of_group.len() == 1 && of_group[0].contains("group rare has 3 rows, too few for the level 0.1"), "{warnings:?}");
    bench.json("predict values m --intervals --conformal-groups few -o p");
    let infinite = bench.read("p").lines().filter(|line| line.ends_with(" -inf inf")).count();
    assert_eq!(infinite, 3);
}

/// Folds that keep groups together leave no other rows of a group to compare with.
#[test]
fn coverage_without_rows_of_the_group_elsewhere_says_nothing() {
    let bench = Bench::new();
    two_noises(&bench, 160);
    let cv = "cv values.csv --formulation epsilon-svr --target y -k 2 --conformal 0.1 --conformal-groups where";
    let together = bench.run(&format!("{cv} --folds groups:where"));
    let said = "2 of 2 groups (loud, still) have too few rows outside the fold that tests them";
    assert!(together.err.contains(said), "{}", together.err);
    let found = bench.json(&format!("{cv} --folds groups:where"));
    let groups = found["conformal"]["groups"].as_array().expect("groups");
    assert!(groups.iter().all(|of| of["has_enough_rows"] == true && of["is_estimated"] == false), "{groups:?}");
    let divided = bench.run(&format!("{cv} --folds shuffled"));
    assert!(!divided.err.contains("outside the fold"), "{}", divided.err);
}
