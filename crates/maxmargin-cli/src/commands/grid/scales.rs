//! The choice of a scaling, by a small grid on a subset of the samples.

use super::choice::Choice;
use crate::args::{ScaleName, Widths};
use crate::console::failure::Failure;
use crate::console::progress::Bar;
use crate::files::input::Input;
use crate::problem::failed;
use crate::report::scale_name;
use maxmargin::core::TargetKind;
use maxmargin::cv::{FoldPlan, Unlogged};
use maxmargin::data::Dataset;
use maxmargin::data::scale::ScaleMethod;
use maxmargin::kernel::gamma_scale;
use maxmargin::{PreparedData, Ranges, Search, SearchHooks, Svm};
use serde::Serialize;
use std::borrow::Cow;

/// Approximate size of the subset: enough to tell scaling methods apart that differ by a percentage
/// point or two.
const LOOKED_AT: usize = 2000;

/// The number of folds.
const FOLDS: usize = 3;

/// Values of C, and of γ as factors of the `scale` rule. Good values lie among these for most data,
/// and the best of each method are compared.
const C: [f64; 3] = [0.5, 8.0, 128.0];
const GAMMA: [f64; 4] = [1.0 / 64.0, 0.125, 1.0, 8.0];

/// Exponents of two of the γ that a search tries, relative to the `scale` rule: from nearly linear
/// to nearly the identity on most data.
const WIDTHS: [i32; 6] = [-9, -6, -3, 0, 3, 6];

/// Returns powers of two around the `scale` rule for these samples.
pub(super) fn widths(data: &PreparedData) -> Widths {
    let usual = usual(data).unwrap_or(1.0).log2().round() as i32;
    Widths::Values(WIDTHS.iter().map(|k| 2.0_f64.powi((usual + k).clamp(-1000, 1000))).collect())
}

/// Returns 1/(features · variance) of the prepared samples; None if they are all zero.
fn usual(data: &PreparedData) -> Option<f64> {
    let gamma = gamma_scale(data.samples());
    (gamma.is_finite() && gamma > 0.0).then_some(gamma)
}

/// A scaling method and the score of its best cell.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ScalingTrial {
    scale: Option<&'static str>,
    score: Option<f64>,
    #[serde(skip)]
    error: Option<f64>,
    #[serde(skip)]
    method: Option<ScaleMethod>,
}

/// Options of the trials.
pub(super) struct TrialOptions<'p> {
    pub(super) seed: u64,
    pub(super) quiet: bool,
    /// The folds of all rows, where they were asked for.
    pub(super) plan: Option<&'p FoldPlan>,
}

/// Tries samples as they are, with each feature in −1…1, and with each at mean 0 and variance 1,
/// and chooses the first of these within one standard error of the best. Unscaled samples keep
/// their zeros, and ranges are the same in most folds, which then share their kernel.
pub(super) fn choose_scaling(
    svm: &Svm,
    input: &Input,
    choice: &Choice,
    options: &TrialOptions,
) -> Result<(Option<ScaleMethod>, Vec<ScalingTrial>), Failure> {
    let TrialOptions { seed, quiet, plan: asked } = *options;
    let planned = |data: &Dataset, folds: usize| match choice.target_kind() {
        TargetKind::Classes => {
            FoldPlan::stratified(&data.labels, folds, seed).or_else(|_| FoldPlan::shuffled(data.labels.len(), folds, seed))
        }
        _ => FoldPlan::shuffled(data.labels.len(), folds, seed),
    };
    let parts = if asked.is_some() { 1 } else { input.data.labels.len() / LOOKED_AT };
    let some = if parts > 1 {
        let plan = planned(&input.data, parts).map_err(|e| Failure::input(&input.name, e))?;
        Some((svm.among(&input.data.labels, plan.test(0)), input.data.select(plan.test(0))))
    } else {
        None
    };
    let (svm, data) = some.as_ref().map_or((svm, &input.data), |(svm, data)| (svm, data));
    let plan = match asked {
        Some(plan) => Cow::Borrowed(plan),
        None => Cow::Owned(planned(data, FOLDS).map_err(|e| Failure::input(&input.name, e))?),
    };
    let mut tried = Vec::new();
    for method in [None, Some(ScaleName::Minmax), Some(ScaleName::Standard)].map(|name| name.map(ScaleName::method)) {
        // The search itself reports data that cannot be scaled.
        let scaled = method.into_iter().fold(svm.clone(), Svm::scale);
        let Ok(data) = scaled.prepare(data) else { continue };
        let Some(usual) = usual(&data) else { continue };
        let ranges = Ranges::new().c(&C).gamma(&GAMMA.map(|factor| factor * usual));
        let bar = Bar::cells(quiet, C.len() * GAMMA.len());
        let search = Search::new(ranges).metric(choice.metric()).fast();
        let attended = SearchHooks { control: &bar.control(), logs: &Unlogged };
        let found = scaled.search(&data, &plan, &search, attended, |_, _| ()).map_err(|e| failed(input, &e))?;
        let best = maxmargin::best(&found.cells, choice.metric()).map(|at| found.cells[at].score);
        let (score, error) = (best.and_then(|best| best.value), best.and_then(|best| best.standard_error));
        tried.push(ScalingTrial { scale: method.map(scale_name), score, error, method });
    }
    let known = || tried.iter().filter_map(|one| Some((one, one.score?)));
    let best = known().reduce(|best, next| if choice.metric().is_better(next.1, best.1) { next } else { best });
    let taken = best.and_then(|(best, score)| {
        let error = best.error.unwrap_or(0.0);
        let bound = if choice.rises() { score - error } else { score + error };
        known().find(|(_, own)| !choice.metric().is_better(bound, *own)).map(|(one, _)| one.method)
    });
    Ok((taken.flatten(), tried))
}
