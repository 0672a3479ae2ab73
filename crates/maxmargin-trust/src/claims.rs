//! Certificates against arithmetic of twice the precision. Random small problems at the limits of
//! numbers are trained, and independent code computes every claim of the certificate again.
//!
//! Two claims are checked. A certificate that holds has a violation of at most twice the tolerance.
//! An optimal one has a gap of at most [`GAP`], and a search finds no feasible point that is better
//! than its primal objective allows.

mod check;
mod double;
mod problem;

pub use problem::Problem;

/// Twice the relative gap up to which certificates call a point optimal.
pub const GAP: f64 = 0.02;

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The problems tried.
    pub cases: u64,
    /// The problems refused with an error.
    pub refused: u64,
    /// The certificates that hold.
    pub held: u64,
    /// The certificates that call the point optimal.
    pub optimal: u64,
}

/// Tries `cases` problems of a seed.
///
/// # Errors
///
/// The first false claim, in one line that names the case.
pub fn run(cases: u64, seed: u64) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for number in 0..cases {
        let problem = Problem::draw(seed, number);
        let claim = check::check(&problem).map_err(|what| format!("case {number} of seed {seed}: {what}; {problem:?}"))?;
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
