//! Certificates against arithmetic of twice the precision: random small problems at the borders of
//! what numbers can hold are trained, and every claim of the certificate is computed again by code
//! that shares nothing with the product.
//!
//! Two claims are checked. A certificate that holds has a violation of at most twice the tolerance.
//! An optimal one has a gap of at most [`GAP`], and a search finds no feasible point that is better
//! than its primal objective allows.

mod double;
mod judge;
mod problem;

pub use problem::Problem;

/// The relative gap up to which certificates say that a point is optimal, and twice that.
pub const GAP: f64 = 0.02;

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Problems that were tried.
    pub cases: u64,
    /// Problems that were refused with an error.
    pub refused: u64,
    /// Certificates that hold.
    pub held: u64,
    /// Certificates that say that the point is optimal.
    pub optimal: u64,
}

/// Tries `cases` problems of a seed.
///
/// # Errors
///
/// The first claim that is not so, in one line that names the case.
pub fn run(cases: u64, seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for number in 0..cases {
        let problem = Problem::draw(seed, number);
        let claim = judge::judge(&problem).map_err(|what| format!("case {number} of seed {seed}: {what}; {problem:?}"))?;
        counts.cases += 1;
        match claim {
            None => counts.refused += 1,
            Some((held, optimal)) => {
                counts.held += u64::from(held);
                counts.optimal += u64::from(optimal);
            }
        }
    }
    Ok(counts)
}
