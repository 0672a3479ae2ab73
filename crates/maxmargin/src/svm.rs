//! The short way: parameters in, certified models and reports out.

use crate::c_svc::{CSvcSolver, solve_c_svc};
use crate::l2_svm::L2Error;
use crate::multiclass::{Multiclass, MulticlassTrained};
use maxmargin_core::{Certificate, Dual, DualError, Start, StartError, Status, Stop, Watch, Work};
use maxmargin_cv::{
    CvConfig, CvError, CvReport, CvWatch, FoldPlan, MulticlassCvReport, Order, Pool, Quiet, Seeding, cross_validate,
    cross_validate_multiclass,
};
use maxmargin_data::{BinaryLabels, ClassLabels, Dataset, LabelError, Par};
use maxmargin_irwls::IrwlsError;
use maxmargin_kernel::{Kernel, KernelError, KernelGram, Rows};
use maxmargin_linear::LinearError;
use maxmargin_model::{Asked, Model, ModelError, Record};
use maxmargin_smo::SmoError;

/// Budget for kernel rows unless [`Svm::memory`] says otherwise: 2 GiB.
const MEMORY: u64 = 2 << 30;

/// A two-class SVM: its kernel, its parameters and the means to train it.
#[derive(Clone, Debug)]
pub struct Svm {
    kernel: Kernel,
    c: f64,
    weights: [f64; 2],
    stop: Stop,
    memory: u64,
    par: Par,
}

/// A trained model and its judgement.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// Exact primal, dual, gap and KKT violation.
    pub certificate: Certificate,
    /// How the training ended.
    pub status: Status,
    /// What it cost.
    pub work: Work,
}

/// Why a training or a cross-validation cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SvmError {
    /// The labels are not two classes.
    #[error(transparent)]
    Labels(#[from] LabelError),
    /// The kernel's parameters or data.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// C or weights.
    #[error(transparent)]
    Dual(#[from] DualError),
    /// The folds.
    #[error(transparent)]
    Folds(#[from] CvError),
    /// The solver cannot take the problem.
    #[error(transparent)]
    Solver(#[from] SmoError),
    /// The solver by least squares cannot take the problem.
    #[error(transparent)]
    Irwls(#[from] IrwlsError),
    /// The linear solver cannot take the problem.
    #[error(transparent)]
    Linear(#[from] LinearError),
    /// The start is not feasible.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The solution cannot be a model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The L2-SVM's solver cannot take the problem.
    #[error(transparent)]
    L2(#[from] L2Error),
    /// Solvers on the simplex have one C.
    #[error("a class weight of {0}: solvers of the L2-SVM on the simplex take one C for all samples")]
    Weights(f64),
    /// The plan is for other data.
    #[error("the fold plan has {plan} samples, the data {data}")]
    Plan {
        /// Samples of the plan.
        plan: usize,
        /// Samples of the data.
        data: usize,
    },
}

impl Svm {
    /// An SVM with this kernel, `C = 1`, ε = 10⁻³, on the calling thread.
    pub fn new(kernel: Kernel) -> Self {
        Self { kernel, c: 1.0, weights: [1.0; 2], stop: Stop::at(1e-3), memory: MEMORY, par: Par::Seq }
    }

    /// `k(x, z) = xᵀz`.
    pub fn linear() -> Self {
        Self::new(Kernel::Linear)
    }

    /// `k(x, z) = exp(−gamma ‖x − z‖²)`.
    pub fn rbf(gamma: f64) -> Self {
        Self::new(Kernel::Rbf { gamma })
    }

    /// The bound on α: larger fits the training data more closely.
    #[must_use]
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// Factors of `C` for the class of the smaller label and that of the greater.
    #[must_use]
    pub fn class_weights(self, negative: f64, positive: f64) -> Self {
        Self { weights: [negative, positive], ..self }
    }

    /// When to stop; see [`Stop`].
    #[must_use]
    pub fn stop(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Bytes of kernel rows that may be held.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Uses these threads; results are the same for any number of them.
    #[must_use]
    pub fn threads(self, par: Par) -> Self {
        Self { par, ..self }
    }

    /// The parallelism in use.
    pub fn par(&self) -> Par {
        self.par
    }

    fn upper(&self, labels: &BinaryLabels) -> Vec<f64> {
        labels.signs.iter().map(|s| self.c * self.weights[usize::from(*s > 0.0)]).collect()
    }

    /// Trains on all of `data`.
    ///
    /// # Errors
    ///
    /// When the data is not a two-class problem or a parameter is out of range. Not converging is a status, not an error.
    pub fn train(&self, data: &Dataset) -> Result<Trained, SvmError> {
        self.train_watched(data, &mut maxmargin_core::Silent)
    }

    /// As [`Svm::train`], telling `watch` about progress; it may end the training early.
    ///
    /// # Errors
    ///
    /// As [`Svm::train`].
    pub fn train_watched(&self, data: &Dataset, watch: &mut dyn Watch) -> Result<Trained, SvmError> {
        let labels = BinaryLabels::new(&data.labels)?;
        let dual = Dual::c_svc((0..data.samples.len()).collect(), labels.signs.clone(), self.upper(&labels))?;
        let gram = KernelGram::new(&data.samples, self.kernel.clone())?;
        let rows = Rows::new(&gram, self.memory, self.par);
        let start = Start::zero(&dual)?;
        let (solution, certificate) = solve_c_svc(CSvcSolver::Smo, &dual, &rows, start, self.par, &self.stop, watch)?;
        let asked = Asked { c: self.c, weights: self.weights, eps: self.stop.tol };
        let model = Model::from_solution(self.kernel.clone(), &data.samples, &labels, &dual, &solution)?
            .with_index_base(data.index_base)?
            .with_record(Record::of(data, asked, &dual, &solution, certificate))?;
        Ok(Trained { model, certificate, status: solution.status, work: solution.work })
    }

    /// Trains on data of two or more classes: a machine for each pair of classes, support vectors shared, the class of most votes wins. Class weights
    /// are those of [`Multiclass`], which this is the short way to.
    ///
    /// # Errors
    ///
    /// When there is one class only, or a parameter is out of range.
    pub fn train_multiclass(&self, data: &Dataset) -> Result<MulticlassTrained, SvmError> {
        let labels = ClassLabels::new(&data.labels)?;
        let weights = vec![1.0; labels.count()];
        let (samples, par) = (&data.samples, self.par);
        let problem = Multiclass { data, samples, labels: &labels, c: self.c, weights: &weights, stop: self.stop, par };
        problem.train_c_svc(&self.kernel, self.memory, CSvcSolver::Smo, &Quiet)
    }

    /// Cross-validates any number of classes by `plan`: every pair of classes as [`Svm::cross_validate`] does it, votes on the test samples.
    ///
    /// # Errors
    ///
    /// As [`Svm::train_multiclass`], and when a class has samples in one fold only or the plan is for other data.
    pub fn cross_validate_multiclass(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        seeding: Seeding,
    ) -> Result<MulticlassCvReport, SvmError> {
        if plan.len() != data.samples.len() {
            return Err(SvmError::Plan { plan: plan.len(), data: data.samples.len() });
        }
        let labels = ClassLabels::new(&data.labels)?;
        let order = Order::by_class(plan, &labels);
        let gram = KernelGram::new(&data.samples.select(order.original()), self.kernel.clone())?;
        let upper = vec![self.c; data.samples.len()];
        let config = CvConfig { seeding, stop: self.stop };
        let (memory, par) = (self.memory, self.par);
        Ok(cross_validate_multiclass(plan, &labels, &order, &upper, &gram, memory, &config, par, &Quiet)?)
    }

    /// Cross-validates by `plan`: what `k` trainings from scratch would give, each fold with a certificate.
    ///
    /// # Errors
    ///
    /// As [`Svm::train`], and when a training set has one class only or the plan is for other data.
    pub fn cross_validate(&self, data: &Dataset, plan: &FoldPlan, seeding: Seeding) -> Result<CvReport, SvmError> {
        self.cross_validate_watched(data, plan, seeding, &Quiet)
    }

    /// As [`Svm::cross_validate`], telling `watch` about progress; it may end the run early.
    ///
    /// # Errors
    ///
    /// As [`Svm::cross_validate`].
    pub fn cross_validate_watched(
        &self,
        data: &Dataset,
        plan: &FoldPlan,
        seeding: Seeding,
        watch: &dyn CvWatch,
    ) -> Result<CvReport, SvmError> {
        if plan.len() != data.samples.len() {
            return Err(SvmError::Plan { plan: plan.len(), data: data.samples.len() });
        }
        let labels = BinaryLabels::new(&data.labels)?;
        let order = Order::new(plan, &labels.signs);
        let gram = KernelGram::new(&data.samples.select(order.original()), self.kernel.clone())?;
        let rows = Rows::new(&gram, self.memory, self.par);
        let pool = Pool { labels: order.sort(&labels.signs), upper: order.sort(&self.upper(&labels)) };
        let config = CvConfig { seeding, stop: self.stop };
        Ok(cross_validate(&order, &pool, &rows, &config, self.par, watch)?)
    }
}
