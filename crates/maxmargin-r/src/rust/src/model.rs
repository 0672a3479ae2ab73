//! A trained model: its numbers, predictions, bytes, verification and updates.

use crate::data::{Data, columns_of, compressed};
use crate::job::Job;
use crate::report::{CertifiedRun, certificates};
use crate::value::Value;
use maxmargin::background::{Failure, in_parts};
use maxmargin::cv::{CertificateReport, Change, TrainingData, update, verify};
use maxmargin::data::{Dataset, Par};
use maxmargin::explain::Explain;
use maxmargin::libsvm::with_support_vectors;
use maxmargin::model::{self, Calibration, Machine, ModelError, libsvm};
use savvy::{IntegerSexp, RawSexp, Sexp, savvy};
use std::sync::Arc;

/// Bytes of kernel columns of an update.
const MEMORY: u64 = 2 << 30;

/// A trained model.
///
/// @noRd
#[savvy]
pub struct Model {
    trained: Arc<model::Model>,
}

impl Model {
    pub(crate) fn new(model: model::Model) -> Self {
        Self { trained: Arc::new(model) }
    }

    /// Returns a model with LIBSVM's order of labels. Its labels follow votes, even if there are
    /// probabilities.
    pub(crate) fn in_libsvm_order(model: model::Model) -> Result<model::Model, ModelError> {
        let count = model.classes().len() as u32;
        if count == 0 {
            return Ok(model);
        }
        // R numbers classes so that the first label of two is the greater, as `libsvm::Classes`.
        let order = if count == 2 { vec![1, 0] } else { (0..count).collect() };
        let rule = model.multiclass().decision_rule();
        model.with_decision_rule(rule)?.with_tie_order(order)
    }

    /// The factor of decision values in LIBSVM, where positive values select the earlier class of a
    /// pair.
    fn sign(&self) -> f64 {
        if self.trained.machines().len() > 1 { -1.0 } else { 1.0 }
    }

    /// Returns the rows, coefficients and offset of a machine with LIBSVM's signs.
    fn machine(&self, at: usize, machine: &Machine) -> Value {
        let training = self.trained.record().map(|record| &record.machines[at]);
        let rows = training.map_or_else(Vec::new, |training| training.rows.clone());
        let coef = training.and_then(|training| training.folded.as_ref()).unwrap_or(&machine.coef);
        Value::List(vec![
            ("rows", Value::rows(rows.into_iter())),
            ("coef", Value::Reals(coef.iter().map(|coef| self.sign() * coef).collect())),
            ("rho", Value::real(0.0 - self.sign() * machine.bias)),
        ])
    }

    /// Returns the certificates that the record of the training has.
    fn recorded(&self) -> Value {
        let Some(record) = self.trained.record() else { return Value::Null };
        let run = |machine: &model::MachineRecord| CertifiedRun {
            certificate: CertificateReport::new(&machine.certificate, machine.meets(record.goal())),
            status: machine.status,
            iterations: machine.iterations,
        };
        certificates(&record.machines.iter().map(run).collect::<Vec<_>>())
    }
}

#[savvy]
impl Model {
    /// Reads a model.
    pub fn from_bytes(bytes: RawSexp) -> savvy::Result<Self> {
        Ok(Self::new(model::decode(bytes.as_slice())?))
    }

    /// Returns the model's bytes.
    pub fn bytes(&self) -> savvy::Result<Sexp> {
        Value::Raw(model::encode(&self.trained)?).into_sexp()
    }

    /// Returns the machines, the certificates of their training, and the numbers of their
    /// calibration.
    pub fn parts(&self) -> savvy::Result<Sexp> {
        // Biases of features as they come.
        let plain = self.trained.uncentred()?;
        let machines = plain.machines().iter().enumerate().map(|(at, machine)| self.machine(at, machine));
        let sigmoids = self.trained.calibration().iter().filter_map(|of| match *of {
            Calibration::Sigmoid { a, b } => Some((a, self.sign() * b)),
            _ => None,
        });
        let sigmoids: Vec<(f64, f64)> = sigmoids.collect();
        Value::List(vec![
            ("machines", Value::Items(machines.collect())),
            ("certificates", self.recorded()),
            ("probA", Value::Reals(sigmoids.iter().map(|of| of.0).collect())),
            ("probB", Value::Reals(sigmoids.iter().map(|of| of.1).collect())),
            ("sigma", Value::Reals(self.trained.error_scale().into_iter().collect())),
        ])
        .into_sexp()
    }

    /// Starts predictions: labels or values, decision values with LIBSVM's signs, and probabilities
    /// of the classes in the order of R's numbers, if asked for.
    pub fn predict(&self, data: &Data, decisions: bool, probabilities: bool) -> savvy::Result<Job> {
        let (model, data) = (Arc::clone(&self.trained), Arc::clone(&data.data));
        Job::start(move |channel| {
            let (machines, classes) = (model.machines().len(), model.classes().len());
            let labels = in_parts(&model, &data, channel, |rows| model.predict(rows, Par::Pool))?;
            let values = |rows: &_| libsvm::decision_values(&model, rows, Par::Pool);
            let chances = |rows: &_| model.probabilities(rows, Par::Pool);
            let values = if decisions { in_parts(&model, &data, channel, values)? } else { Vec::new() };
            let chances = if probabilities { in_parts(&model, &data, channel, chances)? } else { Vec::new() };
            Ok(Value::List(vec![
                ("labels", Value::Reals(labels)),
                ("decisions", Value::Reals(columns_of(&values, machines.max(1)))),
                ("probabilities", Value::Reals(columns_of(&chances, classes.max(1)))),
            ]))
        })
    }

    /// Starts an explanation: Shapley values of decision values with LIBSVM's signs (features, then
    /// machines, then rows), base values, decision values (machines, then rows), and interactions.
    pub fn explain(&self, data: &Data, interactions: bool, background: Option<&Data>) -> savvy::Result<Job> {
        let (model, data, sign) = (Arc::clone(&self.trained), Arc::clone(&data.data), self.sign());
        let background = background.map(|data| Arc::clone(&data.data));
        Job::start(move |channel| {
            let explain = if interactions { Explain::default().interactions() } else { Explain::default() };
            let background = background.as_ref().map(|data| &data.samples);
            let found = explain.rows(&model, &data.samples, background, Par::Pool, &channel.control())?;
            let signed = |values: &[f64]| Value::Reals(values.iter().map(|value| 0.0 + sign * value).collect());
            let base: Vec<f64> = (0..found.machines()).map(|machine| found.base(machine)).collect();
            Ok(Value::List(vec![
                ("values", signed(found.all_values())),
                ("base", signed(&base)),
                ("decisions", signed(found.all_decisions())),
                ("interactions", found.all_interactions().map_or(Value::Null, signed)),
            ]))
        })
    }

    /// Starts a verification against `data`, or against the training data that the model keeps.
    pub fn verify(&self, data: Option<&Data>) -> savvy::Result<Job> {
        let (model, data) = (Arc::clone(&self.trained), data.map(|data| Arc::clone(&data.data)));
        Job::start(move |_| {
            let data = if let Some(data) = data { Dataset::clone(&data) } else { kept(&model)?.data };
            let verdict = verify(&model, &data, None, None, Par::Pool)?;
            let record = model.record().ok_or("the model does not say how it was trained")?;
            let runs = verdict.machines.iter().map(|machine| CertifiedRun {
                certificate: CertificateReport::new(&machine.certificate, machine.met),
                status: record.machines[machine.machine].status,
                iterations: record.machines[machine.machine].iterations,
            });
            Ok(Value::List(vec![
                ("matches", Value::Logicals(vec![verdict.matches()])),
                ("met", Value::Logicals(vec![verdict.met()])),
                ("check", Value::Texts(verdict.checks.iter().map(|check| check.what.to_owned()).collect())),
                ("result", Value::Texts(verdict.checks.iter().map(|check| check.word().to_owned()).collect())),
                ("detail", Value::Texts(verdict.checks.iter().map(|check| check.detail.clone()).collect())),
                ("certificates", certificates(&runs.collect::<Vec<_>>())),
            ]))
        })
    }

    /// Starts an update along exact paths: samples to add, and rows of the present training data to
    /// remove, from 0.
    pub fn update(&self, remove: IntegerSexp, add: Option<&Data>) -> savvy::Result<Job> {
        let (model, add) = (Arc::clone(&self.trained), add.map(|data| Arc::clone(&data.data)));
        let remove = remove.iter().map(|&row| usize::try_from(row)).collect::<Result<Vec<_>, _>>()?;
        Job::start(move |channel| {
            let kept = kept(&model)?;
            let numbers = remove.iter().map(|&row| kept.numbers.get(row).copied().ok_or("a row to remove does not exist"));
            let numbers = numbers.collect::<Result<Vec<u64>, _>>()?;
            let unfolded = with_support_vectors(&model, &kept.data.samples)?;
            let change = Change { add: add.as_deref(), remove: &numbers, c: None };
            let updated = update(&unfolded, &kept, &change, MEMORY, Par::Pool, &|_| channel.check())?;
            Ok(Value::List(vec![("model", Value::Model(Self::new(Self::in_libsvm_order(updated.model)?)))]))
        })
    }

    /// Returns the training data that the model keeps, as compressed rows and targets; `NULL`
    /// without any.
    pub fn kept(&self) -> savvy::Result<Sexp> {
        let Some(kept) = TrainingData::of(&self.trained)? else { return Value::Null.into_sexp() };
        let rows = compressed(&kept.data.samples).map_err(|error| savvy::savvy_err!("{error}"))?;
        Value::List(vec![("rows", rows), ("labels", Value::Reals(kept.data.labels))]).into_sexp()
    }
}

/// Returns the training data that a model keeps.
fn kept(model: &model::Model) -> Result<TrainingData, Failure> {
    Ok(TrainingData::of(model)?.ok_or("the model does not keep its training data: train it with keep = TRUE")?)
}
