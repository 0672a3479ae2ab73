//! LIBSVM's model text, in and out.
//!
//! Numbers are written so that they read back to the same bits; LIBSVM itself keeps only eight
//! digits of support vectors. The text has no place for a scaler, a record or sections: they are
//! left out (write the scaler as a range file beside it). Probabilities are Platt's there, the
//! errors of a regression Laplace's, and those of one class its marks.

mod layout;
mod read;
mod write;

pub use layout::decision_values;
pub use read::read_model;
pub use write::{kernel_lines, write_model};

use crate::decision::DecisionRule;
use crate::model::Model;
use crate::parts::Section;
use maxmargin_core::Formulation;

/// LIBSVM's types of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CSvc,
    NuSvc,
    OneClass,
    EpsilonSvr,
    NuSvr,
}

/// Where a model that came from LIBSVM's text keeps a type that its rule does not tell.
const KEPT: [u8; 8] = *b"svm_type";

impl Kind {
    const ALL: [(&'static str, Self); 5] = [
        ("c_svc", Self::CSvc),
        ("nu_svc", Self::NuSvc),
        ("one_class", Self::OneClass),
        ("epsilon_svr", Self::EpsilonSvr),
        ("nu_svr", Self::NuSvr),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }

    /// The rule of machines that do not vote.
    fn decides_alone(self) -> Option<DecisionRule> {
        match self {
            Self::CSvc | Self::NuSvc => None,
            Self::OneClass => Some(DecisionRule::Inlier),
            Self::EpsilonSvr | Self::NuSvr => Some(DecisionRule::Value),
        }
    }

    /// What a model keeps of its type: nothing where the rule tells.
    fn kept(self) -> Vec<Section> {
        match self {
            Self::NuSvc | Self::NuSvr => vec![Section { tag: KEPT, bytes: self.name().as_bytes().to_vec() }],
            Self::CSvc | Self::OneClass | Self::EpsilonSvr => Vec::new(),
        }
    }

    /// The type of a model: by its record, by what it keeps, by its rule.
    fn of(model: &Model) -> Self {
        let trained = model.record().map(|record| match record.formulation {
            Formulation::NuSvc { .. } => Self::NuSvc,
            Formulation::Svr { .. } => Self::EpsilonSvr,
            Formulation::NuSvr { .. } => Self::NuSvr,
            Formulation::OneClass { .. } => Self::OneClass,
            _ => Self::CSvc,
        });
        let kept = || model.section(KEPT).and_then(|name| Self::named(std::str::from_utf8(name).ok()?));
        let ruled = match model.decision_rule() {
            DecisionRule::Vote | DecisionRule::Argmax | DecisionRule::Coupled | DecisionRule::Threshold => Self::CSvc,
            DecisionRule::Inlier => Self::OneClass,
            DecisionRule::Value => Self::EpsilonSvr,
        };
        // A section is anybody's bytes: it may choose among the types of the rule.
        let fits = |kind: &Self| kind.decides_alone() == ruled.decides_alone();
        trained.or_else(kept).filter(fits).unwrap_or(ruled)
    }
}

/// The words that begin a header line.
const HEADER: [&str; 13] = [
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
];

/// Whether the first word of `bytes` is one that begins a LIBSVM model.
pub fn looks_like_model(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64)];
    let word = head.split(u8::is_ascii_whitespace).find(|w| !w.is_empty());
    word.is_some_and(|w| HEADER.iter().any(|h| h.as_bytes() == w))
}
