//! Advice for a training that missed its tolerance: the distance to it, and what to try.

use crate::console::format;
use maxmargin::core::{Goal, Status};
use maxmargin::cv::CertificateReport;
use maxmargin::{Solver, Svm};
use std::time::Duration;

/// The limits of a training that the user has set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) max_iter: Option<u64>,
    pub(crate) time_limit: Option<Duration>,
}

/// Returns the warning for a training of `svm` that ended with `status` before it reached its goal.
pub(crate) fn unfinished(status: Status, certificate: &CertificateReport, svm: &Svm, limits: Limits) -> String {
    let (goal, solver) = (svm.resolved_goal(), svm.resolved_solver());
    if certificate.kkt.is_infinite() {
        // A run that was stopped may have had no time to certify its solution.
        return format!("{}: no certificate yet; {}", reason(status), remedy(status, solver, goal, limits));
    }
    let far = |what: &str, found: f64, asked: f64, named: &str| {
        // A figure within the tolerance may still be hidden by rounding.
        if found <= asked {
            return String::new();
        }
        let [value, times, asked] = [found, found / asked, asked].map(format::short);
        format!("{what} {value}, {times} times the {named} {asked}; ")
    };
    let kkt = goal.kkt().map_or_else(String::new, |eps| far("KKT violation", certificate.kkt, eps, "tolerance"));
    let gap = goal.gap().map_or_else(String::new, |gap| far("duality gap", certificate.relative_gap, gap, "tolerance"));
    if certificate.is_stationary_only() && goal.gap().is_some() {
        let what = "no duality gap is known for a kernel that is not known to be positive semidefinite";
        return format!("{}: {what}; pass --eps instead of --gap", reason(status));
    }
    let within = if certificate.is_stationary_only() || certificate.hides(Goal::Gap(1.0)) {
        String::new()
    } else {
        format!("the objective is within {} % of the optimum; ", format::short(100.0 * certificate.relative_gap))
    };
    let what = if certificate.hides(goal) { hidden(certificate) } else { remedy(status, solver, goal, limits) };
    // Without bounds (a squared loss), an indefinite kernel leaves no optimum.
    let kernel = if certificate.is_stationary_only() && status == Status::Stalled { INDEFINITE } else { "" };
    format!("{}: {kkt}{gap}{within}{kernel}{what}", reason(status))
}

/// Returns the advice where rounding alone may exceed the tolerance.
pub(crate) fn hidden(certificate: &CertificateReport) -> String {
    let [kkt, gap] =
        [certificate.kkt_rounding, certificate.rounding].map(|value| value.map_or_else(|| "any size".to_owned(), format::short));
    format!(
        "rounding in double precision may hide a KKT violation of {kkt} and a duality gap of {gap}: scale the data (--scale minmax), or lower -g, -d or -c"
    )
}

/// The advice where a solution of ν-SVC is no better than the function 0.
pub(crate) const NO_MARGIN: &str =
    "no margin is left, and decision values mean nothing: nu is too small for classes that overlap this much; pass a larger --nu";

const INDEFINITE: &str = "there may be no optimum for a kernel that is not positive semidefinite: choose another one, or ";

fn reason(status: Status) -> &'static str {
    match status {
        Status::Converged => "the certificate misses the tolerance",
        Status::IterationLimit => "stopped at the iteration limit",
        Status::TimeLimit => "stopped at the time limit",
        Status::Interrupted => "interrupted",
        Status::Stalled => "no further progress is possible in this precision",
        Status::Slow => "stopped, too slow to reach the tolerance",
    }
}

/// Returns one option to change.
fn remedy(status: Status, solver: Solver, goal: Goal, limits: Limits) -> String {
    let option = if goal.kkt().is_some() { "--eps" } else { "--gap" };
    let looser = format!("{option} {}", format::short(10.0 * goal.tol()));
    match status {
        Status::IterationLimit => {
            format!("try --max-iter {}, or scale the features (--scale minmax)", 10 * limits.max_iter.unwrap_or(1_000_000))
        }
        Status::TimeLimit => {
            let seconds = limits.time_limit.map_or(60.0, |t| t.as_secs_f64());
            format!("try --time-limit {}s, or a looser {looser}", format::short(10.0 * seconds))
        }
        Status::Interrupted => "the partial result was written; run again for the full one".to_owned(),
        Status::Slow | Status::Stalled | Status::Converged => {
            let faster = solver.faster().filter(|_| status == Status::Slow);
            let other =
                faster.map_or_else(String::new, |faster| format!("--solver {}, which solves the same problem, ", faster.name()));
            format!("try {other}--scale minmax, a smaller -c, or {looser}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_judged_has_no_figures() {
        let (limits, svm) = (Limits::default(), Svm::rbf(1.0));
        let nothing = CertificateReport { kkt: f64::INFINITY, relative_gap: f64::INFINITY, ..CertificateReport::default() };
        let text = unfinished(Status::Interrupted, &nothing, &svm, limits);
        assert!(text.starts_with("interrupted: no certificate yet; ") && !text.contains(" inf"), "{text}");
        let judged = CertificateReport { rounding: Some(0.0), kkt_rounding: Some(0.0), ..CertificateReport::default() };
        let indefinite = CertificateReport { primal: f64::INFINITY, kkt: 2.0, relative_gap: f64::INFINITY, ..judged };
        let text = unfinished(Status::Stalled, &indefinite, &svm, limits);
        assert!(text.contains("not positive semidefinite: choose another one, or try --scale"), "{text}");
        let far = CertificateReport { kkt: 0.01, relative_gap: 0.5, ..judged };
        let text = unfinished(Status::Interrupted, &far, &svm, limits);
        assert!(text.contains("the objective is within 50 % of the optimum"), "{text}");
    }

    #[test]
    fn slow_solvers_name_a_faster_one_for_the_same_problem() {
        let limits = Limits::default();
        let judged = CertificateReport { rounding: Some(0.0), kkt_rounding: Some(0.0), ..CertificateReport::default() };
        let far = CertificateReport { kkt: 0.5, relative_gap: 0.25, ..judged };
        let of = |solver: Solver| unfinished(Status::Slow, &far, &Svm::rbf(1.0).solver(solver).eps(0.01), limits);
        assert_eq!(
            of(Solver::Fw),
            "stopped, too slow to reach the tolerance: KKT violation 0.5, 50 times the tolerance 0.01; the objective is within 25 % of \
             the optimum; try --solver pairwise, which solves the same problem, --scale minmax, a smaller -c, or --eps 0.1"
        );
        assert!(of(Solver::Pairwise).ends_with("try --scale minmax, a smaller -c, or --eps 0.1"));
    }
}
