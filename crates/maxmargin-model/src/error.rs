//! Why bytes or numbers cannot be a model.

use maxmargin_data::scale::ScaleError;
use maxmargin_kernel::KernelError;

/// Why a model cannot be made, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Neither a native model file nor LIBSVM's text.
    #[error("not a model file: it begins with neither `{}` nor a LIBSVM model header", crate::formats::file::MAGIC)]
    NotAModel,
    /// Written by a later version.
    #[error("the model file has format {found}, this program reads formats up to {newest}; use a newer version of maxmargin")]
    Future {
        /// Format of the file.
        found: u32,
        /// The newest format this version knows.
        newest: u32,
    },
    /// Written while a format was still changing, before the first release.
    #[error("the model file has format {found} as only versions in development wrote it: train the model again")]
    Past {
        /// Format of the file.
        found: u32,
    },
    /// The first line is damaged.
    #[error("the first line of the model file is damaged; it must read `{} FORMAT BYTES SHA256`", crate::formats::file::MAGIC)]
    Header,
    /// The file ends early.
    #[error("the model file is cut short: {found} of {expected} bytes after the first line; copy it again")]
    Truncated {
        /// Bytes that the header announces.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The file goes on after its end.
    #[error("{0} bytes follow the end of the model; the file is damaged, copy it again")]
    Trailing(u64),
    /// The checksum does not match.
    #[error("the model file is damaged: its content does not match its checksum; copy it again")]
    Checksum,
    /// The checksum matches but the content is not a model.
    #[error("the content of the model file is malformed: {0}")]
    Content(String),
    /// A field has an impossible value.
    #[error("{what} of the model is not valid: {reason}")]
    Invalid {
        /// The field.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Kernel parameters are not valid.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Samples cannot be scaled as the model asks.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// A line of a LIBSVM model is wrong.
    #[error("line {line}: {reason}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The model does more than this version can.
    #[error("not supported by this version: {0}")]
    Unsupported(String),
    /// Probabilities of a model that has none.
    #[error("the model has no probabilities: {0}")]
    NoProbabilities(&'static str),
    /// The texts of other programs have labels of 32 bits only.
    #[error(
        "label {0} is not a whole number of 32 bits: model files of LIBSVM and LIBLINEAR cannot hold it; keep the native format"
    )]
    Label(f64),
    /// A text with a number for each feature, of features that do not occur.
    #[error(
        "features are numbered up to {features}, and there are {entries} values: LIBLINEAR's model has a number for each feature, {} GB in all; \
         number the features from 1 without gaps, or train with `maxmargin train --kernel linear`, whose models hold what occurs",
        (8 * *features as u128 * *columns as u128).div_ceil(1_000_000_000)
    )]
    TooWide {
        /// The number of the last feature.
        features: usize,
        /// Numbers for each of them.
        columns: usize,
        /// Values that there are.
        entries: usize,
    },
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl ModelError {
    pub(crate) fn invalid(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { what, reason: reason.into() }
    }

    pub(crate) fn line(line: usize, reason: impl Into<String>) -> Self {
        Self::Line { line, reason: reason.into() }
    }
}
