//! Files of models: the native format, LIBSVM's text and LIBLINEAR's text.

pub mod file;
pub mod liblinear;
pub mod libsvm;
