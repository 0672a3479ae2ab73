//! Errors of kernels and of their data.

use std::fmt;

/// The largest sum of a row's squares for linear machines: sums of products with such rows stay
/// finite.
pub const LARGEST_SQUARE: f64 = 1e300;

/// The reasons for which a kernel or its data cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The caller cancelled the computation.
    #[error(transparent)]
    Cancelled(#[from] maxmargin_data::Cancelled),
    /// gamma must be finite and not negative.
    #[error("gamma is {0}: it must be a finite number, 0 or more")]
    Gamma(f64),
    /// A rule gives no gamma above 0 that is finite.
    #[error("gamma by the rule `{rule}` is {value}, because values of the data are too large or too small; scale the data")]
    GammaRule {
        /// The rule.
        rule: &'static str,
        /// The gamma that it gives.
        value: f64,
    },
    /// coef0 must be finite.
    #[error("coef0 is {0}: it must be a finite number")]
    Coef0(f64),
    /// A serial number or a kernel value is missing in a precomputed kernel.
    #[error("row {row}: {reason}; a precomputed kernel has rows `label 0:serial 1:K(x,x1) 2:K(x,x2) …`")]
    Precomputed {
        /// Row, from 1.
        row: usize,
        /// The defect of the row.
        reason: String,
    },
    /// A precomputed kernel is not symmetric.
    #[error(
        "row {row}: its value in column {column} is {}, but row {other_row} has {} in column {other_column}: \
         a kernel matrix is symmetric",
        values[0],
        values[1]
    )]
    Asymmetric {
        /// Row, from 1.
        row: usize,
        /// Its column of serial numbers, from 1.
        column: usize,
        /// The row of that serial number, from 1.
        other_row: usize,
        /// The column of the first row's serial number, from 1.
        other_column: usize,
        /// Both values.
        values: [f64; 2],
    },
    /// A kernel value does not fit in `f32`.
    #[error(
        "row {row}: its kernel values reach {value:e}, more than single precision holds; scale the data or lower degree and gamma"
    )]
    TooLarge {
        /// Row, from 1.
        row: usize,
        /// The bound on its values.
        value: f64,
    },
    /// A user kernel gives a value that is not a number.
    #[error("row {row}: the kernel gives NaN for it; a kernel of one's own returns a finite number for every pair of rows")]
    NotANumber {
        /// Row, from 1.
        row: usize,
    },
    /// Queries of a precomputed kernel lack the kernel value with a support vector.
    #[error(
        "support vector {vector} of the model is training row {serial}, and the queries have kernel values with {columns} \
         training rows; give the values with all of them"
    )]
    QueryColumns {
        /// The support vector, from 1.
        vector: usize,
        /// Its serial number.
        serial: usize,
        /// Number of kernel values of a query.
        columns: usize,
    },
    /// The squared distances of a sample from others may overflow.
    #[error("row {row}: its squared distances from other rows may not fit in a 64-bit float; scale the data")]
    Distances {
        /// Row, from 1.
        row: usize,
    },
    /// The sum of a row's squares, with which linear machines compute, is too large.
    #[error("row {row}: the sum of its squares is {value:e}, more than a linear machine can compute with; scale the data")]
    Length {
        /// Row, from 1.
        row: usize,
        /// The sum.
        value: f64,
    },
    /// The number of coefficients is not the number of samples.
    #[error("{coefficients} coefficients for {samples} support vectors")]
    Coefficients {
        /// Coefficients given.
        coefficients: usize,
        /// Support vectors given.
        samples: usize,
    },
    /// Stored data refer to a user kernel that is not registered in this process.
    #[error("no kernel is registered as `{0}`: call UserKernel::register before reading what was made with it")]
    Unregistered(String),
    /// Computed kernel values differ from plain arithmetic with every backend.
    #[error(
        "{0}, and no way to compute it gives another: this processor or this program is at fault; `maxmargin doctor` tries both"
    )]
    Wrong(Fault),
    /// A precomputed kernel was given feature vectors or the other way round.
    #[error("{0}")]
    Samples(String),
}

impl KernelError {
    /// Translates row numbers of reordered samples into rows of the data: sample `k` is row
    /// `original[k]`.
    #[must_use]
    pub fn in_order(self, original: &[usize]) -> Self {
        let place = |row: usize| original.get(row.wrapping_sub(1)).map_or(row, |i| i + 1);
        match self {
            Self::Precomputed { row, reason } => Self::Precomputed { row: place(row), reason },
            Self::TooLarge { row, value } => Self::TooLarge { row: place(row), value },
            Self::NotANumber { row } => Self::NotANumber { row: place(row) },
            Self::Distances { row } => Self::Distances { row: place(row) },
            Self::Length { row, value } => Self::Length { row: place(row), value },
            Self::Asymmetric { row, column, other_row, other_column, values } => {
                Self::Asymmetric { row: place(row), column, other_row: place(other_row), other_column, values }
            }
            other => other,
        }
    }
}

/// A computed kernel value that differs from plain arithmetic by more than rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The form in which the value was stored or computed.
    pub form: &'static str,
    /// Row and column, from 0, in the order of the matrix's samples: folds and classes reorder the
    /// rows of the data.
    pub place: (usize, usize),
    /// The computed value.
    pub found: f64,
    /// The value by plain arithmetic.
    pub expected: f64,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a kernel value {} is {:e}, where plain arithmetic has {:e}", self.form, self.found, self.expected)
    }
}
