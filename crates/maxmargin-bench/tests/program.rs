//! The program from outside: a cell in, a line out; a cell that makes no sense is refused with a
//! reason.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

fn run(cell: &Value) -> Result<Value, String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_maxmargin-bench"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("pipe").write_all(cell.to_string().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ends");
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.lines().count(), 1, "one line: {text}");
    Ok(serde_json::from_str(&text).expect("JSON"))
}

fn cell(extra: &Value) -> Value {
    let data = json!({ "generator": "two-gaussians", "rows": 200, "seed": 1 });
    let mut cell = json!({ "job": "cv", "data": data, "kernel": "rbf", "gamma": 0.5, "c": 10, "tol": 1e-3, "threads": 2 });
    if extra.get("job").is_none() {
        cell["k"] = json!(5);
    }
    for (key, value) in extra.as_object().expect("object") {
        cell[key] = value.clone();
    }
    cell
}

#[test]
fn every_seeding_meets_its_certificate_and_the_same_objective() {
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    let cold = run(&cell(&json!({ "seeding": "cold" }))).expect("measured");
    for seeding in ["cold", "avg", "top", "sir", "sir-all", "mir", "full"] {
        let measured = run(&cell(&json!({ "seeding": seeding }))).expect("measured");
        assert!(number(&measured, "kkt") <= 1e-3, "{seeding}: {measured}");
        // Each dual objective is within its own duality gap of the optimum, and so are the sums
        // over the folds.
        let gap = |of: &Value| number(of, "relative_gap") / (1.0 - number(of, "relative_gap")) * number(of, "objective");
        let distance = (number(&measured, "objective") - number(&cold, "objective")).abs();
        assert!(distance <= gap(&measured).max(gap(&cold)), "{seeding}: {distance}");
        assert_eq!(measured["fold_iterations"].as_array().expect("folds").len(), 5);
    }
}

#[test]
fn the_first_folds_alone_are_trained() {
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    for seeding in ["cold", "avg", "top", "sir", "mir", "ato"] {
        let settings = json!({ "k": 200, "folds": "contiguous", "seeding": seeding, "first_folds": 7 });
        let measured = run(&cell(&settings)).expect("measured");
        let folds: Vec<u64> = measured["fold_iterations"].as_array().expect("folds").iter().filter_map(Value::as_u64).collect();
        let later = if matches!(seeding, "avg" | "top") { (200.0, &folds[..]) } else { (199.0, &folds[1..]) };
        let first = measured["full_iterations"].as_f64().unwrap_or(folds[0] as f64);
        let all = first + later.0 * later.1.iter().sum::<u64>() as f64 / later.1.len() as f64;
        assert_eq!(folds.len(), 7, "{seeding}");
        assert!((number(&measured, "all_rounds_iterations") - all).abs() < 1e-6 * all, "{seeding}: {measured}");
        let seconds = number(&measured, "first_round_seconds") + later.0 * number(&measured, "round_seconds");
        assert!((number(&measured, "all_rounds_seconds") - seconds).abs() < 1e-9 * seconds, "{seeding}: {measured}");
    }
}

/// Rows are computed for every fold again, and nothing else changes.
#[test]
fn rows_forgotten_between_folds() {
    for seeding in ["cold", "sir"] {
        let of = |forget: bool| {
            let settings = json!({ "seeding": seeding, "forget_rows": forget, "memory": 104_857_600, "threads": 1 });
            run(&cell(&settings)).expect("measured")
        };
        let (shared, forgotten) = (of(false), of(true));
        for field in ["fold_iterations", "objective", "kkt", "accuracy", "support_vectors"] {
            assert_eq!(shared[field], forgotten[field], "{field}");
        }
        let rows = |of: &Value| of["rows_computed"].as_u64().expect("a count");
        assert!(rows(&shared) <= 200 && rows(&forgotten) > rows(&shared), "{seeding}: {shared} {forgotten}");
        // From zero a sample becomes a support vector of a fold only with its row there.
        let vectors = forgotten["support_vectors"].as_u64().expect("a count");
        assert!(seeding != "cold" || (rows(&forgotten) >= vectors && vectors > 200), "{forgotten}");
    }
}

#[test]
fn alpha_of_neighbouring_folds() {
    let of = |c: f64, compare: bool| {
        run(&cell(&json!({ "seeding": "cold", "tol": 1e-6, "c": c, "compare_alpha": compare }))).expect("measured")
    };
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    assert!(of(10.0, false).get("alpha_kept").is_none());
    let measured = of(10.0, true);
    let (kept, support) = (number(&measured, "alpha_kept"), number(&measured, "alpha_kept_support"));
    // Free samples move, the others stay.
    assert!((50.0..100.0).contains(&kept) && (0.0..kept).contains(&support), "{measured}");
    // Where C is so small that every sample of the smaller class is at its bound nothing moves but
    // what the balance asks for.
    assert!(number(&of(1e-4, true), "alpha_kept") > kept);
}

#[test]
fn counts_do_not_depend_on_threads() {
    let on = |threads: usize| run(&cell(&json!({ "seeding": "full", "threads": threads }))).expect("measured");
    let (one, two) = (on(1), on(2));
    for field in ["fold_iterations", "objective", "kkt", "accuracy", "support_vectors"] {
        assert_eq!(one[field], two[field], "{field}");
    }
}

#[test]
fn a_single_training() {
    let measured = run(&cell(&json!({ "job": "train" }))).expect("measured");
    assert!(measured["kkt"].as_f64().expect("kkt") <= 1e-3 && measured["iterations"].as_u64().expect("count") > 0, "{measured}");
    assert!(measured["accuracy"].is_null(), "a training says nothing about accuracy");
}

#[test]
fn trainings_on_the_simplex() {
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    let test = json!({ "generator": "two-gaussians", "rows": 200, "seed": 2 });
    let train = |solver: &str, extra: &Value| {
        let mut extra = extra.clone();
        for (name, value) in [("job", json!("train")), ("solver", json!(solver)), ("test", test.clone())] {
            extra[name] = value;
        }
        run(&cell(&extra)).expect("measured")
    };
    let mut bounds = vec![];
    for solver in ["cvm", "mfw", "swap", "pairwise"] {
        let measured = train(solver, &json!({}));
        assert!(number(&measured, "relative_gap") <= 1e-3 && measured["evidence"] == "FullScan", "{solver}: {measured}");
        assert!(measured["accuracy"].is_number() && number(&measured, "core_set") >= 1.0, "{solver}: {measured}");
        bounds.push((number(&measured, "ordinary_objective"), number(&measured, "relative_gap")));
    }
    // 1 / 2R of each is within its own relative gap of the optimum, and so are two of each other.
    for (one, gap) in &bounds {
        assert!(bounds.iter().all(|(other, more)| (one - other).abs() <= 2.0 * (gap + more) * one), "{bounds:?}");
    }
    let sampled = train("fw", &json!({ "sample": 3, "sampled_stop": true, "bound": "radius", "mean_width": true }));
    assert_eq!(sampled["evidence"], "Sample", "{sampled}");
    let width = number(&sampled, "gamma");
    assert!(width > 0.0 && width != 0.5, "from the data: {sampled}");
}

#[test]
fn traces_tell_when_each_power_of_ten_was_reached() {
    let trace = |of: &Value| -> Vec<(f64, u64)> {
        let points = of["trace"].as_array().unwrap_or_else(|| panic!("no trace: {of}"));
        points.iter().map(|point| (point["gap"].as_f64().expect("gap"), point["iterations"].as_u64().expect("count"))).collect()
    };
    let settings = json!({ "job": "train", "tol": 1e-7, "trace": true, "bound_gap": 1e-12 });
    let kernel = run(&cell(&json!({ "solver": "mfw", "job": "train", "tol": 1e-7, "trace": true }))).expect("measured");
    let mut all = vec![(kernel, 6)];
    for solver in ["linear-descent", "avsf"] {
        let mut settings = settings.clone();
        settings["solver"] = json!(solver);
        all.push((run(&linear(&settings)).expect("measured"), 8));
    }
    for (measured, least) in &all {
        let points = trace(measured);
        assert!(points.len() >= *least, "{measured}");
        assert!(points.iter().zip(1..).all(|((gap, _), k)| (gap * 10_f64.powi(k) - 1.0).abs() < 1e-12), "{points:?}");
        assert!(points.windows(2).all(|two| two[0].1 <= two[1].1), "{points:?}");
        assert!(points[0].1 < points[points.len() - 1].1, "{points:?}");
        assert!(Some(points[points.len() - 1].1) <= measured["iterations"].as_u64(), "{measured}");
    }
    let silent = run(&cell(&json!({ "solver": "mfw", "job": "train" }))).expect("measured");
    assert!(silent.get("trace").is_none() && silent.get("support").is_none(), "nobody asked: {silent}");
}

/// Two algorithms on one problem, whose solution is unique.
#[test]
fn smo_finds_the_support_of_steps_on_the_simplex() {
    let train = |extra: Value| {
        let mut settings = json!({ "job": "train", "tol": 1e-10, "bound": "relative-gap", "support": true, "c": 1 });
        extra.as_object().expect("object").iter().for_each(|(name, value)| settings[name] = value.clone());
        run(&cell(&settings)).expect("measured")
    };
    let (smo, mfw) = (train(json!({ "solver": "smo", "simplex": true })), train(json!({ "solver": "mfw" })));
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    for measured in [&smo, &mfw] {
        assert!(measured["status"] == "Converged" && number(measured, "relative_gap") <= 1e-10, "{measured}");
        let bits: u32 =
            measured["support"].as_str().expect("digits").chars().filter_map(|c| c.to_digit(16)).map(u32::count_ones).sum();
        assert_eq!(f64::from(bits), number(measured, "core_set"));
    }
    assert!(number(&smo, "swap_steps") > 0.0 && number(&mfw, "swap_steps") == 0.0, "{smo} {mfw}");
    assert_eq!(smo["support"], mfw["support"]);
    let difference = number(&smo, "radius2") - number(&mfw, "radius2");
    assert!(difference.abs() <= 1e-9 && number(&smo, "radius2") > 1.0, "{difference:e}");
}

#[test]
fn adaptation_is_clocked_where_that_is_asked_for() {
    let clocked = |solver: &str, asked: bool| {
        run(&linear(&json!({ "solver": solver, "adaptation": asked }))).expect("measured")["adaptation_seconds"].as_f64()
    };
    assert!(clocked("avsf", true).is_some_and(|seconds| seconds > 0.0));
    assert_eq!((clocked("avsf", false), clocked("linear-descent", true)), (None, None));
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let refused = |extra: Value| run(&cell(&extra)).expect_err("refused");
    assert!(refused(json!({ "sedding": "cold" })).contains("`sedding`"));
    assert!(refused(json!({ "job": "train", "seeding": "cold" })).contains("`seeding`"), "a setting of another job");
    assert!(refused(json!({ "job": "trian" })).contains("trian"));
    assert!(refused(json!({ "seeding": "warm" })).contains("cold, avg"));
    assert!(refused(json!({ "gamma": -1.0 })).contains("gamma"));
    assert!(refused(json!({ "c": 0 })).starts_with("error: "));
    assert!(refused(json!({ "k": 500 })).contains("500 folds"));
    assert!(refused(json!({ "first_folds": 0 })).starts_with("error: "));
    assert!(refused(json!({ "data": { "generator": "gaus", "rows": 10, "seed": 1 } })).contains("gaus"));
    assert!(refused(json!({ "data": { "file": "no/such/file" } })).contains("no/such/file"));
}

fn linear(extra: &Value) -> Value {
    let data = json!({ "generator": "covtype-like", "rows": 400, "seed": 1 });
    let mut cell =
        json!({ "job": "train", "data": data, "kernel": "linear", "c": 1, "tol": 1e-3, "bound_gap": 1e-9, "threads": 1 });
    for (key, value) in extra.as_object().expect("object") {
        cell[key] = value.clone();
    }
    cell
}

#[test]
fn linear_solvers_are_judged_by_one_bound() {
    let folder = tempfile::tempdir().expect("folder");
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    let mut bounds = Vec::new();
    for solver in ["linear", "linear-descent", "avsf", "linear-newton"] {
        let measured = run(&linear(&json!({ "solver": solver, "bounds": folder.path() }))).expect("measured");
        assert_eq!(measured["status"], "Converged", "{solver}");
        // Both measures bound the same distance from above; the bound is nearer to the optimum than
        // the solver's own dual.
        let (excess, own) = (number(&measured, "excess"), number(&measured, "relative_gap"));
        assert!((-1e-9..=own + 1e-9).contains(&excess), "{solver}: {excess:e}, own {own:e}");
        assert!(
            number(&measured, "bound_gap") <= 1e-9 && measured["work"]["sweeps"] != measured["work"]["newton_steps"],
            "{measured}"
        );
        assert!(number(&measured, "train_seconds") <= number(&measured, "process_seconds"), "{measured}");
        bounds.push(number(&measured, "bound"));
    }
    assert!(bounds.iter().all(|bound| *bound == bounds[0]), "kept for other cells: {bounds:?}");
    let counts = |threads: usize| {
        let measured = run(&linear(&json!({ "solver": "avsf", "threads": threads }))).expect("measured");
        (measured["iterations"].clone(), measured["objective"].clone())
    };
    assert_eq!(counts(1), counts(2));
    // Shrinking changes the steps, and its default differs between the two solvers.
    let steps = |solver: &str, shrinking: Value| {
        let measured = run(&linear(&json!({ "solver": solver, "c": 10, "shrinking": shrinking }))).expect("measured");
        assert_eq!(measured["status"], "Converged", "{solver}");
        measured["iterations"].as_u64().expect("steps")
    };
    for (solver, own) in [("linear-descent", true), ("avsf", false)] {
        assert_eq!(steps(solver, Value::Null), steps(solver, json!(own)), "{solver}");
        assert_ne!(steps(solver, json!(true)), steps(solver, json!(false)), "{solver}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_is_judged_by_its_model() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("folder");
    let program = folder.path().join("train");
    // Says that it trained, and that its first class is the negative one, with a weight of −1 for
    // the first feature.
    let weights = "-1\n".to_owned() + &"0\n".repeat(53);
    let text = format!(
        "#!/bin/sh\nfor model; do :; done\nprintf 'nr_class 2\\nlabel -1 1\\nnr_feature 54\\nbias -1\\nw\\n{}' > \"$model\"\n\
         echo 'optimization finished, #iter = 1000'; echo 'WARNING: reaching max number of iterations'\n",
        weights.replace('\n', "\\n")
    );
    std::fs::write(&program, text).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("mode");
    let measured = run(&linear(&json!({ "solver": "liblinear", "program": program }))).expect("measured");
    assert_eq!((&measured["status"], &measured["sweeps"]), (&json!("IterationLimit"), &json!(1000)));
    assert!(measured["train_seconds"].is_null() && measured["kkt"].is_null(), "it does not say: {measured}");
    // ½ · 1² + Σ max(0, 1 − y x₁): between the slack of all rows right by their first feature and
    // of all wrong.
    let primal = measured["primal"].as_f64().expect("primal");
    assert!((0.5..=0.5 + 800.0).contains(&primal) && measured["excess"].as_f64() > Some(0.0), "{measured}");
    let refused = run(&linear(&json!({ "solver": "liblinear", "program": "no/such/program" }))).expect_err("refused");
    assert!(refused.contains("name its program"), "{refused}");
}

#[test]
fn linear_solvers_are_for_linear_trainings() {
    let refused = |extra: Value| run(&linear(&extra)).expect_err("refused");
    assert!(refused(json!({ "solver": "avsf", "kernel": "rbf" })).contains("linear"));
    assert!(refused(json!({ "solver": "avsf", "job": "cv" })).contains("no setting"), "bounds are for trainings");
    assert!(refused(json!({ "solver": "avfs" })).contains("avfs"));
}

#[test]
fn any_solver_trains_and_validates_any_number_of_classes() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("three");
    let row = |i: u32| format!("{} 1:{} 2:{}\n", i % 3, f64::from(i % 3) + 0.01 * f64::from(i), f64::from(i * 7 % 11) * 0.1);
    std::fs::write(&file, (0..90).map(row).collect::<String>()).expect("written");
    for (solver, kernel) in [("smo", "rbf"), ("irwls", "rbf"), ("pairwise", "rbf"), ("linear", "linear")] {
        let settings =
            json!({ "job": "train", "solver": solver, "kernel": kernel, "data": { "file": file }, "test": { "file": file } });
        let measured = run(&cell(&settings)).expect("measured");
        assert_eq!(measured["status"], "Converged", "{solver}");
        assert!(measured["accuracy"].as_f64() > Some(50.0) && measured["support_vectors"].as_u64() > Some(2), "{measured}");
        let settings =
            json!({ "job": "cv", "k": 3, "solver": solver, "kernel": kernel, "seeding": "full", "data": { "file": file } });
        let measured = run(&cell(&settings)).expect("measured");
        assert!(measured["kkt"].as_f64() <= Some(1e-3) && measured["objective"].as_f64() > Some(0.0), "{solver}: {measured}");
    }
}

#[test]
fn working_sets_by_every_rule_and_solver() {
    let number = |of: &Value, name: &str| of[name].as_f64().expect("a number");
    let reference = run(&cell(&json!({ "job": "train" }))).expect("measured");
    for inner in ["least-squares", "interior-point", "smo"] {
        for selection in ["random", "largest", "smallest", "half", "steepest"] {
            let settings =
                json!({ "job": "train", "solver": "irwls", "inner": inner, "selection": selection, "working_set": 40 });
            let measured = run(&cell(&settings)).expect("measured");
            assert!(number(&measured, "kkt") <= 1e-3 && number(&measured, "chunks") >= 1.0, "{inner}, {selection}: {measured}");
            // Each dual objective is within its own duality gap of the optimum.
            let gap = |of: &Value| number(of, "relative_gap") / (1.0 - number(of, "relative_gap")) * number(of, "objective");
            let distance = (number(&measured, "objective") - number(&reference, "objective")).abs();
            assert!(distance <= gap(&measured).max(gap(&reference)), "{inner}, {selection}: {distance}");
        }
    }
}

/// Without the worst violator of every condition and class some working sets gain nothing.
#[test]
fn drawn_working_sets_gain_nothing_now_and_then() {
    let of = |selection: &str| {
        let settings = json!({ "job": "train", "solver": "irwls", "selection": selection, "working_set": 4 });
        run(&cell(&settings)).expect("measured")
    };
    let (guarded, drawn) = (of("random"), of("pure-random"));
    assert_eq!((&guarded["status"], &guarded["idle_chunks"]), (&json!("Converged"), &json!(0)));
    assert!(drawn["idle_chunks"].as_u64() > Some(0), "{drawn}");
}

/// Without damping the iteration as printed solves small working sets, and gives up some of the
/// larger ones.
#[test]
fn weighted_least_squares_as_printed() {
    let measured = |inner: &str, working_set: usize, c: f64| {
        let settings = json!({ "job": "train", "solver": "irwls", "inner": inner, "selection": "random", "working_set": working_set,
            "c": c });
        run(&cell(&settings)).expect("measured")
    };
    let (printed, damped) = (measured("as-printed", 10, 1.0), measured("least-squares", 10, 1.0));
    assert!(printed["kkt"].as_f64() <= Some(1e-3) && damped["kkt"].as_f64() <= Some(1e-3), "{printed} {damped}");
    assert!(printed["given_up"].is_u64() && damped.get("given_up").is_none(), "{printed} {damped}");
    let larger = measured("as-printed", 100, 100.0);
    assert!(larger["given_up"].as_u64() > Some(0), "{larger}");
}

#[test]
fn smo_with_a_finish() {
    let measured = run(&cell(&json!({ "job": "train", "finish_from": 1e-3, "tol": 1e-10 }))).expect("measured");
    assert!(measured["kkt"].as_f64().expect("a number") <= 1e-10, "{measured}");
    assert!(measured["finish_iterations"].as_u64().expect("a count") > 0, "{measured}");
}

#[test]
fn generated_data_are_written() {
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_maxmargin-bench")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let request = cell(&json!({ "job": "write" }));
    child.stdin.take().expect("pipe").write_all(request.to_string().as_bytes()).expect("written");
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), 200);
    assert!(text.starts_with("1 1:") || text.starts_with("+1 1:"), "{text}");
}
