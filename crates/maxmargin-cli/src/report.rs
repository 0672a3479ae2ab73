//! What commands print: JSON documents and tables.

mod document;
mod end;
mod table;
mod text;
mod update;

pub(crate) use document::{Certified, Confusion, CvDocument, DataDocument, KernelDocument, TrainDocument, status_name};
pub(crate) use end::End;
pub(crate) use table::{Align, columns, fields};
pub(crate) use text::{cv_report, data_line, loo_report, scaling_text, train_report, words};
pub(crate) use update::{UpdateDocument, update_report};
