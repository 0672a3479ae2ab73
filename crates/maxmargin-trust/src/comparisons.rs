//! Trainings compared with LIBSVM's and LIBLINEAR's programs.

pub mod differential;
pub mod ill_conditioned;
pub mod table;
