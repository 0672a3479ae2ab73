//! The report of `update`.

use super::document::{Certified, status_name};
use super::end::End;
use super::table::fields;
use crate::format;
use maxmargin::core::Status;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct UpdateDocument {
    pub(crate) model: String,
    pub(crate) rows_before: usize,
    pub(crate) rows: usize,
    pub(crate) added: usize,
    /// Number of the first sample added.
    pub(crate) first_number: u64,
    pub(crate) removed: usize,
    pub(crate) c: f64,
    pub(crate) status: Status,
    pub(crate) breakpoints: usize,
    pub(crate) zero_steps: usize,
    pub(crate) exchanges: usize,
    /// Changes of the sets by the finish after the path.
    pub(crate) repairs: usize,
    /// The same when the stored solution was made exact.
    pub(crate) opening_repairs: usize,
    pub(crate) columns: u64,
    pub(crate) margin: usize,
    pub(crate) bounded: usize,
    pub(crate) support_vectors: usize,
    pub(crate) tolerance: f64,
    pub(crate) certificate: Certified,
    pub(crate) total_seconds: f64,
    #[serde(flatten)]
    pub(crate) end: End,
}

/// The report of `update`.
pub(crate) fn update_report(d: &UpdateDocument) -> String {
    let count = |n: usize| format::count(n as u64);
    let added = match d.added {
        0 => "none".to_owned(),
        1 => format!("1, with the number {}", d.first_number),
        n => format!("{}, with the numbers {}-{}", count(n), d.first_number, d.first_number + n as u64 - 1),
    };
    let verdict = if d.certificate.holds { "holds" } else { "does not meet the tolerance" };
    let rows = [
        ("samples", format!("{} before, {} now", count(d.rows_before), count(d.rows))),
        ("added", added),
        ("removed", if d.removed == 0 { "none".to_owned() } else { count(d.removed) }),
        ("C", format::exact(d.c)),
        ("status", status_name(d.status).to_owned()),
        (
            "path",
            format!(
                "{} breakpoints ({} of length 0, {} exchanges); set changes before it {}, after it {}",
                count(d.breakpoints),
                count(d.zero_steps),
                count(d.exchanges),
                count(d.opening_repairs),
                count(d.repairs)
            ),
        ),
        (
            "certificate",
            format!(
                "{verdict}: KKT violation {} (tolerance {}), relative gap {}",
                format::short(d.certificate.kkt),
                format::short(d.tolerance),
                format::short(d.certificate.relative_gap)
            ),
        ),
        (
            "support vectors",
            format!(
                "{} of {}, {} at C, {} in the margin",
                count(d.support_vectors),
                count(d.rows),
                count(d.bounded),
                count(d.margin)
            ),
        ),
        ("kernel columns", count(d.columns as usize)),
        ("time", format::seconds(d.total_seconds)),
        ("peak memory", format::bytes(d.end.peak_rss_bytes)),
        ("model", d.model.clone()),
    ];
    fields(&rows)
}
