//! Bounds, and the share of all places that has to keep to them.

use super::finding::Finding;

/// From … to …, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    at_least: Option<f64>,
    at_most: Option<f64>,
}

/// Whether figures that are known within a range keep to bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    Yes,
    No,
    Unknown,
}

impl Bounds {
    pub(super) const fn new(at_least: Option<f64>, at_most: Option<f64>) -> Self {
        Self { at_least, at_most }
    }

    pub(super) fn keep(self, (low, high): (f64, f64)) -> Kept {
        let (from, to) = (self.at_least.unwrap_or(f64::NEG_INFINITY), self.at_most.unwrap_or(f64::INFINITY));
        if low >= from && high <= to {
            Kept::Yes
        } else if high < from || low > to {
            Kept::No
        } else {
            Kept::Unknown
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

/// A share of all.
pub(super) const fn all() -> f64 {
    1.0
}

/// How many of `n` a share asks for.
pub(super) fn wanted(share: f64, n: usize) -> usize {
    (share * n as f64 - 1e-9).ceil() as usize
}

/// What counts: what is known, as soon as `share` of all is, and all of it otherwise.
pub(super) fn told_of(kept: &[Kept], share: Option<f64>) -> Vec<Kept> {
    let told = kept.iter().filter(|kept| **kept != Kept::Unknown).count();
    let enough = share.is_some_and(|share| told > 0 && told >= wanted(share, kept.len()));
    kept.iter().copied().filter(|kept| !enough || *kept != Kept::Unknown).collect()
}

/// What a share of all makes of what every one of them is.
pub(super) fn counted(kept: &[Kept], needs: f64, partly: Option<f64>) -> Finding {
    let yes = kept.iter().filter(|kept| **kept == Kept::Yes).count();
    let open = kept.iter().filter(|kept| **kept == Kept::Unknown).count();
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

/// A number of three digits, as people write it.
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
