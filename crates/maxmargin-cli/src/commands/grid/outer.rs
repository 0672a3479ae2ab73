//! `--outer`: nested cross-validation of a search.

use super::cell::Parameters;
use super::choice::Choice;
use crate::args::GridArgs;
use crate::console::failure::Failure;
use crate::console::progress::Bar;
use crate::files::input::Input;
use crate::problem::failed;
use crate::problem::folds::leaves_one_out;
use maxmargin::cv::{FoldPlan, MissingClass, PlanError};
use maxmargin::data::Dataset;
use maxmargin::{Logs, Search, SearchHooks, Svm};
use serde::Serialize;

/// The result of a nested cross-validation.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OuterDocument {
    k: usize,
    /// The score of all samples together.
    score: Option<f64>,
    /// The standard deviation of the scores of the folds.
    deviation: Option<f64>,
    folds: Vec<OuterFoldDocument>,
}

#[derive(Clone, Debug, Serialize)]
struct OuterFoldDocument {
    train: usize,
    test: usize,
    /// Labels of classes that the training set lacks.
    missing_classes: Vec<f64>,
    score: Option<f64>,
    /// The choice of the search, with its score in the inner folds.
    chosen: Option<Parameters>,
}

impl OuterDocument {
    /// Returns whether every fold was reached.
    pub(super) fn is_complete(&self) -> bool {
        self.folds.len() == self.k
    }

    /// Returns the classes that some training sets lack.
    pub(super) fn missing(&self) -> Vec<MissingClass> {
        let folds = self.folds.iter().enumerate().map(|(at, fold)| (at, &fold.missing_classes[..]));
        MissingClass::of(folds)
    }

    /// Returns a line for the report.
    pub(super) fn text(&self, choice: &Choice) -> String {
        let deviation = self.deviation.map_or_else(String::new, |deviation| format!(" ± {}", choice.value(Some(deviation))));
        format!("nested cross-validation: {}{deviation}, over {} outer folds\n", choice.text(self.score), self.k)
    }
}

/// Repeats the search in the training set of each of `k` outer folds.
pub(super) fn nested(
    svm: &Svm,
    k: usize,
    input: &Input,
    search: &Search,
    logs: &dyn Logs,
    args: &GridArgs,
) -> Result<OuterDocument, Failure> {
    let needs = svm.formulation().target_kind();
    let at_data = |error: PlanError| Failure::input(&input.name, error);
    let planned = |data: &Dataset, k: usize| match needs {
        maxmargin::core::TargetKind::Classes => FoldPlan::stratified(&data.labels, k, args.data.options.seed),
        _ => FoldPlan::shuffled(data.labels.len(), k, args.data.options.seed),
    };
    let loo = leaves_one_out(&args.folds.request(&args.data.options), input.data.labels.len());
    if args.folds.folds.is_some() && !loo {
        let what =
            "--outer: inner folds are stratified (shuffled without classes), or leave-one-out with --loo; leave --folds out";
        return Err(Failure::Usage(what.to_owned()));
    }
    let outer = planned(&input.data, k).map_err(at_data)?;
    let bar = Bar::cells(args.run.quiet, 1);
    let attended = SearchHooks { control: &bar.control(), logs };
    let inner = |data: &Dataset| if loo { FoldPlan::leave_one_out(data.labels.len()) } else { planned(data, args.folds.k) };
    let found = svm.nested(&input.data, &outer, inner, search, attended);
    let found = found.map_err(|e| failed(input, &e))?;
    let folds = found.folds.into_iter().map(|fold| OuterFoldDocument {
        train: fold.train,
        test: fold.test,
        missing_classes: fold.missing_classes,
        score: fold.score,
        chosen: fold.chosen.map(|(svm, score)| Parameters::of(&svm, score)),
    });
    Ok(OuterDocument { k, score: found.score, deviation: found.deviation, folds: folds.collect() })
}
