//! The certificate of a point, recomputed from exact kernel values, and its consequences.

pub(crate) mod audit;
pub(crate) mod certify;
pub(crate) mod crammer_singer;
pub(crate) mod figures;
pub(crate) mod gap_screening;
pub(crate) mod gradient;
pub(crate) mod known;
pub(crate) mod margin;
pub(crate) mod rounding;
mod simplex;
pub(crate) mod solution;
pub(crate) mod twofold;
pub(crate) mod weights;
