//! How far a run is, on standard error: a bar where that is a terminal, else a line now and then.

mod cells;
mod lines;
mod pace;
#[cfg(test)]
mod ticks;

use crate::{interrupt, notes};
use cells::Cells;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lines::Lines;
use maxmargin::cv::{CvProgress, CvWatch};
use pace::{Pace, View};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Positions of the bar.
const LENGTH: u64 = 1000;

/// Shows running solvers and passes Ctrl-C on to them.
pub(crate) struct Bar {
    drawn: ProgressBar,
    begun: Instant,
    shown: Mutex<Shown>,
}

/// What is told, and where.
struct Shown {
    way: Way,
    /// In the place of a bar that is not drawn.
    lines: Option<Lines>,
}

/// By what the rest of a run is estimated.
enum Way {
    /// A training, or a cross-validation.
    One(Box<Pace>),
    /// Many of them.
    Many(Cells),
}

impl Way {
    fn tick(&mut self, at: f64, progress: &CvProgress) -> View {
        match self {
            Self::One(pace) => pace.tick(at, progress),
            Self::Many(cells) => cells.tick(at, progress),
        }
    }
}

fn drawn(quiet: bool, length: Option<u64>, template: &str) -> ProgressBar {
    let target = if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(5)
    };
    let bar = ProgressBar::with_draw_target(length, target);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

impl Bar {
    /// A bar of a run over so many samples that begins now: lines where there is no terminal,
    /// nothing when quiet.
    pub(crate) fn new(quiet: bool, samples: usize) -> Self {
        Self::by(quiet, Way::One(Box::new(Pace::new(samples))))
    }

    /// A bar of so many cross-validations.
    pub(crate) fn cells(quiet: bool, cells: usize) -> Self {
        Self::by(quiet, Way::Many(Cells::new(cells)))
    }

    fn by(quiet: bool, way: Way) -> Self {
        let bar = drawn(quiet, Some(LENGTH), "{bar:30} {msg}");
        interrupt::listen();
        let lines = (!quiet && bar.is_hidden()).then(Lines::default);
        Self { drawn: bar, begun: Instant::now(), shown: Mutex::new(Shown { way, lines }) }
    }
}

impl Bar {
    fn show(&self, Shown { way, lines }: &mut Shown, progress: &CvProgress) {
        if self.drawn.is_hidden() && lines.is_none() {
            return;
        }
        let at = self.begun.elapsed().as_secs_f64();
        let view = way.tick(at, progress);
        if let Some(lines) = lines {
            if lines.due(at) {
                notes::tell(&Lines::text(at, &view));
            }
        } else {
            self.drawn.set_position((view.share * LENGTH as f64) as u64);
            self.drawn.set_message(view.text());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.drawn.finish_and_clear();
    }
}

impl CvWatch for Bar {
    fn tick(&self, progress: &CvProgress) -> ControlFlow<()> {
        if let Ok(mut shown) = self.shown.lock() {
            self.show(&mut shown, progress);
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A phase without ticks, such as reading or writing, shown while this is held.
pub(crate) struct Phase(ProgressBar);

impl Phase {
    /// Begins now.
    pub(crate) fn new(quiet: bool, what: String) -> Self {
        let bar = drawn(quiet, None, "{spinner} {msg}, {elapsed}");
        if !bar.is_hidden() {
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self(bar)
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
