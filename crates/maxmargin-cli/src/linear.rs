//! Linear SVMs without a kernel: which options lead here, training, cross-validation.

use crate::args::{LossName, Seeding, SolverArgs};
use crate::failure::Failure;
use crate::folds::Setting;
use crate::format;
use crate::input::Input;
use crate::notes::Notes;
use crate::problem;
use crate::progress::Bar;
use crate::threads::Threads;
use maxmargin::LinearSvm;
use maxmargin::core::{Loss, Offset, Stop};
use maxmargin::cv::{CvProgress, CvReport, LinearCv, LinearStart, Pool, cross_validate_linear, cross_validate_linear_apart};
use maxmargin::data::scale::Scaler;
use maxmargin::data::{self, Par, Samples};
use maxmargin::linear::{LinearWork, Method};
use serde::Serialize;

/// What is said where another seeding is asked for.
pub(crate) const SEEDINGS: &str =
    "--seeding: linear solvers start folds cold or from the model of all data (full); others need --solver smo";

/// What the options ask of a linear solver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) method: Method,
    pub(crate) loss: Loss,
    pub(crate) offset: Offset,
    pub(crate) gap: Option<f64>,
}

/// The linear part of a document.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct LinearDocument {
    pub(crate) solver: Method,
    pub(crate) loss: Loss,
    pub(crate) bias: Offset,
    #[serde(flatten)]
    pub(crate) work: Option<LinearWork>,
}

impl Linear {
    /// The linear solver that `method` names.
    ///
    /// # Errors
    ///
    /// When the options contradict each other.
    pub(crate) fn of(method: Method, args: &SolverArgs) -> Result<Self, Failure> {
        if matches!(method, Method::Descent | Method::Avsf) && args.bias == Offset::Free {
            let what = "--solver descent and avsf know no free bias; add --bias none, or --bias 1 for one more feature";
            return Err(Failure::Usage(what.to_owned()));
        }
        let loss = match args.loss {
            LossName::Hinge => Loss::Hinge,
            LossName::Squared => Loss::SquaredHinge,
        };
        Ok(Self { method, loss, offset: args.bias, gap: args.gap })
    }

    /// The trainer that does what was asked.
    pub(crate) fn svm(&self, c: f64, weights: [f64; 2], stop: Stop, seed: u64, par: Par) -> LinearSvm {
        let svm = LinearSvm::new()
            .c(c)
            .class_weights(weights[0], weights[1])
            .loss(self.loss)
            .offset(self.offset)
            .method(self.method)
            .stop(stop)
            .seed(seed)
            .threads(par);
        match self.gap {
            Some(gap) => svm.gap(gap),
            None => svm,
        }
    }

    pub(crate) fn document(&self, work: Option<LinearWork>) -> LinearDocument {
        LinearDocument { solver: self.method, loss: self.loss, bias: self.offset, work }
    }
}

impl LinearDocument {
    /// `coordinate descent and Newton steps, hinge loss, free bias`
    pub(crate) fn text(&self) -> String {
        let solver = match self.solver {
            Method::Hybrid => "coordinate descent, then Newton steps",
            Method::Descent => "coordinate descent",
            Method::Avsf => "coordinate descent with adaptive frequencies",
            Method::Newton => "Newton steps",
        };
        let loss = match self.loss {
            Loss::Hinge => "hinge loss",
            Loss::SquaredHinge => "squared hinge loss",
        };
        let bias = match self.bias {
            Offset::Free => "free bias".to_owned(),
            Offset::None => "no bias".to_owned(),
            Offset::Feature(value) => format!("bias as a feature of value {}", format::exact(value)),
        };
        format!("{solver}; {loss}, {bias}")
    }

    /// What it did.
    pub(crate) fn work_text(&self) -> Option<String> {
        let work = self.work?;
        Some(format!(
            "{} sweeps ({} coordinate steps), {} Newton steps",
            format::count(work.sweeps),
            format::count(work.steps),
            format::count(work.newton_steps)
        ))
    }
}

/// One line before the work, and a warning where one feature dwarfs the others.
pub(crate) fn announce(input: &Input, samples: &Samples, threads: &Threads, notes: &mut Notes) {
    if let Some(warning) = data::inspect(samples).warning(input.data.index_base) {
        notes.warn(format!("{warning} (--scale minmax)"));
    }
    notes.say(&format!(
        "{}: {} rows, {} features, {} values; linear, no kernel matrix, {} thread{}",
        input.name,
        format::count(samples.len() as u64),
        format::count(samples.features() as u64),
        format::count(samples.non_zeros() as u64),
        threads.count(),
        if threads.count() == 1 { "" } else { "s" },
    ));
}

/// Cross-validates; a scaling is fitted to the training rows of each fold.
pub(crate) fn cross_validate(setting: &Setting, linear: &Linear, bar: &Bar, notes: &mut Notes) -> Result<CvReport, Failure> {
    let Setting { input, prepared, plan, threads, .. } = setting;
    let start = match setting.seeding {
        Seeding::Full => LinearStart::Full(None),
        Seeding::Cold => LinearStart::Cold,
        _ => return Err(Failure::Usage(SEEDINGS.to_owned())),
    };
    let svm = linear.svm(setting.problem.c, prepared.weights, setting.stop(), setting.seed, threads.par());
    let cv = svm.cv();
    let pool = Pool { labels: prepared.labels.signs.clone(), upper: prepared.upper.clone() };
    let watch = |progress: &CvProgress| bar.cv_tick(progress);
    let samples = &input.data.samples;
    let Some(name) = setting.problem.scale else {
        announce(input, samples, threads, notes);
        return cross_validate_linear(plan, &pool, samples, &cv, start, &watch).map_err(|e| setting.failure(e));
    };
    announce(input, prepared.samples(input), threads, notes);
    apart(setting, name, &cv, &pool, &watch)
}

/// Every fold behind a scaler of its own.
fn apart(
    setting: &Setting,
    name: crate::args::ScaleName,
    cv: &LinearCv,
    pool: &Pool,
    watch: &dyn maxmargin::cv::CvWatch,
) -> Result<CvReport, Failure> {
    let data = &setting.input.data.samples;
    let samples_of = |_: usize, train: &[usize]| {
        let scaler = Scaler::fit_rows(data, train.iter().copied(), problem::scale_method(name));
        scaler.apply(data).map_err(|e| setting.failure(e))
    };
    cross_validate_linear_apart(setting.plan, pool, samples_of, cv, watch).map_err(|error| match error {
        maxmargin::cv::ApartError::Kernel(failure) => failure,
        maxmargin::cv::ApartError::Cv(error) => setting.failure(error),
    })
}
