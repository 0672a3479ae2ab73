//! What commands print: JSON documents and tables.

mod document;
mod kernel;
mod probability;
mod table;
mod tabular;
mod text;
mod validated;

pub(crate) use document::{
    DataDocument, End, FormulationDocument, MachineDocument, SCHEMA, SampleWeights, Seconds, Setup, Solved, Work, goal_text,
};
pub(crate) use kernel::KernelDocument;
pub(crate) use probability::{calibration_text, reliability_table, reliability_text, threshold_text};
pub(crate) use table::{Align, columns, fields};
pub(crate) use tabular::{ModelColumn, TableDocument, columns_table, model_columns, model_columns_table};
pub(crate) use text::{
    SHOWN, STATIONARY, certain_text, certificates, confusion_table, cost_text, data_line, machines_table, scaling_text,
    scheme_text, setup_line, words, work_text,
};
pub(crate) use validated::{Scores, Validated};
