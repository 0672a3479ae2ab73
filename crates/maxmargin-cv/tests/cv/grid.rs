//! Columns of a grid that continue from logged cells, and cells that are pruned.

use crate::common::Case;
use maxmargin_core::Status;
use maxmargin_cv::{CellLog, ColumnState, CvReport, Finished, GridColumn, RunControl, Seeding, Shared, Study, Unlogged, grid};
use maxmargin_data::{Generator, Par};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

const KEY: [u8; 32] = [3; 32];
const VALUES: [f64; 4] = [0.25, 1.0, 8.0, 64.0];

/// A log with the bytes of one column, of which it returns a given number of cells.
struct Memory {
    cells: Mutex<BTreeMap<usize, Vec<u8>>>,
    there: usize,
}

impl CellLog for Memory {
    fn open(&self, _: usize) -> ColumnState {
        let cells = self.cells.lock().expect("no panic");
        ColumnState::Mine(
            (0..self.there).map(|row| &cells[&row]).map(|bytes| Finished::decode(bytes, &KEY).expect("a cell")).collect(),
        )
    }

    fn keep(&self, _: usize, row: usize, cell: &Finished) -> ControlFlow<()> {
        let bytes = cell.encode(&KEY).expect("encodable");
        let again = Finished::decode(&bytes, &KEY).expect("a cell");
        assert_eq!(format!("{again:?}"), format!("{cell:?}"), "nothing is lost");
        assert!(row >= self.there, "what is there is not computed again");
        self.cells.lock().expect("no panic").insert(row, bytes);
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}

fn run(case: &Case, seeding: Seeding, par: Par, most_errors: Option<usize>, log: &dyn CellLog) -> Vec<CvReport> {
    let columns = [GridColumn { study: case.study(par), values: VALUES.to_vec(), most_errors }];
    let shared = Shared { plan: &case.plan, seeding, control: &RunControl::unlimited(), log };
    let found = grid(&columns, shared, |_, _, report| report).remove(0);
    found.expect("reports")
}

/// The parts of a report that do not depend on time and threads.
fn bits(reports: &[CvReport]) -> Vec<String> {
    let fold = |fold: &maxmargin_cv::FoldReport| {
        format!("{:?} {:?} {} {:?}", fold.correct, fold.objective, fold.iterations, fold.certificate)
    };
    let of = |report: &CvReport| {
        let folds: Vec<String> = report.folds.iter().map(fold).collect();
        format!("{:?} {:?} {:?} {:?} {:?} {folds:?}", report.c, report.pruned, report.scores, report.decisions, report.predicted)
    };
    reports.iter().map(of).collect()
}

/// Starts from the previous value of C once had α > 0 for samples that take no part.
#[test]
fn a_column_of_samples_with_weight_zero_starts_from_the_value_before() {
    let case = Case::generated(Generator::Banana, 120, 4, 0.7, 1.0, 2).at(1e-6);
    let weights: Vec<f64> = (0..120).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 }).collect();
    let of = |values: &[f64]| {
        let study = Study { sample_weights: Some(&weights), ..case.study(Par::Seq) };
        let columns = [GridColumn { study, values: values.to_vec(), most_errors: None }];
        let shared = Shared { plan: &case.plan, seeding: Seeding::Full, control: &RunControl::unlimited(), log: &Unlogged };
        grid(&columns, shared, |_, _, report| report).remove(0).expect("reports")
    };
    for (along, value) in of(&VALUES).iter().zip(VALUES) {
        let alone = &of(&[value])[0];
        for (one, other) in along.folds.iter().zip(&alone.folds) {
            // Both are within their gaps of the optimum.
            let gap = |fold: &maxmargin_cv::FoldReport| fold.certificate.primal - fold.certificate.dual;
            assert!((one.certificate.dual - other.certificate.dual).abs() <= gap(one).max(gap(other)), "C = {value}");
        }
    }
}

#[test]
fn a_column_goes_on_from_any_cell_with_the_same_bits() {
    let two = Case::generated(Generator::Banana, 120, 4, 0.7, 1.0, 2).at(1e-3);
    let four = Case::four(400, 3, 1.0, 4).at(1e-3);
    // No sample reaches C from 8 on: the machines of C = 8 are those of 64.
    let apart = Case::generated(Generator::Banana, 120, 4, 500.0, 1.0, 2).at(1e-3);
    for (case, seeding, most) in [
        (&two, Seeding::Full, None),
        (&two, Seeding::Cold, None),
        (&two, Seeding::Sir, None),
        (&two, Seeding::Full, Some(120)),
        (&four, Seeding::Full, None),
        (&apart, Seeding::Full, None),
        (&apart, Seeding::Sir, Some(120)),
    ] {
        let whole = bits(&run(case, seeding, Par::Seq, most, &Unlogged));
        let log = Memory { cells: Mutex::default(), there: 0 };
        assert_eq!(bits(&run(case, seeding, Par::Pool, most, &log)), whole);
        let cells = log.cells.into_inner().expect("no panic");
        for there in 1..=VALUES.len() {
            let log = Memory { cells: Mutex::new(cells.clone()), there };
            assert_eq!(bits(&run(case, seeding, Par::Pool, most, &log)), whole, "{seeding:?} from {there}");
        }
    }
}

/// Every byte of a cell counts, and its key.
/// A log of one column that notes what happens.
#[derive(Default)]
struct Noted(Mutex<Vec<(&'static str, usize)>>);

impl Noted {
    fn note(&self, what: &'static str, row: usize) {
        self.0.lock().expect("no panic").push((what, row));
    }
}

impl CellLog for Noted {
    fn open(&self, _: usize) -> ColumnState {
        ColumnState::Mine(Vec::new())
    }

    fn keep(&self, _: usize, row: usize, _: &Finished) -> ControlFlow<()> {
        self.note("logged", row);
        ControlFlow::Continue(())
    }

    fn close(&self, _: usize) {}
}

/// The caller gets a cell before the next one is complete. So it can drop decision values, which
/// take hundreds of megabytes where there are a hundred classes.
#[test]
fn each_cell_is_given_away_as_soon_as_it_is_complete() {
    let case = Case::generated(Generator::Banana, 120, 4, 0.7, 1.0, 2).at(1e-3);
    let columns = [GridColumn { study: case.study(Par::Seq), values: VALUES.to_vec(), most_errors: None }];
    let log = Noted::default();
    let shared = Shared { plan: &case.plan, seeding: Seeding::Full, control: &RunControl::unlimited(), log: &log };
    let found = grid(&columns, shared, |_, row, _| log.note("given", row)).remove(0);
    assert_eq!(found.expect("cells").len(), VALUES.len());
    let expected: Vec<_> = (0..VALUES.len()).flat_map(|row| [("logged", row), ("given", row)]).collect();
    assert_eq!(*log.0.lock().expect("no panic"), expected);
}

#[test]
fn a_damaged_cell_is_none() {
    let case = Case::generated(Generator::Banana, 40, 2, 0.7, 1.0, 2);
    let log = Memory { cells: Mutex::default(), there: 0 };
    run(&case, Seeding::Full, Par::Seq, None, &log);
    let bytes = log.cells.into_inner().expect("no panic").remove(&0).expect("a cell");
    assert!(Finished::decode(&bytes, &[4; 32]).is_err());
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 16;
        assert!(Finished::decode(&damaged, &KEY).is_err(), "byte {at}");
        assert!(Finished::decode(&bytes[..at], &KEY).is_err(), "cut at {at}");
    }
}

/// A cell with more errors than the bound is pruned before its last fold. The bound falls to the
/// errors of complete cells of the column.
#[test]
fn cells_that_cannot_win_are_given_up() {
    let case = Case::generated(Generator::GaussM, 150, 5, 0.4, 1.0, 3).at(1e-3);
    let full = run(&case, Seeding::Full, Par::Seq, None, &Unlogged);
    let errors: Vec<usize> = full.iter().map(|report| report.samples_counted - report.correct).collect();
    let fewest = *errors.iter().min().expect("cells");
    for most in [0, fewest, 150] {
        let pruned = run(&case, Seeding::Full, Par::Seq, Some(most), &Unlogged);
        let mut bound = most;
        for ((report, whole), all) in pruned.iter().zip(&full).zip(&errors) {
            assert!(report.pruned.is_none() || *all > bound, "{all} errors of {bound}");
            if let Some(errors) = report.pruned {
                assert!(errors > bound && errors <= *all && report.folds.len() < 5);
                assert_eq!((report.accuracy, report.scores.len(), report.status()), (None, 0, Status::Converged));
                // Before the last fold the errors were still within the bound.
                let last = report.folds.last().expect("a fold");
                assert!(errors - (last.test - last.correct.expect("counted")) <= bound);
            } else {
                // Within the bound, or above it only with the last fold.
                let last = whole.folds.last().expect("a fold");
                assert!(*all <= bound || all - (last.test - last.correct.expect("counted")) <= bound);
                assert_eq!(report.correct, whole.correct);
                bound = bound.min(*all);
            }
        }
    }
}
