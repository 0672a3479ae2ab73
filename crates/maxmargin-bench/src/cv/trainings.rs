//! The solver of the folds, with rows of its own for each training or with its α kept.

use crate::cell::job::Cv;
use crate::measured::Compared;
use maxmargin::core::{Dual, Formulation, Refused, Run, Solve, Solved, Start};
use maxmargin::kernel::{Rows, Space};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Two α that differ by at most this share of C count as equal.
const SAME: f64 = 1e-3;

/// α of every training by its machine and its test rows. Rows are sorted by fold, so that trainings
/// are in the order of the folds.
type AlphaByFold = BTreeMap<(usize, Vec<usize>), Vec<f64>>;

/// A solver that has its rows for itself in every training, or whose α are kept.
pub(super) struct Trainings {
    usual: Box<dyn Solve + Send>,
    /// Bytes of the rows that a training has for itself. Seeds read the shared rows.
    own_rows: Option<u64>,
    known: Option<Mutex<AlphaByFold>>,
}

impl Trainings {
    pub(super) fn of(cell: &Cv, usual: Box<dyn Solve + Send>) -> Self {
        let own_rows = cell.forget_rows.then(|| cell.setting.budget());
        Self { usual, own_rows, known: cell.compare_alpha.then(Mutex::default) }
    }

    /// Returns the agreement of α between neighbouring folds, where it is requested and there are
    /// two.
    pub(super) fn compared(&self, c: f64) -> Option<Compared> {
        compared(&self.known.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner), c)
    }
}

impl Solve for Trainings {
    fn name(&self) -> &'static str {
        self.usual.name()
    }

    fn takes(&self, formulation: &Formulation, features: bool) -> Result<(), Refused> {
        self.usual.takes(formulation, features)
    }

    fn uses_neighbours(&self) -> bool {
        self.own_rows.is_none() && self.usual.uses_neighbours()
    }

    fn solve(&self, dual: &Dual, space: Space, start: Start, run: &mut Run) -> Result<Solved, Refused> {
        let solved = match (self.own_rows, space.rows()) {
            (Some(bytes), Some(shared)) => {
                let own = Rows::new(shared.gram(), bytes, run.par);
                let solved = self.usual.solve(dual, Space::Kernel(&own), start, run)?;
                shared.count_elsewhere(own.work().computed, own.work().time);
                solved
            }
            _ => self.usual.solve(dual, space, start, run)?,
        };
        if let Some(known) = &self.known {
            let (mut alpha, mut hidden) = (vec![0.0; space.len()], vec![true; space.len()]);
            for (&i, value) in dual.ids().iter().zip(&solved.solution.alpha) {
                alpha[i] += value;
                hidden[i] = false;
            }
            let hidden = (0..hidden.len()).filter(|&i| hidden[i]).collect();
            // A training that continues after it missed its goal replaces the one before.
            known.lock().unwrap_or_else(PoisonError::into_inner).insert((run.machine, hidden), alpha);
        }
        Ok(solved)
    }
}

fn compared(known: &AlphaByFold, c: f64) -> Option<Compared> {
    // A training without test rows is the model of all data.
    let folds: Vec<_> = known.iter().filter(|((_, hidden), _)| !hidden.is_empty()).collect();
    let (mut shared, mut same, mut support, mut same_support) = (0_u64, 0_u64, 0_u64, 0_u64);
    for pair in folds.windows(2) {
        let [((machine, hidden), alpha), ((next_machine, next_hidden), next)] = [pair[0], pair[1]];
        if machine != next_machine {
            continue;
        }
        let mut takes_part = vec![true; alpha.len()];
        hidden.iter().chain(next_hidden).for_each(|&i| takes_part[i] = false);
        for i in (0..alpha.len()).filter(|&i| takes_part[i]) {
            let (is_same, is_support) = ((alpha[i] - next[i]).abs() <= SAME * c, alpha[i] > 0.0 || next[i] > 0.0);
            shared += 1;
            same += u64::from(is_same);
            support += u64::from(is_support);
            same_support += u64::from(is_same && is_support);
        }
    }
    let percent = |part: u64, of: u64| (of > 0).then(|| 100.0 * part as f64 / of as f64);
    Some(Compared { alpha_kept: percent(same, shared)?, alpha_kept_support: percent(same_support, support) })
}

#[cfg(test)]
mod tests {
    use super::{AlphaByFold, compared};
    use crate::measured::Compared;

    #[test]
    fn neighbours_share_what_neither_leaves_out() {
        let fold = |machine, hidden: &[usize], alpha: [f64; 5]| ((machine, hidden.to_vec()), alpha.to_vec());
        let known = AlphaByFold::from([
            // Of all data: no fold.
            fold(0, &[], [9.0; 5]),
            fold(0, &[0], [0.0, 1.0, 5.0, 0.0, 10.0]),
            // 2, 3 and 4 are shared with the one before: one is the same to 1e-3 of 10, one is not,
            // one is 0 in both.
            fold(0, &[1], [3.0, 0.0, 5.02, 0.0, 9.995]),
            // 0, 3 and 4 are shared with the one before, and all the same.
            fold(0, &[2], [3.0, 7.0, 0.0, 0.0, 10.0]),
            fold(1, &[0], [0.0; 5]),
        ]);
        let found = compared(&known, 10.0).expect("neighbours");
        assert_eq!(found, Compared { alpha_kept: 100.0 * 5.0 / 6.0, alpha_kept_support: Some(75.0) });
        let alone = AlphaByFold::from([fold(0, &[0], [1.0; 5]), fold(1, &[0], [1.0; 5])]);
        assert_eq!(compared(&alone, 10.0), None);
    }
}
