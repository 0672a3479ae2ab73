//! The results of a verification.

use maxmargin_core::{Certificate, GapScreening};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// One statement of a model, compared with the recomputed value.
///
/// The serialised form also has the `state`: `ok`, `mismatch` or `not_checked`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The short name of the statement.
    pub what: &'static str,
    /// True if the statement is right; `None` if it cannot be checked.
    pub passed: Option<bool>,
    /// Both sides, as text.
    pub detail: String,
}

/// The verification of one machine.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MachineVerdict {
    /// The index of the machine in the model.
    pub machine: usize,
    /// The two labels of the machine, if there are classes. Decision values of 0 and above mean the
    /// second. The first is `None` if it stands for all other labels.
    pub labels: Option<(Option<f64>, f64)>,
    /// The certificate recomputed from the data and the model's coefficients.
    pub certificate: Certificate,
    /// The certificate in the model's record.
    pub stored: Option<Certificate>,
    /// True if the recomputed certificate meets the goal.
    pub met: bool,
    /// The labels fixed at every optimum, by gap screening, if known.
    pub fixed_labels: Option<GapScreening>,
}

impl Check {
    /// A check with a result.
    pub(super) fn new(what: &'static str, passed: bool, detail: String) -> Self {
        Self { what, passed: Some(passed), detail }
    }

    /// `ok`, `MISMATCH` or `not checked`, as text.
    pub fn word(&self) -> &'static str {
        match self.passed {
            Some(true) => "ok",
            Some(false) => "MISMATCH",
            None => "not checked",
        }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = match self.passed {
            Some(true) => "ok",
            Some(false) => "mismatch",
            None => "not_checked",
        };
        let mut fields = serializer.serialize_struct("Check", 4)?;
        fields.serialize_field("what", self.what)?;
        fields.serialize_field("passed", &self.passed)?;
        fields.serialize_field("state", state)?;
        fields.serialize_field("detail", &self.detail)?;
        fields.end()
    }
}
