//! Problems, certificates and screening.

mod alone;
mod bias;
mod certificate;
mod gap_screening;
mod gradient;
mod simplex;
mod start;
