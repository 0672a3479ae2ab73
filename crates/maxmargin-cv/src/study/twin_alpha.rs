//! α of regression samples with two positive variables, which their coefficients do not tell.

use maxmargin_core::Problem;
use maxmargin_data::codec;
use maxmargin_model::{Model, ModelError};
use serde::{Deserialize, Serialize};

/// The name of the section in a model file.
const TAG: [u8; 8] = *b"twins\0\0\0";

/// α of one sample with two positive variables. Its coefficient is `up − down`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TwinAlpha {
    /// The row of the sample.
    row: u64,
    up: f64,
    down: f64,
}

/// The samples with two positive variables, for each machine. Only a ν-SVR whose tube has the width
/// 0 has such samples: what their variables have in common is a part of the sums that ν asks for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TwinSamples(Vec<Vec<TwinAlpha>>);

impl TwinAlpha {
    /// The samples with two positive variables in a solution of `problem`, by their positions in
    /// its training set.
    pub(crate) fn all_of(problem: &Problem, alpha: &[f64]) -> Vec<Self> {
        let (up, down) = alpha.split_at(problem.samples());
        let both = up.iter().zip(down).enumerate().filter(|(_, (up, down))| **up > 0.0 && **down > 0.0);
        both.map(|(k, (&up, &down))| Self { row: k as u64, up, down }).collect()
    }

    /// Replaces the position of the sample by its row of the data.
    pub(crate) fn at(self, row_of: impl Fn(usize) -> usize) -> Self {
        Self { row: row_of(self.row as usize) as u64, ..self }
    }
}

impl TwinSamples {
    /// Stores the samples of every machine in the model, if there are any.
    pub(crate) fn put_into(machines: Vec<Vec<TwinAlpha>>, model: Model) -> Result<Model, ModelError> {
        if machines.iter().all(Vec::is_empty) {
            return Ok(model);
        }
        let bytes = codec::encode(&Self(machines)).map_err(|e| ModelError::Content(e.to_string()))?;
        Ok(model.with_section(TAG, bytes))
    }

    /// The samples that a model stores.
    ///
    /// # Errors
    ///
    /// A message, when the bytes are damaged.
    pub(crate) fn of(model: &Model) -> Result<Self, String> {
        let Some(bytes) = model.section(TAG) else { return Ok(Self::default()) };
        codec::decode(bytes, bytes.len()).map_err(|e| format!("the α of both variables of samples are damaged: {e}"))
    }

    /// Replaces the coefficient of each sample of machine `p` by its two parts.
    ///
    /// # Errors
    ///
    /// A message, when two parts do not make the coefficient, or a sample is none of `rows`.
    pub(crate) fn split(&self, p: usize, terms: &mut Vec<(usize, f64)>, rows: usize) -> Result<(), String> {
        let Some(twins) = self.0.get(p).filter(|twins| !twins.is_empty()) else { return Ok(()) };
        let mut coef = vec![0.0; rows];
        terms.iter().for_each(|&(row, own)| coef[row] += own);
        for &TwinAlpha { row, up, down } in twins {
            let own = usize::try_from(row).ok().and_then(|row| coef.get_mut(row));
            let own = own.ok_or_else(|| {
                format!("two variables are said to be those of row {}, but there are {rows} rows", row.saturating_add(1))
            })?;
            if !(up > 0.0 && down > 0.0 && up - down == *own) {
                return Err(format!("the two variables of row {} do not make its coefficient", row + 1));
            }
            *own = 0.0;
        }
        *terms = coef.into_iter().enumerate().filter(|(_, coef)| *coef != 0.0).collect();
        let parts = twins.iter().flat_map(|twin| [(twin.row as usize, twin.up), (twin.row as usize, -twin.down)]);
        terms.extend(parts);
        Ok(())
    }
}
