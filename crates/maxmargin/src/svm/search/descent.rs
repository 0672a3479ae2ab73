//! From the best cell of a search down a smooth loss.

use super::super::Svm;
use super::super::grid::Asked;
use super::super::ranges::Found;
use super::run::{Run, place};
use maxmargin_core::Goal;
use maxmargin_cv::descend::{Descending, Ended, Visited, descend, lowest};
use maxmargin_cv::{CvError, CvProgress, CvReport, SmoothLoss};
use maxmargin_kernel::Gamma;
use std::ops::ControlFlow;

/// Losses that are computed, at most.
const MOST: usize = 20;

/// Folds are solved to this violation, or to what is asked for where that is less: below 10⁻⁵ the free are exact, and so are their derivatives.
const TIGHT: f64 = 1e-6;

/// Steps in log C and log γ: a first one of a factor of 2, none of more than 8 or of less than 1 %, and no further than 1,024 times the start. A loss that changes by
/// 10⁻⁴ where a parameter is e times as large is flat: samples decide no more than that.
const HOW: Descending = Descending {
    most: MOST,
    flat: 1e-4,
    shortest: 0.01,
    first: std::f64::consts::LN_2,
    longest: 3.0 * std::f64::consts::LN_2,
    reach: 10.0 * std::f64::consts::LN_2,
};

/// What became of a descent from the best cell of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Descent {
    /// The place of the cell where it began.
    pub from: usize,
    /// The place of the cell that it found: `from` itself, where nothing is lower.
    pub at: usize,
    /// Every point whose loss was computed, in order.
    pub points: Vec<DescentPoint>,
    /// Why it ended.
    pub ended: Ended,
    /// Solver iterations of all its trainings.
    pub iterations: u64,
}

/// A point of a descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentPoint {
    /// C.
    pub c: f64,
    /// γ.
    pub gamma: f64,
    /// The loss there ([`maxmargin_cv::Smooth::loss`]).
    pub loss: f64,
    /// Its derivatives by log C and by log γ.
    pub gradient: [f64; 2],
}

impl Descent {
    /// The loss where it began.
    pub fn loss_from(&self) -> f64 {
        self.points.first().map_or(f64::NAN, |point| point.loss)
    }

    /// The least loss.
    pub fn loss_at(&self) -> f64 {
        self.points.iter().map(|point| point.loss).fold(f64::NAN, f64::min)
    }
}

impl<T: Send, E: Fn(&Svm, CvReport) -> T + Sync> Run<'_, E> {
    /// Descends from the best cell and adds what it finds as a cell of its own, solved and scored like all others.
    pub(super) fn descended(&self, found: &mut Found<T>) -> Result<(), CvError> {
        let Some(top) = self.leader(found) else { return Ok(()) };
        let start = found.cells[top].svm.clone();
        let (Some(c), Some(gamma)) = (start.formulation().c(), start.kernel_given().gamma()) else { return Ok(()) };
        let begin = [c.ln(), gamma.ln()];
        let left = self.svm.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        let goal = Goal::Kkt(self.asked.kkt().map_or(TIGHT, |kkt| kkt.min(TIGHT)));
        let done = found.cells.len();
        let watch = |progress: &CvProgress| -> ControlFlow<()> {
            self.attended.watch.tick(&CvProgress { done, total: done + 1, ..*progress })
        };
        // The start is the cell itself, whatever its logarithm was rounded to.
        let real = |at: &[f64]| if *at == begin { [c, gamma] } else { [at[0].exp(), at[1].exp()] };
        let mut iterations = 0;
        let tight = Svm { max_time: left, goal: Some(goal), ..start.clone() };
        let (visited, ended) = tight.study(self.data, |study| {
            let mut loss = SmoothLoss::new(*study, self.plan)?;
            Ok(descend(&begin, HOW, |at| {
                let [c, gamma] = real(at);
                let smooth = loss.at(c, gamma, &watch)?;
                iterations += smooth.iterations;
                Ok((smooth.loss, smooth.gradient))
            }))
        })?;
        found.again += iterations;
        let ended = match ended {
            Ok(ended) => ended,
            Err(CvError::Ended(_)) => {
                // A descent that was not done found nothing.
                found.wanted += 1;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let from = place(&found.cells[top]);
        let mut at = from.clone();
        if let Some(low) = lowest(&visited).filter(|low| low.at != begin) {
            let [c, gamma] = real(&low.at);
            let svm = Svm { gamma: Some(Gamma::Value(gamma)), max_time: self.svm.max_time, ..start }.c(c);
            let more = self.stage(vec![Asked { svm, values: vec![c] }], self.asked)?;
            let Some(cell) = more.cells.first().filter(|_| !more.is_cut()) else {
                found.take(more);
                return Ok(());
            };
            at = place(cell);
            found.take(more);
        }
        self.sort(&mut found.cells);
        let of = |name: &String| found.cells.iter().position(|cell| place(cell) == *name);
        let (Some(from), Some(at)) = (of(&from), of(&at)) else { return Ok(()) };
        let point = |visited: &Visited| {
            let [c, gamma] = real(&visited.at);
            DescentPoint { c, gamma, loss: visited.value, gradient: [visited.gradient[0], visited.gradient[1]] }
        };
        found.descent = Some(Descent { from, at, points: visited.iter().map(point).collect(), ended, iterations });
        Ok(())
    }
}
