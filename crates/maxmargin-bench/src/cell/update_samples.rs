//! Which samples of a trained model come and leave.

use serde::Deserialize;

/// Which samples come and leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UpdateSamples {
    /// The oldest leave, the next of the file come.
    #[default]
    Order,
    /// Samples with α = C in the model of all, drawn with the seed: those that come were taken out
    /// of it before.
    Bounded,
    /// The same of samples with 0 < α < C.
    Free,
    /// The same of samples with α = 0.
    Zero,
}

impl UpdateSamples {
    /// Whether a sample with this α is one of those that are drawn.
    pub(crate) fn takes(self, alpha: f64, c: f64) -> bool {
        match self {
            Self::Order => false,
            Self::Bounded => alpha >= c,
            Self::Free => alpha > 0.0 && alpha < c,
            Self::Zero => alpha <= 0.0,
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Order => "any alpha",
            Self::Bounded => "alpha = C",
            Self::Free => "0 < alpha < C",
            Self::Zero => "alpha = 0",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::UpdateSamples;

    #[test]
    fn every_sample_is_of_one_kind() {
        let kinds =
            |alpha| [UpdateSamples::Zero, UpdateSamples::Free, UpdateSamples::Bounded].map(|pick| pick.takes(alpha, 10.0));
        assert_eq!(kinds(0.0), [true, false, false]);
        assert_eq!(kinds(1e-9), [false, true, false]);
        assert_eq!(kinds(10.0), [false, false, true]);
    }
}
