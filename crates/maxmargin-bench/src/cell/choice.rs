//! Settings that are one of several words.

use serde::Deserialize;
use std::path::PathBuf;

/// A method that updates a model.
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

/// The rule that chooses a working set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Selection {
    Random,
    /// All members are drawn: the worst violators of every condition and class are not added.
    PureRandom,
    Largest,
    Smallest,
    #[default]
    Half,
    Steepest,
}

/// A solver of working sets.
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

/// The quantity that `tol` bounds (solvers of the L2-SVM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    #[default]
    RelativeGap,
    /// The papers' ε on the radius.
    Radius,
    Violation,
}

/// The rule that assigns samples to folds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Folds {
    /// Ranges of rows in the order of the file.
    Contiguous,
    #[default]
    Stratified,
    Shuffled,
    /// One fold number per line.
    File(PathBuf),
}
