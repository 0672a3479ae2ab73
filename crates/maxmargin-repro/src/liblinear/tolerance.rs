//! Tolerances of both programs, and the loosest one whose solution is within a gap.

use crate::workspace::failure::Outcome;
use serde::{Deserialize, Serialize};

/// The relative gap at the default tolerance of our program.
pub(crate) const DEFAULT_GAP: f64 = 1e-6;

/// The largest gap that our program can be asked for.
const LARGEST_GAP: f64 = 1e-2;

/// Tolerances of LIBLINEAR that are tried: half decades from ten times its default.
const TRIED: u8 = 19;

/// Returns LIBLINEAR's default of `-e`.
pub(crate) fn default(solver: u8) -> f64 {
    match solver {
        0 | 2 | 5 | 6 | 21 => 0.01,
        11 => 0.0001,
        _ => 0.1,
    }
}

/// Returns LIBLINEAR's tolerances, the loosest first.
pub(crate) fn theirs(solver: u8) -> Vec<f64> {
    (0..TRIED).map(|k| default(solver) * 10_f64.powf(1.0 - 0.5 * f64::from(k))).collect()
}

/// Returns our tolerances: those of ten, of three times the gap and of the gap itself.
pub(crate) fn ours(solver: u8, gap: f64) -> Vec<f64> {
    let of = |factor: f64| default(solver) * (factor * gap).min(LARGEST_GAP) / DEFAULT_GAP;
    vec![of(10.0), of(10_f64.sqrt()), of(1.0)]
}

/// One training.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Trial {
    /// It ended. At the limit of sweeps of all its columns, a smaller tolerance gives nothing more.
    Ended { gap: f64, seconds: f64, capped: bool },
    /// The time limit ended it.
    OverTime { seconds: f64 },
    /// The program does not have this solver.
    Refused(String),
}

/// A training within the gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Within {
    pub(crate) epsilon: f64,
    pub(crate) gap: f64,
    pub(crate) seconds: f64,
}

/// The reason why no training was within the gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum End {
    /// The program's limit of sweeps.
    Cap,
    /// The time limit of the measurement.
    Limit,
    /// The smallest tolerance.
    Tolerance,
}

/// The result of all tolerances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reach {
    Within(Within),
    /// The tolerance and the seconds of the last training, and the smallest gap, none without a
    /// training that ended.
    Short {
        epsilon: f64,
        gap: Option<f64>,
        seconds: f64,
        end: End,
    },
    Refused(String),
}

impl Reach {
    /// Returns the tolerance whose seconds are measured again, none without a training that ended.
    pub(crate) fn repeated(&self) -> Option<f64> {
        match self {
            Self::Within(Within { epsilon, .. }) => Some(*epsilon),
            Self::Short { epsilon, end, .. } if *end != End::Limit => Some(*epsilon),
            _ => None,
        }
    }

    /// Sets the seconds of such a training.
    pub(crate) fn set_seconds(&mut self, best: f64) {
        let is_repeated = self.repeated().is_some();
        if let Self::Within(Within { seconds, .. }) | Self::Short { seconds, .. } = self
            && is_repeated
        {
            *seconds = best;
        }
    }
}

/// Trains at one tolerance after the other until a solution is within the gap.
pub(crate) fn first_within(gap: f64, tolerances: &[f64], mut train: impl FnMut(f64) -> Outcome<Trial>) -> Outcome<Reach> {
    let mut short = Reach::Short { epsilon: f64::NAN, gap: None, seconds: 0.0, end: End::Tolerance };
    let mut smallest: Option<f64> = None;
    for &epsilon in tolerances {
        match train(epsilon)? {
            Trial::Ended { gap: found, seconds, .. } if found <= gap => {
                return Ok(Reach::Within(Within { epsilon, gap: found, seconds }));
            }
            Trial::Ended { gap: found, seconds, capped } => {
                smallest = Some(smallest.map_or(found, |smallest| smallest.min(found)));
                let end = if capped { End::Cap } else { End::Tolerance };
                short = Reach::Short { epsilon, gap: smallest, seconds, end };
                if capped {
                    break;
                }
            }
            Trial::OverTime { seconds } => return Ok(Reach::Short { epsilon, gap: smallest, seconds, end: End::Limit }),
            Trial::Refused(reason) => return Ok(Reach::Refused(reason)),
        }
    }
    Ok(short)
}

/// Returns whether LIBLINEAR says of all its columns that they are at the limit of sweeps.
pub(crate) fn capped(output: &str, columns: usize) -> bool {
    let limit = |line: &&str| {
        let at = |what: &str| line.contains(&format!("reaching max number of {what}iterations"));
        at("") || at("Newton ")
    };
    // Of some solvers, another takes over.
    let goes_on = output.matches("Switching to use").count();
    output.lines().filter(limit).count() >= columns + goes_on
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liblinear::objective::SOLVERS;

    /// Trains from a list of trials; returns the result and the tolerances that were tried.
    fn tried(trials: &[Trial]) -> (Reach, Vec<f64>) {
        let mut tried = Vec::new();
        let reach = first_within(1e-3, &[1.0, 0.1, 0.01], |epsilon| {
            tried.push(epsilon);
            Ok(trials[tried.len() - 1].clone())
        });
        (reach.expect("no failure"), tried)
    }

    fn ended(gap: f64, seconds: f64, capped: bool) -> Trial {
        Trial::Ended { gap, seconds, capped }
    }

    #[test]
    fn the_first_within_the_gap_is_taken() {
        let (reach, count) = tried(&[ended(1e-2, 1.0, false), ended(1e-3, 2.0, true), ended(1e-9, 9.0, false)]);
        assert_eq!(reach, Reach::Within(Within { epsilon: 0.1, gap: 1e-3, seconds: 2.0 }));
        assert_eq!(count, [1.0, 0.1]);
        // Rounding may leave a gap below 0.
        let (reach, count) = tried(&[ended(-1e-9, 1.0, false)]);
        assert!(matches!(reach, Reach::Within(Within { epsilon: 1.0, .. })) && count.len() == 1);
    }

    #[test]
    fn ends_without_it_have_a_reason_and_the_smallest_gap() {
        let (reach, count) = tried(&[ended(0.5, 1.0, false), ended(0.75, 2.0, true)]);
        assert_eq!((reach, count.len()), (Reach::Short { epsilon: 0.1, gap: Some(0.5), seconds: 2.0, end: End::Cap }, 2));
        let (reach, count) = tried(&[ended(0.5, 1.0, false), ended(0.25, 2.0, false), ended(0.3, 3.0, false)]);
        assert_eq!((reach, count.len()), (Reach::Short { epsilon: 0.01, gap: Some(0.25), seconds: 3.0, end: End::Tolerance }, 3));
        let (reach, _) = tried(&[ended(0.5, 1.0, false), Trial::OverTime { seconds: 60.0 }]);
        assert_eq!(reach, Reach::Short { epsilon: 0.1, gap: Some(0.5), seconds: 60.0, end: End::Limit });
        let (reach, _) = tried(&[Trial::OverTime { seconds: 60.0 }]);
        assert_eq!(reach, Reach::Short { epsilon: 1.0, gap: None, seconds: 60.0, end: End::Limit });
        let (reach, _) = tried(&[Trial::Refused("unknown solver type".to_owned())]);
        assert_eq!(reach, Reach::Refused("unknown solver type".to_owned()));
        // Not-a-number is within no gap.
        assert!(matches!(tried(&[ended(f64::NAN, 1.0, true)]).0, Reach::Short { .. }));
    }

    #[test]
    fn seconds_are_measured_again_where_a_training_ended() {
        let mut cut = Reach::Short { epsilon: 0.1, gap: None, seconds: 60.0, end: End::Limit };
        let mut capped = Reach::Short { epsilon: 0.1, gap: Some(0.5), seconds: 2.0, end: End::Cap };
        let mut within = Reach::Within(Within { epsilon: 0.01, gap: 1e-4, seconds: 2.0 });
        assert_eq!([&cut, &capped, &within].map(Reach::repeated), [None, Some(0.1), Some(0.01)]);
        [&mut cut, &mut capped, &mut within].into_iter().for_each(|reach| reach.set_seconds(1.5));
        assert!(matches!(cut, Reach::Short { seconds: 60.0, .. }));
        assert!(matches!(capped, Reach::Short { seconds: 1.5, .. }));
        assert!(matches!(within, Reach::Within(Within { seconds: 1.5, .. })));
    }

    #[test]
    fn caps_are_those_of_all_columns_that_nothing_takes_over() {
        let cap = "WARNING: reaching max number of iterations\n";
        assert!(capped(cap, 1) && capped(&cap.repeat(3), 3) && !capped(&cap.repeat(2), 3) && !capped("", 1));
        assert!(capped("WARNING: reaching max number of Newton iterations\n", 1));
        assert!(!capped("WARNING: reaching max number of inner iterations\n", 1));
        assert!(!capped("WARNING: reaching maximal number of CG steps\n", 1));
        assert!(!capped(&format!("{cap}Switching to use -s 2\n"), 1));
    }

    #[test]
    fn tolerances_fall() {
        assert!(SOLVERS.iter().all(|solver| theirs(*solver).is_sorted_by(|a, b| a > b)));
        let first = theirs(3);
        assert!((first[0] - 1.0).abs() < 1e-12 && (first[2] - 0.1).abs() < 1e-12 && (first[18] - 1e-9).abs() < 1e-18);
        let gaps: Vec<f64> = ours(2, 1e-3).iter().map(|epsilon| epsilon / default(2) * DEFAULT_GAP).collect();
        assert!((gaps[0] - 1e-2).abs() < 1e-12 && (gaps[2] - 1e-3).abs() < 1e-12 && gaps.is_sorted_by(|a, b| a > b));
        // None is looser than what our program takes.
        assert!(ours(0, 0.1).iter().all(|epsilon| (epsilon - 100.0).abs() < 1e-9));
    }
}
