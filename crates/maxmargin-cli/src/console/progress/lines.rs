//! Lines instead of a bar, for standard error that goes to a file.

use super::View;
use crate::console::format;

/// Seconds before the first line, and the longest time between two.
const FIRST: f64 = 30.0;
const MOST: f64 = 60.0;

/// The schedule of the lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    next: f64,
}

impl Default for Lines {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Lines {
    /// Returns whether a line is due `at` so many seconds after the beginning: after thirty
    /// seconds, one minute, and every minute.
    pub(super) fn due(&mut self, at: f64) -> bool {
        let due = at >= self.next;
        if due {
            self.next = at + at.min(MOST);
        }
        due
    }

    /// `30 s: training on all data: …, 3 m left`
    pub(super) fn text(at: f64, view: &View) -> String {
        format!("{}: {}", format::coarse(at), view.text())
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, View};

    #[test]
    fn lines_come_every_minute_at_last() {
        let mut lines = Lines::default();
        let due: Vec<u32> = (0..300).filter(|at| lines.due(f64::from(*at))).collect();
        assert_eq!(due, [30, 60, 120, 180, 240]);
    }

    #[test]
    fn a_line_says_when() {
        let view = View { what: "folds: 3 of 10 done".into(), left: Some(170.0), share: 0.3 };
        assert_eq!(Lines::text(62.0, &view), "1 m: folds: 3 of 10 done, 3 m left");
    }
}
