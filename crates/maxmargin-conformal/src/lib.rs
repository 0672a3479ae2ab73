//! Conformal prediction from held-out scores (layer 0 of maxmargin).
//!
#![doc = include_str!("../README.md")]
//!
//! # Main types, in reading order
//!
//! - [`Level`]: the share α of predictions that may miss the truth, and the ranks that it means.
//! - [`CrossScores`]: the scores of rows by fold (and by category), from machines that did not see
//!   them. They give intervals ([`CrossScores::interval`]) and p-values
//!   ([`CrossScores::p_value`]).
//! - [`held_out_thresholds`]: what each fold's rows are compared with to estimate coverage.
//! - [`ConformalScore`]: the kinds of scores; [`adaptive_score`] is APS and RAPS of probabilities.
//! - [`discoveries`]: Benjamini–Hochberg's choice of p-values.

mod adaptive;
mod error;
mod fdr;
mod level;
mod score;
mod scores;

pub use adaptive::{Penalty, adaptive_score, share_of_row};
pub use error::ConformalError;
pub use fdr::{adjusted, discoveries};
pub use level::Level;
pub use score::ConformalScore;
pub use scores::{Band, CrossScores, HeldOutThresholds, Interval, held_out_thresholds};
