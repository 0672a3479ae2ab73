//! From the best cell of a search down a smooth loss.

use super::super::Svm;
use super::super::grid::Asked;
use super::super::ranges::SearchResult;
use super::bfgs::{Descending, DescentEnd, Visited, descend, lowest};
use super::run::{Run, place};
use maxmargin_core::Goal;
use maxmargin_cv::{CvError, CvProgress, CvReport, SmoothLoss};
use maxmargin_kernel::Gamma;
use std::ops::ControlFlow;

/// Losses that are computed, at most.
const MOST: usize = 20;

/// Losses where every feature has a width, besides.
const MOST_PER_FEATURE: usize = 60;

/// Features that may have a width each: what a descent knows of curvature grows with the square,
/// and every loss with a system of equations for each.
pub const MOST_WIDTHS: usize = 1000;

/// Folds are solved to this violation, or to what is asked for where that is less: below 10⁻⁵ the
/// free are exact, and so are their derivatives.
const TIGHT: f64 = 1e-6;

/// Steps in log C and log γ: a first one of a factor of 2, none of more than 8 or of less than 1 %,
/// and no further than 1,024 times the start. A loss that changes by 10⁻⁴ where a parameter is e
/// times as large is flat: samples decide no more than that.
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
    /// γ of each feature that the kernel sees, at the cell that it found; none where there is one
    /// for all.
    pub widths: Option<Vec<f64>>,
    /// Every point whose loss was computed, in order.
    pub points: Vec<DescentPoint>,
    /// Why it ended.
    pub ended: DescentEnd,
    /// Solver iterations of all its trainings.
    pub iterations: u64,
}

/// A point of a descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DescentPoint {
    /// C.
    pub c: f64,
    /// γ; where every feature has one, their geometric mean.
    pub gamma: f64,
    /// The loss there ([`maxmargin_cv::Smooth::loss`]).
    pub loss: f64,
    /// Its derivatives by log C and by log γ, of all features together.
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

/// The mean of log γ.
fn mean(at: &[f64]) -> f64 {
    at[1..].iter().sum::<f64>() / (at.len() - 1) as f64
}

/// What features are multiplied by for each to have its γ, where that of the kernel is the mean.
fn factors(at: &[f64]) -> Vec<f64> {
    let mean = mean(at);
    at[1..].iter().map(|log| (0.5 * (log - mean)).exp()).collect()
}

impl<T: Send, E: Fn(&Svm, CvReport) -> T + Sync> Run<'_, E> {
    /// Descends from the best cell and adds what it finds as a cell of its own, solved and scored
    /// like all others.
    pub(super) fn descended(&self, found: &mut SearchResult<T>) -> Result<(), CvError> {
        let Some(top) = self.leader(found) else { return Ok(()) };
        let start = found.cells[top].svm.clone();
        let (Some(c), Some(gamma)) = (start.formulation().c(), start.kernel_given().gamma()) else { return Ok(()) };
        // A width of 0 has no logarithm to descend along.
        if gamma == 0.0 {
            return Ok(());
        }
        let left = self.svm.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        let goal = Goal::Kkt(self.asked.kkt().map_or(TIGHT, |kkt| kkt.min(TIGHT)));
        let done = found.cells.len();
        let watch = |progress: &CvProgress| -> ControlFlow<()> {
            self.attended.watch.tick(&CvProgress { done, total: done + 1, ..*progress })
        };
        // The start is the cell itself, whatever its logarithm was rounded to.
        let begin = [c.ln(), gamma.ln()];
        let real = |at: &[f64]| if *at == begin { [c, gamma] } else { [at[0].exp(), mean(at).exp()] };
        let mut iterations = 0;
        let tight = Svm { max_time: left, goal: Some(goal), ..start.clone() };
        let (visited, ended) = tight.study(self.data, |study| {
            let mut loss = SmoothLoss::new(*study, self.plan)?;
            let features = loss.features();
            let mut at = |at: &[f64], apart: bool| {
                let [c, gamma] = real(at);
                let smooth = if apart { loss.at_features(c, gamma, &factors(at), &watch) } else { loss.at(c, gamma, &watch) }?;
                iterations += smooth.iterations;
                Ok((smooth.loss, smooth.gradient))
            };
            let (mut visited, mut ended) = descend(&begin, HOW, |point| at(point, false));
            if let (true, Ok(_), Some(low)) = (self.search.per_feature, &ended, lowest(&visited)) {
                // From where one width for all has come to its end, so that widths of features end
                // no higher.
                let mut begin = low.at.clone();
                begin.resize(1 + features, low.at[1]);
                let more = descend(&begin, Descending { most: MOST_PER_FEATURE, ..HOW }, |point| at(point, true));
                visited.extend(more.0);
                ended = more.1;
            }
            Ok((visited, ended))
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
        let (mut at, mut widths) = (from.clone(), None);
        if let Some(low) = lowest(&visited).filter(|low| low.at != begin) {
            let [c, gamma] = real(&low.at);
            let mut svm = Svm { gamma: Some(Gamma::Value(gamma)), max_time: self.svm.max_time, ..start }.c(c);
            // Where one for all is lower, so it stays.
            if self.search.per_feature && low.at.iter().skip(2).any(|log| *log != low.at[1]) {
                let found = factors(&low.at);
                widths = Some(found.iter().map(|factor| gamma * factor * factor).collect());
                let own = svm.feature_weights.take();
                let both = |(j, factor): (usize, &f64)| own.as_ref().map_or(1.0, |own| own[j]) * factor;
                svm = svm.feature_weights(&found.iter().enumerate().map(both).collect::<Vec<f64>>());
            }
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
            DescentPoint { c, gamma, loss: visited.value, gradient: [visited.gradient[0], visited.gradient[1..].iter().sum()] }
        };
        found.descent = Some(Descent { from, at, widths, points: visited.iter().map(point).collect(), ended, iterations });
        Ok(())
    }
}
