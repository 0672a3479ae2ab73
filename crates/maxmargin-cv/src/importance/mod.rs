//! Permutation importance: how much worse a cross-validation scores when a column of the held-out
//! rows is shuffled.

mod permuted;

use crate::fold_machines::{FoldMachineCollector, FoldMachines};
use crate::folds::fold_classes::FoldClasses;
use crate::plan::FoldPlan;
use crate::report::CvReport;
use crate::run::error::CvError;
use crate::seed::Seeding;
use crate::study::Study;
use maxmargin_core::{Cancelled, Progress, RunControl, Stage};
use maxmargin_data::Samples;
use maxmargin_kernel::Kernel;
use maxmargin_metrics::{Best, Metric, Purpose, greatest_label, metrics_of, score_of};
use maxmargin_model::Rule;
use permuted::PermutedRows;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// Largest number of predictions that are kept at once: 128 MiB.
const MOST_KEPT: usize = 1 << 24;

/// The options of permutation importance.
#[derive(Clone, Debug)]
pub struct ImportanceOptions {
    /// Number of permutations of each column. Default: 5.
    pub repeats: usize,
    /// The seed of the permutations. Default: 1.
    pub seed: u64,
    /// The metric. Default: the first one of the formulation, as in searches.
    pub metric: Option<&'static Metric>,
    /// The column of each feature, from 0; features of one column are shuffled together. Default:
    /// every feature is a column.
    pub columns: Option<Vec<u32>>,
}

impl Default for ImportanceOptions {
    fn default() -> Self {
        Self { repeats: 5, seed: 1, metric: None, columns: None }
    }
}

/// The importance of one column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ColumnImportance {
    /// The mean by which the score gets worse, over the permutations. Below 0 if it gets better.
    pub mean: f64,
    /// The standard deviation over the permutations.
    pub deviation: f64,
}

/// The permutation importance of all columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The name of the metric.
    pub metric: &'static str,
    /// The score of the held-out rows as they are.
    pub score: f64,
    /// Number of permutations of each column.
    pub repeats: usize,
    /// The columns, in the order of the data.
    pub columns: Vec<ColumnImportance>,
}

/// A held-out row: its round and its row in the data.
#[derive(Clone, Copy)]
struct TestedRow {
    round: usize,
    row: usize,
}

/// The inputs of the scores of all permutations.
struct PermutationScoring<'a> {
    purpose: Purpose,
    metric: &'static Metric,
    greatest: f64,
    truth: &'a [f64],
    rule: &'a Rule,
    classes: &'a FoldClasses,
}

impl PermutationScoring<'_> {
    /// The score of one value for each held-out row.
    fn score(&self, values: &[f64]) -> f64 {
        score_of(self.purpose, self.metric, self.greatest, self.truth, values)
    }

    /// The value that the metric looks at: a label, or the decision value of a ranking.
    fn value(&self, fold: usize, decisions: &[f64]) -> f64 {
        if self.metric.ranks() { decisions[0] } else { self.classes.label(fold, self.rule, decisions) }
    }
}

impl Study<'_> {
    /// Cross-validates, and computes the permutation importance of every column (Breiman 2001) with
    /// the machines of the folds: no row is predicted by a machine that was trained on it, and no
    /// machine is trained again. `None` if some fold has no solution, or the run ended.
    ///
    /// A column is shuffled over all rows of the data, after scaling and encoding as each fold does
    /// it. Every permutation has a random stream of its own, so that results do not depend on the
    /// threads.
    ///
    /// # Errors
    ///
    /// As [`Study::cross_validate`]; when a training set lacks a class, or columns do not cover the
    /// features.
    pub fn cross_validate_with_importance(
        &self,
        plan: &FoldPlan,
        seeding: Seeding,
        options: &ImportanceOptions,
        control: &RunControl,
    ) -> Result<(CvReport, Option<Importance>), CvError> {
        let refused = |why: String| Err(CvError::Importance(why));
        if self.options.kernel == Kernel::Precomputed {
            return refused("a precomputed kernel has no columns that could be shuffled".to_owned());
        }
        let classes = self.fold_classes(plan);
        let lacking = (0..plan.folds()).find(|&fold| self.classes.is_some() && !classes.missing(fold).is_empty());
        if let Some(fold) = lacking {
            return refused(format!("fold {fold} trains on no row of a class; use stratified folds, or fewer"));
        }
        let purpose = Purpose::from(self.formulation);
        let metric = options.metric.unwrap_or(metrics_of(purpose)[0]);
        if metric.ranks() && self.machines() != 1 {
            return refused(format!("{} is of two classes; use another metric", metric.name()));
        }
        let collected = FoldMachineCollector::alone();
        let report = self.cross_validate_keeping(None, plan, seeding, control, &collected)?;
        if report.folds_counted < plan.folds() {
            return Ok((report, None));
        }
        let held: Vec<TestedRow> = (0..plan.folds())
            .flat_map(|fold| plan.test(fold).iter().map(move |&row| TestedRow { round: plan.round(fold), row }))
            .collect();
        let truth: Vec<f64> = held.iter().map(|held| self.data.labels[held.row]).collect();
        let greatest = greatest_label(&self.data.labels);
        let rule = self.rule();
        let scored = PermutationScoring { purpose, metric, greatest, truth: &truth, rule: &rule, classes: &classes };
        let values: Vec<f64> = held
            .iter()
            .map(|held| {
                let place = held.round * plan.len() + held.row;
                if metric.ranks() { report.decisions[place] } else { report.predicted[place] }
            })
            .collect();
        let score = scored.score(&values);
        let shuffled = Shuffled { study: self, plan, machines: collected.into_machines(), options, scored, held: held.len() };
        match shuffled.importance(score, control) {
            Ok(found) => Ok((report, Some(found))),
            Err(CvError::Ended(_)) => Ok((report, None)),
            Err(other) => Err(other),
        }
    }
}

/// The machines of all folds, and the rows that they predict.
struct Shuffled<'a> {
    study: &'a Study<'a>,
    plan: &'a FoldPlan,
    machines: FoldMachines,
    options: &'a ImportanceOptions,
    scored: PermutationScoring<'a>,
    /// Number of held-out rows, once for each test.
    held: usize,
}

impl Shuffled<'_> {
    fn importance(&self, score: f64, control: &RunControl) -> Result<Importance, CvError> {
        let first = self.machines.ensembles[0].prepared(&self.study.data.samples)?;
        let of = self.options.columns.clone().unwrap_or_else(|| (0..first.features() as u32).collect());
        if of.len() < first.features() {
            let why = format!("columns are given for {} features, and there are {}", of.len(), first.features());
            return Err(CvError::Importance(why));
        }
        let count = of.iter().max().map_or(0, |most| *most as usize + 1);
        let repeats = self.options.repeats.max(1);
        let together = (MOST_KEPT / (self.held * repeats).max(1)).max(1);
        // A column of equal values has no importance, and needs no prediction.
        let mut varies = vec![false; count];
        varying(&first).into_iter().for_each(|j| varies[of[j] as usize] = true);
        let varied: Vec<u32> = (0..count as u32).filter(|&column| varies[column as usize]).collect();
        let mut features = vec![Vec::new(); count];
        of.iter().zip(0..).for_each(|(column, j)| features[*column as usize].push(j));
        let mut columns = vec![ColumnImportance { mean: 0.0, deviation: 0.0 }; count];
        for chunk in varied.chunks(together) {
            let values = self.values(chunk, &features, repeats, control)?;
            for (&column, own) in chunk.iter().zip(values.chunks_exact(repeats * self.held)) {
                let scores = own.chunks_exact(self.held).map(|values| self.scored.score(values));
                let worse: Vec<f64> = match self.scored.metric.best() {
                    Best::Highest => scores.map(|of| score - of).collect(),
                    Best::Lowest => scores.map(|of| of - score).collect(),
                };
                columns[column as usize] = summary(&worse);
            }
        }
        Ok(Importance { metric: self.scored.metric.name(), score, repeats, columns })
    }

    /// The values of all held-out rows with each of these columns shuffled: columns × repeats ×
    /// rows, rows fold after fold. `features` has the features of every column.
    fn values(&self, chunk: &[u32], features: &[Vec<u32>], repeats: usize, control: &RunControl) -> Result<Vec<f64>, CvError> {
        let mut values = vec![f64::NAN; chunk.len() * repeats * self.held];
        let mut before = 0;
        for fold in 0..self.plan.folds() {
            let (test, places) = (self.plan.test(fold), &self.machines.places[fold]);
            let ensemble = &self.machines.ensembles[places[0].0 as usize];
            let own: Vec<usize> = places.iter().map(|place| place.1 as usize).collect();
            let predictor = ensemble.predictor_of(None, &own)?;
            let prepared = ensemble.prepared(&self.study.data.samples)?;
            let rows = PermutedRows::new(&prepared, test);
            for (at, &column) in chunk.iter().enumerate() {
                for repeat in 0..repeats {
                    let stage = Stage::Certify { certified: before, samples: self.held };
                    let event = Progress { stage, ..Progress::default() };
                    control.progress(&event).map_err(|Cancelled| CvError::Ended(crate::run::control::status_of(control)))?;
                    let order = self.order(column, repeat, repeats);
                    let donors: Vec<usize> = test.iter().map(|&row| order[row]).collect();
                    let queries: Samples =
                        rows.with(&features[column as usize], &donors).map_err(|error| CvError::Importance(error.to_string()))?;
                    let decisions = predictor.decision_table(&queries, self.study.options.par)?;
                    let place = (at * repeats + repeat) * self.held + before;
                    let found = decisions.chunks_exact(own.len()).map(|row| self.scored.value(fold, row));
                    values[place..place + test.len()].iter_mut().zip(found).for_each(|(place, value)| *place = value);
                }
            }
            before += test.len();
        }
        Ok(values)
    }

    /// A permutation of all rows, in a random stream of its own.
    fn order(&self, column: u32, repeat: usize, repeats: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.plan.len()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        rng.set_stream(u64::from(column) * repeats as u64 + repeat as u64);
        order.shuffle(&mut rng);
        order
    }
}

/// The features that have different values in some rows.
fn varying(samples: &Samples) -> Vec<usize> {
    let (mut first, mut seen) = (vec![0.0; samples.features()], vec![0_usize; samples.features()]);
    let mut varies = vec![false; samples.features()];
    for row in 0..samples.len() {
        samples.row(row).for_each(|j, value| {
            if row == 0 {
                first[j] = value;
            }
            varies[j] |= value != first[j];
            seen[j] += 1;
        });
    }
    // A row that a sparse feature leaves out has the value 0.
    (0..varies.len()).filter(|&j| varies[j] || (first[j] != 0.0 && seen[j] < samples.len())).collect()
}

fn summary(worse: &[f64]) -> ColumnImportance {
    let mean = worse.iter().sum::<f64>() / worse.len() as f64;
    let squares: f64 = worse.iter().map(|value| (value - mean) * (value - mean)).sum();
    ColumnImportance { mean, deviation: (squares / worse.len() as f64).sqrt() }
}
