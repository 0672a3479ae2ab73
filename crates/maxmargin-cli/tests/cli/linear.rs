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

/// Logistic regression, the L1 norm and all classes at once: trained, certified, verified from the
/// file, predicted and cross-validated, scaled by training rows and with weights.
#[test]
fn machines_beyond_the_duals_are_trained_and_verified() {
    let bench = Bench::new();
    let data = "penguins --impute median --scale standard";
    for (options, loss, penalty) in [
        ("--loss logistic", "logistic", "l2"),
        ("--loss logistic --penalty l1 --bias 1", "logistic", "l1"),
        ("--penalty l1 --weight Adelie=2", "squared_hinge", "l1"),
        ("--classes crammer-singer --bias 1", "crammer_singer", "l2"),
    ] {
        let line = format!("{data} --kernel linear {options} --gap 1e-6 -c 0.5");
        let trained = bench.json(&format!("train {line} -o m --force"));
        assert_eq!(trained["status"], "converged", "{options}");
        assert_eq!((&trained["formulation"]["loss"], &trained["formulation"]["penalty"]), (&loss.into(), &penalty.into()));
        assert!(trained["certificate"]["relative_gap"].as_f64().unwrap() <= 1e-6, "{trained}");
        let verified = bench.json("verify m penguins");
        assert_eq!((&verified["matches"], &verified["tolerance_met"]), (&true.into(), &true.into()), "{verified}");
        assert_eq!(verified["formulation"], trained["formulation"]);
        assert_eq!(bench.json("info m")["training"]["formulation"], trained["formulation"]);
        let other = bench.run("verify m penguins --seed 2 -q");
        assert!(other.code == 1 && other.out.contains("REFUTED"), "{other:?}");
        assert!(bench.run("verify m penguins -c 1 -q").err.contains("this one does"));
        let predicted = bench.json("predict penguins m -o labels --force");
        assert!(predicted["accuracy"].as_f64().unwrap() > 0.95, "{predicted}");
        let validated = bench.json(&format!("cv {line} -k 5"));
        assert_eq!(validated["status"], "converged");
        assert!(validated["accuracy"].as_f64().unwrap() > 0.95 && validated["certificate"]["holds"] == true, "{validated}");
        assert_eq!(validated["folds"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn combinations_that_there_are_not_are_one_clear_error() {
    let bench = Bench::new();
    for (line, says) in [
        ("train blobs --penalty l1", "--penalty l1: it is for linear machines; pass --kernel linear"),
        ("train blobs --loss logistic -g 1", "--loss logistic: it is for linear machines; pass --kernel linear"),
        ("train blobs --classes crammer-singer", "--classes crammer-singer: it is for linear machines; pass --kernel linear"),
        ("train blobs --kernel linear --penalty l1 --loss hinge", "--penalty l1: it has no hinge loss"),
        ("train blobs --kernel linear --penalty l1 --solver smo", "--penalty l1: it has a solver of its own"),
        ("train blobs --kernel linear --penalty l1 --formulation nu-svc", "--penalty l1: it is for --formulation c-svc"),
        ("train blobs --kernel linear --penalty l1 --weight balanced", "--weight balanced is not for it"),
        ("train blobs --kernel linear --classes crammer-singer --penalty l1", "it has the L2 norm"),
        ("train blobs --kernel linear --classes crammer-singer --loss squared", "it has a loss of its own"),
        ("train blobs --kernel linear --classes crammer-singer --bias free", "it has no free bias"),
        ("train blobs --kernel linear --penalty l1 --updatable", "--updatable: "),
        ("train blobs --kernel linear --penalty l1 --probability platt", "--probability, --threshold, --decide: "),
        ("train blobs --kernel linear --penalty l1 --conformal 0.1", "--conformal: "),
        ("cv blobs --kernel linear --penalty l1 --importance", "--importance: "),
        ("loo blobs --kernel linear --penalty l1", "are for train and cv"),
        ("grid blobs --kernel linear --penalty l1", "are for train and cv"),
    ] {
        let answer = bench.run(&format!("{line} -q"));
        assert!(answer.code == 2 && answer.err.contains(says), "{line}: {answer:?}");
        assert_eq!(answer.err.lines().filter(|line| line.starts_with("error")).count(), 1, "{line}: {answer:?}");
        assert!(!bench.path("blobs.model").exists(), "{line}");
    }
}
