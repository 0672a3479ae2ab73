//! Alpha seeding: a feasible start for a fold's training from a solution that is already there.
//!
//! All seeds lead to the same solution, that of a cold start to the tolerance; they differ in the
//! iterations still needed.

mod ato;
mod avg;
mod dec;
mod full;
mod mir;
pub(crate) mod problem;
pub(crate) mod row_boxes;
mod rows;
mod sir;
mod start_draft;
mod top;

pub(crate) use dec::exact;
pub(crate) use rows::SeedRows;
pub(crate) use start_draft::StartDraft;

use crate::seed::problem::{Fold, Trained};
use maxmargin_path::PathError;

/// What a seeding has to offer.
pub(crate) type SeedResult<'a> = Result<Option<StartDraft<'a>>, PathError>;

/// How the start of each fold is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Seeding {
    /// α = 0.
    Cold,
    /// From the model of all data: removed α spread evenly over the free ones (`DeCoste` and
    /// Wagstaff 2000).
    Avg,
    /// From the model of all data: removed α handed to the most similar remaining samples (Lee et
    /// al. 2004).
    Top,
    /// From the previous fold: each α that leaves goes to one similar sample that enters (Wen et
    /// al. 2017, SIR).
    Sir,
    /// From the previous fold: the α that enter solve a least-squares problem (Wen et al. 2017,
    /// MIR).
    Mir,
    /// From the previous fold: the exact path along which the samples that leave give up their α
    /// and those that enter take some (Wen et al. 2017, ATO), as far as it pays.
    Ato,
    /// From the model of all data: the exact decremental path, all the way. The result needs no
    /// SMO: its KKT violation is at rounding.
    Dec,
    /// From the model of all data: what a removed α leaves behind is absorbed at a fixed bias by
    /// the samples that its removal disturbs most (see `docs/math/seeding.md`). Folds do not wait
    /// for each other.
    #[default]
    Full,
}

/// What a seeding needs before a fold can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedSource {
    /// Nothing.
    Nothing,
    /// The model of all data.
    AllData,
    /// The solution of the previous fold.
    PreviousFold,
}

impl Seeding {
    /// Every seeding, by the name used on the command line and in reports.
    pub const ALL: [(&'static str, Self); 8] = [
        ("cold", Self::Cold),
        ("avg", Self::Avg),
        ("top", Self::Top),
        ("sir", Self::Sir),
        ("mir", Self::Mir),
        ("ato", Self::Ato),
        ("dec", Self::Dec),
        ("full", Self::Full),
    ];

    /// The name used on the command line and in reports.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, seeding)| *seeding == self).map_or("", |(name, _)| name)
    }

    /// What must be solved before a fold can start.
    pub fn source(self) -> SeedSource {
        match self {
            Self::Cold => SeedSource::Nothing,
            Self::Avg | Self::Top | Self::Full | Self::Dec => SeedSource::AllData,
            Self::Sir | Self::Mir | Self::Ato => SeedSource::PreviousFold,
        }
    }

    /// A feasible point for the training set of `fold`, from a solution whose training set was
    /// without `from.hidden`.
    ///
    /// Nothing when the seeding has none to offer (a cold start then).
    ///
    /// # Errors
    ///
    /// When nobody wants it any more, or an exact path does not fit into its memory.
    pub(crate) fn draft<'a>(self, from: &Trained, fold: Fold<'a>) -> SeedResult<'a> {
        match self {
            Self::Cold => Ok(None),
            Self::Avg => avg::seed(from, fold),
            Self::Top => top::seed(from, fold),
            Self::Sir => sir::seed(from, fold),
            Self::Mir => mir::seed(from, fold),
            Self::Ato => ato::seed(from, fold),
            Self::Dec => dec::seed(from, fold),
            Self::Full => full::seed(from, fold),
        }
    }
}
