//! The measurements of one problem, and the page of all.

use super::objective::name;
use super::tolerance::{End, Reach, Within};
use crate::cells::machine::HostMachine;
use crate::numbers::format::{gap, short, times};
use crate::searches::page;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The project's goal for the ratio.
const GOAL: f64 = 2.0;

/// How it is measured, and the heads of the columns.
const METHOD: &str = "\
`train` of LIBLINEAR and `maxmargin liblinear-train`, whole processes that read the same text and write the same model.
Of falling tolerances (`-e`) each program has the first whose model is within the gap of the optimum. The gap is
computed from the model file: the primal objective of its weights over the data, less the certified dual bound of a
tighter training of ours, relative to the bound. Of several columns of weights objectives and bounds are sums. Where
LIBLINEAR stays above the gap, its smallest gap is shown and what ended it: its cap of sweeps on all columns, the time
limit, or the least tolerance. Values (`-s 11` to `13`) are the labels as numbers. Seconds are the best of the repeats,
in which the programs take turns.

| data | `-s` | | LIBLINEAR, s | here, s | ratio | gap, LIBLINEAR | gap, here | `-e`, LIBLINEAR |
|---|--:|---|--:|--:|--:|--:|--:|--:|";

/// All solvers on one problem.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) problem: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    pub(crate) rows: usize,
    pub(crate) c: f64,
    /// The relative gap that both programs must reach.
    pub(crate) gap: f64,
    pub(crate) repeats: u32,
    /// Threads of our program.
    pub(crate) threads: usize,
    /// The version of LIBLINEAR, as far as it is known.
    pub(crate) version: String,
    pub(crate) solvers: Vec<Comparison>,
    pub(crate) machine: HostMachine,
}

/// One solver on one problem.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) solver: u8,
    /// The certified lower bound on the optimum.
    pub(crate) bound: f64,
    pub(crate) theirs: Reach,
    pub(crate) ours: Within,
}

impl Comparison {
    /// Returns LIBLINEAR's seconds over ours, a lower bound of it where LIBLINEAR did not reach the
    /// gap; none without its solver.
    fn ratio(&self) -> Option<f64> {
        match &self.theirs {
            Reach::Within(theirs) => Some(theirs.seconds / self.ours.seconds),
            Reach::Short { seconds, .. } => Some(seconds / self.ours.seconds),
            Reach::Refused(_) => None,
        }
    }

    fn is_short(&self) -> bool {
        matches!(self.theirs, Reach::Short { .. })
    }

    fn line(&self, problem: &str, ratio: f64) -> String {
        let Self { solver, theirs, ours, .. } = self;
        let [took, reached, epsilon] = match theirs {
            Reach::Within(theirs) => [short::<3>(theirs.seconds), gap(theirs.gap), format!("{:.0e}", theirs.epsilon)],
            Reach::Short { gap: smallest, seconds: took, end, .. } => {
                let end = match end {
                    End::Cap => "its cap",
                    End::Limit => "the limit",
                    End::Tolerance => "the least",
                };
                [format!("> {}", short::<3>(*took)), smallest.map_or("–".to_owned(), gap), end.to_owned()]
            }
            Reach::Refused(_) => ["–", "–", "–"].map(str::to_owned),
        };
        let more = if self.is_short() { "> " } else { "" };
        format!(
            "| {problem} | {solver} | {} | {took} | {} | {more}**{}** | {reached} | {} | {epsilon} |",
            name(*solver),
            short::<3>(ours.seconds),
            times(ratio),
            gap(ours.gap),
        )
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { solver, theirs, ours, .. } = self;
        write!(f, "-s {solver}: {} s here, gap {}; LIBLINEAR ", short::<3>(ours.seconds), gap(ours.gap))?;
        match theirs {
            Reach::Within(theirs) => write!(f, "{} s, gap {}", short::<3>(theirs.seconds), gap(theirs.gap)),
            Reach::Short { gap: smallest, seconds: took, .. } => {
                write!(f, "{} s without the gap, at {}", short::<3>(*took), smallest.map_or("–".to_owned(), gap))
            }
            Reach::Refused(reason) => f.write_str(reason),
        }
    }
}

/// Returns all comparisons with the name of their problem and their ratio, the smallest ratio
/// first.
fn sorted(records: &[Record]) -> Vec<(&str, &Comparison, f64)> {
    let mut all: Vec<(&str, &Comparison, f64)> = records
        .iter()
        .flat_map(|record| record.solvers.iter().map(|solver| (record.problem.as_str(), solver)))
        .filter_map(|(problem, solver)| Some((problem, solver, solver.ratio()?)))
        .collect();
    all.sort_by(|a, b| a.2.total_cmp(&b.2));
    all
}

/// Returns the first sentences of the page: how many are fast enough, the mean, the slowest.
fn summary(all: &[(&str, &Comparison, f64)]) -> String {
    let Some((problem, slowest, ratio)) = all.first() else { return "Nothing is measured yet.".to_owned() };
    let fast = all.iter().filter(|(.., ratio)| *ratio >= GOAL).count();
    let slower = all.iter().filter(|(.., ratio)| *ratio < 1.0).count();
    let short = all.iter().filter(|(_, solver, _)| solver.is_short()).count();
    let mean = (all.iter().map(|(.., ratio)| ratio.ln()).sum::<f64>() / all.len() as f64).exp();
    format!(
        "**{fast} of {} trainings are at least {GOAL} times as fast as LIBLINEAR's; slower: {slower}. Geometric mean\n\
         of the ratios {}, the smallest {} (`-s {}` on {problem}).** LIBLINEAR does not reach the gap in\n{short} of them: its seconds \
         count, and the ratio is a lower bound.",
        all.len(),
        times(mean),
        times(*ratio),
        slowest.solver,
    )
}

impl page::Record for Record {
    fn problem(&self) -> &str {
        &self.problem
    }

    fn line(&self) -> String {
        let lines = sorted(std::slice::from_ref(self)).into_iter().map(|(problem, solver, ratio)| solver.line(problem, ratio));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn head() -> String {
        "# LIBLINEAR's solvers at equal gap\n\n<!-- Written by `cargo xtask liblinear`. Do not edit. -->\n\n".to_owned()
    }

    fn note(&self) -> String {
        let Self { problem, rows, c, gap: level, repeats, threads, version, machine, .. } = self;
        let refused =
            self.solvers.iter().filter(|solver| matches!(solver.theirs, Reach::Refused(_))).map(|solver| {
                format!("it has no `-s {}`, which takes {} s here", solver.solver, short::<3>(solver.ours.seconds))
            });
        let more: Vec<String> = refused.chain(self.note.clone()).map(|remark| format!(";\n  {remark}")).collect();
        let HostMachine { cpu, cores, revision, .. } = machine;
        format!(
            "- {problem}: {rows} rows, C = {c}, gap {level:e}, {repeats} repeats, {threads} threads here,\n  LIBLINEAR \
             {version}, {cpu}, {cores} cores, revision {revision}{}.\n",
            more.concat(),
        )
    }

    fn rendered(records: &[Self]) -> String {
        let all = sorted(records);
        let lines: Vec<String> = all.iter().map(|(problem, solver, ratio)| solver.line(problem, *ratio) + "\n").collect();
        let notes: Vec<String> = records.iter().map(Self::note).collect();
        let (head, summary) = (Self::head(), summary(&all));
        format!("{head}{summary}\n\n{METHOD}\n{}\n{}\n{}\n", lines.concat(), notes.concat(), Self::SOURCE)
    }

    const SOURCE: &'static str =
        "Measured by `cargo xtask liblinear`; every training is in a line of [liblinear.jsonl](liblinear.jsonl).";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::liblinear::command::PAGE;

    fn comparison(solver: u8, theirs: Reach, seconds: f64) -> Comparison {
        Comparison { solver, bound: 2.0, theirs, ours: Within { epsilon: 100.0, gap: 2e-4, seconds } }
    }

    fn record(solvers: Vec<Comparison>) -> Record {
        Record {
            problem: "few".to_owned(),
            note: None,
            rows: 200,
            c: 1.0,
            gap: 1e-3,
            repeats: 3,
            threads: 2,
            version: "2.50".to_owned(),
            solvers,
            machine: HostMachine::here(),
        }
    }

    #[test]
    fn the_page_says_what_was_measured() {
        assert!(PAGE.is_true::<Record>());
    }

    #[test]
    fn the_smallest_ratio_is_first_and_the_mean_is_of_ratios() {
        let within = |seconds: f64| Reach::Within(Within { epsilon: 0.1, gap: 5e-4, seconds });
        let short = |gap: Option<f64>, end: End| Reach::Short { epsilon: 0.01, gap, seconds: 8.0, end };
        let solvers = vec![
            comparison(3, within(4.0), 1.0),
            comparison(1, short(Some(0.02), End::Cap), 1.0),
            comparison(2, within(0.25), 0.5),
            comparison(21, Reach::Refused("unknown solver type".to_owned()), 0.25),
        ];
        let page = <Record as page::Record>::rendered(&[record(solvers)]);
        // Ratios 4, 8 and ½: their product is 16.
        let mean = times(16_f64.cbrt());
        assert!(
            page.contains("**2 of 3 trainings are at least 2 times as fast as LIBLINEAR's; slower: 1. Geometric mean\n"),
            "{page}"
        );
        assert!(page.contains(&format!("of the ratios {mean}, the smallest 0.50 (`-s 2` on few).**")), "{page}");
        assert!(page.contains("does not reach the gap in\n1 of them"), "{page}");
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| few")).collect();
        assert_eq!(lines[0], "| few | 2 | squared hinge, primal | 0.25 | 0.50 | **0.50** | 5.0e-4 | 2.0e-4 | 1e-1 |");
        assert_eq!(lines[2], "| few | 1 | squared hinge, dual | > 8.00 | 1.00 | > **8.00** | 2.0e-2 | 2.0e-4 | its cap |");
        assert_eq!(lines.len(), 3);
        assert!(page.contains("it has no `-s 21`, which takes 0.25 s here"), "{page}");
        let lost = comparison(0, short(None, End::Limit), 1.0).line("few", 8.0);
        assert!(lost.contains("| – | 2.0e-4 | the limit |"), "{lost}");
        assert!(<Record as page::Record>::rendered(&[]).contains("Nothing is measured yet."));
    }
}
