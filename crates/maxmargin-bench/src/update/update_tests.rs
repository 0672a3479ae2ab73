//! All methods on small problems.

use super::measure::measure;
use crate::failure::Failure;
use crate::measured::Measured;
use maxmargin::data::Par;
use maxmargin_testkit::outside::program;
use serde_json::json;

fn run(method: &str, more: &serde_json::Value) -> Result<Measured, Failure> {
    let mut cell = json!({
        "data": {"generator": "two-gaussians", "rows": 200, "seed": 3}, "kernel": "rbf", "gamma": 1.0, "c": 10.0,
        "tol": 1e-6, "method": method, "memory": 1 << 24, "seed": 5,
    });
    cell.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
    measure(&serde_json::from_value(cell).expect("cell"), Par::Seq)
}

const OURS: [&str; 4] = ["mid", "sid", "smo", "smo-cold"];

#[test]
fn all_methods_end_at_one_optimum() {
    for more in [
        json!({"add": 5, "remove": 4, "updates": 3}),
        json!({"add": 4, "remove": 3, "updates": 3, "pick": "bounded"}),
        json!({"remove": 6, "pick": "bounded"}),
    ] {
        let all: Vec<Measured> = OURS.iter().map(|method| run(method, &more).expect(method)).collect();
        for (one, method) in all.iter().zip(OURS) {
            assert!(one.kkt <= 1e-6, "{method} {more}: KKT {:e}", one.kkt);
            assert_eq!(one.status, "Converged", "{method} {more}");
            let relative = (one.objective - all[0].objective).abs() / all[0].objective;
            assert!(relative <= 1e-8, "{method} {more}: {} against {}", one.objective, all[0].objective);
            let update = one.update.as_ref().expect("updates");
            assert!(update.update_seconds > 0.0 && update.margin > 0.0);
            assert_eq!(update.breakpoints.is_some(), one.iterations.is_none(), "{method}");
        }
        let breakpoints = |k: usize| all[k].update.as_ref().and_then(|update| update.breakpoints);
        assert!(breakpoints(0) < breakpoints(1), "{more}: {:?} at once, {:?} one by one", breakpoints(0), breakpoints(1));
    }
}

#[test]
fn seeds_save_iterations_and_rounds_repeat_counts() {
    let more = json!({"add": 2, "remove": 2, "updates": 3, "rounds": 2});
    let (seeded, cold) = (run("smo", &more).expect("seeded"), run("smo-cold", &more).expect("cold"));
    assert!(seeded.iterations < cold.iterations, "{:?} {:?}", seeded.iterations, cold.iterations);
    let once = run("smo", &json!({"add": 2, "remove": 2, "updates": 3})).expect("once");
    assert_eq!(seeded.iterations, once.iterations);
    assert_eq!(seeded.update.expect("updates").updates, 3);
}

#[test]
fn pairs_alone_take_more_steps_to_the_same_optimum() {
    let more = |alone: bool| json!({"c": 1e3, "add": 2, "remove": 2, "updates": 3, "pairs_alone": alone});
    let (pairs, conjugate) = (run("smo", &more(true)).expect("pairs"), run("smo", &more(false)).expect("conjugate"));
    assert!(pairs.iterations > conjugate.iterations, "{:?} {:?}", pairs.iterations, conjugate.iterations);
    assert!((pairs.objective - conjugate.objective).abs() <= 1e-8 * conjugate.objective);
}

#[test]
fn libsvm_agrees_where_it_is_installed() {
    if program("svm-train").is_none() {
        return;
    }
    let more = json!({"add": 3, "remove": 3, "updates": 2, "pick": "bounded"});
    let theirs = run("svm-train", &more).expect("theirs");
    let ours = run("mid", &more).expect("ours");
    assert!((theirs.objective - ours.objective).abs() <= 1e-6 * ours.objective, "{} {}", theirs.objective, ours.objective);
    // Its kernel values are f32, so that the tolerance is met by its own count only.
    assert!(theirs.kkt <= 1e-4, "{:e}", theirs.kkt);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    assert!(matches!(run("mid", &json!({"add": 300})), Err(Failure::Window { .. })));
    assert!(matches!(run("mid", &json!({"add": 150, "pick": "bounded"})), Err(Failure::Picked { wanted: 150, .. })));
}

/// Removing samples without α leaves the model unchanged; removing free ones does not.
#[test]
fn samples_without_alpha_leave_everything_as_it_was() {
    let left = |pick: &str, seed: u64| run("mid", &json!({"remove": 3, "pick": pick, "seed": seed})).expect(pick);
    let breakpoints = |measured: &Measured| measured.update.as_ref().and_then(|update| update.breakpoints);
    let (zero, other, free) = (left("zero", 5), left("zero", 6), left("free", 5));
    assert!((zero.objective - other.objective).abs() <= 1e-9 * zero.objective, "{} {}", zero.objective, other.objective);
    assert!((zero.objective - free.objective).abs() > 1e-9 * zero.objective, "{}", free.objective);
    assert!(breakpoints(&zero) < breakpoints(&free), "{:?} {:?}", breakpoints(&zero), breakpoints(&free));
}
