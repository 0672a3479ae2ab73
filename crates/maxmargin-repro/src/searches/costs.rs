//! What units cost: measured on few rows, carried over to many.

use super::schedule::Overhead;
use crate::workspace::failure::{Context, Outcome, fail};
use serde::Deserialize;

/// The file of measurements, and what is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Costs {
    /// Where the numbers come from.
    #[allow(dead_code, reason = "for readers of the file")]
    source: String,
    measured: Measured,
    asked: Asked,
    columns: Vec<Column>,
}

/// What the columns were measured on, and how they grow.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    rows: f64,
    /// p of `seconds = a · rows^p`.
    exponent: f64,
}

/// The search that is simulated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    rows: f64,
    /// Values of γ, between the least and the greatest that were measured, evenly in the logarithm.
    gammas: usize,
    folds: usize,
    /// Threads of a worker, which share a unit evenly: measurements are of one.
    threads: f64,
    /// Seconds of a worker before its first unit.
    load: f64,
    /// Seconds of each unit on its way.
    unit: f64,
}

/// A kernel with one γ and all values of C, in seconds of one thread.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    log2_gamma: f64,
    /// All values of C, all folds from the model of all data, solutions passed along C.
    seconds: f64,
    /// The parts that the values of C are cut into, in their order, each a search of its own.
    two: Vec<f64>,
    five: Vec<f64>,
    /// All values of C, all folds from scratch.
    cold: f64,
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// One γ with all values of C and all folds.
    Column,
    /// One γ with a part of the values of C.
    Chains(usize),
    /// One γ with all values of C and one fold, trained from scratch.
    Folds,
    /// One γ with a part of the values of C and one fold, trained from scratch.
    FoldsAndChains(usize),
}

impl Cut {
    pub(super) fn name(self) -> String {
        match self {
            Self::Column => "one γ".to_owned(),
            Self::Chains(parts) => format!("one γ, C in {parts} parts"),
            Self::Folds => "one γ, one fold".to_owned(),
            Self::FoldsAndChains(parts) => format!("one γ, one fold, C in {parts} parts"),
        }
    }
}

/// One γ at the rows that are asked for.
struct Cost {
    whole: f64,
    two: Vec<f64>,
    five: Vec<f64>,
    cold: f64,
}

impl Column {
    fn check(&self) -> Outcome<()> {
        let numbers = self.two.iter().chain(&self.five).chain([&self.seconds, &self.cold]);
        if self.two.len() != 2 || self.five.len() != 5 || numbers.into_iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return fail(format!("γ = 2^{}: two and five parts, all seconds above 0", self.log2_gamma));
        }
        Ok(())
    }

    /// With all seconds multiplied.
    fn times(&self, factor: f64) -> Cost {
        let scaled = |parts: &[f64]| parts.iter().map(|s| s * factor).collect();
        Cost { whole: self.seconds * factor, two: scaled(&self.two), five: scaled(&self.five), cold: self.cold * factor }
    }
}

impl Cost {
    /// Between two, `share` of the way, in logarithms.
    fn between(&self, other: &Self, share: f64) -> Self {
        let middle = |a: f64, b: f64| (a.ln() * (1.0 - share) + b.ln() * share).exp();
        let all = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| middle(*a, *b)).collect();
        Self {
            whole: middle(self.whole, other.whole),
            two: all(&self.two, &other.two),
            five: all(&self.five, &other.five),
            cold: middle(self.cold, other.cold),
        }
    }

    fn units(&self, cut: Cut, folds: usize) -> Vec<f64> {
        let parts = |parts: usize| if parts == 2 { &self.two } else { &self.five };
        match cut {
            Cut::Column => vec![self.whole],
            Cut::Chains(count) => parts(count).clone(),
            Cut::Folds => vec![self.cold / folds as f64; folds],
            Cut::FoldsAndChains(count) => {
                // From scratch nothing is passed along C: parts have the shares of what they cost.
                let all: f64 = parts(count).iter().sum();
                let each = |part: &f64| self.cold * part / all / folds as f64;
                (0..folds).flat_map(|_| parts(count).iter().map(each)).collect()
            }
        }
    }
}

impl Costs {
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let costs: Self = toml::from_str(text).context("costs")?;
        costs.columns.iter().try_for_each(Column::check)?;
        let ascending = costs.columns.windows(2).all(|pair| pair[0].log2_gamma < pair[1].log2_gamma);
        if costs.columns.len() < 2 || !ascending {
            return fail("two columns or more, with ascending γ");
        }
        let Asked { rows, gammas, folds, threads, .. } = costs.asked;
        if gammas < 2 || folds < 2 || !(rows > 0.0 && threads > 0.0 && costs.measured.rows > 0.0) {
            return fail("asked: two values of γ and two folds or more, rows and threads above 0");
        }
        Ok(costs)
    }

    pub(super) fn overhead(&self) -> Overhead {
        Overhead { load: self.asked.load, unit: self.asked.unit }
    }

    /// The seconds of every unit.
    pub(super) fn units(&self, cut: Cut) -> Vec<f64> {
        let factor = (self.asked.rows / self.measured.rows).powf(self.measured.exponent);
        let known: Vec<(f64, Cost)> = self.columns.iter().map(|of| (of.log2_gamma, of.times(factor))).collect();
        let (first, last) = (known[0].0, known[known.len() - 1].0);
        let step = (last - first) / (self.asked.gammas - 1) as f64;
        let cost = |k: usize| {
            let at = first + step * k as f64;
            let above = known.iter().position(|(gamma, _)| *gamma >= at).unwrap_or(known.len() - 1).max(1);
            let ((low, below), (high, beyond)) = (&known[above - 1], &known[above]);
            below.between(beyond, ((at - low) / (high - low)).clamp(0.0, 1.0))
        };
        let units = (0..self.asked.gammas).flat_map(|k| cost(k).units(cut, self.asked.folds));
        units.map(|seconds| seconds / self.asked.threads).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        source = "made up"
        measured = { rows = 1000, exponent = 2 }
        asked = { rows = 2000, gammas = 3, folds = 5, threads = 2, load = 1, unit = 0.1 }
        [[columns]]
        log2_gamma = -2
        seconds = 4
        two = [1, 5]
        five = [1, 1, 1, 1, 2]
        cold = 10
        [[columns]]
        log2_gamma = 0
        seconds = 64
        two = [4, 20]
        five = [4, 4, 4, 4, 8]
        cold = 40
    "#;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * b), "{found:?} {expected:?}");
    }

    #[test]
    fn costs_are_carried_over_by_their_powers() {
        let costs = Costs::parse(TEXT).expect("costs");
        // 4 · 2², 64 · 2², and their geometric mean; two threads.
        close(&costs.units(Cut::Column), &[8.0, 32.0, 128.0]);
        let halves = costs.units(Cut::Chains(2));
        close(&halves[..2], &[2.0, 10.0]);
        close(&halves[4..], &[8.0, 40.0]);
        close(&costs.units(Cut::Folds)[..5], &[4.0; 5]);
        let parts = costs.units(Cut::FoldsAndChains(5));
        assert_eq!(parts.len(), 75);
        close(&parts[..5], &[20.0 / 30.0, 20.0 / 30.0, 20.0 / 30.0, 20.0 / 30.0, 40.0 / 30.0]);
        assert_eq!(costs.overhead(), Overhead { load: 1.0, unit: 0.1 });
    }

    #[test]
    fn files_that_make_no_sense_say_why() {
        for (from, to, why) in [
            ("rows = 1000", "rows = 0", "rows and threads above 0"),
            ("two = [1, 5]", "two = [1]", "γ = 2^-2: two and five parts"),
            ("cold = 40", "cold = 0", "γ = 2^0: two and five parts, all seconds above 0"),
            ("log2_gamma = 0", "log2_gamma = -3", "ascending γ"),
            ("folds = 5", "folds = 1", "two folds or more"),
            ("threads = 2", "thread = 2", "thread"),
        ] {
            let error = Costs::parse(&TEXT.replacen(from, to, 1)).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
