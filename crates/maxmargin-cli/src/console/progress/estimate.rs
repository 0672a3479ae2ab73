//! The state of one training or cross-validation in words, and a linear estimate of the phase that
//! runs.

use super::View;
use crate::console::format;
use maxmargin::cv::{Progress, Stage};

/// The phases whose total work is known in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Folds,
    Machines,
    Certificates,
}

/// A linear estimate for each phase that counts its work. A training has none: nothing tells in
/// advance how many iterations it needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PhaseEstimate {
    /// Seconds at which each phase began, by [`Counted`].
    begun: [Option<f64>; 3],
    /// Samples that were certified at the last tick: a second pass counts from 0 again.
    certified: usize,
    /// The largest share of each phase so far.
    shares: [f64; 3],
}

impl PhaseEstimate {
    /// Takes a tick that came `at` so many seconds after the beginning.
    pub(super) fn tick(&mut self, at: f64, progress: &Progress) -> View {
        let what = text(progress);
        let (phase, done, total) = match progress.stage {
            Stage::Full => return View { what, left: None, share: 0.0 },
            Stage::Fold(_) => (Counted::Folds, progress.done, progress.total),
            Stage::Machine(_) => (Counted::Machines, progress.done, progress.total),
            Stage::Certify { certified, samples } => (Counted::Certificates, certified, samples),
        };
        if phase == Counted::Certificates {
            if done < self.certified {
                (self.begun[phase as usize], self.shares[phase as usize]) = (None, 0.0);
            }
            self.certified = done;
        }
        let begun = *self.begun[phase as usize].get_or_insert(at);
        // Threads report in any order: the share never falls.
        let share = (done as f64 / total.max(1) as f64).clamp(self.shares[phase as usize], 1.0);
        self.shares[phase as usize] = share;
        let left = (share > 0.0 && share < 1.0).then(|| (at - begun) * (1.0 - share) / share);
        View { what, left: left.filter(|left| *left > 0.0), share }
    }
}

/// `3 of 10 folds; fold 4: 1,234 iterations, KKT 0.2 (tolerance 1e-3), duality gap 0.05`
fn text(progress: &Progress) -> String {
    let Progress { stage, done, total, .. } = progress;
    let count = |number: usize| format::count(number as u64);
    let (iterations, rows) = (format::count(progress.iterations), format::count(progress.rows_computed));
    let rows = if progress.rows_computed > 0 { format!(", {rows} kernel rows") } else { String::new() };
    let [measure, tolerance] = [progress.violation, progress.tol].map(format::bound);
    let (name, gap) = if progress.aims_at_gap { ("duality gap", None) } else { ("KKT", progress.gap) };
    let gap = gap.map_or_else(String::new, |gap| format!(", duality gap {}", format::bound(gap)));
    let solver = format!("{iterations} iterations{rows}, {name} {measure} (tolerance {tolerance}){gap}");
    match stage {
        Stage::Full => format!("training on all data: {solver}"),
        Stage::Fold(fold) => format!("{} of {} folds; fold {fold}: {solver}", count(*done), count(*total)),
        Stage::Machine(machine) => format!("{} of {} machines; machine {machine}: {solver}", count(*done), count(*total)),
        Stage::Certify { certified, samples } => format!("certifying: {} of {} samples", count(*certified), count(*samples)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_is_estimated_by_what_it_has_done() {
        let mut estimate = PhaseEstimate::default();
        let fold = |done: usize| Progress { stage: Stage::Fold(done), done, total: 10, ..Progress::default() };
        let certify = |certified: usize| Progress { stage: Stage::Certify { certified, samples: 100 }, ..Progress::default() };
        let training = Progress { stage: Stage::Full, ..Progress::default() };
        assert_eq!(estimate.tick(1.0, &training).left, None);
        assert_eq!(estimate.tick(2.0, &certify(50)).left, None);
        assert_eq!(estimate.tick(10.0, &fold(0)).left, None);
        assert_eq!(estimate.tick(12.0, &fold(2)).left, Some(8.0));
        // Folds and certificates may take turns.
        assert_eq!(estimate.tick(12.0, &certify(75)).share, 0.75);
        assert_eq!(estimate.tick(15.0, &fold(5)).left, Some(5.0));
        // A late report of another thread does not turn back.
        assert_eq!(estimate.tick(16.0, &fold(4)).share, 0.5);
        // A second pass of certificates begins anew.
        assert_eq!((estimate.tick(20.0, &certify(10)).left, estimate.tick(21.0, &certify(20)).left), (None, Some(4.0)));
        assert!(estimate.tick(22.0, &fold(7)).text().starts_with("7 of 10 folds; fold 7: "));
    }

    #[test]
    fn the_words_tell_gaps_from_violations() {
        let progress = Progress { iterations: 1234, violation: 0.5, tol: 1e-3, ..Progress::default() };
        let solver = |progress: Progress| text(&progress).split_once(": ").map(|(_, solver)| solver.to_owned());
        assert_eq!(solver(progress).as_deref(), Some("1,234 iterations, KKT 0.5 (tolerance 1e-3)"));
        let known = Progress { gap: Some(0.25), ..progress };
        assert_eq!(solver(known).as_deref(), Some("1,234 iterations, KKT 0.5 (tolerance 1e-3), duality gap 0.25"));
        let asked = Progress { aims_at_gap: true, ..known };
        assert_eq!(solver(asked).as_deref(), Some("1,234 iterations, duality gap 0.5 (tolerance 1e-3)"));
    }
}
