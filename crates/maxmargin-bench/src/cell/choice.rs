//! The words that settings may be.

use serde::Deserialize;
use std::path::PathBuf;

/// Who updates a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// The path, all samples at once (Karasuyama and Takeuchi 2009).
    Mid,
    /// The path, one sample after the other (Cauwenberghs and Poggio 2000).
    Sid,
    /// Our SMO from the solution before.
    Smo,
    /// Our SMO from zero.
    SmoCold,
    /// LIBSVM's program, from zero, in a process of its own.
    SvmTrain,
}

/// Which samples are the working set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Selection {
    Random,
    Largest,
    Smallest,
    #[default]
    Half,
    Steepest,
}

/// Who solves working sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inner {
    #[default]
    LeastSquares,
    /// An interior point method, that of the `clarabel` crate.
    InteriorPoint,
    Smo,
    /// Weighted least squares without damping and safeguard.
    AsPrinted,
}

/// What `tol` bounds (solvers of the L2-SVM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    #[default]
    RelativeGap,
    /// The papers' ε on the radius.
    Radius,
    Violation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KernelName {
    Linear,
    Rbf,
    Poly,
    Sigmoid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Folds {
    /// As the file has them.
    Contiguous,
    #[default]
    Stratified,
    Shuffled,
    /// One fold number per line.
    File(PathBuf),
}
