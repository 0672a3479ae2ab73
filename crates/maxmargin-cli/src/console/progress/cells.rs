//! Progress of a search: the cells that are done, and the time that is left.

use super::View;
use crate::console::format;
use maxmargin::cv::Progress;

/// Cells of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    total: usize,
    done: usize,
    /// Seconds at which this stage began: a search may have several.
    since: f64,
    /// Seconds after that at which the last cell was done.
    at: f64,
}

impl Cells {
    /// A stage with this many cells, none done.
    pub(super) fn new(total: usize) -> Self {
        Self { total, done: 0, since: 0.0, at: 0.0 }
    }

    /// Takes a tick that came `at` so many seconds after the beginning. The columns that take
    /// longest come first, so that the estimate is rarely too short.
    pub(super) fn tick(&mut self, at: f64, progress: &Progress) -> View {
        if progress.total > 0 && progress.total != self.total {
            *self = Self { since: at, ..Self::new(progress.total) };
        }
        let at = at - self.since;
        let done = progress.done.min(self.total);
        if done > self.done {
            (self.done, self.at) = (done, at);
        }
        let what = format!("{} of {} combinations", format::count(self.done as u64), format::count(self.total as u64));
        // A cell that runs counts as half done.
        let left = (self.done > 0).then(|| at / (self.done as f64 + 0.5) * ((self.total - self.done) as f64 - 0.5).max(0.0));
        View { what, left: left.filter(|left| *left > 0.0), share: self.done as f64 / self.total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_and_the_rest_is_estimated() {
        let mut cells = Cells::new(10);
        let told = |done| Progress { done, total: 10, ..Progress::default() };
        assert_eq!(cells.tick(1.0, &told(0)).left, None);
        let view = cells.tick(4.5, &told(4));
        assert_eq!((view.left, view.share), (Some(5.5), 0.4));
        assert_eq!(view.text(), "4 of 10 combinations, 6 s left");
        // A late tick does not turn back.
        assert_eq!(cells.tick(5.0, &told(3)).share, 0.4);
        // A new stage begins.
        let view = cells.tick(6.0, &Progress { done: 1, total: 2, ..Progress::default() });
        assert_eq!((view.share, view.what == "1 of 2 combinations"), (0.5, true));
    }
}
