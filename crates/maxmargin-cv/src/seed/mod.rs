//! Alpha seeding: a feasible start for the training of a fold, from a known solution.
//!
//! All seedings lead to the solution of a cold start, within the tolerance. They differ in the
//! number of iterations that remain.

mod ato;
mod avg;
pub(crate) mod bounded;
pub(crate) mod dec;
mod full;
mod mir;
pub(crate) mod problem;
pub(crate) mod row_boxes;
pub(crate) mod rows;
mod sir;
mod start_draft;
mod top;
#[cfg(test)]
mod worked;

use crate::seed::problem::{FoldProblem, Trained};
use crate::seed::sir::Replacement;
use crate::seed::start_draft::SeedResult;

/// The method that finds the start of each fold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seeding {
    /// α = 0.
    Cold,
    /// From the model of all data: removed α are spread evenly over the free ones (`DeCoste` and
    /// Wagstaff 2000).
    Avg,
    /// From the model of all data: removed α are given to the most similar remaining samples (Lee
    /// et al. 2004).
    Top,
    /// From the previous fold: each α that leaves goes to the most similar sample that enters, of
    /// its label and not used yet, if their kernel value is positive (Wen et al. 2017, SIR as
    /// printed in algorithm 3).
    Sir,
    /// As [`Self::Sir`], but a sample that enters takes an α whatever its kernel value, and of the
    /// other label if none of the same is left.
    SirAll,
    /// From the previous fold: the α that enter solve a least-squares problem (Wen et al. 2017,
    /// MIR), by conjugate gradients up to a relative residual of 10⁻³ instead of the paper's
    /// inverse.
    Mir,
    /// From the previous fold: the exact path along which the α of leaving samples go to 0 and
    /// those of entering samples grow (Wen et al. 2017, ATO), up to a limit on its cost.
    Ato,
    /// From the model of all data: the whole exact decremental path. The result needs no SMO, since
    /// its KKT violation is only rounding.
    Dec,
    /// From the model of all data: at a fixed bias, the samples that violate most after the removal
    /// take over the removed α (see `docs/math/seeding.md`). Folds do not wait for each other.
    #[default]
    Full,
}

/// The solution that a seeding needs before a fold can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSource {
    /// No solution.
    Nothing,
    /// The model of all data.
    AllData,
    /// The solution of the previous fold.
    PreviousFold,
}

impl Seeding {
    /// Every seeding, by the name used on the command line and in reports.
    pub const ALL: [(&'static str, Self); 9] = [
        ("cold", Self::Cold),
        ("avg", Self::Avg),
        ("top", Self::Top),
        ("sir", Self::Sir),
        ("sir-all", Self::SirAll),
        ("mir", Self::Mir),
        ("ato", Self::Ato),
        ("dec", Self::Dec),
        ("full", Self::Full),
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, seeding)| *seeding == self).map_or("", |(name, _)| name)
    }

    /// Returns one line of help for users.
    pub fn help(self) -> &'static str {
        match self {
            Self::Cold => "from zero",
            Self::Avg => "spread the removed alphas evenly",
            Self::Top => "move the removed alphas to the most similar samples",
            Self::Sir => "from the previous fold, replacing samples one by one by similar ones",
            Self::SirAll => "from the previous fold, replacing samples one by one, similar or not",
            Self::Mir => "from the previous fold, by least squares",
            Self::Ato => "from the previous fold, along the exact path while that is faster",
            Self::Dec => "train on all data once, reach every fold along the exact decremental path",
            Self::Full => "train on all data once, derive every fold from it",
        }
    }

    /// The solution that must exist before a fold can start.
    pub fn source(self) -> SeedSource {
        match self {
            Self::Cold => SeedSource::Nothing,
            Self::Avg | Self::Top | Self::Full | Self::Dec => SeedSource::AllData,
            Self::Sir | Self::SirAll | Self::Mir | Self::Ato => SeedSource::PreviousFold,
        }
    }

    /// A feasible point for the training set of `fold`, from a solution whose training set was
    /// without `from.hidden`. `None` if the seeding has no point; the fold then starts cold.
    ///
    /// # Errors
    ///
    /// When the run was cancelled, or an exact path does not fit into its memory.
    pub(crate) fn draft<'a>(self, from: &Trained, fold: FoldProblem<'a>) -> SeedResult<'a> {
        match self {
            Self::Cold => Ok(None),
            Self::Avg => avg::seed(from, fold),
            Self::Top => top::seed(from, fold),
            Self::Sir => sir::seed(Replacement::Similar, from, fold),
            Self::SirAll => sir::seed(Replacement::Always, from, fold),
            Self::Mir => mir::seed(from, fold),
            Self::Ato => ato::seed(from, fold),
            Self::Dec => dec::seed(from, fold),
            Self::Full => full::seed(from, fold),
        }
    }
}
