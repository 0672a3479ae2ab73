//! Models: predictions, both file forms, files of earlier formats.

mod common;
mod file;
mod libsvm;
mod predict;
mod probability;
