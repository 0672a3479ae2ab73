//! Progress on standard error: a bar on a terminal, otherwise a line now and then.

mod cells;
mod estimate;
mod lines;

use crate::console::format;
use crate::console::interrupt;
use crate::console::stderr;
use cells::Cells;
use estimate::PhaseEstimate;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lines::Lines;
use maxmargin::cv::{Progress, RunControl};
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
    state: Mutex<State>,
}

/// The message of one tick.
#[derive(Clone, Debug, PartialEq)]
struct View {
    /// The state of the run in words.
    what: String,
    /// Seconds left, where they can be estimated.
    left: Option<f64>,
    /// The position of the bar, from 0 to 1.
    share: f64,
}

impl View {
    /// `4 of 9 combinations, 1 s left`
    fn text(&self) -> String {
        let left = self.left.map_or_else(String::new, |left| format!(", {} left", format::coarse(left)));
        format!("{}{left}", self.what)
    }
}

/// The estimate of a run, and its output.
struct State {
    estimate: Estimate,
    /// Lines for a standard error that is no terminal.
    lines: Option<Lines>,
}

/// The source of the time that is left.
enum Estimate {
    /// One training or cross-validation.
    Phases(PhaseEstimate),
    /// The cells of a search.
    Cells(Cells),
}

impl Estimate {
    fn tick(&mut self, at: f64, progress: &Progress) -> View {
        match self {
            Self::Phases(phases) => phases.tick(at, progress),
            Self::Cells(cells) => cells.tick(at, progress),
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
    /// A bar for one training or cross-validation that begins now: lines without a terminal,
    /// nothing when quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Self::of(quiet, Estimate::Phases(PhaseEstimate::default()))
    }

    /// A bar for the cross-validations of this many cells of a search.
    pub(crate) fn cells(quiet: bool, cells: usize) -> Self {
        Self::of(quiet, Estimate::Cells(Cells::new(cells)))
    }

    fn of(quiet: bool, estimate: Estimate) -> Self {
        let bar = drawn(quiet, Some(LENGTH), "{bar:30} {msg}");
        interrupt::listen();
        let lines = (!quiet && bar.is_hidden()).then(Lines::default);
        Self { drawn: bar, begun: Instant::now(), state: Mutex::new(State { estimate, lines }) }
    }
}

impl Bar {
    fn show(&self, State { estimate, lines }: &mut State, progress: &Progress) {
        if self.drawn.is_hidden() && lines.is_none() {
            return;
        }
        let at = self.begun.elapsed().as_secs_f64();
        let view = estimate.tick(at, progress);
        if let Some(lines) = lines {
            if lines.due(at) {
                stderr::print_line(&Lines::text(at, &view));
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

impl Bar {
    /// The control of a run that this bar shows and Ctrl-C cancels.
    pub(crate) fn control(&self) -> RunControl<'_> {
        RunControl::new(|progress| {
            if let Ok(mut state) = self.state.lock() {
                self.show(&mut state, progress);
            }
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }
}

/// A spinner for a phase without ticks, such as reading or writing; it is removed on drop.
pub(crate) struct Phase(ProgressBar);

impl Phase {
    /// Starts the spinner.
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
