//! Reasons for which a model cannot be exported.

use maxmargin_model::ModelError;

/// A reason for which a model cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The kernel is no formula of a row and a support vector.
    #[error(
        "the model has a {0} kernel, whose values are not computed from features; export needs a linear, polynomial, rbf or \
         sigmoid kernel"
    )]
    Kernel(&'static str),
    /// The file would have too many numbers.
    #[error(
        "{vectors} support vectors of {features} features are {} numbers, and exported files hold at most {most}, because they \
         store every feature of every vector; train with fewer features, or keep the native file",
        *vectors as u128 * *features as u128
    )]
    TooLarge {
        /// Support vectors, or weights of linear machines.
        vectors: usize,
        /// Features.
        features: usize,
        /// The largest product of both.
        most: usize,
    },
    /// There are not as many names as classes.
    #[error("{found} labels for {expected} classes")]
    Labels {
        /// Labels that were given.
        found: usize,
        /// Classes of the model.
        expected: usize,
    },
    /// A calibration that this version does not know.
    #[error("this version cannot export a {0} calibration")]
    Calibration(&'static str),
    /// The prefix of names in a C file is no identifier.
    #[error("`{0}` cannot begin names in C; use letters, digits and underscores, and begin with a letter")]
    Prefix(String),
    /// Rows of a check have values that single precision cannot hold.
    #[error("the rows of the check, in single precision: {0}; export in double precision")]
    Rows(String),
    /// The model is not valid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The document could not be written as JSON.
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
}
