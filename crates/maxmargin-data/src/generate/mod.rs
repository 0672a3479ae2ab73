//! Built-in data generators: seeded, with the same bits on every platform.

mod draw;
mod penguins;
mod plane;
mod shape;
mod text;

use crate::dataset::Dataset;
use crate::samples::{Samples, SamplesError};
use draw::Draw;
pub use penguins::{PENGUIN_ROWS, penguins};
use std::fmt;
use std::str::FromStr;

/// A generator of two-class data with the labels +1 and −1.
///
/// Rows alternate between the classes, beginning with the positive one. The rows of a smaller data
/// set are the first rows of a larger one with the same seed. Values are multiples of 2⁻¹⁶, so that
/// they are exact in `f32` and short in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Generator {
    /// Two overlapping Gaussians in the plane: N((0, 0), 1) and N((2, 0), 4 I). The best classifier
    /// is a circle with an error of 18.5 %. This is the Gauss-M problem of Pérez-Cruz et al.
    /// (IRWLS), after Haykin, Neural Networks.
    GaussM,
    /// A mixture of two Gaussians, N((−2, 0), ¼ I) and N((2, 0), ¼ I), around a single one, N(0,
    /// I). This follows the artificial data of Karasuyama and Takeuchi (multiple incremental
    /// decremental learning); the paper does not contain its parameters.
    TwoGaussians,
    /// Two interleaved crescents with Gaussian noise of deviation ¼.
    Banana,
    /// Two spherical Gaussians of deviation 1 with means at distance 3, in any number of dimensions
    /// (default 2).
    Blobs,
    /// Documents: rows of about 100 words out of many (default 1,000,000). Every octave of word
    /// ranks is equally likely (Zipf's law). Weights are term frequency times rarity, normalised to
    /// length 1. Every eighth word is more frequent in one class; 2 % of the labels are flipped.
    SparseText,
    /// Synthetic data in the shape of rcv1 (20,242 × 47,236): documents of about 74 words (out of
    /// 47,236 by default) on 64 topics, columns by Zipf's law, rows of length 1. Labels follow a
    /// planted separator with noise. A quarter of the documents repeats an earlier one except for
    /// some words, on either side of the separator, which makes a large C hard.
    Rcv1Like,
    /// Synthetic data in the shape of covtype (581,012 × 54): ten quantities in [0, 1], one of 4
    /// areas and one of 40 soils, each as a feature of value 1. Labels follow a planted separator
    /// with noise, so that no plane separates the classes: a fifth of the rows is on the wrong
    /// side.
    CovtypeLike,
}

/// The reasons for which data cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// No generator has this name.
    #[error(
        "there is no generator `{name}`; choose one of gauss-m, two-gaussians, banana, blobs, sparse-text, rcv1-like, covtype-like"
    )]
    Unknown {
        /// The unknown name.
        name: String,
    },
    /// The generator does not support this number of features.
    #[error("{generator} cannot make {features} features: it makes {allowed}")]
    Features {
        /// The generator.
        generator: Generator,
        /// Requested number of features.
        features: usize,
        /// The supported numbers of features.
        allowed: &'static str,
    },
    /// There are too few rows for both classes.
    #[error("{rows} rows cannot hold two classes; ask for 2 or more")]
    Rows {
        /// Requested number of rows.
        rows: usize,
    },
    /// The matrix would be too large.
    #[error("{rows} rows of {features} features are too many to hold in memory")]
    TooLarge {
        /// Requested number of rows.
        rows: usize,
        /// Requested number of features.
        features: usize,
    },
}

/// Largest number of values that a generator stores.
const MOST_VALUES: usize = 1 << 34;

impl Generator {
    /// All generators.
    pub const ALL: [Self; 7] =
        [Self::GaussM, Self::TwoGaussians, Self::Banana, Self::Blobs, Self::SparseText, Self::Rcv1Like, Self::CovtypeLike];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::GaussM => "gauss-m",
            Self::TwoGaussians => "two-gaussians",
            Self::Banana => "banana",
            Self::Blobs => "blobs",
            Self::SparseText => "sparse-text",
            Self::Rcv1Like => "rcv1-like",
            Self::CovtypeLike => "covtype-like",
        }
    }

    /// A description in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::GaussM => "two overlapping Gaussians in the plane, variances 1 and 4 (18.5 % Bayes error)",
            Self::TwoGaussians => "a mixture of two Gaussians against a single one, in the plane",
            Self::Banana => "two interleaved crescents with noise, in the plane",
            Self::Blobs => "two spherical Gaussians in any number of dimensions",
            Self::SparseText => "documents of about 100 words out of a million: sparse rows of length 1",
            Self::Rcv1Like => "synthetic documents of the shape of rcv1: 47,236 words, 74 of them in a row of length 1",
            Self::CovtypeLike => "synthetic cells of the shape of covtype: 10 quantities, 4 areas, 40 soils, not separable",
        }
    }

    /// Generates `rows` rows from `seed`, with `features` features where the generator has a
    /// choice.
    ///
    /// # Errors
    ///
    /// When the generator does not support this number of features, or there are too few or too
    /// many rows.
    pub fn generate(self, rows: usize, features: Option<usize>, seed: u64) -> Result<Dataset, GenerateError> {
        let (default, valid, allowed) = match self {
            Self::GaussM | Self::TwoGaussians | Self::Banana => (2, 2..=2, "2"),
            Self::Blobs => (2, 1..=1 << 24, "1 to 2^24"),
            Self::SparseText => (1_000_000, text::FEWEST_WORDS..=1 << 31, "1024 to 2^31"),
            Self::Rcv1Like => (47_236, text::FEWEST_WORDS..=1 << 24, "1024 to 2^24"),
            Self::CovtypeLike => (shape::CELL, shape::CELL..=shape::CELL, "54"),
        };
        let features = features.unwrap_or(default);
        if !valid.contains(&features) {
            return Err(GenerateError::Features { generator: self, features, allowed });
        }
        if rows < 2 {
            return Err(GenerateError::Rows { rows });
        }
        let row_values = match self {
            Self::SparseText => text::MOST_WORDS,
            Self::Rcv1Like => shape::MOST_WORDS,
            _ => features,
        };
        if rows.checked_mul(row_values).is_none_or(|values| values > MOST_VALUES) {
            return Err(GenerateError::TooLarge { rows, features });
        }
        let mut draw = Draw::new(seed);
        let signs = (0..rows).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 });
        let (samples, labels) = match self {
            Self::SparseText => text::documents(signs, features, &mut draw),
            Self::Rcv1Like => (shape::documents(signs.clone(), features, &mut draw), signs.collect()),
            Self::CovtypeLike => (shape::cells(signs.clone(), &mut draw), signs.collect()),
            _ => (self.points(signs.clone(), features, &mut draw), signs.collect()),
        };
        let samples = samples.map_err(|_| GenerateError::TooLarge { rows, features })?;
        Ok(Dataset { samples, labels, groups: None, index_base: 1, sha256: [0; 32], columns: None })
    }

    /// Dense rows of the generators of points.
    fn points(
        self,
        signs: impl ExactSizeIterator<Item = f64>,
        features: usize,
        draw: &mut Draw,
    ) -> Result<Samples, SamplesError> {
        let rows = signs.len();
        let mut values = Vec::with_capacity(rows * features);
        for sign in signs {
            match self {
                Self::GaussM => values.extend(plane::gauss_m(sign, draw)),
                Self::TwoGaussians => values.extend(plane::two_gaussians(sign, draw)),
                Self::Banana => values.extend(plane::banana(sign, draw)),
                _ => plane::blob(sign, features, draw, &mut values),
            }
        }
        for value in &mut values {
            *value = draw::on_grid(*value);
        }
        Samples::from_dense(rows, features, values)
    }
}

impl fmt::Display for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Generator {
    type Err = GenerateError;

    fn from_str(name: &str) -> Result<Self, GenerateError> {
        let found = Self::ALL.into_iter().find(|generator| generator.name() == name);
        found.ok_or_else(|| GenerateError::Unknown { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests;
