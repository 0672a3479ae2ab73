//! Limits of studies: every phase ends when it is cancelled, and memory stays within its limit.

use crate::common::{Case, banana};
use maxmargin_core::{Dual, EndReason, Formulation, Refused, Run, Solve, Solved, Start, Status};
use maxmargin_cv::{CvError, Progress, RunControl, Seeding, Stage, Study};
use maxmargin_data::{Generator, Par};
use maxmargin_kernel::{Kernel, Space};
use maxmargin_solvers::Solver;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Cancels from the n-th check on. Counts the checks, and the kernel rows computed after the first
/// cancellation.
struct Ends {
    at: u64,
    asked: AtomicU64,
    rows: AtomicU64,
    rows_then: AtomicU64,
}

impl Ends {
    fn at(at: u64) -> Self {
        let zero = || AtomicU64::new(0);
        Self { at, asked: zero(), rows: zero(), rows_then: zero() }
    }

    fn later(&self) -> u64 {
        self.rows.load(Ordering::Relaxed).saturating_sub(self.rows_then.load(Ordering::Relaxed))
    }
}

impl Ends {
    fn control(&self) -> RunControl<'_> {
        RunControl::new(|progress| self.observe(progress))
    }

    fn observe(&self, progress: &Progress) -> ControlFlow<()> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let rows = progress.rows_computed;
        self.rows.fetch_max(rows, Ordering::Relaxed);
        if asked == self.at {
            self.rows_then.store(self.rows.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        if asked >= self.at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A problem with a margin of several hundred samples: paths, factors and columns take their time.
fn wide_margin(rows: usize) -> Case {
    let data = Generator::Blobs.generate(rows, Some(30), 4).expect("data");
    Case::new(data, 5, Kernel::Rbf { gamma: 0.03 }, 10.0, 2).at(1e-3)
}

#[test]
fn every_seeding_ends_when_it_is_told() {
    let case = wide_margin(1200);
    for (name, seeding) in Seeding::ALL {
        let whole = Ends::at(u64::MAX);
        case.run_on(seeding, Par::Seq, &whole.control());
        let questions = whole.asked.load(Ordering::Relaxed);
        for at in [0, questions / 4, questions / 2, questions * 3 / 4] {
            let ends = Ends::at(at);
            let ended = case.study(Par::Seq).cross_validate(&case.plan, seeding, &ends.control());
            if ends.asked.load(Ordering::Relaxed) <= at {
                // Reports are some time apart. A faster run has fewer of them, and
                // this one ended before the cancellation.
                continue;
            }
            match ended {
                // Late checks are those of the audit, when all folds are trained.
                Ok(report) if 2 * at >= questions && report.status() == Status::Converged => {}
                Ok(report) => assert_eq!(report.status(), Status::Interrupted, "{name} at {at} of {questions}"),
                Err(error) => assert!(matches!(error, CvError::Ended(Status::Interrupted)), "{name}: {error}"),
            }
            // At most the block of rows that each fold was computing.
            assert!(ends.later() <= 5 * 64, "{name} at {at} of {questions}: {} rows after the no", ends.later());
            let later = ends.asked.load(Ordering::Relaxed) - at;
            assert!(later <= 64, "{name} at {at} of {questions}: {later} questions after the no");
        }
    }
}

/// A finish below 10⁻⁵ and IRWLS on exact values check for cancellation inside their linear
/// systems.
#[test]
fn trainings_end_inside_their_dense_systems() {
    let case = wide_margin(1200).at(1e-9);
    for solver in [Solver::Smo, Solver::Irwls] {
        let case = Case { solver: solver.build(1), ..wide_margin(1200).at(1e-9) };
        let whole = Ends::at(u64::MAX);
        let fitted = case.study(Par::Seq).train(&whole.control()).expect("a training");
        assert_eq!(fitted.status, Status::Converged, "{solver:?}");
        let questions = whole.asked.load(Ordering::Relaxed);
        for at in [0, questions / 2] {
            let ends = Ends::at(at);
            let fitted = case.study(Par::Seq).train(&ends.control()).expect("a training");
            // Reports are some time apart: a faster run may end before the cancellation.
            let heard = ends.asked.load(Ordering::Relaxed) > at;
            assert_eq!(
                fitted.status,
                if heard { Status::Interrupted } else { Status::Converged },
                "{solver:?} {at} of {questions}"
            );
        }
    }
    drop(case);
}

/// A part of a run that is cancelled ends alone: the study's control is the caller's child.
#[test]
fn a_cancelled_child_ends_its_study_and_not_the_caller() {
    let case = wide_margin(400);
    let caller = RunControl::unlimited();
    let child = caller.child(|progress| *progress);
    child.end(EndReason::Cancelled);
    let status = case.study(Par::Seq).train(&child).expect("a model of nothing").status;
    assert_eq!((status, caller.ended()), (Status::Interrupted, None));
    assert_eq!(case.study(Par::Seq).train(&caller).expect("a training").status, Status::Converged);
    // A limit of the caller holds for all studies.
    let late = RunControl::unlimited().limit_time(Some(Duration::ZERO));
    let status = match case.study(Par::Seq).train(&late) {
        Ok(fitted) => fitted.status,
        Err(CvError::Ended(status)) => status,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(status, Status::TimeLimit);
}

/// Every fold of a cross-validation reports under its own number.
#[test]
fn events_are_tagged_by_fold_and_machine() {
    let of = |case: &Case, seeding| {
        let mut seen = Vec::new();
        let control = RunControl::new(|progress| {
            seen.push(*progress);
            ControlFlow::Continue(())
        });
        case.run_on(seeding, Par::Seq, &control);
        drop(control);
        seen
    };
    let case = Case::generated(Generator::Banana, 150, 5, 1.0, 1.0, 9);
    let seen = of(&case, Seeding::Full);
    let stages: Vec<Stage> = (0..5).map(Stage::Fold).chain([Stage::Full]).collect();
    assert!(stages.iter().all(|stage| seen.iter().any(|progress| progress.stage == *stage)), "{seen:?}");
    assert!(seen.iter().all(|progress| progress.total == 5 && progress.done <= 5), "{seen:?}");
    let four = Case::four(120, 3, 1.0, 1);
    let seen = of(&four, Seeding::Cold);
    assert!((0..6).all(|machine| seen.iter().any(|progress| progress.stage == Stage::Machine(machine))), "{seen:?}");
}

/// A time limit of zero ends everything at once, with a status and without a misleading error.
#[test]
fn no_time_at_all() {
    let mut case = wide_margin(400);
    case.stop.max_time = Some(Duration::ZERO);
    let fitted = case.train();
    assert_eq!(fitted.status, Status::TimeLimit);
    for (name, seeding) in Seeding::ALL {
        match case.try_run(seeding) {
            Ok(report) => assert_eq!(report.status(), Status::TimeLimit, "{name}"),
            Err(error) => assert!(matches!(error, CvError::Ended(Status::TimeLimit)), "{name}: {error}"),
        }
    }
}

/// A solver that counts its calls.
struct Counting(Box<dyn Solve + Send>, AtomicU64);

impl Solve for Counting {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.0.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.0.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.solve(dual, space, start, run)
    }
}

/// With hundreds of machines, the setup of solvers before their first time check once took seconds,
/// and counting votes without solutions took more.
#[test]
fn trainings_whose_time_is_over_are_not_begun() {
    let mut case = Case::four(120, 3, 1.0, 1);
    case.stop.max_time = Some(Duration::ZERO);
    let solver = Counting(Solver::Smo.build(1), AtomicU64::new(0));
    let study = Study { solver: &solver, ..case.study(Par::Seq) };
    assert_eq!(study.train(&RunControl::unlimited()).expect("a model of nothing").status, Status::TimeLimit);
    for seeding in [Seeding::Cold, Seeding::Full] {
        let votes = Votes(AtomicU64::new(0));
        let report = study.cross_validate(&case.plan, seeding, &votes.control()).expect("a report of nothing");
        assert_eq!((report.status(), report.accuracy), (Status::TimeLimit, None), "{seeding:?}");
        assert!(report.decisions.iter().all(|value| value.is_nan()), "{seeding:?}");
        assert_eq!(votes.0.load(Ordering::Relaxed), 0, "{seeding:?}");
    }
    assert_eq!(solver.1.load(Ordering::Relaxed), 0);
}

/// Counts the checks for the model of all data outside of solvers.
struct Between(AtomicU64);

impl Between {
    fn control(&self) -> RunControl<'_> {
        RunControl::new(|progress| {
            let is_asked = progress.stage == Stage::Full && progress.iterations == 0 && progress.violation == 0.0;
            self.0.fetch_add(u64::from(is_asked), Ordering::Relaxed);
            ControlFlow::Continue(())
        })
    }
}

/// The sums over all free rows, which seeds need, were once computed after the training had left
/// its time to the certificate.
#[test]
fn sums_over_free_rows_are_asked_for() {
    let case = wide_margin(1200);
    let between = Between(AtomicU64::new(0));
    let report = case.run_on(Seeding::Full, Par::Seq, &between.control());
    let full = report.full.as_ref().expect("a model of all data");
    let free = full.machines[0].support_vectors - full.machines[0].bounded;
    let asked = between.0.load(Ordering::Relaxed);
    assert!(free > 128 && asked >= (free / 64) as u64, "{asked} questions for {free} rows");
}

/// Rows, factors, columns and the matrices of working sets together stay within 110 % of the limit.
#[test]
fn budgets_hold_for_every_seeding_and_solver() {
    let rows = 700;
    // Less than all rows (2 MB), but more than the factor of the free samples.
    for memory in [1 << 20, 3 << 20, 12 << 20] {
        for (name, seeding) in Seeding::ALL {
            let mut case = Case::new(banana(rows, 2, 3), 4, Kernel::Rbf { gamma: 1.5 }, 3.0, 2).at(1e-3);
            case.memory = memory;
            let report = match case.try_run(seeding) {
                Ok(report) => report,
                Err(error) => {
                    assert!(matches!(error, CvError::Path { .. }), "{name} in {memory}: {error}");
                    assert!(matches!(seeding, Seeding::Dec | Seeding::Ato) && memory == 1 << 20, "{name} in {memory}: {error}");
                    continue;
                }
            };
            assert_eq!(report.status(), Status::Converged, "{name} in {memory}");
            assert!(report.kernel_bytes as f64 <= 1.1 * memory as f64, "{name}: {} of {memory}", report.kernel_bytes);
            assert!(report.kernel_bytes > 0, "{name}");
        }
        for (solver, tol) in [
            (Solver::Smo, 1e-3),
            (Solver::Smo, 1e-9),
            (Solver::Irwls, 1e-3),
            (Solver::Irwls, 1e-9),
            (Solver::Pairwise, 1e-3),
            (Solver::Cvm, 1e-3),
        ] {
            let mut case = Case::new(banana(rows, 2, 3), 4, Kernel::Rbf { gamma: 1.5 }, 3.0, 2).by(solver).at(tol);
            case.memory = memory;
            let fitted = case.train();
            assert_eq!(fitted.status, Status::Converged, "{solver:?} to {tol} in {memory}");
            let held = fitted.kernel.peak_bytes;
            assert!(held as f64 <= 1.1 * memory as f64, "{solver:?} to {tol}: {held} of {memory}");
        }
    }
}

/// The core set of CVM has its own matrix. If it does not fit into the memory, pairwise steps reach
/// the same gap with less.
#[test]
fn a_core_set_that_does_not_fit_is_given_up_for_pairwise_steps() {
    // Nearly every sample is a member: at 700 of them their matrix takes 2 MB, and twice as much
    // while it grows.
    let trained = |memory: u64| {
        let mut case = Case::new(banana(700, 2, 3), 4, Kernel::Rbf { gamma: 50.0 }, 3.0, 2).by(Solver::Cvm);
        case.memory = memory;
        let fitted = case.train();
        assert!(fitted.status == Status::Converged && fitted.certificate.holds, "{memory}: {:?}", fitted.certificate);
        assert!(fitted.kernel.peak_bytes as f64 <= 1.1 * memory as f64, "{} of {memory}", fitted.kernel.peak_bytes);
        fitted
    };
    let (plenty, little) = (trained(64 << 20), trained(1 << 20));
    assert!(plenty.kernel.peak_bytes > 3 << 20, "{}: the matrix is counted", plenty.kernel.peak_bytes);
    let (a, b) = (plenty.certificate, little.certificate);
    assert!(a.dual <= b.primal && b.dual <= a.primal, "one optimum: {a:?} {b:?}");
}

/// Newton's matrix has the size of the features squared, or of the free samples squared. If it does
/// not fit into the memory, conjugate gradients replace it.
#[test]
fn the_matrices_of_newton_steps_are_under_the_budget() {
    for (rows, features) in [(900, 150), (150, 400)] {
        let data = Generator::Blobs.generate(rows, Some(features), 3).expect("data");
        let trained = |memory: u64| {
            let mut case = Case::new(data.clone(), 4, Kernel::Linear, 100.0, 2).by(Solver::Newton).at(1e-6);
            case.memory = memory;
            let fitted = case.train();
            assert!(fitted.status == Status::Converged && fitted.certificate.holds, "{memory}: {:?}", fitted.certificate);
            assert!(fitted.kernel.peak_bytes <= memory, "{} of {memory}", fitted.kernel.peak_bytes);
            fitted
        };
        let (plenty, little) = (trained(256 << 20), trained(40_000));
        assert!(plenty.kernel.peak_bytes > 40_000 && little.kernel.peak_bytes <= 10_000, "{rows} rows: {:?}", plenty.kernel);
        assert!(little.counts.iter().any(|(name, count)| *name == "gradients" && *count > 0), "{:?}", little.counts);
        let (a, b) = (plenty.certificate.dual, little.certificate.dual);
        assert!((a - b).abs() <= 1e-5 * a.abs(), "{a} {b}");
    }
}

/// Counts the checks while votes are counted, after all trainings.
struct Votes(AtomicU64);

impl Votes {
    fn control(&self) -> RunControl<'_> {
        RunControl::new(|progress| {
            if matches!(progress.stage, Stage::Certify { certified: 0, .. }) && progress.total == 0 {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            ControlFlow::Continue(())
        })
    }
}

/// The votes of many classes need the kernel values of all support vectors with all samples. There
/// was once no cancellation check meanwhile.
#[test]
fn the_count_of_votes_is_asked_for() {
    // At so small a C nearly every sample is a support vector; values of this kernel cost ten
    // nanoseconds and more, eight operations each.
    let mut case = Case::four(1200, 3, 0.01, 7);
    case.kernel = Kernel::Sigmoid { gamma: 0.5, coef0: 0.0 };
    // With more memory, all 1,200² values in double precision are kept before.
    case.memory = 40 << 20;
    let votes = Votes(AtomicU64::new(0));
    let report = case.run_on(Seeding::Cold, Par::Seq, &votes.control());
    // Each fold: its support vectors, by its samples, in operations.
    let operations = |fold: &maxmargin_cv::FoldReport| 80 * (fold.support_vectors * fold.test) as u64;
    let expected = report.folds.iter().map(operations).sum::<u64>() >> 24;
    let asked = votes.0.load(Ordering::Relaxed);
    assert!(expected >= 2 && asked >= expected, "{asked} questions in {expected} pieces");
}
