//! The end of a run: goals, limits, progress, and the detection of runs that will not converge.

pub(crate) mod goal;
pub(crate) mod pace;
pub(crate) mod solver_control;
pub(crate) mod stop;
