//! Linear SVMs on the command line: training without a kernel, models of weights, cross-validation
//! over C.

use crate::common::Bench;

#[test]
fn a_linear_model_keeps_its_weights_and_is_verified() {
    let bench = Bench::new();
    let trained = bench.json("train blobs --rows 400 --features 5 --kernel linear -c 10 -o m --gap 1e-8");
    assert_eq!(trained["status"], "converged");
    assert_eq!(trained["solver"], "linear");
    assert_eq!(trained["formulation"]["bias"], "free");
    assert!(trained["certificate"]["relative_gap"].as_f64().unwrap() <= 1e-8);
    let kernel = bench.json("train blobs --rows 400 --features 5 --kernel linear -c 10 -o k --solver smo --eps 1e-6");
    let [a, b] = [&trained, &kernel].map(|d| d["machines"][0]["objective"].as_f64().unwrap());
    assert!((a - b).abs() <= 1e-6 * b.abs(), "{a} {b}");
    let verified = bench.json("verify m blobs --rows 400 --features 5");
    assert_eq!((&verified["matches"], &verified["tolerance_met"]), (&true.into(), &true.into()), "{verified}");
    // The same sums in another order: some hundred roundings of 1e-16.
    let [a, b] = [&verified, &trained].map(|d| d["certificate"]["dual"].as_f64().unwrap());
    assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} {b}");
    let info = bench.json("info m");
    assert_eq!(info["support_vectors"], trained["support_vectors"]);
    assert_eq!(bench.run("predict blobs m --rows 400 --features 5 --decision -o a -q").code, 0);
    assert_eq!(bench.run("predict blobs k --rows 400 --features 5 --decision -o b -q").code, 0);
    for (a, b) in bench.read("a").lines().zip(bench.read("b").lines()) {
        let [a, b] = [a, b].map(|v| v.parse::<f64>().unwrap());
        assert!((a - b).abs() < 1e-2 * (1.0 + b.abs()), "{a} {b}");
    }
    let other = bench.run("verify m blobs --rows 400 --features 5 --seed 8 -q");
    assert_eq!(other.code, 1, "{other:?}");
    assert!(other.out.contains("REFUTED"), "{other:?}");
}

#[test]
fn tampered_weights_are_refuted_however_well_sealed() {
    use maxmargin::model::{Model, Parts, decode, encode};
    type Tamper = fn(&mut Parts);
    let bench = Bench::new();
    assert_eq!(bench.run("train blobs --rows 200 --features 4 --kernel linear -o m -q").code, 0);
    let bytes = std::fs::read(bench.folder().join("m")).unwrap();
    let changes: [Tamper; 4] = [
        |parts| parts.machines[0].bias += 0.5,
        |parts| parts.support = maxmargin::data::Samples::from_dense(1, 4, vec![1.0; 4]).unwrap(),
        |parts| {
            let folded = parts.record.as_mut().unwrap().machines[0].folded.as_mut().unwrap();
            folded[0] *= 0.5;
        },
        |parts| parts.record.as_mut().unwrap().machines[0].certificate.dual += 1.0,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut parts = decode(&bytes).unwrap().parts().clone();
        change(&mut parts);
        std::fs::write(bench.folder().join("t"), encode(&Model::new(parts).unwrap()).unwrap()).unwrap();
        let answer = bench.run("verify t blobs --rows 200 --features 4 -q");
        assert_eq!(answer.code, 1, "change {at}: {answer:?}");
    }
}

#[test]
fn every_solver_loss_and_bias() {
    let bench = Bench::new();
    for options in [
        "--solver descent --bias none",
        "--solver avsf --bias 1",
        "--solver newton",
        "--solver linear --bias 2 --loss squared",
        "--loss squared --weight 1=3",
        "--scale minmax -c 100",
    ] {
        let line = format!("train blobs --rows 300 --features 3 --kernel linear -o m {options}");
        let trained = bench.json(&line);
        assert_eq!(trained["status"], "converged", "{options}");
        let verified = bench.json("verify m blobs --rows 300 --features 3 --eps 0.002");
        assert_eq!(verified["matches"], true, "{options}: {verified}");
        assert_eq!(verified["tolerance_met"], true, "{options}: {verified}");
    }
}

#[test]
fn options_that_contradict_each_other() {
    let bench = Bench::new();
    for (line, says) in [
        ("train blobs --solver avsf -g 1", "use --kernel linear"),
        ("train blobs --kernel linear --solver descent", "--bias none"),
        ("train blobs --bias none", "--kernel linear"),
        ("train blobs --gap 1", "below 1"),
        ("train blobs --kernel linear --solver linear --updatable", "--solver smo"),
        ("train blobs --kernel linear --bias -1", "free (not regularised), none"),
        ("cv blobs --kernel linear --seeding sir", "use cold or full"),
        ("grid blobs --kernel rbf --solver newton", "--solver smo"),
        ("grid blobs -c 10:1", "greater than"),
        ("grid blobs -c 1,x", "finite number above 0"),
    ] {
        let answer = bench.run(line);
        assert_eq!(answer.code, 2, "{line}: {answer:?}");
        assert!(answer.err.contains(says), "{line}: {answer:?}");
    }
    // An updatable linear model keeps its support vectors.
    assert_eq!(bench.run("train blobs --rows 50 --kernel linear --updatable -o m -q").code, 0);
    assert_eq!(bench.run("update m --remove 1 -q").code, 0);
    // A model of weights cannot be updated, and says why.
    assert_eq!(bench.run("train blobs --rows 50 --kernel linear -o w -q").code, 0);
    let answer = bench.run("update w --remove 1 -q");
    assert!(answer.code == 1 || answer.code == 2, "{answer:?}");
    assert!(answer.err.contains("--updatable"), "{answer:?}");
}

#[test]
fn cross_validation_is_that_of_trainings_from_scratch() {
    let bench = Bench::new();
    let full = bench.json("cv blobs --rows 500 --features 4 --kernel linear -c 5 -k 4 --eps 1e-7");
    assert_eq!(full["status"], "converged");
    for other in ["--seeding cold", "--solver smo", "--threads 1"] {
        let line = format!("cv blobs --rows 500 --features 4 --kernel linear -c 5 -k 4 --eps 1e-7 {other}");
        let found = bench.json(&line);
        assert_eq!(found["accuracy"], full["accuracy"], "{other}");
        for (a, b) in full["folds"].as_array().unwrap().iter().zip(found["folds"].as_array().unwrap()) {
            let [a, b] = [a, b].map(|f| f["objective"].as_f64().unwrap());
            assert!((a - b).abs() <= 1e-6 * a.abs(), "{other}: {a} {b}");
        }
    }
    let scaled = bench.json("cv blobs --rows 500 --features 4 --kernel linear -k 4 --scale standard");
    assert_eq!(scaled["status"], "converged");
}

#[test]
fn a_grid_over_c() {
    let bench = Bench::new();
    let grid = bench.json("grid blobs --kernel linear --rows 300 --features 4 -c 0.01:100 -k 3");
    let points = grid["cells"].as_array().unwrap();
    let costs: Vec<f64> = points.iter().map(|p| p["c"].as_f64().unwrap()).collect();
    assert_eq!(costs.len(), 5);
    assert!(costs.iter().zip([0.01, 0.1, 1.0, 10.0, 100.0]).all(|(a, b)| (a - b).abs() < 1e-12 * b), "{costs:?}");
    for (point, c) in points.iter().zip(&costs) {
        let alone = bench.json(&format!("cv blobs --rows 300 --features 4 --kernel linear -c {c} -k 3"));
        let [a, b] = [point, &alone].map(|d| d["accuracy"].as_f64().unwrap());
        assert!((a - b).abs() <= 0.01, "C = {c}: {a} {b}");
        assert!(point["certificate"]["kkt"].as_f64().unwrap() <= 1e-3);
    }
    let best = grid["best_c"].as_f64().unwrap();
    let most = points.iter().map(|p| p["correct"].as_u64().unwrap()).max().unwrap();
    assert!(points.iter().any(|p| p["c"].as_f64().unwrap() == best && p["correct"].as_u64().unwrap() == most));
    let text = bench.run("grid blobs --kernel linear --rows 100 -c 1,0.5 -k 3 -q");
    assert_eq!(text.code, 0, "{text:?}");
    assert!(text.out.contains("best: linear, C = "), "{text:?}");
    let stopped = bench.run("grid blobs --kernel linear --rows 300 -c 1 -k 3 --max-iter 1 -q");
    assert_eq!(stopped.code, 3, "{stopped:?}");
}

/// A gap alone stopped linear solvers by the gap and kernel solvers not at all.
#[test]
fn a_gap_means_the_same_with_a_kernel_and_without() {
    let bench = Bench::new();
    for solver in
        ["-g 0.5", "-g 0.5 --solver irwls", "-g 0.5 --solver cvm", "--kernel linear", "--kernel linear --solver avsf --bias 1"]
    {
        for (goal, eps, gap) in
            [("--gap 0.01", None, Some(0.01)), ("--eps 0.1 --gap 0.02", Some(0.1), Some(0.02)), ("--eps 0.01", Some(0.01), None)]
        {
            let line = format!("train blobs --rows 300 --features 5 -c 10 {solver} {goal} -o m");
            let trained = bench.json(&line);
            assert_eq!((trained["eps"].as_f64(), trained["gap"].as_f64()), (eps, gap), "{line}");
            let certificate = &trained["certificate"];
            assert_eq!(certificate["holds"], true, "{line}: {certificate}");
            assert!(eps.is_none_or(|eps| certificate["kkt"].as_f64().unwrap() <= eps), "{line}: {certificate}");
            assert!(gap.is_none_or(|gap| certificate["relative_gap"].as_f64().unwrap() <= gap), "{line}: {certificate}");
            let info = bench.json("info m");
            assert_eq!((info["training"]["eps"].as_f64(), info["training"]["gap"].as_f64()), (eps, gap), "{line}");
        }
    }
}
