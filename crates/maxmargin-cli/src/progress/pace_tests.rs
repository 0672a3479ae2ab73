//! The estimate against runs that were recorded.

use super::super::ticks::{Recorded, Tick, recorded};
use super::*;

/// Where the clock of a busy machine runs unevenly, the last moments are not to be told apart: a
/// part of the whole run.
const SLACK: f64 = 0.05;

/// Every view of a run.
fn views(run: &Recorded) -> Vec<(f64, View)> {
    let mut pace = Pace::new(run.rows);
    run.ticks.iter().map(|Tick { seconds, progress }| (*seconds, pace.tick(*seconds, progress))).collect()
}

/// Two minutes were once said to be left of five seconds.
#[test]
fn after_a_tenth_of_the_work_the_time_left_is_right_within_a_factor_of_two() {
    let mut wrong = Vec::new();
    for run in recorded() {
        for (at, view) in views(&run).into_iter().filter(|(at, _)| *at >= 0.1 * run.total) {
            let (left, slack) = (run.total - at, SLACK * run.total);
            // Who says nothing says that it is soon over.
            let said = view.left.unwrap_or(0.0);
            if !(said <= 2.0 * left + slack && said >= 0.5 * left - slack) {
                wrong.push(format!(
                    "{} at {at:.1} of {:.1} s: {said:.1} s said of {left:.1} s; {}",
                    run.name, run.total, view.what
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} times:\n{}", wrong.len(), wrong.join("\n"));
}

/// The bar was once empty while tens of thousands of kernel rows were computed.
#[test]
fn the_bar_moves_in_every_phase_and_never_back() {
    for run in recorded() {
        let views = views(&run);
        assert!(views.windows(2).all(|pair| pair[0].1.share <= pair[1].1.share), "{}", run.name);
        // Whatever tenth of the time passes, it shows.
        for tenth in 1..10 {
            let at = |share: f64| {
                views.iter().take_while(|(at, _)| *at <= share * run.total).last().map_or(0.0, |(_, view)| view.share)
            };
            let (before, after) = (at(0.1 * f64::from(tenth - 1)), at(0.1 * f64::from(tenth)));
            assert!(after > before, "{}, tenth {tenth}: {before} {after}", run.name);
        }
        let end = views.last().map_or(0.0, |(_, view)| view.share);
        assert!(end > 0.7, "{}: {end}", run.name);
    }
}

#[test]
fn phases_have_names_and_their_counts_rise() {
    let all = recorded();
    let run = all.iter().find(|run| run.name == "a9a_cv").expect("recorded");
    let texts: Vec<String> = views(run).iter().map(|(_, view)| view.text()).collect();
    let mut phases: Vec<&str> = texts.iter().map(|text| text.split(':').next().unwrap_or(text)).collect();
    phases.dedup();
    assert_eq!(phases, ["training on all data", "kernel rows", "training on all data", "folds", "audit"]);
    for says in [
        "1,024 iterations, 3,111 kernel rows, violation 2.176 (to 0.001), about ",
        "kernel rows: 12,053 of 32,561",
        "folds: 6 of 10 done; fold 8",
    ] {
        assert!(texts.iter().any(|text| text.contains(says)), "{says} in {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("audit: 16,384 of 32,561 samples, about ")), "{texts:?}");
}

/// The time of training on all data was once shared out among the folds that were done.
#[test]
fn the_training_on_all_data_is_not_in_the_divisor_of_the_folds() {
    let solver =
        |rows_computed, violation| Progress { iterations: 100, violation, tol: 1e-3, rows_computed, ..Progress::default() };
    let tick = |stage, done, solver| CvProgress { stage, done, total: 10, solver };
    let mut pace = Pace::new(1000);
    pace.tick(0.0, &tick(Stage::Full, 0, Progress { rows_computed: 0, ..solver(0, 2.0) }));
    pace.tick(99.0, &tick(Stage::Full, 0, solver(1000, 2.0)));
    pace.tick(100.0, &tick(Stage::Full, 0, solver(1000, 2e-3)));
    for done in 0..10 {
        let at = 100.0 + done as f64;
        pace.tick(at, &tick(Stage::Fold(done), done, solver(1000, 1.0)));
    }
    let left = pace.tick(109.5, &tick(Stage::Fold(9), 9, solver(1000, 0.01))).left.expect("an estimate");
    // Half a fold of a second, and the audit.
    assert!(left < 25.0, "{left}");
}

/// Half a minute was once said to be left of half an hour: of every round that had come to a tenth
/// of its violation, while the next one began as high as it.
#[test]
fn rounds_that_begin_anew_do_not_look_like_the_end() {
    let mut pace = Pace::new(500_000);
    let mut at = 0.0;
    for round in 0..40_u64 {
        for step in 0..10_u64 {
            at += 1.0;
            let violation =
                12.0 * 0.1_f64.powf(step as f64 / 9.0) * if round < 30 { 1.0 } else { 0.4_f64.powi(round as i32 - 29) };
            let (iterations, rows_computed) = (1000 * (10 * round + step), 1200 * (10 * round + step));
            let solver = Progress { iterations, violation, tol: 1e-3, rows_computed, ..Progress::default() };
            let left = pace.tick(at, &CvProgress { stage: Stage::Full, done: 0, total: 1, solver }).left;
            if (20.0..300.0).contains(&at) {
                assert!(left.is_some_and(|left| left >= 0.9 * at), "{left:?} after {at}");
            }
            if at > 380.0 {
                assert!(left.is_some_and(|left| left <= at), "{left:?} after {at}");
            }
        }
    }
}
