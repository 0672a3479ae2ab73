//! Bounds, and the share of all places that has to keep to them.

use super::finding::Finding;

/// An interval that includes both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// The answer whether a figure within a known range keeps to bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compliance {
    Yes,
    No,
    Unknown,
}

impl Bounds {
    pub(super) const fn new(at_least: Option<f64>, at_most: Option<f64>) -> Self {
        Self { at_least, at_most }
    }

    pub(super) fn keep(self, (low, high): (f64, f64)) -> Compliance {
        let (from, to) = (self.at_least.unwrap_or(f64::NEG_INFINITY), self.at_most.unwrap_or(f64::INFINITY));
        if low >= from && high <= to {
            Compliance::Yes
        } else if high < from || low > to {
            Compliance::No
        } else {
            Compliance::Unknown
        }
    }

    pub(super) fn words(self) -> String {
        match (self.at_least, self.at_most) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}"),
            (None, Some(high)) => format!("at most {high}"),
            (None, None) => "known".into(),
        }
    }

    pub(super) fn check(self) -> Result<(), String> {
        if self.at_least.or(self.at_most).is_none() { Err("a rule needs at_least or at_most".into()) } else { Ok(()) }
    }
}

/// The share that is all.
pub(super) const fn all() -> f64 {
    1.0
}

/// Returns the number of places that a share of `n` requires.
pub(super) fn wanted(share: f64, n: usize) -> usize {
    (share * n as f64 - 1e-9).ceil() as usize
}

/// Returns the places that count: the known ones as soon as they are `share` of all, otherwise all.
pub(super) fn counting(kept: &[Compliance], share: Option<f64>) -> Vec<Compliance> {
    let told = kept.iter().filter(|kept| **kept != Compliance::Unknown).count();
    let enough = share.is_some_and(|share| told > 0 && told >= wanted(share, kept.len()));
    kept.iter().copied().filter(|kept| !enough || *kept != Compliance::Unknown).collect()
}

/// Returns the finding where a share of all places has to keep to bounds.
pub(super) fn counted(kept: &[Compliance], needs: f64, partly: Option<f64>) -> Finding {
    let yes = kept.iter().filter(|kept| **kept == Compliance::Yes).count();
    let open = kept.iter().filter(|kept| **kept == Compliance::Unknown).count();
    let least = |share: f64| wanted(share, kept.len());
    if open == kept.len() {
        Finding::Untold
    } else if yes >= least(needs) {
        Finding::Holds
    } else if yes + open >= least(needs) {
        Finding::Untold
    } else if partly.is_some_and(|share| yes >= least(share)) {
        Finding::Partly
    } else if partly.is_some_and(|share| yes + open >= least(share)) {
        Finding::Untold
    } else {
        Finding::Fails
    }
}

/// Returns a number with about three digits.
pub(super) fn show(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e6).contains(&size) => format!("{x:.1e}"),
        size if size < 0.1 => format!("{x:.4}"),
        size if size < 10.0 => format!("{x:.2}"),
        size if size < 100.0 => format!("{x:.1}"),
        _ => format!("{x:.0}"),
    }
}
