//! Gradient descent along a smooth loss, from the best cell of a search.

use super::bfgs::{DescentEnd, DescentLimits, Evaluation, descend, lowest};
use super::descent::{Descent, DescentPoint};
use super::result::SearchResult;
use super::run::Run;
use super::stage::SearchColumn;
use crate::Svm;
use maxmargin_core::Goal;
use maxmargin_cv::{CvError, CvReport, Progress, SmoothLoss};
use maxmargin_kernel::Gamma;

/// The greatest number of computed losses.
const MOST: usize = 20;

/// The greatest number of additional losses with a width for each feature.
const MOST_PER_FEATURE: usize = 60;

/// The KKT violation of folds, unless the goal is stricter. Below 10⁻⁵ the set of free support
/// vectors is exact, and so are its derivatives.
const TIGHT: f64 = 1e-6;

/// The limits of steps in log C and log γ. The first step is a factor of 2. Steps are at most a
/// factor of 8 and at least 1 %. The descent stays within a factor of 1,024 of the start.
///
/// A loss that changes by 10⁻⁴ for a parameter e times as large is flat: samples do not determine
/// smaller differences.
const LIMITS: DescentLimits = DescentLimits {
    most: MOST,
    flat: 1e-4,
    shortest: 0.01,
    first: std::f64::consts::LN_2,
    longest: 3.0 * std::f64::consts::LN_2,
    reach: 10.0 * std::f64::consts::LN_2,
};

/// Returns the mean of log γ.
fn mean(at: &[f64]) -> f64 {
    at[1..].iter().sum::<f64>() / (at.len() - 1) as f64
}

/// Returns the factors of features that give each its γ, for a kernel with the mean γ.
fn factors(at: &[f64]) -> Vec<f64> {
    let mean = mean(at);
    at[1..].iter().map(|log| (0.5 * (log - mean)).exp()).collect()
}

/// Multiplies the feature weights of an estimator by factors.
fn with_factors(mut svm: Svm, factors: &[f64]) -> Svm {
    let own = svm.options.feature_weights.take();
    let both = |(j, factor): (usize, &f64)| own.as_ref().map_or(1.0, |own| own[j]) * factor;
    svm.feature_weights(&factors.iter().enumerate().map(both).collect::<Vec<f64>>())
}

/// The evaluations of a descent, in order.
struct Trace {
    visited: Vec<Evaluation>,
    ended: Result<DescentEnd, CvError>,
    iterations: u64,
}

impl<T: Send, E: Fn(&Svm, CvReport) -> T + Sync> Run<'_, E> {
    /// Descends from the best cell and adds the lowest point as a cell, solved and scored like all
    /// others.
    pub(super) fn descend(&self, found: &mut SearchResult<T>) -> Result<(), CvError> {
        let Some(top) = self.leader(found) else { return Ok(()) };
        let start = found.cells[top].svm.clone();
        let (Some(c), Some(gamma)) = (start.formulation().c(), start.kernel_given().gamma()) else { return Ok(()) };
        // A width of 0 has no logarithm to descend along.
        if gamma == 0.0 {
            return Ok(());
        }
        // The start has the exact parameters of the cell, without the rounding of logarithms.
        let begin = [c.ln(), gamma.ln()];
        let real = |at: &[f64]| if *at == begin { [c, gamma] } else { [at[0].exp(), mean(at).exp()] };
        let Trace { visited, ended, iterations } = self.trace(&start, &begin, &real, found.cells.len())?;
        found.repeated_iterations += iterations;
        let ended = match ended {
            Ok(ended) => ended,
            Err(CvError::Ended(_)) => {
                // An unfinished descent has no result.
                found.planned += 1;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let from = found.cells[top].identity();
        let (mut at, mut widths) = (from.clone(), None);
        if let Some(low) = lowest(&visited).filter(|low| low.at != begin) {
            let [c, gamma] = real(&low.at);
            let mut svm = start
                .clone()
                .gamma(Gamma::Value(gamma))
                .with_c_if_any(c)
                .with(|options| options.max_time = self.svm.options.max_time);
            // The features keep one common width if that point is lower.
            if self.search.per_feature && low.at.iter().skip(2).any(|log| *log != low.at[1]) {
                let factors = factors(&low.at);
                widths = Some(factors.iter().map(|factor| gamma * factor * factor).collect());
                svm = with_factors(svm, &factors);
            }
            let more = self.stage(vec![SearchColumn { svm, values: vec![c] }], self.asked)?;
            let Some(cell) = more.cells.first().filter(|_| !more.is_cut()) else {
                found.take(more);
                return Ok(());
            };
            at = cell.identity();
            found.take(more);
        }
        self.sort(&mut found.cells);
        let of = |name: &String| found.cells.iter().position(|cell| cell.identity() == *name);
        let (Some(from), Some(at)) = (of(&from), of(&at)) else { return Ok(()) };
        let point = |visited: &Evaluation| {
            let [c, gamma] = real(&visited.at);
            DescentPoint { c, gamma, loss: visited.value, gradient: [visited.gradient[0], visited.gradient[1..].iter().sum()] }
        };
        found.descent = Some(Descent { from, at, widths, points: visited.iter().map(point).collect(), ended, iterations });
        Ok(())
    }

    /// Descends from `begin`, first with one width for all features, then with a width for each if
    /// the search asks for that. `real` maps a point to C and γ; `done` is the number of finished
    /// cells.
    fn trace(&self, start: &Svm, begin: &[f64; 2], real: &dyn Fn(&[f64]) -> [f64; 2], done: usize) -> Result<Trace, CvError> {
        let left = self.svm.options.max_time.map(|most| most.saturating_sub(self.begun.elapsed()));
        let goal = Goal::Kkt(self.asked.kkt().map_or(TIGHT, |kkt| kkt.min(TIGHT)));
        let control = self.hooks.control.child(move |progress| Progress { done, total: done + 1, ..*progress });
        let mut iterations = 0;
        let tight = start.clone().goal(goal).with(|options| options.max_time = left);
        let (visited, ended) = tight.study(self.input, |study| {
            let mut loss = SmoothLoss::new(*study, self.plan)?;
            let features = loss.features();
            let mut at = |at: &[f64], apart: bool| {
                let [c, gamma] = real(at);
                let smooth =
                    if apart { loss.at_features(c, gamma, &factors(at), &control) } else { loss.at(c, gamma, &control) }?;
                iterations += smooth.iterations;
                Ok((smooth.loss, smooth.gradient))
            };
            let (mut visited, mut ended) = descend(begin, LIMITS, |point| at(point, false));
            if let (true, Ok(_), Some(low)) = (self.search.per_feature, &ended, lowest(&visited)) {
                // The start is the end of the descent with one width, so that the result is not
                // higher.
                let mut begin = low.at.clone();
                begin.resize(1 + features, low.at[1]);
                let more = descend(&begin, DescentLimits { most: MOST_PER_FEATURE, ..LIMITS }, |point| at(point, true));
                visited.extend(more.0);
                ended = more.1;
            }
            Ok((visited, ended))
        })?;
        Ok(Trace { visited, ended, iterations })
    }
}
