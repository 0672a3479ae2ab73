//! Training of any number of classes: one machine for each pair.

use crate::c_svc::{CSvcSolver, solve_c_svc};
use crate::l2_svm::{L2Config, L2Solved, solve_l2};
use crate::linear_svm::LinearSvm;
use crate::svm::SvmError;
use maxmargin_core::{Certificate, Dual, Loss, Offset, Start, Status, Stop, Watch};
use maxmargin_cv::{
    ClassOrder, CvProgress, CvWatch, FoldPlan, JudgedFold, MulticlassCvReport, PairRows, PairSolution, Stage,
    cross_validate_multiclass_apart, map_pairs, train_c_svc, train_pairs,
};
use maxmargin_data::{ClassLabels, Dataset, Par, Samples};
use maxmargin_kernel::{Kernel, KernelGram, OffsetGram, RowWork, Rows};
use maxmargin_linear::{Config, LinearWork, Matrix, solve};
use maxmargin_model::{MulticlassModel, MulticlassRecord, PairRecord};
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// A problem of two or more classes, before it is said how it is solved.
#[derive(Clone, Copy, Debug)]
pub struct Multiclass<'a> {
    /// The data, as it was read: what the model's record names.
    pub data: &'a Dataset,
    /// Its samples as the kernel sees them, scaled or not.
    pub samples: &'a Samples,
    /// Its classes.
    pub labels: &'a ClassLabels,
    /// C before class weights.
    pub c: f64,
    /// A factor of C for each class.
    pub weights: &'a [f64],
    /// When each training stops; the time is for all together.
    pub stop: Stop,
    /// Threads.
    pub par: Par,
}

/// A trained model of several classes.
#[derive(Clone, Debug)]
pub struct MulticlassTrained {
    /// The model.
    pub model: MulticlassModel,
    /// The worst status of its machines.
    pub status: Status,
    /// Solver iterations of all machines.
    pub iterations: u64,
    /// The machine with the largest KKT violation: its place among the pairs, and its certificate.
    pub worst: (usize, Certificate),
    /// Kernel rows of all machines; time summed over those that ran side by side, bytes the most of one.
    pub kernel: RowWork,
    /// What linear solvers did.
    pub linear: Option<LinearWork>,
}

/// One machine: its decision function and how it was found.
struct Found<T> {
    terms: Vec<(T, f64)>,
    bias: f64,
    record: PairRecord,
    kernel: RowWork,
}

impl Found<usize> {
    /// A machine of support vectors.
    fn of(pair: &PairSolution, order: &ClassOrder) -> Self {
        let terms = pair.terms_of_data(order);
        let record = PairRecord {
            rows: terms.iter().map(|t| t.0 as u64).collect(),
            folded: None,
            bounded: pair.bounded() as u64,
            status: pair.solution.status,
            iterations: pair.solution.work.iterations,
            certificate: pair.certificate,
        };
        Self { terms, bias: pair.solution.bias, record, kernel: pair.kernel }
    }
}

/// Why a fold was not trained.
enum Ended<E> {
    Caller(E),
    Svm(SvmError),
}

impl<E, S: Into<SvmError>> From<S> for Ended<E> {
    fn from(error: S) -> Self {
        Self::Svm(error.into())
    }
}

impl Multiclass<'_> {
    /// C of every row.
    pub fn upper(&self) -> Vec<f64> {
        self.labels.of().iter().map(|&class| self.c * self.weights[class as usize]).collect()
    }

    /// Trains the C-SVC of every pair by `solver`, with rows of the kernel within `memory` bytes.
    ///
    /// # Errors
    ///
    /// When the kernel, C or a weight is not possible.
    pub fn train_c_svc(
        &self,
        kernel: &Kernel,
        memory: u64,
        solver: CSvcSolver,
        watch: &dyn CvWatch,
    ) -> Result<MulticlassTrained, SvmError> {
        let order = ClassOrder::new(self.labels);
        let gram = KernelGram::new(&self.samples.select(order.original()), kernel.clone())?;
        let rows = PairRows::Own { gram: &gram, budget: memory, par: self.par };
        let solve = |dual: &Dual, rows: &Rows, start: Start, par: Par, stop: &Stop, watch: &mut dyn Watch| {
            solve_c_svc(solver, dual, rows, start, par, stop, watch)
        };
        let found = train_c_svc(&order, &order.sort(&self.upper()), rows, &self.stop, self.par, watch, solve)?;
        let found = found.iter().map(|pair| Found::of(pair, &order)).collect();
        self.gather(kernel, (Loss::Hinge, Offset::Free), found)
    }

    /// Trains the L2-SVM of every pair on the simplex; all classes must have the same weight.
    ///
    /// # Errors
    ///
    /// When the kernel or C is not possible.
    pub fn train_l2(
        &self,
        kernel: &Kernel,
        memory: u64,
        config: &L2Config,
        watch: &dyn CvWatch,
    ) -> Result<MulticlassTrained, SvmError> {
        let begun = Instant::now();
        if let Some(&weight) = self.weights.iter().find(|w| **w != self.weights[0]) {
            return Err(SvmError::Weights(weight));
        }
        let c = self.c * self.weights[0];
        let order = ClassOrder::new(self.labels);
        let plain = KernelGram::new(&self.samples.select(order.original()), kernel.clone())?;
        let gram = OffsetGram::new(&plain, 1.0);
        let rows = PairRows::Own { gram: &gram, budget: memory, par: self.par };
        let found = train_pairs(&order, rows, self.par, watch, |problem, watch| -> Result<_, SvmError> {
            let config = L2Config { par: problem.par, ..*config };
            let left = self.stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
            let stop = Stop { max_time: left, ..self.stop };
            let solved = solve_l2(problem.rows, problem.ids, problem.pair.signs(), c, &config, &stop, watch)?;
            let L2Solved { dual, solution, certificate, .. } = solved;
            let pair = problem.pair.clone();
            Ok(PairSolution { pair, dual, solution, certificate, kernel: problem.rows.work() })
        })?;
        self.gather(kernel, L2Config::PROBLEM, found.iter().map(|pair| Found::of(pair, &order)).collect())
    }

    /// Trains a linear SVM for every pair as `svm` says, whose C, weights and stopping rule are not used; the model keeps weights alone.
    ///
    /// # Errors
    ///
    /// When C or a weight is not possible, or the solver refuses a problem.
    pub fn train_linear(&self, svm: &LinearSvm, watch: &dyn CvWatch) -> Result<MulticlassTrained, SvmError> {
        let (begun, order, upper) = (Instant::now(), ClassOrder::new(self.labels), self.upper());
        let (cv, pairs, done) = (svm.cv(), order.pairs(), AtomicUsize::new(0));
        let found = map_pairs(pairs.len(), self.par, |p, par| -> Result<_, SvmError> {
            let rows: Vec<usize> = pairs[p].ids().map(|id| order.original()[id]).collect();
            let upper = rows.iter().map(|&i| upper[i]).collect();
            let dual = Dual::svc(cv.loss, cv.offset, (0..rows.len()).collect(), pairs[p].signs(), upper)?;
            let samples = self.samples.select(&rows);
            let matrix = Matrix::new(&samples, cv.offset.feature(), par);
            let mut tick = |solver: &maxmargin_core::Progress| {
                let done = done.load(Ordering::Relaxed);
                watch.tick(&CvProgress { stage: Stage::Pair(p), done, folds: pairs.len(), solver: *solver })
            };
            let left = self.stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
            let stop = Stop { max_time: left, ..self.stop };
            let solved = solve(&matrix, &dual, Start::zero(&dual)?, &Config { par, ..cv.config }, &stop, &mut tick)?;
            done.fetch_add(1, Ordering::Relaxed);
            let (solution, sign) = (&solved.solution, dual.sign());
            let used = |k: &usize| solution.alpha[*k] != 0.0;
            let mut coef: Vec<(u64, f64)> =
                (0..rows.len()).filter(used).map(|k| (rows[k] as u64, sign[k] * solution.alpha[k])).collect();
            coef.sort_by_key(|t| t.0);
            let record = PairRecord {
                rows: coef.iter().map(|t| t.0).collect(),
                folded: Some(coef.iter().map(|t| t.1).collect()),
                bounded: (0..rows.len()).filter(used).filter(|&k| solution.alpha[k] >= dual.upper()[k]).count() as u64,
                status: solution.status,
                iterations: solution.work.iterations,
                certificate: solved.certificate,
            };
            let kernel = RowWork::default();
            Ok((Found { terms: solved.w, bias: solution.bias, record, kernel }, solved.work))
        })?;
        let mut work = LinearWork::default();
        for (_, one) in &found {
            work += *one;
        }
        let found: Vec<Found<u32>> = found.into_iter().map(|(found, _)| found).collect();
        let machines: Vec<_> = found.iter().map(|f| (f.terms.clone(), f.bias)).collect();
        let model = MulticlassModel::from_weights(self.samples.features(), self.labels, &machines)?;
        let trained = self.finish(model, (cv.loss, cv.offset), found)?;
        Ok(MulticlassTrained { linear: Some(work), ..trained })
    }

    /// Cross-validates by training every fold from nothing but its training rows, with the samples that `samples_of(fold, training rows)` gives (all rows, in
    /// the order of the data) and by `train`, which is one of the methods of this type.
    ///
    /// # Errors
    ///
    /// When a class has samples in one fold only, and the first error of `samples_of` and `train`.
    pub fn cross_validate<'s, E: From<SvmError>>(
        &self,
        plan: &FoldPlan,
        mut samples_of: impl FnMut(usize, &[usize]) -> Result<Cow<'s, Samples>, E>,
        train: impl Fn(&Multiclass) -> Result<MulticlassTrained, SvmError>,
    ) -> Result<MulticlassCvReport, E> {
        let begun = Instant::now();
        if plan.len() != self.samples.len() {
            return Err(SvmError::Plan { plan: plan.len(), data: self.samples.len() }.into());
        }
        let folds = cross_validate_multiclass_apart(plan, self.labels, |fold, rows, test| {
            let samples = samples_of(fold, rows).map_err(Ended::Caller)?;
            let pick = |rows: &[usize]| -> Dataset {
                Dataset {
                    samples: samples.select(rows),
                    labels: rows.iter().map(|&i| self.data.labels[i]).collect(),
                    groups: None,
                    index_base: self.data.index_base,
                    sha256: self.data.sha256,
                }
            };
            let data = pick(rows);
            let labels = ClassLabels::new(&data.labels).map_err(SvmError::from)?;
            let left = self.stop.max_time.map(|most| most.saturating_sub(begun.elapsed()));
            let stop = Stop { max_time: left, ..self.stop };
            let part = Multiclass { data: &data, samples: &data.samples, labels: &labels, stop, ..*self };
            let trained = train(&part)?;
            let decisions = trained.model.decision_values(&pick(test).samples, self.par).map_err(SvmError::from)?;
            let pairs = trained.model.record().map_or(&[][..], |record| &record.pairs);
            Ok(JudgedFold {
                machines: pairs.iter().map(|p| (p.status, p.iterations, p.certificate.into())).collect(),
                decisions,
                support_vectors: trained.model.support_vectors(),
                rows_computed: trained.kernel.computed,
            })
        });
        folds.map_err(|error| match error {
            Ended::Caller(error) => error,
            Ended::Svm(error) => error.into(),
        })
    }

    fn gather(&self, kernel: &Kernel, problem: (Loss, Offset), found: Vec<Found<usize>>) -> Result<MulticlassTrained, SvmError> {
        let machines: Vec<_> = found.iter().map(|f| (f.terms.clone(), f.bias)).collect();
        let model = MulticlassModel::from_machines(kernel.clone(), self.samples, self.labels, &machines)?;
        self.finish(model, problem, found)
    }

    fn finish<T>(
        &self,
        model: MulticlassModel,
        problem: (Loss, Offset),
        found: Vec<Found<T>>,
    ) -> Result<MulticlassTrained, SvmError> {
        let mut record = MulticlassRecord::new(self.data, self.c, self.weights.to_vec(), self.stop.tol, problem);
        let mut kernel = RowWork::default();
        for one in found {
            kernel.computed += one.kernel.computed;
            kernel.time += one.kernel.time;
            kernel.peak_bytes = kernel.peak_bytes.max(one.kernel.peak_bytes);
            record.pairs.push(one.record);
        }
        let at = (0..record.pairs.len()).max_by(|&p, &q| {
            let kkt = |p: usize| record.pairs[p].certificate.kkt;
            kkt(p).total_cmp(&kkt(q))
        });
        let worst = at.map(|p| (p, record.pairs[p].certificate)).expect("there is a pair");
        let status = record.pairs.iter().map(|p| p.status).reduce(Status::worse).expect("there is a pair");
        let iterations = record.pairs.iter().map(|p| p.iterations).sum();
        let model = model.with_index_base(self.data.index_base)?.with_record(record)?;
        Ok(MulticlassTrained { model, status, iterations, worst, kernel, linear: None })
    }
}
