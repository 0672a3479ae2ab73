//! Imputation methods for missing values.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The imputation method for missing numbers. Missing words and truth values always get the most
/// frequent value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Impute {
    /// The median; of an even number of values the mean of the two middle ones.
    Median,
    /// The mean.
    Mean,
    /// The most frequent value, the smallest of equally frequent ones.
    MostFrequent,
}

impl Impute {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Median, Self::Mean, Self::MostFrequent];

    /// `median`, `mean` or `most-frequent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::MostFrequent => "most-frequent",
        }
    }
}

impl fmt::Display for Impute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Impute {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|way| way.name() == name)
            .ok_or_else(|| format!("`{name}` is not median, mean or most-frequent"))
    }
}
