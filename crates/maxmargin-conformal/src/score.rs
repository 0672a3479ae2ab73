//! The kinds of scores, and their names.

use crate::adaptive::Penalty;
use crate::error::ConformalError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The score that tells how badly a row fits, by a name of users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ConformalScore {
    /// The negative margin of a class, the absolute error of a value, or the distance to a range.
    #[default]
    Plain,
    /// The absolute error of a value, divided by the error that a second machine predicts: locally
    /// weighted intervals.
    Scaled,
    /// The sum of the probabilities of the classes up to it: APS, or RAPS with a penalty
    /// ([`adaptive_score`](crate::adaptive_score)).
    Adaptive(Penalty),
}

impl ConformalScore {
    /// The score APS.
    pub const APS: Self = Self::Adaptive(Penalty::NONE);
}

/// `plain`, `scaled`, `aps`, or `raps:WEIGHT:FREE`.
impl fmt::Display for ConformalScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("plain"),
            Self::Scaled => f.write_str("scaled"),
            Self::Adaptive(penalty) if penalty.weight == 0.0 => f.write_str("aps"),
            Self::Adaptive(Penalty { weight, free }) => write!(f, "raps:{weight}:{free}"),
        }
    }
}

/// Reads the names of [`ConformalScore`]'s display; `raps` alone has the usual penalty.
impl FromStr for ConformalScore {
    type Err = ConformalError;

    fn from_str(text: &str) -> Result<Self, ConformalError> {
        let unknown = || ConformalError::UnknownScore(text.to_owned());
        match text {
            "plain" => return Ok(Self::Plain),
            "scaled" => return Ok(Self::Scaled),
            "aps" => return Ok(Self::APS),
            "raps" => return Ok(Self::Adaptive(Penalty::USUAL)),
            _ => {}
        }
        let numbers = text.strip_prefix("raps:").and_then(|rest| rest.split_once(':')).ok_or_else(unknown)?;
        let weight = numbers.0.parse().map_err(|_| unknown())?;
        let free = numbers.1.parse().map_err(|_| unknown())?;
        let penalty = Penalty { weight, free };
        if penalty.is_valid() { Ok(Self::Adaptive(penalty)) } else { Err(unknown()) }
    }
}

impl TryFrom<String> for ConformalScore {
    type Error = ConformalError;

    fn try_from(text: String) -> Result<Self, ConformalError> {
        text.parse()
    }
}

impl From<ConformalScore> for String {
    fn from(score: ConformalScore) -> Self {
        score.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (text, written) in [
            ("plain", "plain"),
            ("scaled", "scaled"),
            ("aps", "aps"),
            ("raps", "raps:0.1:1"),
            ("raps:0.25:3", "raps:0.25:3"),
            ("raps:0:9", "aps"),
        ] {
            let score: ConformalScore = text.parse().expect("a score");
            assert_eq!(score.to_string(), written);
            assert_eq!(score.to_string().parse::<ConformalScore>().expect("a score").to_string(), written);
        }
        for text in ["", "APS", "raps:", "raps:1", "raps:-1:2", "raps:nan:2", "raps:inf:2", "raps:0.1:-1", "aps:0.1:1"] {
            let error = text.parse::<ConformalScore>().expect_err("no score").to_string();
            assert!(error.contains("raps:WEIGHT:FREE"), "{error}");
        }
    }
}
