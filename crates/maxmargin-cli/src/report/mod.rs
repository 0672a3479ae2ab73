//! The output of commands: JSON documents and tables.

pub(crate) mod advice;
mod certificate;
mod conformal;
mod delimited;
mod document;
mod formulation;
mod kernel;
mod levels;
mod machine_name;
pub(crate) mod missing_classes;
pub(crate) mod page;
mod probability;
mod table;
mod tabular;
mod text;
mod validated;

pub(crate) use certificate::{STATIONARY, certificate_text, fixed_labels_text};
pub(crate) use conformal::{conformal_text, coverage_text, score_text, warn_of_conformal};
pub(crate) use delimited::{delimiter_of, each_once, feature_names, free_names, label_text, machine_names, write_fields};
pub(crate) use document::{
    DataDocument, Detail, End, MachineDocument, SCHEMA, SampleWeights, Seconds, Setup, SolutionDocument, Work, goal_text,
    scale_name,
};
pub(crate) use formulation::FormulationDocument;
pub(crate) use kernel::KernelDocument;
pub(crate) use levels::levels_text;
pub(crate) use machine_name::{MachineName, MachineNames};
pub(crate) use probability::{calibration_text, reliability_table, reliability_text, threshold_text};
pub(crate) use table::{Align, columns, columns_without, fields, fits};
pub(crate) use tabular::{ModelColumn, TableDocument, columns_table, model_columns, model_columns_table};
pub(crate) use text::{
    SHOWN, confusion_table, cost_text, data_line, kernel_rows, machines_table, multiclass_text, scaling_text, setup_line,
    status_text, work_text,
};
pub(crate) use validated::{CvResults, Scores};
