//! One training of all machines, and the model that they make.

use crate::calibrate::threshold::ThresholdReport;
use crate::calibrate::{Calibrated, CalibrationReport};
use crate::report::{CertificateReport, MachineReport};
use crate::run::deadline::Deadline;
use crate::run::error::CvError;
use crate::run::watch::{CvWatch, Stage, StageProgress};
use crate::study::layout::map_machines;
use crate::study::spaces::Spaces;
use crate::study::{SpaceSource, Study};
use maxmargin_core::{Asking, Certificate, Decision, Refine, Run, Solution, Solved, Start, Status, settle_twins};
use maxmargin_data::{Par, Preparation, Samples};
use maxmargin_kernel::RowWork;
use maxmargin_model::{MachineRecord, Model, ModelError, Record};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A trained model and what it took.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model; its record holds the certificate of every machine.
    pub model: Model,
    /// The worst status of its machines.
    pub status: Status,
    /// The worst certificate.
    pub certificate: CertificateReport,
    /// One for each machine.
    pub machines: Vec<MachineReport>,
    /// Solver iterations of all machines.
    pub iterations: u64,
    /// Kernel rows of all machines; time summed over those that ran side by side, bytes the most of
    /// one.
    pub kernel: RowWork,
    /// What the solver counts besides, by name.
    pub counts: Vec<(&'static str, u64)>,
    /// Time to solve and certify.
    pub solve_seconds: f64,
    /// What the probabilities of the model were fitted to, where they were asked for
    /// ([`Fitted::calibrated`]).
    pub calibration: Option<CalibrationReport>,
    /// What the threshold of the model was chosen by, where one was asked for.
    pub threshold: Option<ThresholdReport>,
    par: Par,
}

impl Fitted {
    /// The same with the model that was made of its model by what samples say that were not seen
    /// ([`Study::calibrate`]); the status is the worse of both.
    #[must_use]
    pub fn calibrated(self, calibrated: Calibrated) -> Self {
        let status = calibrated.run().map_or(self.status, |run| self.status.worse(run.status));
        let Calibrated { model, calibration, threshold } = calibrated;
        Self { model, status, calibration, threshold, ..self }
    }

    /// The label of every row of `samples` ([`Model::predict`]), on the threads of the training.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn predict(&self, samples: &Samples) -> Result<Vec<f64>, ModelError> {
        self.model.predict(samples, self.par)
    }

    /// The decision values of every row of `samples`, row-major rows × machines
    /// ([`Model::decision_values`]), on the threads of the training.
    ///
    /// # Errors
    ///
    /// As [`Model::decision_values`].
    pub fn decision_values(&self, samples: &Samples) -> Result<Vec<f64>, ModelError> {
        self.model.decision_values(samples, self.par)
    }
}

/// One machine as it was found.
struct Found {
    decision: Decision,
    weights: Option<Vec<(u32, f64)>>,
    report: MachineReport,
    certificate: Certificate,
    counts: Vec<(&'static str, u64)>,
    kernel: RowWork,
}

impl Study<'_> {
    /// Trains every machine from zero on all data.
    ///
    /// # Errors
    ///
    /// When the solver does not take the formulation, or the kernel, C, a weight or the data is not
    /// possible. Not converging is a status, not an error.
    pub fn train(&self, watch: &dyn CvWatch) -> Result<Fitted, CvError> {
        let begun = Instant::now();
        let features = self.over_features()?;
        let prepared = self.prepared()?;
        let layout = self.layout(None);
        let deadline = Deadline::new(begun, &self.stop);
        let mut go_on = || deadline.may_continue(watch);
        let source =
            SpaceSource::of(&prepared, &layout, features, &Asking::new(&mut go_on)).map_err(|error| deadline.error(error))?;
        let count = layout.parts.len();
        let done = AtomicUsize::new(0);
        let solving = Instant::now();
        let train = |p: usize, par: Par, spaces: &Spaces| -> Result<Found, CvError> {
            let own = Instant::now();
            let part = &layout.parts[p];
            let problem = self.problem(part, self.formulation)?;
            let dual = problem.dual();
            let start = Start::cold(dual)?;
            let stage = if count == 1 { Stage::Full } else { Stage::Machine(p) };
            let relay = StageProgress { watch, stage, done: &done, total: count };
            let stop = self.stop.left(begun, 0);
            let solved = spaces.with(part, |space, new_work| -> Result<_, CvError> {
                let mut solved = if deadline.is_over() {
                    let solution = Solution::not_begun(dual, start, deadline.status());
                    Solved { solution, exact: false, counts: Vec::new() }
                } else {
                    let mut due = deadline.watch(relay, space, par);
                    let mut run = Run { stop, refine: Refine::Exact, par, machine: p, watch: &mut due };
                    let mut solved = self.solver.solve(dual, space, start, &mut run)?;
                    solved.solution = due.told(solved.solution);
                    solved
                };
                settle_twins(dual, &mut solved.solution);
                let mut go_on = || deadline.may_certify();
                let certificate = solved.certify_asking(dual, space, par, &Asking::new(&mut go_on));
                let (certificate, proved) = certificate.unwrap_or((Certificate::NOTHING, None));
                solved.solution.status = self.stop.goal.reached(solved.solution.status, &certificate);
                let decision = problem.decision(dual, &solved.solution);
                let weights = space.matrix().map(|matrix| {
                    let (ids, coef): (Vec<usize>, Vec<f64>) = decision.terms.iter().copied().unzip();
                    matrix.weights(&ids, &coef, par).0
                });
                Ok((solved, (certificate, proved), decision, weights, new_work.take()))
            });
            let (Solved { solution, counts, .. }, (certificate, proved), mut decision, weights, kernel) = solved?;
            done.fetch_add(1, Ordering::Relaxed);
            let held = self.stop.goal.met(&certificate);
            let report = MachineReport {
                machine: p,
                rows_computed: kernel.computed,
                solve_seconds: own.elapsed().as_secs_f64(),
                bias: decision.bias,
                ..MachineReport::of(dual, &solution, &certificate, held)
            };
            let judged = report.certificate.with_certain(proved.as_ref());
            let report = MachineReport { certificate: judged, ..report };
            // Rows of the data, ascending.
            decision.terms.iter_mut().for_each(|term| term.0 = layout.original[part.rows[term.0]]);
            decision.terms.sort_by_key(|term| term.0);
            Ok(Found { decision, weights, report, certificate, counts, kernel })
        };
        let room = (self.memory, (self.budget(count), self.par));
        let found = Spaces::of(&source, &layout, self.formulation.bias_term().feature(), room, |spaces| {
            map_machines(count, self.par, |p, par| train(p, par, spaces))
        })?;
        let solve_seconds = solving.elapsed().as_secs_f64();
        let model = self.model(&prepared, &found)?;
        let mut counts = Vec::new();
        let mut kernel = RowWork::default();
        for one in &found {
            Solved::add_counts(&mut counts, &one.counts);
            kernel.computed += one.kernel.computed;
            kernel.hits += one.kernel.hits;
            kernel.time += one.kernel.time;
            kernel.peak_bytes = kernel.peak_bytes.max(one.kernel.peak_bytes);
        }
        let machines: Vec<MachineReport> = found.into_iter().map(|one| one.report).collect();
        Ok(Fitted {
            model,
            status: machines.iter().map(|m| m.status).reduce(Status::worse).unwrap_or(Status::Converged),
            certificate: machines.iter().map(|m| m.certificate).reduce(CertificateReport::worse).unwrap_or_default(),
            iterations: machines.iter().map(|m| m.iterations).sum(),
            machines,
            kernel,
            counts,
            solve_seconds,
            calibration: None,
            threshold: None,
            par: self.par,
        })
    }

    fn model(&self, prepared: &crate::study::Prepared, found: &[Found]) -> Result<Model, CvError> {
        let folded = found.iter().any(|one| one.weights.is_some());
        let model = if folded {
            let machines: Vec<_> = found.iter().map(|one| (one.weights.clone().unwrap_or_default(), one.decision.bias)).collect();
            Model::from_weights(prepared.samples.features(), self.rule(), &machines)?
        } else {
            let machines: Vec<_> = found.iter().map(|one| (one.decision.terms.clone(), one.decision.bias)).collect();
            Model::from_machines(prepared.kernel.clone(), &prepared.samples, self.rule(), &machines)?
        };
        let mut record = Record::new(self.data, self.formulation, self.factors_of_all(), self.stop.goal);
        record.sample_weights = self.sample_weights.map(<[f64]>::to_vec);
        self.solver.name().clone_into(&mut record.solver);
        record.machines = found
            .iter()
            .map(|one| MachineRecord {
                rows: one.decision.terms.iter().map(|term| term.0 as u64).collect(),
                folded: folded.then(|| one.decision.terms.iter().map(|term| term.1).collect()),
                bounded: one.report.bounded as u64,
                status: one.report.status,
                iterations: one.report.iterations,
                certificate: one.certificate.as_kept(),
            })
            .collect();
        let model = model.with_index_base(self.data.index_base)?;
        let Preparation { encoder, scaler } = &prepared.preparation;
        let model = match encoder {
            Some(encoder) => model.with_encoder(encoder.clone())?,
            None => model,
        };
        let model = match scaler {
            Some(scaler) => model.with_scaler(scaler.clone())?,
            None => model,
        };
        Ok(model.with_record(record)?)
    }
}
