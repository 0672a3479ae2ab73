//! Bad input and bad usage: one line that says where, what and what to do; the right exit code;
//! nothing half-written.

use crate::common::{Bench, SMALL};

/// Runs and expects exit code `code` and one error line that holds `says`.
fn refused(bench: &Bench, line: &str, code: i32, says: &str) {
    let answer = bench.run(line);
    assert_eq!(answer.code, code, "{line}: {answer:?}");
    let errors: Vec<&str> = answer.err.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 1, "{line}: {answer:?}");
    assert!(errors[0].contains(says), "{line}: {:?} does not say {says:?}", errors[0]);
    assert!(answer.out.is_empty(), "{line}: {answer:?}");
}

#[test]
fn files_that_cannot_be_read() {
    let bench = Bench::new();
    refused(&bench, "train nothing-here -q", 1, "nothing-here: no such file, and no generator of this name");
    std::fs::create_dir(bench.path("folder")).unwrap();
    refused(&bench, "cv folder -q", 1, "folder: this is a directory");
    bench.file("binary", [0x7F, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0]);
    refused(&bench, "cv binary -q", 1, "binary:1:");
    bench.file("cut.gz", [0x1F, 0x8B, 8, 0, 0]);
    refused(&bench, "cv cut.gz -q", 1, "cut.gz: gzip data");
    bench.file("empty", "");
    refused(&bench, "cv empty -q", 1, "empty: there are no rows");
    assert!(!bench.names().iter().any(|n| n.contains(".model") || n.contains("tmp")), "{:?}", bench.names());
    // A model where the data should be: the arguments of predict in the wrong order.
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -o m -q").code, 0);
    refused(&bench, "predict m small -q", 1, "small: not a model file");
    refused(&bench, "train m -q", 1, "m: this is a model file in the place of the data: predict takes DATA MODEL");
}

#[test]
fn a_missing_file_is_called_missing_and_no_generator() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -o m -q").code, 0);
    for line in [
        "predict small gone",
        "verify gone small",
        "calibrate gone small",
        "explain gone small",
        "export gone --c out.c",
        "update gone --remove 1",
        "convert gone out --format libsvm",
        "cv small --folds gone",
        "scale small --range gone",
    ] {
        let answer = bench.run(line);
        assert!(answer.code != 0 && answer.err.contains("gone") && answer.err.contains("no such file"), "{line}: {answer:?}");
        assert!(!answer.err.contains("generator"), "{line}: {answer:?}");
    }
    for line in [
        "train gone",
        "predict gone m",
        "info gone",
        "cv gone",
        "verify m gone",
        "explain m gone",
        "explain m small --background gone",
        "export m --onnx out.onnx --check gone",
    ] {
        let answer = bench.run(line);
        assert!(answer.err.contains("gone: no such file, and no generator of this name"), "{line}: {answer:?}");
    }
    for line in
        ["svm-train gone", "svm-predict gone m out", "svm-predict small gone out", "svm-scale gone", "liblinear-train gone"]
    {
        let answer = bench.run(line);
        assert!(answer.code == 1 && answer.err.contains("can't open") && answer.err.contains("gone"), "{line}: {answer:?}");
    }
}

#[test]
fn warnings_are_printed_however_quiet_a_command_is() {
    let bench = Bench::new();
    bench.file("rare", format!("{}1 1:0.25\n1 1:0.5\n", "-1 1:1\n-1 1:2\n".repeat(20)));
    for command in ["train rare -o m --force", "cv rare -k 2", "grid rare -k 2 -c 1 -g 1"] {
        let [loud, quiet] = ["", " -q"].map(|option| bench.run(&format!("{command}{option}")));
        assert!(!quiet.warnings().is_empty(), "{command}: {quiet:?}");
        assert_eq!(loud.warnings(), quiet.warnings(), "{command}");
        // And nothing else.
        assert!(quiet.err.lines().all(|line| line.starts_with("warning: ")), "{command}: {quiet:?}");
    }
}

#[test]
fn equal_rows_are_no_question_of_gamma() {
    let bench = Bench::new();
    bench.file("equal", "1 1:1 2:1\n-1 1:1 2:1\n".repeat(2));
    bench.file("none", "1\n-1\n".repeat(2));
    for line in ["train equal -o m --force", "train none -o m --force", "train equal -o m --force --kernel linear"] {
        let answer = bench.run(line);
        assert_eq!(answer.code, 0, "{line}: {answer:?}");
        assert_eq!(answer.warnings(), ["warning: all rows have the same features: no machine can tell them apart"], "{line}");
    }
}

#[test]
fn feature_four_thousand_million_takes_the_memory_of_its_entries() {
    let bench = Bench::new();
    let rows = |far: u64| {
        let rows: Vec<String> = (0..20).map(|i| format!("{} 5:0.{i} 4000000000:{far}\n", i % 2)).collect();
        rows.concat()
    };
    for (far, option) in [(1, "--kernel linear"), (1 << 31, "--kernel linear"), (1, "--kernel linear --bias 1"), (1, "-g 1")] {
        bench.file("hollow", rows(far));
        let answer = bench.run(&format!("train hollow -o m --force --memory 64M {option}"));
        assert_eq!(answer.code, 0, "{option}: {answer:?}");
        assert_eq!(bench.run("verify m hollow").code, 0, "{option}");
        assert_eq!(bench.run("predict hollow m").out.lines().count(), 20, "{option}");
        let exported = bench.run("convert m out --format libsvm --force");
        assert!(exported.code == 0 || exported.err.contains("4000000000"), "{option}: {exported:?}");
    }
}

#[test]
fn a_class_is_rare_beside_the_others_only() {
    let bench = Bench::new();
    let rows = |counts: &[usize]| -> String {
        let of = |(class, count): (usize, &usize)| (0..*count).map(move |i| format!("{class} 1:{}\n", class * 10 + i));
        counts.iter().enumerate().flat_map(of).collect()
    };
    for (counts, is_rare) in [
        (&[2, 2][..], false),
        (&[2, 3], false),
        (&[4, 4, 4], false),
        (&[3, 5], false),
        (&[2, 8], true),
        (&[1, 3], true),
        (&[1, 60], true),
        (&[1, 1, 1, 1], false),
    ] {
        bench.file("data", rows(counts));
        let answer = bench.run("train data -o m --force -q");
        assert_eq!(answer.warnings().iter().any(|line| line.contains(" has only ")), is_rare, "{counts:?}: {answer:?}");
    }
}

#[test]
fn lines_that_are_wrong_have_a_place() {
    let bench = Bench::new();
    let cases = [
        ("1 1:1\nx 1:2\n", "bad:2:1: `x` is not a label"),
        ("1 1:1\n-1 1:nan\n", "bad:2:4: `1:nan` is not finite"),
        ("1 1:1\n-1 2:1 1:3\n", "bad:2:8: `1:3` comes after index 2; indices must ascend in a row: sort the row or pass --sort"),
        ("1 1:1\n-1 2:1 2:3\n", "bad:2:8: `2:3` repeats an index"),
        ("1 1:1\n\n-1 1:2\n", "bad:2:1: blank line"),
        ("1 1:1\n-1 1\n", "bad:2:4: `1` has no value"),
        ("1 1:1\n-1 1:1e999\n", "is not finite"),
    ];
    for (text, says) in cases {
        bench.file("bad", text);
        refused(&bench, "cv bad -k 2 -q", 1, says);
        refused(&bench, "info bad -q", 1, says);
    }
}

#[test]
fn classes_that_cannot_be_trained() {
    let bench = Bench::new();
    bench.file("one", "1 1:1\n1 1:2\n");
    refused(&bench, "train one -q", 1, "one: all 2 labels are 1: training needs two classes");
    bench.file("small", SMALL);
    refused(&bench, "cv small -k 13 -q", 1, "13 folds for 12 samples");
    refused(&bench, "cv small -k 8 -q", 1, "8 stratified folds, and no class has more than 6 samples");
    refused(&bench, "cv small -k 1 -q", 2, "at least 2 folds");
    refused(&bench, "cv small --folds groups -q", 1, "no row has a group");
    refused(&bench, "cv small --folds absent.txt -q", 1, "absent.txt: cannot read the folds");
    bench.file("folds.txt", "0\n1\nx\n");
    refused(&bench, "cv small --folds folds.txt -q", 1, "folds.txt:3: `x` is not a fold number");
    bench.file("folds.txt", "0\n1\n0\n");
    refused(&bench, "cv small --folds folds.txt -q", 1, "folds.txt: 3 fold numbers for 12 samples");
    refused(&bench, "train small --weight 3=2 -q", 2, "the classes of the data are -1 and 1");
}

#[test]
fn options_that_make_no_sense() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    let cases = [
        ("train small -c 0", "above 0"),
        ("train small -c -1", "above 0"),
        ("train small -c nan", "above 0"),
        ("train small -g 0", "above 0"),
        ("train small -g -0.5", "above 0"),
        ("train small -g inf", "above 0"),
        ("train small --eps 0", "above 0"),
        ("train small -d 0 --kernel poly", "from 1"),
        ("train small -r nan --kernel poly", "finite"),
        ("train small --memory lots", "512M"),
        ("train small --time-limit soon", "30s"),
        ("train small --threads 0", "from 1"),
        // It once ran for nothing, and advised to try --max-iter 0.
        ("train small --max-iter 0", "at least 1"),
        ("grid small -c 1e-200:1e200", "401 values are more than 100"),
        ("train small --kernel fancy", "possible values"),
        ("train small --rows 10", "--rows and --features are for generators"),
        ("train gauss-m --features 9", "gauss-m cannot make 9 features"),
        ("train small --kernel precomputed --scale minmax", "no features to scale"),
        ("train small --json -o -", "both write to standard output"),
        ("scale small -l 2 -u 1", "--lower 2 is not below --upper 1"),
        ("scale small --method standard --save-range r", "range files hold minmax"),
        ("predict small", "required"),
    ];
    for (line, says) in cases {
        let answer = bench.run(line);
        assert_eq!(answer.code, 2, "{line}: {answer:?}");
        assert!(answer.err.starts_with("error: ") && answer.err.contains(says), "{line}: {answer:?}");
    }
    refused(&bench, "train small --kernel precomputed -q", 1, "no row has `0:serial`");
}

#[test]
fn outputs_are_checked_before_the_work() {
    let bench = Bench::new();
    // Neither exists; the output is looked at first.
    refused(&bench, "train no-data -o no-folder/model -q", 1, "no-folder/model: cannot write here");
    std::fs::create_dir(bench.path("folder")).unwrap();
    refused(&bench, "train no-data -o folder -q", 1, "folder: this is a directory");
    if std::path::Path::new("/proc/self").exists() {
        refused(&bench, "train no-data -o /proc/model -q", 1, "/proc/model: cannot write here");
    }
}

#[test]
fn a_full_disk_leaves_no_half_written_model() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    if std::path::Path::new("/dev/full").exists() {
        refused(&bench, "train small -o /dev/full -q", 1, "the disk is full");
    }
    bench.file("kept", "old content");
    refused(&bench, "train no-data -o kept --force -q", 1, "no-data: no such file");
    assert_eq!(bench.read("kept"), "old content");
    assert_eq!(bench.names(), ["kept", "small"]);
}

#[test]
fn damaged_models_are_refused() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -o m -q").code, 0);
    let whole = std::fs::read(bench.path("m")).unwrap();
    bench.file("m", &whole[..whole.len() - 10]);
    refused(&bench, "predict small m -q", 1, "m: the model file is cut short");
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    bench.file("m", &flipped);
    refused(&bench, "verify m small -q", 1, "m: the model file is damaged");
    refused(&bench, "predict small small -q", 1, "small: not a model file");
    refused(&bench, "predict small none -q", 1, "none: no such file");
    bench.file("m", "svm_type c_svc\nkernel_type rbf\nfoo 1\nSV\n");
    refused(&bench, "predict small m -q", 1, "m:3: unknown word `foo`");
}

#[test]
fn scaling_that_overflows_names_the_place_and_the_value() {
    let bench = Bench::new();
    bench.file("wide", "# a comment\n1 1:1 2:-1.5e308\n-1 1:2 2:3\n1 1:2 2:1.5e308\n-1 1:1 2:4\n");
    let says = "wide:3: feature 2: 3 overflows when it is scaled by its feature's range, -1.5e+308 to 1.5e+308";
    for line in ["scale wide", "train wide --scale minmax -o m", "cv wide -k 2 --scale minmax", "grid wide -k 2 --scale minmax"] {
        refused(&bench, &format!("{line} -q"), 1, says);
    }
    refused(
        &bench,
        "train wide --scale standard -o m -q",
        1,
        "wide:2: feature 2: -1.5e+308 overflows when it is scaled by its feature's mean",
    );
    bench.file("ranges", "y\n-1 1\n0 1e-308\nx\n-1 1\n1 0 1\n");
    bench.file("labels", "0 1:1\n-1e300 1:2\n");
    refused(&bench, "scale labels --range ranges -q", 1, "labels: row 2: the label -1e+300 overflows");
    assert_eq!(bench.names(), ["labels", "ranges", "wide"]);
}

/// Packs a text of one repeated line.
fn packed(line: &str, times: usize) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    (0..times).for_each(|_| encoder.write_all(line.as_bytes()).expect("memory"));
    encoder.finish().expect("memory")
}

#[test]
fn small_files_that_unpack_to_large_ones_are_refused() {
    let bench = Bench::new();
    bench.file("small", SMALL);
    assert_eq!(bench.run("train small -o m --updatable -q").code, 0);
    bench.file("bomb.gz", packed("1 1:0.5 2:0.25\n", 400_000));
    let says = "bomb.gz: unpacked, the file has more than 1 MiB (--max-size); raise --max-size SIZE to read it";
    for line in [
        "train bomb.gz -o new",
        "cv bomb.gz",
        "info bomb.gz",
        "scale bomb.gz",
        "predict bomb.gz m",
        "verify m bomb.gz",
        "update m --add bomb.gz",
    ] {
        refused(&bench, &format!("{line} --max-size 1M -q"), 1, says);
    }
    // Models are files, too; so is what is not packed.
    for line in ["predict small bomb.gz", "verify bomb.gz small", "info bomb.gz", "update bomb.gz --remove 1"] {
        refused(&bench, &format!("{line} --max-size 1M -q"), 1, says);
    }
    // So are folds, ranges, weights, groups and lists of numbers.
    bench.file("long", "1\n".repeat(1000));
    for line in [
        "cv small --folds long",
        "grid small --folds long",
        "scale small --range long",
        "update m --remove long",
        "train small --weights long -o new",
        "cv small --weights long -k 3",
        "train small --conformal 0.2 --conformal-groups long -k 2 -o new",
    ] {
        let says = "the file has more than 1 KiB (--max-size); raise --max-size SIZE to read it";
        refused(&bench, &format!("{line} --max-size 1K -q"), 1, says);
    }
    refused(&bench, "info small --max-size 100 -q", 1, "small: unpacked, the file has more than 100 B (--max-size)");
    let mut command = bench.command("info - --max-size 1M -q");
    command.stdin(std::fs::File::open(bench.path("bomb.gz")).unwrap());
    let answer = crate::common::answer(&mut command);
    assert!(answer.code == 1 && answer.err.contains("standard input: unpacked, the file has more than 1 MiB"), "{answer:?}");
    assert_eq!(bench.json("info bomb.gz --max-size 10M")["data"]["rows"], 400_000);
}

#[test]
fn many_labels_are_asked_about_before_their_machines_are_trained() {
    let bench = Bench::new();
    let targets = |step: f64| -> String {
        let lines: Vec<String> = (0..3000).map(|i| format!("{} 1:{i}\n", f64::from(i) * step)).collect();
        lines.concat()
    };
    bench.file("targets", targets(0.25));
    let says = "targets: 3,000 different labels with fractions among them, such as 0.25, look like values to predict; as classes they need 4,498,500 \
                machines; pass --formulation epsilon-svr for a regression, or --formulation c-svc for classes";
    for line in ["train targets -o m", "train targets --kernel linear -o m", "cv targets", "loo targets", "grid targets"] {
        refused(&bench, &format!("{line} -q"), 1, says);
    }
    bench.file("targets", targets(1.0));
    refused(&bench, "cv targets -q", 1, "3,000 different numbers in 3,000 rows look like values to predict");
    let says = "3,000 different labels need 4,498,500 machines, one for each pair of classes, more than 10,000";
    refused(&bench, "cv targets --formulation c-svc -q", 1, says);
    bench.file("four", "1 1:1\n2 1:2\n3 1:3\n4 1:4\n".repeat(5));
    refused(&bench, "train four --max-machines 5 -o m -q", 1, "4 different labels need 6 machines");
    assert_eq!(bench.run("train four --max-machines 6 -o m -q").code, 0);
}
