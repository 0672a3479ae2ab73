//! The estimators and searches of the top-level crate.

mod adaptive_sets;
mod balanced;
mod conformal;
mod conformal_groups;
mod formulations;
mod frankwolfe;
mod full_conformal;
mod goals;
mod importance;
mod irwls;
mod levels;
mod leverage;
mod linear_classifier;
#[cfg(feature = "linfa")]
mod linfa;
mod multiclass;
mod neighbours;
mod one_vs_rest;
mod options;
mod probability;
mod properties;
mod quantiles;
mod refusals;
mod refused_weights;
mod scaled_intervals;
mod search;
mod serialise;
mod tables;
mod threshold;
