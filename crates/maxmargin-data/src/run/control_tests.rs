//! Limits, children and cancellation of a control.

use super::*;
use crate::Stage;

fn at(iterations: u64) -> Progress {
    Progress { iterations, ..Progress::default() }
}

#[test]
fn a_cancelled_run_stays_so_and_small_work_calls_nothing() {
    let mut calls = 0;
    let control = RunControl::new(|_| {
        calls += 1;
        if calls == 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!((0..100).all(|_| control.check(1).is_ok()));
    assert!(control.check(BETWEEN).is_ok() && control.check(BETWEEN - 1).is_ok());
    assert_eq!((control.check(1), control.check(1), control.check_now()), (Err(Cancelled), Err(Cancelled), Err(Cancelled)));
    assert_eq!(control.ended(), Some(EndReason::Cancelled));
    drop(control);
    assert_eq!(calls, 2);
    assert!((0..10).all(|_| RunControl::unlimited().check(u64::MAX).is_ok()));
}

#[test]
fn a_break_at_the_event_of_a_child_ends_the_run_and_all_its_parts() {
    let mut seen = Vec::new();
    let control = RunControl::new(|progress| {
        seen.push((progress.stage, progress.total, progress.iterations));
        if progress.iterations == 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let machine = control.child(|progress| Progress { total: 9, ..*progress });
    let [first, second] = [1, 2].map(|fold| machine.child(move |progress| Progress { stage: Stage::Fold(fold), ..*progress }));
    assert_eq!((first.progress(&at(3)), second.progress(&at(7)), first.check(0)), (Ok(()), Err(Cancelled), Err(Cancelled)));
    // Nothing is reported after the break, by no part.
    assert_eq!(
        (first.progress(&at(8)), machine.check_now(), control.check_now()),
        (Err(Cancelled), Err(Cancelled), Err(Cancelled))
    );
    assert_eq!([&control, &machine, &first, &second].map(RunControl::ended), [Some(EndReason::Cancelled); 4]);
    drop((first, second));
    drop(machine);
    drop(control);
    assert_eq!(seen, [(Stage::Fold(1), 9, 3), (Stage::Fold(2), 9, 7)]);
}

#[test]
fn limits_end_a_run_and_its_parts_but_not_the_run_above() {
    let above = RunControl::unlimited();
    let none = above.child(|progress| *progress).limit_time(Some(Duration::ZERO));
    let part = none.child(|progress| *progress);
    assert_eq!((none.ended(), none.is_over(), none.ended()), (None, true, Some(EndReason::TimeLimit)));
    assert_eq!((part.progress(&at(0)), part.ended(), above.check_now()), (Err(Cancelled), Some(EndReason::TimeLimit), Ok(())));
    let few = above.child(|progress| *progress).limit_iterations(Some(5)).limit_time(Some(Duration::MAX));
    assert_eq!((few.reached(4), few.progress(&at(4)), few.reached(5)), (false, Ok(()), true));
    assert_eq!((few.ended(), few.check(0), above.ended()), (Some(EndReason::IterationLimit), Err(Cancelled), None));
    // The first reason stays.
    few.end(EndReason::Cancelled);
    assert_eq!(few.ended(), Some(EndReason::IterationLimit));
}

#[test]
fn reserved_time_ends_a_part_and_leaves_the_run() {
    let hour = Duration::from_hours(1);
    let run = RunControl::unlimited().limit_time(Some(hour));
    let part = run.child(|progress| *progress).reserve_time(|progress| Duration::from_secs(progress.owed));
    let solver = part.child(|progress| *progress);
    let owes = |owed: u64| Progress { owed, ..Progress::default() };
    assert_eq!((solver.progress(&owes(60)), solver.progress(&owes(3601))), (Ok(()), Err(Cancelled)));
    assert_eq!((solver.ended(), part.ended(), run.is_over()), (Some(EndReason::TimeLimit), Some(EndReason::TimeLimit), false));
}

#[test]
fn a_grace_period_outlasts_the_run_and_reports_no_more() {
    let mut seen = 0;
    let control = RunControl::new(|_| {
        seen += 1;
        ControlFlow::Break(())
    });
    let grace = control.grace(Duration::from_hours(1), 1, |progress| *progress);
    let short = control.grace(Duration::ZERO, u32::MAX, |progress| *progress);
    assert_eq!((grace.check_now(), grace.check_now(), control.check(0)), (Ok(()), Ok(()), Err(Cancelled)));
    let over = (0..u64::MAX).find(|_| short.check_now().is_err());
    assert!(over.is_some() && short.ended() == Some(EndReason::Cancelled) && grace.ended().is_none());
    drop((grace, short));
    drop(control);
    assert_eq!(seen, 1);
}

#[test]
fn checks_report_the_last_progress_and_reports_keep_their_distance() {
    let mut seen = Vec::new();
    let control = RunControl::new(|progress| {
        seen.push(progress.iterations);
        ControlFlow::Continue(())
    });
    let rare = control.child(|progress| *progress).report_every(Duration::from_hours(1));
    let often = control.child(|progress| Progress { iterations: progress.iterations + 100, ..*progress });
    assert!((0..10).all(|at_iteration| rare.progress(&at(at_iteration)).is_ok()));
    often.set_progress(&at(5));
    assert!(often.check_now().is_ok() && often.check(BETWEEN).is_ok());
    assert!(!often.is_traced() && !control.is_traced());
    drop((rare, often));
    drop(control);
    assert_eq!(seen, [0, 105, 105]);
    assert!(RunControl::unlimited().traced().child(|progress| *progress).is_traced());
}
