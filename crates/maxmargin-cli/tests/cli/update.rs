//! update: samples come and go, the model stays exact, and nothing is lost when it cannot be done.

use crate::common::{Bench, SMALL};

/// A model of 200 samples that keeps them.
fn trained(bench: &Bench) {
    assert_eq!(bench.run("train two-gaussians --rows 200 -c 10 -g 0.5 --updatable -o m -q").code, 0);
}

#[test]
fn an_updated_model_is_that_of_the_new_data() {
    let bench = Bench::new();
    trained(&bench);
    let updated = bench.json("update m --add two-gaussians --rows 30 --seed 9 --remove 1,5,10-37 -o m2 --write-data now");
    assert_eq!((&updated["rows_before"], &updated["rows"]), (&200.into(), &200.into()));
    assert_eq!((&updated["added"], &updated["removed"], &updated["first_number"]), (&30.into(), &30.into(), &201.into()));
    assert_eq!(updated["status"], "converged");
    assert!(updated["certificate"]["kkt"].as_f64().unwrap() <= updated["tolerance"].as_f64().unwrap());
    // From scratch on the same samples, to a tolerance at which objectives agree to ten digits.
    let scratch = bench.json("train now -c 10 -g 0.5 --eps 1e-8 -o scratch");
    let (ours, theirs) = (updated["certificate"]["dual"].as_f64().unwrap(), scratch["certificate"]["dual"].as_f64().unwrap());
    assert!((ours - theirs).abs() <= 1e-9 * theirs.abs(), "{ours} {theirs}");
    assert_eq!(updated["support_vectors"], scratch["support_vectors"]);
    // Both the data that is kept and the file that was written certify the model.
    for line in ["verify m2", "verify m2 now"] {
        let verified = bench.json(line);
        assert_eq!((&verified["matches"], &verified["tolerance_met"]), (&true.into(), &true.into()), "{verified}");
    }
    assert_eq!(bench.run("predict now m2 -o labels -q").code, 0);
}

#[test]
fn updates_can_follow_each_other_and_be_undone() {
    let bench = Bench::new();
    trained(&bench);
    let before = bench.json("update m -c 10.5 -o moved");
    assert_eq!(before["formulation"]["c"], 10.5);
    let first = bench.json("update m -c 10 --remove 3");
    assert_eq!(first["rows"], 199);
    let again = bench.run("update m --remove 3 -q");
    assert!(again.code == 1 && again.err.contains("no sample has the number 3"), "{again:?}");
    let grown = bench.json("update m --add two-gaussians --rows 20 --seed 4");
    assert_eq!((&grown["rows"], &grown["first_number"]), (&219.into(), &201.into()));
    bench.file("numbers", "201-210, 211\n212 213-220\n");
    let back = bench.json("update m --remove numbers");
    assert_eq!(back["rows"], 199);
    let near = |a: &serde_json::Value, b: &serde_json::Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-7;
    assert!(near(&back["certificate"]["dual"], &first["certificate"]["dual"]), "{back} {first}");
    assert_eq!(bench.run("verify m -q").code, 0);
    let described = bench.run("info m");
    assert!(described.out.contains("samples ("), "{described:?}");
}

#[test]
fn a_model_without_its_data_takes_the_file_it_was_trained_on() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small --scale minmax -c 5 -g 1 -o m -q").code, 0);
    let missing = bench.run("update m --remove 2 -q");
    assert!(missing.code == 1 && missing.err.contains("--data"), "{missing:?}");
    bench.file("other", SMALL.replace("1 1:1 2:0.5\n", "1 1:1 2:0.625\n"));
    let wrong = bench.run("update m --data other --remove 2 -q");
    assert!(wrong.code == 1 && wrong.err.contains("not the data that the model was trained on"), "{wrong:?}");
    bench.file("more", "1 1:0.25 2:0.25 3:7\n-1 1:-2\n");
    let updated = bench.json("update m --data small --remove 2 --add more -o m2");
    assert_eq!(updated["rows"], 13);
    assert_eq!(bench.run("verify m2 -q").code, 0);
}

#[test]
fn what_cannot_be_done_leaves_the_model_as_it_was() {
    let bench = Bench::new();
    trained(&bench);
    let before = std::fs::read(bench.path("m")).unwrap();
    bench.file("labels", "1 1:0 2:0\n7 1:1 2:1\n");
    bench.file("bad", "1 1:x\n");
    bench.file("numbers", "3\n4 five\n");
    for (line, code, says) in [
        ("update m", 2, "nothing to do"),
        ("update m --remove 0", 2, "the first is 1"),
        ("update m --remove 9-3", 2, "ends before it begins"),
        ("update m --remove 201", 1, "no sample has the number 201"),
        ("update m --remove 1-99999999999999", 1, "no sample has the number 201"),
        ("update m --remove 4,4", 1, "named twice"),
        ("update m --remove gone", 1, "gone"),
        ("update m --remove numbers", 1, "numbers:2: `five`"),
        ("update m --add labels", 1, "row 2 has the label 7"),
        ("update m --add bad", 1, "bad:1:"),
        ("update m --add gone", 1, "no such file"),
        ("update m --remove 1-200", 1, "after the update"),
        ("update m --data labels --remove 1", 2, "leave it out"),
        ("update m -c 0", 2, "above 0"),
        ("update labels --remove 1", 1, "labels"),
        ("update m --remove 1 -o no/where", 1, "no/where"),
        ("update m --remove 1 --write-data m", 2, "name two files"),
        ("update m --remove 1 -o new --write-data ./new", 2, "name two files"),
    ] {
        let answer = bench.run(&format!("{line} -q"));
        assert_eq!(answer.code, code, "{line}: {answer:?}");
        assert!(answer.err.contains(says), "{line}: {answer:?}");
        assert_eq!(std::fs::read(bench.path("m")).unwrap(), before, "{line}");
    }
    assert_eq!(bench.names(), ["bad", "labels", "m", "numbers"]);
}

/// Models of these were once updated as if they had the hinge loss and a free bias, and the
/// certificate of that problem held.
#[test]
fn another_loss_or_bias_is_refused_and_not_replaced() {
    let bench = Bench::new();
    for (options, says) in [
        ("--kernel linear --loss squared", "the squared hinge loss"),
        ("--kernel linear --loss squared --bias 1", "the squared hinge loss"),
        ("--kernel linear --loss hinge --bias 1", "a bias that is one more feature"),
        ("--kernel linear --loss hinge --bias none", "no bias"),
        ("-g 0.5 --loss squared", "the squared hinge loss"),
        ("-g 0.5 --solver pairwise", "the squared hinge loss"),
    ] {
        let train = format!("train two-gaussians --rows 120 -c 2 {options} -o m -q");
        assert_eq!(bench.run(&train).code, 0, "{train}");
        let before = std::fs::read(bench.path("m")).unwrap();
        let refused = bench.run("update m --data two-gaussians --rows 120 --remove 3 -q");
        assert!(refused.code == 1 && refused.err.contains(says), "{options}: {refused:?}");
        assert!(refused.err.contains("train --solver smo --updatable"), "{options}: {refused:?}");
        assert_eq!(std::fs::read(bench.path("m")).unwrap(), before, "{options}");
        let updatable = bench.run(&format!("{train} --updatable"));
        assert!(updatable.code == 2 && updatable.err.contains("--updatable"), "{options}: {updatable:?}");
    }
}

/// `holds: KKT violation 0.0007 (tolerance 1e-08)` was said of a machine that the update had not
/// touched.
#[test]
fn the_tolerance_that_is_told_is_that_of_the_machine() {
    let bench = Bench::new();
    let third = (0..12).fold(SMALL.to_owned(), |text, i| {
        format!("{text}2 1:{} 2:{}\n", 0.125 * f64::from(i) - 0.5, 0.5 - 0.0625 * f64::from(i))
    });
    bench.file("three", third);
    assert_eq!(bench.run("train three -c 3 -g 1 --eps 0.01 --updatable -o m -q").code, 0);
    let updated = bench.run("update m --remove 20 -o m2 -q");
    let line = updated.out.lines().find(|line| line.contains("certificate")).expect("a certificate");
    assert!(updated.code == 0 && line.contains("optimal within") && line.contains("(tolerance 1e-2)"), "{updated:?}");
    let all = bench.run("update m -c 4 -o m2 -q");
    assert!(all.out.contains("(tolerance 1e-8)"), "{all:?}");
}

/// Labels and bytes of an update were reported as unknown and as none.
#[test]
fn an_update_tells_what_it_proves_and_what_it_held() {
    let bench = Bench::new();
    trained(&bench);
    let updated = bench.json("update m --remove 1-5 --memory 1M -o n");
    let (rows, labels) = (updated["rows"].as_u64().unwrap(), updated["certificate"]["fixed_labels"].as_u64().unwrap());
    assert!(labels > rows / 2 && labels <= rows, "{labels} of {rows}: the gap is next to nothing");
    let held = updated["kernel_bytes"].as_u64().unwrap();
    assert!(held > 8 * updated["margin"].as_u64().unwrap().pow(2) && held <= 1 << 20, "{held}");
    let verified = bench.json("verify n");
    assert_eq!(verified["certificate"]["fixed_labels"].as_u64(), Some(labels), "update and verify count the same labels");
}

/// An update keeps fillings, words and scaling of the training, so that a training from the changed
/// rows gives another model. Nothing said so.
#[test]
fn an_update_tells_of_fillings_and_scaling_that_it_keeps() {
    let bench = Bench::new();
    let row =
        |i: u32, size: &str| format!("{size},{},{}\n", ["red", "blue"][(i % 2) as usize], ["no", "yes"][(i / 2 % 2) as usize]);
    let table = |rows: std::ops::Range<u32>, step: f64, has_gaps: bool| {
        let size = |i: u32| if has_gaps && i % 5 == 1 { String::new() } else { format!("{}", f64::from(i * 7 % 11) * step) };
        rows.fold("size,colour,kind\n".to_owned(), |text, i| text + &row(i, &size(i)))
    };
    bench.file("t.csv", table(0..40, 1.0, true));
    // Sizes beyond those of the training.
    bench.file("more.csv", table(40..48, 3.0, true));
    for (options, words, scaling) in [("--impute median", true, false), ("--impute median --scale minmax", true, true)] {
        assert_eq!(bench.run(&format!("train t.csv -c 2 -g 0.5 {options} --updatable -o m --force -q")).code, 0);
        let moved = bench.run("update m -c 3 -o m2 --force -q");
        assert!(moved.code == 0 && !moved.err.contains("keeps the"), "{moved:?}");
        let added = bench.run("update m --add more.csv -o m2 --force -q");
        let says = |what: &str| added.err.contains("the updated model keeps the") && added.err.contains(what);
        assert_eq!((added.code, says("words and fillings"), says("scaling")), (0, words, scaling), "{options}: {added:?}");
        assert_eq!(bench.run("verify m2 -q").code, 0);
    }
    // Where the fit stays the same, nothing is told: row 8 has neither the
    // least nor the greatest size.
    bench.file("full.csv", table(0..40, 1.0, false));
    assert_eq!(bench.run("train full.csv -c 2 -g 0.5 --scale minmax --updatable -o m --force -q").code, 0);
    let same = bench.run("update m --remove 8 -o m2 -q --force");
    assert!(same.code == 0 && !same.err.contains("keeps the"), "{same:?}");
}

/// Such trainings were accepted, and every update refused their models.
#[test]
fn a_model_that_cannot_be_updated_is_refused_at_its_training() {
    let bench = Bench::new();
    bench.file("weights", "1\n2\n".repeat(30));
    bench.file("precomputed", "1 0:1 1:1 2:0\n-1 0:2 1:0 2:1\n");
    for (line, says) in [
        ("train penguins --impute median --classes one-vs-rest", "--updatable: machines of each class against the rest"),
        ("train two-gaussians --rows 60 --weights weights", "--updatable: models with --weights of samples"),
        ("train precomputed --kernel precomputed", "--updatable: models of a precomputed kernel"),
    ] {
        let refused = bench.run(&format!("{line} --updatable -o m -q"));
        assert!(refused.code == 2 && refused.err.contains(says), "{line}: {refused:?}");
        assert!(!bench.path("m").exists(), "{line}");
        assert_eq!(bench.run(&format!("{line} -o plain -q --force")).code, 0, "{line}");
    }
    // Two classes have one machine, whatever the scheme.
    assert_eq!(bench.run("train two-gaussians --rows 60 --classes one-vs-rest --updatable -o m -q").code, 0);
    assert_eq!(bench.run("update m --remove 3 -q").code, 0);
}

/// A width by a rule belongs to the rows of the training.
#[test]
fn an_update_tells_that_it_keeps_the_width() {
    let bench = Bench::new();
    for (kernel, is_told) in [("-g scale", true), ("-g 0.5", true), ("--kernel linear --solver smo", false)] {
        assert_eq!(bench.run(&format!("train two-gaussians --rows 60 {kernel} --updatable -o m -q --force")).code, 0);
        let updated = bench.run("update m --remove 1-9 -o m2 -q --force");
        let says =
            updated.out.contains(", kept; train on the changed data (--write-data) to have -g scale or mean choose it anew");
        assert_eq!((updated.code, says), (0, is_told), "{kernel}: {updated:?}");
        // The data is the same.
        assert!(!bench.run("update m -c 2 -o m2 -q --force").out.contains(", kept;"), "{kernel}");
    }
}
