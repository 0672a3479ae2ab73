//! What units cost: measured on few rows, carried over to many.

use super::schedule::Overhead;
use crate::failure::{Context, Outcome, fail};
use serde::Deserialize;

/// The file of measurements, and what is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Costs {
    /// Where the numbers come from.
    #[allow(dead_code, reason = "for readers of the file")]
    source: String,
    asked: Asked,
    columns: Vec<Column>,
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
    rows: Vec<f64>,
    /// One for each number of rows: all values of C, all folds from the model of all data, solutions passed along C.
    seconds: Vec<f64>,
    /// At the most rows: the parts that the values of C are cut into, in their order, each a search of its own.
    two: Vec<f64>,
    five: Vec<f64>,
    /// At the most rows: all values of C, all folds from scratch.
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
        let ascending = self.rows.windows(2).all(|pair| pair[0] < pair[1]);
        let numbers = self.seconds.iter().chain(&self.two).chain(&self.five).chain([&self.cold]);
        if self.rows.len() < 2 || self.rows.len() != self.seconds.len() || !ascending {
            return fail(format!("γ = 2^{}: two numbers of rows or more, ascending, and seconds for each", self.log2_gamma));
        }
        if self.two.len() != 2 || self.five.len() != 5 || numbers.into_iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return fail(format!("γ = 2^{}: two and five parts, all seconds above 0", self.log2_gamma));
        }
        Ok(())
    }

    /// `seconds = a · rows^p`: p by least squares in logarithms, through the last measurement.
    fn exponent(&self) -> f64 {
        let points: Vec<(f64, f64)> = self.rows.iter().zip(&self.seconds).map(|(n, s)| (n.ln(), s.ln())).collect();
        let count = points.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
        points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
    }

    fn at(&self, rows: f64) -> Cost {
        let last = self.rows.len() - 1;
        let factor = (rows / self.rows[last]).powf(self.exponent());
        let scaled = |parts: &[f64]| parts.iter().map(|s| s * factor).collect();
        Cost { whole: self.seconds[last] * factor, two: scaled(&self.two), five: scaled(&self.five), cold: self.cold * factor }
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
        if gammas < 2 || folds < 2 || !(rows > 0.0 && threads > 0.0) {
            return fail("asked: two values of γ and two folds or more, rows and threads above 0");
        }
        Ok(costs)
    }

    pub(super) fn overhead(&self) -> Overhead {
        Overhead { load: self.asked.load, unit: self.asked.unit }
    }

    /// The seconds of every unit.
    pub(super) fn units(&self, cut: Cut) -> Vec<f64> {
        let known: Vec<(f64, Cost)> = self.columns.iter().map(|of| (of.log2_gamma, of.at(self.asked.rows))).collect();
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
        asked = { rows = 4000, gammas = 3, folds = 5, threads = 2, load = 1, unit = 0.1 }
        [[columns]]
        log2_gamma = -2
        rows = [1000, 2000]
        seconds = [1, 4]
        two = [1, 5]
        five = [1, 1, 1, 1, 2]
        cold = 10
        [[columns]]
        log2_gamma = 0
        rows = [1000, 2000]
        seconds = [2, 16]
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
        // 4 · 2², 16 · 2³, and their geometric mean; two threads.
        close(&costs.units(Cut::Column), &[8.0, (16.0_f64 * 128.0).sqrt() / 2.0, 64.0]);
        let halves = costs.units(Cut::Chains(2));
        close(&halves[..2], &[2.0, 10.0]);
        close(&halves[4..], &[16.0, 80.0]);
        close(&costs.units(Cut::Folds)[..5], &[4.0; 5]);
        let parts = costs.units(Cut::FoldsAndChains(5));
        assert_eq!(parts.len(), 75);
        close(&parts[..5], &[20.0 / 30.0, 20.0 / 30.0, 20.0 / 30.0, 20.0 / 30.0, 40.0 / 30.0]);
        assert_eq!(costs.overhead(), Overhead { load: 1.0, unit: 0.1 });
    }

    #[test]
    fn files_that_make_no_sense_say_why() {
        for (from, to, why) in [
            ("rows = [1000, 2000]", "rows = [2000, 1000]", "γ = 2^-2: two numbers of rows"),
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
