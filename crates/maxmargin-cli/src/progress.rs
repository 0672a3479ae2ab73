//! The bar on standard error: iterations, violation, estimated time. Only on a terminal.

use crate::{format, interrupt};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::core::{Progress, Watch};
use maxmargin::cv::{CvProgress, Stage};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Positions of the bar: how far the violation has come, in logarithm.
const LENGTH: u64 = 1000;

/// Shows a running solver and passes Ctrl-C on to it.
pub(crate) struct Bar {
    bar: ProgressBar,
    pace: Mutex<Pace>,
}

/// The violation falls roughly geometrically, so its logarithm tells how much of the way is done.
struct Pace {
    begun: Instant,
    first: f64,
    lowest: f64,
}

impl Bar {
    /// A bar that begins now; hidden when quiet or not on a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let target = if quiet || !std::io::stderr().is_terminal() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(5)
        };
        let bar = ProgressBar::with_draw_target(Some(LENGTH), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        interrupt::listen();
        Self { bar, pace: Mutex::new(Pace { begun: Instant::now(), first: 0.0, lowest: f64::INFINITY }) }
    }

    /// Shows one solver's progress; says whether to go on.
    pub(crate) fn tick(&self, progress: &Progress) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            let share = self.pace.lock().map_or(None, |mut pace| pace.share(progress));
            let left = share.map_or_else(String::new, |(_, left)| format!(", about {} left", format::duration(left)));
            self.bar.set_position((share.map_or(0.0, |s| s.0) * LENGTH as f64) as u64);
            let iterations = format::count(progress.iterations);
            let (violation, tol) = (format::short(progress.violation), format::short(progress.tol));
            self.bar.set_message(format!("{iterations} iterations, violation {violation} of {tol}{left}"));
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Shows a cross-validation's progress; says whether to go on.
    pub(crate) fn cv_tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.bar.set_position(progress.done as u64 * LENGTH / progress.folds.max(1) as u64);
            let violation = format::short(progress.solver.violation);
            let stage = match progress.stage {
                Stage::Full => format!("training on all data, violation {violation}"),
                Stage::Certify => "certifying".to_owned(),
                Stage::Fold(fold) => {
                    format!("{} of {} folds solved; fold {fold}, violation {violation}", progress.done, progress.folds)
                }
                Stage::Pair(_) => {
                    format!("{} of {} pairs of classes solved; violation {violation}", progress.done, progress.folds)
                }
            };
            self.bar.set_message(format!("{stage}{}", self.rest(progress.done, progress.folds)));
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// The time that the folds not yet solved will take if they are like those solved.
    fn rest(&self, done: usize, folds: usize) -> String {
        let begun = self.pace.lock().map(|pace| pace.begun);
        match begun {
            Ok(begun) if done > 0 && done < folds => {
                let left = begun.elapsed().mul_f64((folds - done) as f64 / done as f64);
                format!(", about {} left", format::duration(left))
            }
            _ => String::new(),
        }
    }

    /// Takes the bar off the screen.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Pace {
    /// The share of the way that is done and the time that the rest will take.
    fn share(&mut self, progress: &Progress) -> Option<(f64, Duration)> {
        if self.first == 0.0 {
            self.first = progress.violation;
        }
        self.lowest = self.lowest.min(progress.violation);
        let way = (self.first / progress.tol).ln();
        let done = (self.first / self.lowest).ln();
        let share = (done / way).clamp(0.0, 1.0);
        if !share.is_finite() || share < 0.02 {
            return None;
        }
        let left = self.begun.elapsed().mul_f64((1.0 - share) / share);
        Some((share, left))
    }
}

impl Watch for &Bar {
    fn tick(&mut self, progress: &Progress) -> ControlFlow<()> {
        Bar::tick(self, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_logarithm_is_half_of_the_way() {
        let mut pace = Pace { begun: Instant::now(), first: 0.0, lowest: f64::INFINITY };
        let at = |violation| Progress { iterations: 1, violation, tol: 1e-4, rows_computed: 0 };
        assert!(pace.share(&at(1.0)).is_none());
        let (share, _) = pace.share(&at(1e-2)).expect("a share");
        assert!((share - 0.5).abs() < 1e-12);
        // A violation that rises again does not turn the bar back.
        assert!(pace.share(&at(0.5)).expect("a share").0 >= 0.5);
    }
}
