//! What to do when a training did not reach its tolerance: how far off it is, and the one thing to try.

use crate::args::RunArgs;
use crate::format;
use maxmargin::core::Status;
use maxmargin::cv::CertificateReport;

/// The warning for a training that ended with `status` short of the tolerance of `run`.
pub(crate) fn unfinished(status: Status, certificate: &CertificateReport, run: &RunArgs) -> String {
    let far = format!(
        "KKT violation {}, {} times the tolerance {}; the objective is within {} % of the optimum",
        format::short(certificate.kkt),
        format::short(certificate.kkt / run.eps),
        format::short(run.eps),
        format::short(100.0 * certificate.relative_gap),
    );
    format!("{}: {far}; {}", reason(status), remedy(status, run))
}

fn reason(status: Status) -> &'static str {
    match status {
        Status::Converged => "the certificate misses the tolerance",
        Status::IterationLimit => "stopped at the iteration limit",
        Status::TimeLimit => "stopped at the time limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "no further progress is possible in this precision",
    }
}

/// One option to change.
fn remedy(status: Status, run: &RunArgs) -> String {
    match status {
        Status::IterationLimit => {
            format!("try --max-iter {}, or scale the features (--scale minmax)", 10 * run.max_iter.unwrap_or(1_000_000))
        }
        Status::TimeLimit => {
            let seconds = run.time_limit.map_or(60.0, |t| t.as_secs_f64());
            format!("try --time-limit {}s, or a looser --eps {}", format::short(10.0 * seconds), format::short(10.0 * run.eps))
        }
        Status::Interrupted => "what is known was written; run again without interrupting for the full result".to_owned(),
        Status::Stalled | Status::Converged => {
            format!("try --scale minmax, a smaller -c, or --eps {}", format::short(10.0 * run.eps))
        }
    }
}
