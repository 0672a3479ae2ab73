//! The error type of models.

use maxmargin_data::scale::ScaleError;
use maxmargin_kernel::KernelError;

/// The first word of a native model file.
pub const MAGIC: &str = "maxmargin-model";

/// An error in making, reading, writing or applying a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The bytes are neither a native model file nor LIBSVM's text.
    #[error("not a model file: it begins with neither `{}` nor a LIBSVM model header", MAGIC)]
    NotAModel,
    /// The file was written by a later version.
    #[error("the model file has format {found}, this program reads formats up to {newest}; use a newer version of maxmargin")]
    Future {
        /// Format of the file.
        found: u32,
        /// The newest format this version knows.
        newest: u32,
    },
    /// The file was written in a format that existed only before the first release.
    #[error("the model file has format {found}, which only development versions wrote; train the model again")]
    Past {
        /// Format of the file.
        found: u32,
    },
    /// The first line is damaged.
    #[error("the first line of the model file is damaged; it must read `{} FORMAT BYTES SHA256`", MAGIC)]
    Header,
    /// The file ends early.
    #[error("the model file is cut short: {found} of {expected} bytes after the first line; copy it again")]
    Truncated {
        /// Bytes that the header announces.
        expected: u64,
        /// Bytes in the file.
        found: u64,
    },
    /// Bytes follow the end of the model.
    #[error("{0} bytes follow the end of the model; the file is damaged, copy it again")]
    Trailing(u64),
    /// The checksum does not match.
    #[error("the model file is damaged: its content does not match its checksum; copy it again")]
    Checksum,
    /// The checksum matches but the content is not a model.
    #[error("the content of the model file is malformed: {0}")]
    Content(String),
    /// A field has an invalid value.
    #[error("{what} of the model is not valid: {reason}")]
    Invalid {
        /// The field.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// Kernel parameters are not valid.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Samples cannot be scaled by the scaler of the model.
    #[error(transparent)]
    Scale(#[from] ScaleError),
    /// A line of a LIBSVM model is wrong.
    #[error("line {line}: {reason}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// A file or a format that this version does not support for this model.
    #[error("not supported by this version: {0}")]
    Unsupported(#[from] Unsupported),
    /// The model has no probabilities.
    #[error("the model has no probabilities: {0}")]
    NoProbabilities(&'static str),
    /// A label does not fit LIBSVM's or LIBLINEAR's text, where labels are integers of 32 bits.
    #[error(
        "label {0} is not a whole number of 32 bits: model files of LIBSVM and LIBLINEAR cannot hold it; keep the native format"
    )]
    Label(f64),
    /// LIBLINEAR's text would have far more weights than the model has values, because it lists
    /// every feature number up to the last.
    #[error(
        "features are numbered up to {features}, but the model has only {entries} values: LIBLINEAR's text stores a weight for every feature number, \
         {} GB in all; number the features from 1 without gaps, or train with `maxmargin train --kernel linear`, whose models store only values \
         that occur",
        (8 * *features as u128 * *columns as u128).div_ceil(1_000_000_000)
    )]
    TooWide {
        /// The number of the last feature.
        features: usize,
        /// Weights for each feature.
        columns: usize,
        /// Values in the model.
        entries: usize,
    },
    /// The writer failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The property of a model that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// An unknown word in the header of a file.
    #[error("{field} {word}")]
    Header {
        /// The field of the header.
        field: &'static str,
        /// The word, shortened.
        word: String,
    },
    /// A kernel that LIBSVM or LIBLINEAR does not have.
    #[error("the kernel {kernel}, in {program}'s text")]
    Kernel {
        /// LIBSVM or LIBLINEAR.
        program: &'static str,
        /// The name of the kernel.
        kernel: String,
    },
    /// A property that the text of LIBSVM or LIBLINEAR has no place for.
    #[error("{property}, in {program}'s text{}", alternative.map(|alternative| format!("; {alternative}")).unwrap_or_default())]
    Text {
        /// LIBSVM or LIBLINEAR.
        program: &'static str,
        /// The property of the model.
        property: &'static str,
        /// A training without this property.
        alternative: Option<&'static str>,
    },
    /// A classifier of LIBLINEAR with one class.
    #[error("a model of one class only")]
    OneClass,
    /// A classifier of LIBLINEAR with weights for each of two classes.
    #[error("a model of two classes with a column of weights for each")]
    WeightsOfBothClasses,
    /// Data with a feature 0 for a model that scales features numbered from 1.
    #[error("index 0 in data for a model that scales features numbered from 1")]
    IndexZero,
}

impl ModelError {
    /// The error of a model with a property that the text of `program` has no place for.
    pub(crate) fn text(program: &'static str, property: &'static str, alternative: Option<&'static str>) -> Self {
        Unsupported::Text { program, property, alternative }.into()
    }

    pub(crate) fn invalid(what: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { what, reason: reason.into() }
    }

    pub(crate) fn line(line: usize, reason: impl Into<String>) -> Self {
        Self::Line { line, reason: reason.into() }
    }
}
