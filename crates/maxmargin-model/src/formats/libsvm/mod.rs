//! LIBSVM's model text as input and output.
//!
//! Numbers are written so that they read back to the same bits; LIBSVM itself keeps only eight
//! digits of support vectors. The text has no place for a scaler, a record or sections: they are
//! left out (write the scaler to a range file next to the model). The calibrations of the text are
//! Platt's sigmoid for classes, the Laplace scale for regression and the density marks for one
//! class.

mod layout;
mod read;
mod write;

pub use layout::decision_values;
pub use read::read_model;
pub(crate) use write::write_alone;
pub use write::{kernel_lines, write_model};

use crate::decision::DecisionRule;
use crate::model::Model;
use crate::parts::Section;
use maxmargin_core::Formulation;

/// LIBSVM's `svm_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    CSvc,
    NuSvc,
    OneClass,
    EpsilonSvr,
    NuSvr,
}

/// The tag of the section that stores the type of a model read from LIBSVM's text, if its decision
/// rule does not determine the type.
const TYPE_TAG: [u8; 8] = *b"svm_type";

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

    /// The decision rule of types that have one machine; `None` for classification.
    fn single_machine_rule(self) -> Option<DecisionRule> {
        match self {
            Self::CSvc | Self::NuSvc => None,
            Self::OneClass => Some(DecisionRule::Inlier),
            Self::EpsilonSvr | Self::NuSvr => Some(DecisionRule::Value),
        }
    }

    /// The section that stores the type; empty if the decision rule determines the type.
    fn sections(self) -> Vec<Section> {
        match self {
            Self::NuSvc | Self::NuSvr => vec![Section { tag: TYPE_TAG, bytes: self.name().as_bytes().to_vec() }],
            Self::CSvc | Self::OneClass | Self::EpsilonSvr => Vec::new(),
        }
    }

    /// Returns the type of a model, from its record, else its section, else its decision rule.
    fn of(model: &Model) -> Self {
        let trained = model.record().and_then(|record| match record.formulation {
            Formulation::Svc { .. } => Some(Self::CSvc),
            Formulation::NuSvc { .. } => Some(Self::NuSvc),
            Formulation::Svr { .. } => Some(Self::EpsilonSvr),
            Formulation::NuSvr { .. } => Some(Self::NuSvr),
            Formulation::OneClass { .. } => Some(Self::OneClass),
            // LIBSVM reads another formulation as a model with the same decision rule.
            _ => None,
        });
        let stored = || model.section(TYPE_TAG).and_then(|name| Self::named(std::str::from_utf8(name).ok()?));
        let by_rule = match model.decision_rule() {
            DecisionRule::Vote | DecisionRule::Argmax | DecisionRule::Coupled | DecisionRule::Threshold => Self::CSvc,
            DecisionRule::Inlier => Self::OneClass,
            DecisionRule::Value => Self::EpsilonSvr,
        };
        // A section can contain any bytes: a type that contradicts the decision rule is ignored.
        let fits = |kind: &Self| kind.single_machine_rule() == by_rule.single_machine_rule();
        trained.or_else(stored).filter(fits).unwrap_or(by_rule)
    }
}

/// The first words of header lines.
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

/// Returns true if the first words of `bytes` can begin a LIBSVM model. Tables of predictions begin
/// with `label` too, but no number follows there.
pub fn looks_like_model(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(64)];
    let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return false };
    let is_number = |word: &[u8]| word.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    HEADER.iter().any(|known| known.as_bytes() == first) && (first != b"label" || words.next().is_some_and(is_number))
}
