//! Certificates in one line for people.

use crate::console::format;
use crate::report::{FormulationDocument, advice};
use maxmargin::core::{Certificate, Goal};
use maxmargin::cv::CertificateReport;

/// The gap of an optimum ([`Certificate::OPTIMAL`]), as a goal.
const OPTIMAL: Goal = Goal::Gap(Certificate::OPTIMAL);

/// The verdict on a solution for a kernel with which a duality gap proves nothing.
pub(crate) const STATIONARY: &str = "a stationary point of an indefinite kernel, or of one that is not known to be positive semidefinite; not known to be optimal";

/// A certificate and the number of samples of its training.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CertifiedTraining {
    pub(crate) certificate: CertificateReport,
    pub(crate) samples: usize,
}

/// `optimal within KKT 9.7e-4 (tolerance 1e-3), duality gap 3.6e-5; 232 of 243 labels fixed at
/// every optimum`; of several trainings of one formulation, each of which is a `unit`, the worst.
pub(crate) fn certificate_text(
    trainings: &[CertifiedTraining],
    formulation: &FormulationDocument,
    eps: Option<f64>,
    gap: Option<f64>,
    unit: &str,
) -> String {
    let certificates = || trainings.iter().map(|training| &training.certificate);
    let (all, held) = (trainings.len(), certificates().filter(|certificate| certificate.holds).count());
    let Some(worst) = certificates().copied().reduce(CertificateReport::worse) else { return "none".to_owned() };
    if certificates().any(|certificate| certificate.kkt.is_infinite()) {
        // A run that was stopped may have had no time to certify its last solution.
        return match all {
            1 => "none: the run ended before its solution could be certified".to_owned(),
            _ => format!("{held} of {all} {unit}s within the tolerance; some ended before they could be certified"),
        };
    }
    let is_stationary = certificates().any(CertificateReport::is_stationary_only);
    let is_optimal = !is_stationary && certificates().all(|certificate| certificate.optimal);
    let tolerance = |value: Option<f64>| value.map_or_else(String::new, |value| format!(" (tolerance {})", format::bound(value)));
    let subject = if all == 1 { String::new() } else { format!("all {all} {unit}s ") };
    let goal = Goal::of(eps, gap).unwrap_or(OPTIMAL);
    let is_within = eps.is_none_or(|eps| worst.kkt <= eps) && gap.is_none_or(|gap| worst.relative_gap <= gap);
    let verdict = match (held == all, is_optimal) {
        (true, true) => format!("{subject}optimal within "),
        (true, false) => format!("{subject}within "),
        (false, _) if all == 1 && is_within && worst.hides(goal) => "rounding hides whether the tolerance is met: ".to_owned(),
        (false, _) if all == 1 => "misses the tolerance: ".to_owned(),
        (false, _) => format!("{held} of {all} {unit}s within the tolerance; the worst: "),
    };
    let kkt = format!("{verdict}KKT {}{}", format::bound(worst.kkt), tolerance(eps));
    if is_stationary {
        return format!("{kkt}; {STATIONARY}");
    }
    let fixed = fixed_labels_text(trainings, unit).map_or_else(String::new, |text| format!("; {text}"));
    let hidden = certificates().find(|c| c.hides(goal)).or_else(|| certificates().find(|c| c.hides(OPTIMAL)));
    let advice = match hidden {
        _ if formulation.lacks_margin(certificates()) => format!("; {}", advice::NO_MARGIN),
        Some(certificate) => format!("; {}", advice::hidden(certificate)),
        None if is_optimal => String::new(),
        None => "; a gap above 0.01 proves no optimum: pass a smaller --eps or a --gap".to_owned(),
    };
    format!("{kkt}, duality gap {}{}{fixed}{advice}", format::known_bound(worst.relative_gap), tolerance(gap))
}

/// `232 of 243 labels fixed at every optimum`, by gap screening; of several trainings, each of
/// which is a `unit`, the one with the fewest.
pub(crate) fn fixed_labels_text(trainings: &[CertifiedTraining], unit: &str) -> Option<String> {
    let fewest = trainings.iter().min_by_key(|training| training.certificate.fixed_labels)?;
    let (fixed, samples) = (format::count(fewest.certificate.fixed_labels? as u64), format::count(fewest.samples as u64));
    Some(match trainings.len() {
        1 => format!("{fixed} of {samples} labels fixed at every optimum"),
        _ => format!("at least {fixed} of {samples} labels of each {unit} fixed at every optimum"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use maxmargin::core::Formulation;

    fn training(kkt: f64, relative_gap: f64, holds: bool) -> CertifiedTraining {
        let optimal = relative_gap <= Certificate::OPTIMAL;
        let bounds = CertificateReport { rounding: Some(0.0), kkt_rounding: Some(0.0), ..CertificateReport::default() };
        let certificate = CertificateReport { kkt, relative_gap, holds, optimal, fixed_labels: Some(232), ..bounds };
        CertifiedTraining { certificate, samples: 243 }
    }

    #[test]
    fn a_certificate_is_one_line() {
        let formulation = FormulationDocument::new(Formulation::c_svc(1.0), Some(1.0));
        let text = |trainings: &[CertifiedTraining]| certificate_text(trainings, &formulation, Some(1e-3), None, "fold");
        let good = training(9.7e-4, 3.6e-5, true);
        let line = "optimal within KKT 9.7e-4 (tolerance 1e-3), duality gap 3.6e-5";
        assert_eq!(text(&[good]), format!("{line}; 232 of 243 labels fixed at every optimum"));
        let each = "at least 232 of 243 labels of each fold fixed at every optimum";
        assert_eq!(text(&[good, good]), format!("all 2 folds {line}; {each}"));
        assert!(text(&[good, training(0.5, 1e-3, false)]).starts_with("1 of 2 folds within the tolerance; the worst: KKT 0.5 "));
        assert!(text(&[training(1e-4, 0.5, true)]).contains("proves no optimum"));
        assert!(text(&[training(f64::INFINITY, f64::INFINITY, false)]).starts_with("none: "));
    }
}
