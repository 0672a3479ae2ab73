//! One problem: trained by both, judged by one certificate.

use super::problems::Problem;
use super::{Error, GAP, PATIENCE, SOON};
use maxmargin::core::{Formulation, Goal, Status};
use maxmargin::cv::{Claim, verify};
use maxmargin::data::{Dataset, libsvm};
use maxmargin::model::Model;
use maxmargin::model::libsvm::read_model;
use maxmargin::prelude::{Kernel, Par, Solver, Svm};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What `svm-train` made of a problem.
#[derive(Clone, Debug)]
pub struct Theirs {
    /// How long it took; [`PATIENCE`] where it was ended.
    pub seconds: f64,
    /// The certificate of its model: KKT violation, relative gap. Nothing where there is no model,
    /// or it cannot be judged.
    pub certificate: Option<(f64, f64)>,
    /// Whether it said that it gave up.
    pub gave_up: bool,
}

/// What came of a problem.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Rows of the data.
    pub rows: usize,
    /// Whether a solver was asked for by name.
    pub named: bool,
    /// How ours ended; words where the problem was refused.
    pub ended: Result<Status, String>,
    /// The worst KKT violation of its machines.
    pub kkt: f64,
    /// The worst relative gap.
    pub gap: f64,
    /// Iterations of all machines.
    pub iterations: u64,
    /// How long it took.
    pub seconds: f64,
    /// What makes a gap of [`GAP`] impossible, where something does.
    pub impossible: Option<String>,
    /// What LIBSVM made of it, where it is there.
    pub theirs: Option<Theirs>,
}

impl Outcome {
    /// Whether it ended as every problem has to, but for its time: certified, or with a reason; a
    /// solver asked for by name may say that it has stalled.
    pub fn is_right(&self) -> bool {
        let certified = matches!(self.ended, Ok(Status::Converged)) && self.gap <= GAP;
        self.impossible.is_some() || certified || (self.named && matches!(self.ended, Ok(Status::Stalled | Status::Slow)))
    }

    /// Whether it took longer than it may.
    pub fn is_late(&self) -> bool {
        self.seconds > SOON
    }
}

/// Trains `problem` on its data by us, and by `svm-train` where `beside` says so.
///
/// # Errors
///
/// When something fails that has nothing to do with the problem.
pub fn judge(problem: &Problem, data: &Dataset, beside: bool) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let svm = Svm::of(problem.formulation).kernel(problem.kernel.clone()).solver(problem.solver).gap(GAP);
    let fitted = svm.max_time(Duration::from_secs_f64(4.0 * SOON)).fit(data);
    let seconds = begun.elapsed().as_secs_f64();
    let theirs = if beside { Some(train(problem, data)?) } else { None };
    let outcome = Outcome {
        rows: data.labels.len(),
        named: problem.solver != Solver::Auto,
        ended: Ok(Status::Stalled),
        kkt: f64::NAN,
        gap: f64::NAN,
        iterations: 0,
        seconds,
        impossible: None,
        theirs,
    };
    Ok(match fitted {
        Err(refused) => Outcome { ended: Err(refused.to_string()), impossible: Some(refused.to_string()), ..outcome },
        Ok(fitted) => {
            let most = |of: &dyn Fn(usize) -> f64| (0..fitted.machines.len()).map(of).fold(0.0, f64::max);
            let gap = most(&|m| fitted.machines[m].certificate.relative_gap);
            let outcome = Outcome {
                ended: Ok(fitted.status),
                kkt: most(&|m| fitted.machines[m].certificate.kkt),
                gap,
                iterations: fitted.iterations,
                ..outcome
            };
            let certificates = || fitted.machines.iter().map(|machine| &machine.certificate);
            let hidden = certificates().filter(|c| c.hides(Goal::Gap(GAP))).filter_map(|c| c.rounding).reduce(f64::max);
            Outcome { impossible: hidden.map(impossible), ..outcome }
        }
    })
}

/// Why the gap of a machine cannot be told in double precision, where rounding makes it this by
/// itself.
fn impossible(told: f64) -> String {
    if told >= 1.0 {
        return format!(
            "rounding of Σ α K in doubles makes a gap of {told:.0e} of the objective: nothing is known of that; scale the data"
        );
    }
    format!("rounding of Σ α K in doubles makes a gap of {told:.0e} of the objective: scale the data")
}

/// The options of `svm-train`.
fn options(problem: &Problem) -> Result<String, Error> {
    let f = problem.formulation;
    let kind = match f {
        Formulation::Svc { .. } => 0,
        Formulation::NuSvc { .. } => 1,
        Formulation::OneClass { .. } => 2,
        Formulation::Svr { .. } => 3,
        Formulation::NuSvr { .. } => 4,
        other => return Err(format!("no option for {}", other.name()).into()),
    };
    let kernel = match problem.kernel {
        Kernel::Linear => "-t 0".to_owned(),
        Kernel::Poly { gamma, coef0, degree } => format!("-t 1 -g {gamma} -r {coef0} -d {degree}"),
        Kernel::Rbf { gamma } => format!("-t 2 -g {gamma}"),
        Kernel::Sigmoid { gamma, coef0 } => format!("-t 3 -g {gamma} -r {coef0}"),
        ref other => return Err(format!("no option for {other:?}").into()),
    };
    let of = |name: &str, value: Option<f64>| value.map_or_else(String::new, |v| format!(" {name} {v}"));
    Ok(format!("-s {kind} {kernel} -m 500{}{}{}", of("-c", f.c()), of("-n", f.nu()), of("-p", f.epsilon())))
}

/// Trains by `svm-train` at its usual tolerance, and judges what it wrote.
fn train(problem: &Problem, data: &Dataset) -> Result<Theirs, Error> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let mut text = Vec::new();
    libsvm::write(data, &mut text)?;
    fs::write(at("data"), text)?;
    let (out, err) = (fs::File::create(at("out"))?, fs::File::create(at("err"))?);
    let begun = Instant::now();
    let mut child = Command::new("svm-train")
        .args(options(problem)?.split_whitespace())
        .args([at("data"), at("model")])
        .stdout(Stdio::from(out))
        .stderr(Stdio::from(err))
        .spawn()?;
    while child.try_wait()?.is_none() {
        if begun.elapsed().as_secs_f64() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(Theirs { seconds: PATIENCE, certificate: None, gave_up: false });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let said = fs::read_to_string(at("out"))? + &fs::read_to_string(at("err"))?;
    let model = fs::read(at("model")).ok().and_then(|text| read_model(&text).ok());
    let certificate = model.and_then(|model| certificate(problem, data, &model));
    Ok(Theirs { seconds, certificate, gave_up: said.contains("WARNING: reaching max") })
}

/// The worst KKT violation and relative gap of a model's machines.
fn certificate(problem: &Problem, data: &Dataset, model: &Model) -> Option<(f64, f64)> {
    let claim = Claim { formulation: problem.formulation, weights: Vec::new() };
    let verdict = verify(model, data, Some(&claim), Some(Goal::Gap(GAP)), Par::Seq).ok()?;
    let judged = verdict.machines.iter().map(|machine| (machine.certificate.kkt, machine.certificate.relative_gap()));
    judged.reduce(|worst, next| (worst.0.max(next.0), worst.1.max(next.1)))
}
