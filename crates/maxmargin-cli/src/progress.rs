//! The bar on standard error: iterations, violation, estimated time. Only on a terminal.

use crate::{format, interrupt};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use maxmargin::core::Progress;
use maxmargin::cv::{CvProgress, CvWatch, Stage};
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

    fn show(&self, progress: &CvProgress) {
        let CvProgress { stage, done, total, solver } = progress;
        let violation = format::short(solver.violation);
        if *total <= 1 {
            let share = self.pace.lock().map_or(None, |mut pace| pace.share(solver));
            let left = share.map_or_else(String::new, |(_, left)| format!(", about {} left", format::duration(left)));
            self.bar.set_position((share.map_or(0.0, |s| s.0) * LENGTH as f64) as u64);
            let (iterations, tol) = (format::count(solver.iterations), format::short(solver.tol));
            self.bar.set_message(format!("{iterations} iterations, violation {violation} of {tol}{left}"));
            return;
        }
        self.bar.set_position(*done as u64 * LENGTH / *total as u64);
        let stage = match stage {
            Stage::Full => format!("training on all data, violation {violation}"),
            Stage::Certify => "certifying".to_owned(),
            Stage::Fold(fold) => format!("{done} of {total} folds solved; fold {fold}, violation {violation}"),
            Stage::Machine(_) => format!("{done} of {total} machines solved; violation {violation}"),
        };
        self.bar.set_message(format!("{stage}{}", self.rest(*done, *total)));
    }

    /// The time that the folds or machines not yet solved will take if they are like those solved.
    fn rest(&self, done: usize, total: usize) -> String {
        let begun = self.pace.lock().map(|pace| pace.begun);
        match begun {
            Ok(begun) if done > 0 && done < total => {
                let left = begun.elapsed().mul_f64((total - done) as f64 / done as f64);
                format!(", about {} left", format::duration(left))
            }
            _ => String::new(),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
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

impl CvWatch for Bar {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.show(progress);
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
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
