//! Training of all machines on all data, and the model that they make.

use crate::calibrate::threshold::ThresholdReport;
use crate::calibrate::{Calibrated, CalibrationReport};
use crate::conformal::{ConformalReport, Conformalised};
use crate::report::{CertificateReport, MachineReport};
use crate::run::control::{certificate_control, preparation_control, status_of, study_control, study_error, training_control};
use crate::run::error::CvError;
use crate::seed::row_boxes::sum_of;
use crate::study::Study;
use crate::study::layout::MachineLayout;
use crate::study::level_chain::LevelChain;
use crate::study::space_source::Prepared;
use crate::study::spaces::Spaces;
use crate::study::twin_alpha::{TwinAlpha, TwinSamples};
use maxmargin_core::{
    Certificate, Decision, Dual, EndReason, Progress, Refine, Run, RunControl, Solution, Solved, Stage, Start, Status,
    settle_twins,
};
use maxmargin_data::{Cancelled, Par, Preparation, Samples};
use maxmargin_kernel::{RowWork, Space};
use maxmargin_model::{MachineRecord, Model, ModelError, Record, data_sha256};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A trained model, its certificate and its cost.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model. Its record holds the certificate of every machine.
    pub model: Model,
    /// The worst status of the machines.
    pub status: Status,
    /// The worst certificate of the machines.
    pub certificate: CertificateReport,
    /// A report for each machine.
    pub machines: Vec<MachineReport>,
    /// Solver iterations of all machines.
    pub iterations: u64,
    /// Work on kernel rows of all machines: time is summed over machines that ran in parallel,
    /// bytes are the largest of one machine.
    pub kernel: RowWork,
    /// Further counts of the solver, by name.
    pub counts: Vec<(&'static str, u64)>,
    /// Seconds to solve and certify.
    pub solve_seconds: f64,
    /// The data of the model's probabilities, if it has been calibrated ([`Fitted::calibrated`]).
    pub calibration: Option<CalibrationReport>,
    /// The choice of the model's threshold, if one was chosen.
    pub threshold: Option<ThresholdReport>,
    /// The scores of folds for conformal predictions, if requested ([`Fitted::conformalised`]).
    pub conformal: Option<ConformalReport>,
    par: Par,
}

impl Fitted {
    /// A model that another training than [`Study::train`] made in so many seconds, with a report
    /// for each training. Its predictions run on the threads of `par`.
    pub fn of(model: Model, machines: Vec<MachineReport>, solve_seconds: f64, par: Par) -> Self {
        Self {
            model,
            status: machines.iter().map(|m| m.status).reduce(Status::worse).unwrap_or(Status::Converged),
            certificate: machines.iter().map(|m| m.certificate).reduce(CertificateReport::worse).unwrap_or_default(),
            iterations: machines.iter().map(|m| m.iterations).sum(),
            machines,
            kernel: RowWork::default(),
            counts: Vec::new(),
            solve_seconds,
            calibration: None,
            threshold: None,
            conformal: None,
            par,
        }
    }

    /// Replaces the model by its calibrated form ([`Study::calibrate`]). The status becomes the
    /// worse of training and calibration.
    #[must_use]
    pub fn calibrated(self, calibrated: Calibrated) -> Self {
        let status = calibrated.run().map_or(self.status, |run| self.status.worse(run.status));
        let Calibrated { model, calibration, threshold } = calibrated;
        Self { model, status, calibration, threshold, ..self }
    }

    /// Replaces the model by its form with scores of folds ([`Study::conformalise`]). The status
    /// becomes the worse of training and folds.
    #[must_use]
    pub fn conformalised(self, done: Conformalised) -> Self {
        let Conformalised { model, report } = done;
        Self { model, status: self.status.worse(report.run.status), conformal: Some(report), ..self }
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

/// One trained machine.
struct TrainedMachine {
    decision: Decision,
    /// The samples with two positive variables, by their rows of the data.
    twins: Vec<TwinAlpha>,
    /// The weights of the features, if the machine worked on features.
    weights: Option<Vec<(u32, f64)>>,
    report: MachineReport,
    certificate: Certificate,
    counts: Vec<(&'static str, u64)>,
    kernel: RowWork,
}

/// The inputs that the trainings of all machines share.
struct Training<'a> {
    study: &'a Study<'a>,
    layout: &'a MachineLayout,
    spaces: &'a Spaces<'a>,
    control: &'a RunControl<'a>,
    begun: Instant,
    /// Counts machines that are done.
    done: &'a AtomicUsize,
    /// The machine of the last level, if there are several.
    chain: Option<LevelChain>,
}

impl Training<'_> {
    /// The start of a machine: zero, or the machine of the last level.
    fn start(&self, dual: &Dual) -> Result<Start, CvError> {
        let along = self.chain.as_ref().and_then(|chain| chain.start(dual));
        Ok(along.map_or_else(|| Start::cold(dual), |alpha| Start::checked(dual, alpha))?)
    }

    /// Trains machine `p` on the threads of `par`.
    fn machine(&self, p: usize, par: Par) -> Result<TrainedMachine, CvError> {
        let begun = Instant::now();
        let (study, samples) = (self.study, &self.layout.machines[p]);
        let problem = study.problem(samples, study.formulation)?;
        let start = self.start(problem.dual())?;
        let trained = self.spaces.with(samples, |space, new_work| -> Result<_, CvError> {
            if study.solver.uses_neighbours() {
                let found = self.spaces.find_own_neighbours(space, &preparation_control(self.control));
                found.map_err(|Cancelled| CvError::Ended(status_of(self.control)))?;
            }
            let mut solved = self.solve(p, problem.dual(), space, start, par)?;
            let stage = Stage::Certify { certified: 0, samples: space.len() };
            let control = certificate_control(self.control, |progress| self.tag(stage, progress));
            let certificate = solved.certify(problem.dual(), space, par, &control);
            let (certificate, fixed_labels) = certificate.unwrap_or((Certificate::NOTHING, None));
            solved.solution.status = study.stop.goal.reached(solved.solution.status, &certificate);
            if let Some(chain) = &self.chain {
                let Solution { alpha, gradient, .. } = &solved.solution;
                let mut values = vec![0.0; space.len()];
                let dual = problem.dual();
                (0..dual.len()).for_each(|k| values[dual.ids()[k]] = sum_of(dual, k, alpha[k], gradient[k]));
                chain.put(dual, alpha, values);
            }
            let mut decision = problem.decision(problem.dual(), &solved.solution, space.matrix());
            let twins = TwinAlpha::all_of(&problem, &solved.solution.alpha);
            let own = decision.weights.take();
            let weights = space.matrix().map(|matrix| {
                let (ids, coef): (Vec<usize>, Vec<f64>) = decision.terms.iter().copied().unzip();
                own.unwrap_or_else(|| matrix.weights(&ids, &coef, par).0)
            });
            let kernel = new_work.take();
            self.done.fetch_add(1, Ordering::Relaxed);
            let met = study.stop.goal.met(&certificate);
            let report = MachineReport {
                machine: p,
                rows_computed: kernel.computed,
                solve_seconds: begun.elapsed().as_secs_f64(),
                bias: decision.bias,
                ..MachineReport::of(problem.dual(), &solved.solution, &certificate, met)
            };
            let report = MachineReport { certificate: report.certificate.with_fixed_labels(fixed_labels.as_ref()), ..report };
            Ok(TrainedMachine { decision, twins, weights, report, certificate, counts: solved.counts, kernel })
        });
        let mut trained = trained?;
        // Rows of the data, ascending.
        let row_of = |at: usize| self.layout.data_row[samples.rows[at]];
        trained.twins.iter_mut().for_each(|twin| *twin = twin.at(row_of));
        let terms = &mut trained.decision.terms;
        terms.iter_mut().for_each(|term| term.0 = row_of(term.0));
        terms.sort_by_key(|term| term.0);
        Ok(trained)
    }

    /// Tags an event of a solver with the part of this training.
    fn tag(&self, stage: Stage, progress: &Progress) -> Progress {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.layout.machines.len());
        Progress { stage, done, total, ..*progress }
    }

    /// Solves one problem. After the end of the run, the result is the start with the status of the
    /// end.
    fn solve(&self, p: usize, dual: &Dual, space: Space, start: Start, par: Par) -> Result<Solved, CvError> {
        let (study, count) = (self.study, self.layout.machines.len());
        let mut solved = if self.control.is_over() {
            let solution = Solution::not_begun(dual, start, status_of(self.control));
            Solved { solution, exact: false, counts: Vec::new() }
        } else {
            let stage = if count == 1 { Stage::Full } else { Stage::Machine(p) };
            let control = training_control(self.control, space, par, move |progress| self.tag(stage, progress));
            let stop = study.stop.left(self.begun, 0);
            let mut run = Run { stop, refine: Refine::Exact, par, machine: p, control: &control };
            let solved = study.solver.solve(dual, space, start, &mut run)?;
            if solved.solution.status == Status::TimeLimit {
                // The remaining time is that of certificates: no training begins.
                self.control.end(EndReason::TimeLimit);
            }
            solved
        };
        settle_twins(dual, &mut solved.solution);
        Ok(solved)
    }
}

impl Study<'_> {
    /// Trains every machine from zero on all data.
    ///
    /// # Errors
    ///
    /// When the solver does not take the formulation, or the kernel, C, a weight or the data is
    /// invalid. A training that does not converge has a status, and is no error.
    pub fn train(&self, control: &RunControl) -> Result<Fitted, CvError> {
        let begun = Instant::now();
        let features = self.over_features()?;
        let prepared = self.prepared_by_all()?;
        let layout = self.layout(None);
        let control = study_control(control, begun, &self.stop);
        let source = self.shared_source(&prepared, &layout, features, None, &control)?;
        let (count, done) = (layout.machines.len(), AtomicUsize::new(0));
        let solving = Instant::now();
        let feature = self.formulation.bias_term().feature();
        let memory = self.row_memory(count, &source, false);
        let machines = |spaces: &Spaces| {
            let training = Training {
                study: self,
                layout: &layout,
                spaces,
                control: &control,
                begun,
                done: &done,
                chain: layout.level_chain(),
            };
            if self.solver.uses_neighbours() {
                let found = spaces.find_shared_neighbours(&preparation_control(&control));
                found.map_err(|error| study_error(&control, error.into()))?;
            }
            layout.map_machines(self.options.par, |p, par| training.machine(p, par))
        };
        // Many trainings leave a thread idle, which then computes the hash.
        let (trained, hash) =
            self.options.par.join(|| Spaces::of(&source, &layout, feature, memory, machines), || data_sha256(self.data));
        let trained = trained?;
        let solve_seconds = solving.elapsed().as_secs_f64();
        let model = self.model(&prepared, &trained, hash)?;
        let mut counts = Vec::new();
        let mut kernel = RowWork::default();
        for one in &trained {
            Solved::add_counts(&mut counts, &one.counts);
            kernel.computed += one.kernel.computed;
            kernel.hits += one.kernel.hits;
            kernel.time += one.kernel.time;
            kernel.peak_bytes = kernel.peak_bytes.max(one.kernel.peak_bytes);
        }
        let machines: Vec<MachineReport> = trained.into_iter().map(|one| one.report).collect();
        Ok(Fitted { kernel, counts, ..Fitted::of(model, machines, solve_seconds, self.options.par) })
    }

    /// The model that the machines make, with its record.
    fn model(&self, prepared: &Prepared, trained: &[TrainedMachine], hash: [u8; 32]) -> Result<Model, CvError> {
        let folded = trained.iter().any(|one| one.weights.is_some());
        let model = if folded {
            let machines: Vec<_> =
                trained.iter().map(|one| (one.weights.clone().unwrap_or_default(), one.decision.bias)).collect();
            Model::from_weights(prepared.samples.features(), self.rule(), &machines)?
        } else {
            let machines: Vec<_> = trained.iter().map(|one| (one.decision.terms.clone(), one.decision.bias)).collect();
            Model::from_machines(prepared.kernel.clone(), &prepared.samples, self.rule(), &machines)?
        };
        let mut record = Record::new(self.data, hash, self.formulation, self.weights.to_vec(), self.stop.goal);
        if let Some(classes) = self.classes {
            let own = self.rule_factors(classes, 0..self.data.samples.len());
            record = record.with_class_weights(self.options.class_weights, &own);
        }
        record.sample_weights = self.sample_weights.map(<[f64]>::to_vec);
        self.solver.name().clone_into(&mut record.solver);
        record.machines = trained
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
        let twins = trained.iter().map(|one| one.twins.clone()).collect();
        Ok(TwinSamples::put_into(twins, model.with_record(record)?)?)
    }
}
