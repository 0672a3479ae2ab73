//! The programs for comparison: found on the path, run in a folder of their own.

use super::cases::{Case, Peer};
use super::{EPS, Error};
use maxmargin::data::{Dataset, libsvm};
use maxmargin::model::Model;
use maxmargin::model::liblinear::{LinearModel, read_model as read_linear};
use maxmargin::model::libsvm::read_model;
use maxmargin::prelude::{BiasTerm, Kernel, Loss};
use maxmargin_testkit::outside::program;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The programs that are installed.
#[derive(Clone, Debug, Default)]
pub struct Version {
    /// The version that `svm-train` prints.
    pub libsvm: Option<String>,
    /// True if `liblinear-train` is installed.
    pub liblinear: Option<String>,
}

/// Searches for the programs on the path.
pub fn versions() -> Version {
    let there = |names: &[&str]| names.iter().all(|name| program(name).is_some());
    let package = |name: &str| {
        let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", name]).output().ok()?;
        output.status.success().then(|| format!("{name} {}", String::from_utf8_lossy(&output.stdout)))
    };
    let found =
        |names: &[&str], name: &str| there(names).then(|| package(name).unwrap_or_else(|| "of unknown version".to_owned()));
    Version {
        libsvm: found(&["svm-train", "svm-predict"], "libsvm-tools"),
        liblinear: found(&["liblinear-train", "liblinear-predict"], "liblinear-tools"),
    }
}

/// The result of a program.
pub(super) enum Theirs {
    /// A model with its coefficients.
    Dual(Box<Model>),
    /// The weights of the greater label, the last that of the bias (0 without one).
    Primal(Vec<f64>),
    /// All columns of weights.
    Columns(Box<LinearModel>),
}

fn run(program: &str, args: &[String]) -> Result<(), Error> {
    let output = Command::new(program).args(args).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim()).into())
}

fn kernel_options(kernel: &Kernel) -> Result<String, Error> {
    Ok(match kernel {
        Kernel::Linear => "-t 0".to_owned(),
        Kernel::Poly { gamma, coef0, degree } => format!("-t 1 -g {gamma} -r {coef0} -d {degree}"),
        Kernel::Rbf { gamma } => format!("-t 2 -g {gamma}"),
        Kernel::Sigmoid { gamma, coef0 } => format!("-t 3 -g {gamma} -r {coef0}"),
        Kernel::Precomputed => "-t 4".to_owned(),
        other => return Err(format!("no option for {other:?}").into()),
    })
}

/// Trains and predicts; returns the result and the labels of the training data.
pub(super) fn train(case: &Case, data: &Dataset, classes: &[f64]) -> Result<(Theirs, Vec<f64>), Error> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut text = Vec::new();
    libsvm::write(data, &mut text)?;
    fs::write(at("data"), text)?;
    let (train, predict, mut options) = match case.peer {
        Peer::Libsvm => ("svm-train", "svm-predict", format!("-q -m 200 -e {EPS} {}", kernel_options(&case.kernel)?)),
        Peer::Liblinear => {
            let kind = case.beyond.unwrap_or(if case.loss == Loss::Hinge { 3 } else { 1 });
            let bias = case.bias_term.feature().unwrap_or(-1.0);
            // Its tolerance has another meaning, so objectives decide.
            ("liblinear-train", "liblinear-predict", format!("-q -s {kind} -B {bias} -e 1e-9"))
        }
    };
    options += &format!(" -c {}", case.c);
    for (label, weight) in classes.iter().zip(case.weights.iter().flatten()) {
        options += &format!(" -w{label} {weight}");
    }
    let mut args: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    args.extend([at("data"), at("model")]);
    run(train, &args)?;
    run(predict, &[at("data"), at("model"), at("labels")])?;
    let labels = fs::read_to_string(at("labels"))?.lines().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
    let theirs = match case.peer {
        Peer::Libsvm => Theirs::Dual(Box::new(read_model(&fs::read(at("model"))?)?)),
        Peer::Liblinear if case.beyond.is_some() => Theirs::Columns(Box::new(read_linear(&fs::read(at("model"))?)?)),
        Peer::Liblinear => Theirs::Primal(weights(Path::new(&at("model")), case)?),
    };
    Ok((theirs, labels))
}

/// Returns the weights of the greater label from a model of LIBLINEAR.
fn weights(path: &Path, case: &Case) -> Result<Vec<f64>, Error> {
    let text = fs::read_to_string(path)?;
    let after =
        |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).ok_or_else(|| format!("no {key}in LIBLINEAR's model"));
    let labels: Vec<f64> = after("label ")?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let sign = if labels[0] > labels[1] { 1.0 } else { -1.0 };
    let lines = text.lines().skip_while(|line| *line != "w").skip(1);
    let mut weights = lines.map(|line| line.trim().parse().map(|w: f64| sign * w)).collect::<Result<Vec<f64>, _>>()?;
    if case.bias_term == BiasTerm::None {
        weights.push(0.0);
    }
    Ok(weights)
}
