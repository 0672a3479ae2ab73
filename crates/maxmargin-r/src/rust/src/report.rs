//! Certificates as lists of columns, one row for each machine or fold.

use crate::value::Value;
use maxmargin::core::Status;
use maxmargin::cv::CertificateReport;

/// A certificate with the status of its run.
pub(crate) struct CertifiedRun {
    pub(crate) certificate: CertificateReport,
    pub(crate) status: Status,
    pub(crate) iterations: u64,
}

/// Returns the columns of a table of certificates.
pub(crate) fn certificates(runs: &[CertifiedRun]) -> Value {
    let numbers = |of: &dyn Fn(&CertifiedRun) -> f64| Value::Reals(runs.iter().map(of).collect());
    Value::List(vec![
        ("primal", numbers(&|run| run.certificate.primal)),
        ("dual", numbers(&|run| run.certificate.dual)),
        ("relative_gap", numbers(&|run| run.certificate.relative_gap)),
        ("kkt", numbers(&|run| run.certificate.kkt)),
        ("infeasible", numbers(&|run| run.certificate.infeasible)),
        ("holds", Value::Logicals(runs.iter().map(|run| run.certificate.holds).collect())),
        ("status", Value::Texts(runs.iter().map(|run| word(run.status).to_owned()).collect())),
        ("iterations", numbers(&|run| run.iterations as f64)),
    ])
}

/// Returns the name of a status.
fn word(of: Status) -> &'static str {
    match of {
        Status::Converged => "converged",
        Status::IterationLimit => "iteration_limit",
        Status::TimeLimit => "time_limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "stalled",
        Status::Slow => "slow",
    }
}
