//! Several classes on the command line: what is trained, predicted, certified, and what is refused.

use crate::common::Bench;
use serde_json::Value;

/// Three classes on a line and above it, labels that are no integers in a row.
fn three(rows: usize) -> String {
    let mut state = 17_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let line = |i: usize| {
        let (label, x, y) = [(-3, -1.0, 0.0), (2, 1.0, 0.0), (10, 0.0, 1.5)][i % 3];
        format!("{label} 1:{} 2:{}\n", x + 1.6 * noise(), y + 1.6 * noise())
    };
    (0..rows).map(line).collect()
}

fn at<'v>(document: &'v Value, path: &str) -> &'v Value {
    document.pointer(path).unwrap_or_else(|| panic!("no {path} in {document}"))
}

#[test]
fn every_solver_trains_predicts_and_is_certified() {
    let bench = Bench::new();
    bench.file("data", three(150));
    for options in [
        "-c 2 -g 0.5",
        "-c 2 -g 0.5 --weight 2=3 --weight -3=0.5",
        "-c 0.5 --kernel linear",
        "-c 0.5 --kernel linear --loss squared --bias 1",
        "-c 2 -g 0.5 --solver pairwise",
        "-c 2 -g 0.5 --solver irwls",
        "-c 2 -g 0.5 --loss squared",
        "-c 2 -g 0.5 --scale minmax",
        "-c 1 --kernel linear --scale standard",
    ] {
        let trained = bench.json(&format!("train data {options} -o model"));
        assert_eq!(at(&trained, "/status"), "converged", "{options}");
        let pairs = at(&trained, "/machines").as_array().unwrap();
        assert!(pairs.iter().all(|p| at(p, "/certificate/holds") == true), "{options}: {trained}");
        let names: Vec<(f64, f64)> =
            pairs.iter().map(|p| (p["negative"].as_f64().unwrap(), p["positive"].as_f64().unwrap())).collect();
        assert_eq!(names, [(-3.0, 2.0), (-3.0, 10.0), (2.0, 10.0)]);
        let predicted = bench.json("predict data model -o labels");
        assert!(at(&predicted, "/accuracy").as_f64().unwrap() > 0.8, "{options}: {predicted}");
        let labels = bench.read("labels");
        assert!(labels.lines().count() == 150 && labels.lines().all(|l| ["-3", "2", "10"].contains(&l)));
        let verified = bench.json("verify model data");
        assert!(at(&verified, "/matches") == true && at(&verified, "/tolerance_met") == true, "{options}: {verified}");
        let info = bench.json("info model");
        assert_eq!(at(&info, "/classes").as_array().unwrap().len(), 3);
    }
    bench.json("predict data model --decision -o values");
    assert!(bench.read("values").lines().all(|line| line.split(' ').filter(|v| v.parse::<f64>().is_ok()).count() == 3));
}

#[test]
fn folds_are_certified_and_reproducible() {
    let bench = Bench::new();
    bench.file("data", three(150));
    let mut accuracies = Vec::new();
    for options in [
        "-c 7.3 -g 0.5",
        "-c 7.3 -g 0.5 --seeding cold",
        "-c 7.3 -g 0.5 --seeding sir --threads 1",
        "-c 7.3 -g 0.5 --scale minmax",
        "-c 0.5 --kernel linear",
        "-c 0.5 --kernel linear --scale minmax",
        "-c 7.3 -g 0.5 --solver pairwise",
    ] {
        let report = bench.json(&format!("cv data -k 5 --eps 1e-6 {options} -o predicted"));
        assert_eq!((at(&report, "/status"), at(&report, "/folds").as_array().unwrap().len()), (&Value::from("converged"), 5));
        for fold in at(&report, "/folds").as_array().unwrap() {
            assert!(fold["certificate"]["kkt"].as_f64().unwrap() <= 1e-6, "{options}: {fold}");
        }
        let correct = bench.read("predicted").lines().filter(|l| l.split(' ').next() == l.split(' ').nth(1)).count();
        assert_eq!(at(&report, "/correct"), correct, "{options}");
        accuracies.push(at(&report, "/accuracy").as_f64().unwrap());
        let again = bench.json(&format!("cv data -k 5 --eps 1e-6 {options}"));
        assert_eq!(at(&again, "/confusion"), at(&report, "/confusion"));
    }
    // Starts make no difference to what is found.
    assert_eq!(accuracies[0], accuracies[1]);
    assert_eq!(accuracies[0], accuracies[2]);
    assert!(accuracies.iter().all(|a| *a > 0.8), "{accuracies:?}");
}

#[test]
fn a_changed_model_is_refuted() {
    let bench = Bench::new();
    bench.file("data", three(90));
    bench.file("others", three(93));
    bench.json("train data -c 2 -g 0.5 -o model");
    let refuted = bench.run("verify model others");
    assert!(refuted.code == 1 && refuted.out.contains("REFUTED"), "{refuted:?}");
    let bytes = std::fs::read(bench.path("model")).unwrap();
    let model = maxmargin::model::decode(&bytes).unwrap();
    for change in 0..4 {
        let mut parts = model.parts().clone();
        match change {
            0 => parts.machines[1].bias += 0.01,
            1 => parts.machines[2].coef[0] *= 0.5,
            2 => parts.machines[0].coef[1] *= -1.0,
            _ => parts.record.as_mut().unwrap().machines[0].certificate.kkt = 1e-9,
        }
        let changed = maxmargin::model::Model::new(parts).unwrap();
        bench.file("changed", maxmargin::model::encode(&changed).unwrap());
        let refuted = bench.run("verify changed data");
        let what = ["bias", "feasible", "support vectors", "certificate"][change];
        let is_refuted = |line: &str| line.trim_start().starts_with(what) && line.contains("MISMATCH");
        assert!(refuted.code == 1 && refuted.out.lines().any(is_refuted), "{change}: {refuted:?}");
    }
}

#[test]
fn one_is_left_out_and_many_values_of_c_are_tried() {
    let bench = Bench::new();
    bench.file("data", three(45));
    for options in ["-g 0.5 -c 2", "--kernel linear", "-g 0.5 --solver irwls", "-g 0.5 --solver pairwise"] {
        let loo = bench.json(&format!("loo data {options} --eps 1e-6 -o left"));
        assert_eq!(at(&loo, "/k"), 45);
        let cold = bench.json(&format!("loo data {options} --eps 1e-6 --seeding cold"));
        assert_eq!(at(&loo, "/confusion"), at(&cold, "/confusion"), "{options}");
        // Label, prediction, and what each of three machines says.
        assert!(bench.read("left").lines().all(|line| line.split(' ').count() == 5));
    }
    for options in [
        "-g 0.5",
        "-g 0.5 --seeding cold",
        "--kernel linear",
        "--kernel poly -g 0.5 -d 2 -r 1 --scale minmax",
        "--kernel rbf -g 0.5 --loss squared",
    ] {
        let grid = bench.json(&format!("grid data -k 3 -c 0.1:10 {options}"));
        assert_eq!(at(&grid, "/cells").as_array().unwrap().len(), 3, "{options}");
        let c = at(&grid, "/best_c").as_f64().unwrap();
        let alone = bench.json(&format!("cv data -k 3 -c {c} {options}"));
        let points = at(&grid, "/cells").as_array().unwrap();
        let best = points.iter().find(|p| at(p, "/c") == c).unwrap();
        let off = at(best, "/correct").as_i64().unwrap() - at(&alone, "/correct").as_i64().unwrap();
        assert!(off.abs() <= 1, "{options}: {best} {alone}");
    }
}

#[test]
fn models_are_updated_as_if_trained_anew() {
    let bench = Bench::new();
    bench.file("data", three(90));
    assert_eq!(bench.run("train data -c 2 -g 0.5 --weight 2=3 --updatable -o model -q").code, 0);
    let updated = bench.json("update model --remove 1-5,40 -c 3 -o new --write-data now");
    assert_eq!((at(&updated, "/rows"), at(&updated, "/removed")), (&Value::from(84), &Value::from(6)));
    let anew = bench.json("train now -c 3 -g 0.5 --weight 2=3 --eps 1e-8 -o anew");
    let machines = |d: &Value| -> Vec<f64> {
        at(d, "/machines").as_array().unwrap().iter().map(|m| m["objective"].as_f64().unwrap()).collect()
    };
    assert_eq!(machines(&updated).len(), 3);
    for (a, b) in machines(&updated).iter().zip(machines(&anew)) {
        assert!((a - b).abs() <= 1e-8 * b.abs(), "{a} {b}");
    }
    for line in ["verify new", "verify new now"] {
        let verified = bench.json(line);
        assert!(at(&verified, "/matches") == true && at(&verified, "/tolerance_met") == true, "{verified}");
    }
}

#[test]
fn what_cannot_be_solved_says_what_can() {
    let bench = Bench::new();
    bench.file("data", three(30));
    bench.file("two", crate::common::SMALL);
    let refused = bench.run("train data -g 0.5 --solver pairwise --updatable -o other");
    assert_eq!((refused.code, refused.err.contains("use --solver smo")), (2, true), "{refused:?}");
    let refused = bench.run("train data --weight 4=2 -o other");
    assert!(refused.code == 2 && refused.err.contains("the classes of the data are -3, 2 and 10"), "{refused:?}");
    let refused = bench.run("train data --solver cvm --weight 2=2 -o other");
    assert!(refused.code == 1 && refused.err.contains("one C for all samples"), "{refused:?}");
    let refused = bench.run("cv data -k 3 --solver fw --seeding sir");
    assert!(refused.code == 2 && refused.err.contains("use cold or full"), "{refused:?}");
    let refused = bench.run("train two --solver irwls --loss squared -o other");
    assert!(refused.code == 2 && refused.err.contains("hinge loss"), "{refused:?}");
    assert!(!bench.path("other").exists());
}

#[test]
fn two_classes_on_the_simplex() {
    let bench = Bench::new();
    bench.file("two", crate::common::SMALL);
    for solver in ["pairwise", "cvm", "fw --gap 0.01", "mfw", "swap"] {
        let trained = bench.json(&format!("train two -c 2 -g 0.5 --solver {solver} -o model"));
        assert_eq!(at(&trained, "/certificate/holds"), true, "{solver}: {trained}");
        let verified = bench.run("verify model two");
        assert!(verified.out.contains("certified") || verified.out.contains("genuine"), "{solver}: {verified:?}");
        assert!(at(&bench.json("predict two model"), "/accuracy").as_f64().unwrap() > 0.7);
    }
}

/// A weight of `w` is what `w` copies of each row of the class are, whatever command it is given
/// to.
#[test]
fn weights_are_copies_of_rows_in_every_command() {
    for classes in [2, 3] {
        let bench = Bench::new();
        let text: String =
            three(90).lines().filter(|line| classes == 3 || !line.starts_with("10")).flat_map(|l| [l, "\n"]).collect();
        bench.file("data", &text);
        let (mut copied, mut folds, mut folds_copied) = (Vec::new(), Vec::new(), Vec::new());
        for (i, line) in text.lines().enumerate() {
            let times = if line.starts_with("-3") { 3 } else { 1 + usize::from(line.starts_with("2 ")) };
            let fold = format!("{}\n", i / 3 % 3);
            copied.extend(vec![format!("{line}\n"); times]);
            folds_copied.extend(vec![fold.clone(); times]);
            folds.push(fold);
        }
        bench.file("copied", copied.concat());
        bench.file("folds", folds.concat());
        bench.file("folds_copied", folds_copied.concat());
        for options in ["-g 0.5", "-g 0.5 --scale minmax", "--kernel linear", "--kernel linear --loss squared --bias 1"] {
            let objectives = |data: &str, weights: &str| -> Vec<f64> {
                let eps = "--eps 1e-6";
                let train = bench.json(&format!("train {data} -c 0.5 {options} {weights} {eps} -o model"));
                let folds = if data == "data" { "folds" } else { "folds_copied" };
                let cv = bench.json(&format!("cv {data} --folds {folds} -c 0.5 {options} {weights} {eps}"));
                let grid = bench.json(&format!("grid {data} --folds {folds} -c 0.5,3 {options} {weights} {eps}"));
                let of = |list: &Value| -> Vec<f64> {
                    list.as_array().unwrap().iter().map(|one| one["objective"].as_f64().unwrap()).collect()
                };
                let points = grid["cells"].as_array().unwrap().iter().flat_map(|point| of(&point["folds"]));
                of(&train["machines"]).into_iter().chain(of(&cv["folds"])).chain(points).collect()
            };
            let (weighted, copied) = (objectives("data", "--weight -3=3 --weight 2=2"), objectives("copied", ""));
            assert_eq!(weighted.len(), classes * (classes - 1) / 2 + 9);
            for (ours, theirs) in weighted.iter().zip(&copied) {
                assert!((ours - theirs).abs() <= 1e-4 * theirs.abs(), "{classes} classes, {options}: {weighted:?} {copied:?}");
            }
        }
    }
}

#[test]
fn each_class_against_the_rest() {
    let bench = Bench::new();
    bench.file("data", {
        let place = |i: usize| [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0)][i % 4];
        let line =
            |i: usize| format!("{} 1:{} 2:{}\n", i % 4, place(i).0 + 0.13 * (i % 7) as f64, place(i).1 + 0.11 * (i % 9) as f64);
        (0..80).map(line).collect::<String>()
    });
    let trained = bench.json("train data -g 0.5 --classes one-vs-rest -o m");
    let machines = trained["machines"].as_array().expect("machines");
    assert_eq!((trained["multiclass"].as_str(), machines.len()), (Some("one-vs-rest"), 4));
    assert!(machines.iter().all(|machine| machine["negative"].is_null() && machine["positive"].is_number()));
    assert!(machines.iter().all(|machine| machine["train"] == 80));
    let text = bench.run("train data -g 0.5 --classes one-vs-rest -o m").out;
    assert!(text.contains("4, one for each of 4 classes against the rest") && text.contains("0 and the rest"), "{text}");
    assert_eq!(bench.run("verify m data").code, 0);
    assert_eq!(bench.json("verify m data")["machines"][2]["train"], 80);
    let info = bench.json("info m");
    assert_eq!((info["decision_rule"].as_str(), info["multiclass"].as_str()), (Some("argmax"), Some("one-vs-rest")));
    assert!(bench.json("predict data m")["accuracy"].as_f64() > Some(0.9));
    let validated = bench.json("cv data -g 0.5 -k 4 --classes one-vs-rest");
    assert!(validated["certificate"]["holds"] == true && validated["accuracy"].as_f64() > Some(0.9));
    assert!(
        bench
            .run("cv data -g 0.5 -k 4 --classes one-vs-rest")
            .out
            .contains("4 in each fold, one for each of 4 classes against the rest")
    );
    // Machines are counted as they are.
    let refused = bench.run("train data --max-machines 3 --classes one-vs-rest -o n");
    assert!(refused.code == 1 && refused.err.contains("4 machines, one for each class against the rest"), "{}", refused.err);
    let refused = bench.run("train data -g 0.5 --classes one-vs-rest --updatable -o u");
    assert!(refused.code == 2 && refused.err.contains("against the rest"), "{}", refused.err);
    bench.json("train data -g 0.5 --classes one-vs-rest -o u");
    let refused = bench.run("update u --data data --remove 1");
    assert!(refused.code == 1 && refused.err.contains("against the rest"), "{}", refused.err);
    assert_eq!(bench.json("cv data -k 4 --classes one-vs-rest --kernel linear")["multiclass"], "one-vs-rest");
}
