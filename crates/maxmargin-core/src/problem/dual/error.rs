//! The reasons for which numbers are no dual problem.

/// The reason why numbers cannot be a dual problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DualError {
    /// Vectors of different lengths.
    #[error("{what} has {found} entries, the problem has {expected} variables")]
    Length {
        /// The vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The number of variables.
        expected: usize,
    },
    /// No variables.
    #[error("the problem has no variables")]
    Empty,
    /// C is not finite, negative, or 0 for all variables.
    #[error(
        "C times the weight of sample {variable} (from 0) is {value}: it must be a finite number, not negative, and above 0 for some"
    )]
    Upper {
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// A sign is not ±1.
    #[error("the sign of variable {variable} is {value}: it must be +1 or -1")]
    Sign {
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// No row can have this Gram index.
    #[error("the row of variable {variable} is {}: it must be below that", usize::MAX)]
    Row {
        /// Position of the variable.
        variable: usize,
    },
    /// A linear term, the ridge or the equality constraint is not finite, or the ridge is negative.
    #[error("the {what} of variable {variable} is {value}: it must be finite")]
    NotFinite {
        /// The vector.
        what: &'static str,
        /// Position of the variable.
        variable: usize,
        /// The value.
        value: f64,
    },
    /// The width is not a number, or negative.
    #[error("epsilon is {0}: it must be a finite number, 0 or more")]
    Epsilon(f64),
    /// The level of a quantile or expectile is not between 0 and 1.
    #[error("tau is {0}: it must be above 0 and below 1")]
    Tau(f64),
    /// The square of a target, which a squared loss takes, is not finite.
    #[error(
        "the value of sample {sample} (from 0) is {value:e}, and squares of it overflow; divide all values by a power of ten"
    )]
    Target {
        /// Position of the sample.
        sample: usize,
        /// The value.
        value: f64,
    },
    /// The value of a bias feature is not finite, or its square is not.
    #[error("the value of the bias feature is {0}: it must be a finite number, and so must its square")]
    BiasFeature(f64),
    /// The share is impossible for these samples.
    #[error("the specified nu, {nu}, is infeasible: it must be above 0 and at most {largest}{}", if *largest < 1.0 { ", twice the share of the smaller class" } else { "" })]
    Nu {
        /// The requested share.
        nu: f64,
        /// The largest possible share.
        largest: f64,
    },
    /// Only one sign has a positive upper bound, so that α = 0 is the only feasible point.
    #[error("of two classes that are to be separated, one has no sample with a positive weight: training needs both")]
    OneClass,
}
