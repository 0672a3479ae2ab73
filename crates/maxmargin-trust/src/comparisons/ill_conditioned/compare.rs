//! One problem: trained by both sides, with the same certificate for both.

use super::problems::Problem;
use super::{EXPECTED_TIME, Error, GAP, TIME_LIMIT};
use maxmargin::core::{Formulation, Goal, Status};
use maxmargin::cv::{Claim, verify};
use maxmargin::data::{Dataset, libsvm};
use maxmargin::model::Model;
use maxmargin::model::libsvm::read_model;
use maxmargin::prelude::{Kernel, Par, Solver, Svm};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The result of `svm-train` on a problem.
#[derive(Clone, Debug)]
pub struct Theirs {
    /// The time it took; [`TIME_LIMIT`] if it was ended.
    pub seconds: f64,
    /// The certificate of its model: KKT violation and relative gap. `None` if there is no model,
    /// or it cannot be certified.
    pub certificate: Option<(f64, f64)>,
    /// True if it reported that it gave up.
    pub gave_up: bool,
}

/// The result of a problem.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number of rows.
    pub rows: usize,
    /// True if the solver was requested by name.
    pub named: bool,
    /// The status of our run, or the refusal.
    pub ended: Result<Status, String>,
    /// The worst KKT violation of its machines.
    pub kkt: f64,
    /// The worst relative gap.
    pub gap: f64,
    /// The iterations of all machines.
    pub iterations: u64,
    /// The time it took.
    pub seconds: f64,
    /// The reason why a gap of [`GAP`] is impossible, if there is one.
    pub impossible: Option<String>,
    /// LIBSVM's result, if it is installed.
    pub theirs: Option<Theirs>,
}

impl Outcome {
    /// Returns true if the run ended as required, apart from its time: certified, or with a reason.
    /// A solver requested by name may also report that it stalled.
    pub fn is_right(&self) -> bool {
        let certified = matches!(self.ended, Ok(Status::Converged)) && self.gap <= GAP;
        self.impossible.is_some() || certified || (self.named && matches!(self.ended, Ok(Status::Stalled | Status::Slow)))
    }

    /// Returns true if it took longer than allowed.
    pub fn is_late(&self) -> bool {
        self.seconds > EXPECTED_TIME
    }
}

/// Trains `problem` on its data by our solver, and by `svm-train` if `beside` is true.
///
/// # Errors
///
/// When something fails that does not concern the problem.
pub fn compare(problem: &Problem, data: &Dataset, beside: bool) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let svm = Svm::of(problem.formulation).kernel(problem.kernel.clone()).solver(problem.solver).gap(GAP);
    let fitted = svm.max_time(Duration::from_secs_f64(4.0 * EXPECTED_TIME)).fit(data);
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

/// Returns the reason why the gap of a machine cannot be determined in double precision, if
/// rounding alone makes it this large.
fn impossible(told: f64) -> String {
    if told >= 1.0 {
        return format!(
            "rounding of Σ α K in doubles makes a gap of {told:.0e} of the objective: nothing is known of that; scale the data"
        );
    }
    format!("rounding of Σ α K in doubles makes a gap of {told:.0e} of the objective: scale the data")
}

/// Returns the options of `svm-train`.
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

/// Trains by `svm-train` at its default tolerance, and certifies its model.
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
        if begun.elapsed().as_secs_f64() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(Theirs { seconds: TIME_LIMIT, certificate: None, gave_up: false });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let seconds = begun.elapsed().as_secs_f64();
    let said = fs::read_to_string(at("out"))? + &fs::read_to_string(at("err"))?;
    let model = fs::read(at("model")).ok().and_then(|text| read_model(&text).ok());
    let certificate = model.and_then(|model| certificate(problem, data, &model));
    Ok(Theirs { seconds, certificate, gave_up: said.contains("WARNING: reaching max") })
}

/// Returns the worst KKT violation and relative gap of a model's machines.
fn certificate(problem: &Problem, data: &Dataset, model: &Model) -> Option<(f64, f64)> {
    let claim = Claim { formulation: problem.formulation, weights: Vec::new() };
    let verdict = verify(model, data, Some(&claim), Some(Goal::Gap(GAP)), Par::Seq).ok()?;
    let figures = verdict.machines.iter().map(|machine| (machine.certificate.kkt, machine.certificate.relative_gap()));
    figures.reduce(|worst, next| (worst.0.max(next.0), worst.1.max(next.1)))
}
