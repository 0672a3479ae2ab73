//! `cargo xtask simulate`: how long a search would take on many machines, from what its units cost.

use super::costs::{Costs, Cut};
use super::schedule::{Order, makespan};
use crate::workspace::failure::{Context, Outcome, fail};
use crate::workspace::tools::root;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// Options of `cargo xtask simulate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// What units cost [default: crates/maxmargin-repro/scale/costs.toml]
    #[arg(long, value_name = "FILE")]
    costs: Option<PathBuf>,
    /// Numbers of workers
    #[arg(long, value_delimiter = ',', default_value = "1,10,100,1000")]
    workers: Vec<usize>,
}

/// Runs `cargo xtask simulate`.
///
/// # Errors
///
/// When a measurement fails or a file cannot be read or written.
pub fn run(arguments: &Arguments) -> Outcome<()> {
    let path = arguments.costs.clone().unwrap_or_else(|| root().join("crates/maxmargin-repro/scale/costs.toml"));
    let text = fs::read_to_string(&path).context(path.display())?;
    let costs = Costs::parse(&text).context(path.display())?;
    if arguments.workers.contains(&0) {
        return fail("--workers 0: 1 or more");
    }
    print!("{}", table(&costs, &arguments.workers));
    Ok(())
}

/// The makespan of every way to cut the search, on every number of workers.
fn table(costs: &Costs, workers: &[usize]) -> String {
    let mut text = String::from("| units | number | work | longest |");
    // Writing to a string cannot fail.
    for count in workers {
        let _ = write!(text, " {count} |");
    }
    text.push_str("\n|---|--:|--:|--:|");
    workers.iter().for_each(|_| text.push_str("--:|"));
    text.push('\n');
    for (cut, order) in [
        (Cut::Column, Order::AsGiven),
        (Cut::Column, Order::LongestFirst),
        (Cut::Chains(2), Order::LongestFirst),
        (Cut::Chains(5), Order::LongestFirst),
        (Cut::Folds, Order::LongestFirst),
        (Cut::FoldsAndChains(5), Order::LongestFirst),
    ] {
        let units = costs.units(cut);
        let (sum, longest) = (units.iter().sum::<f64>(), units.iter().copied().fold(0.0, f64::max));
        let name = match order {
            Order::AsGiven => format!("{}, in the order of γ", cut.name()),
            Order::LongestFirst => cut.name(),
        };
        let _ = write!(text, "| {name} | {} | {} | {} |", units.len(), said(sum), said(longest));
        for &count in workers {
            let took = makespan(&units, count, costs.overhead(), order);
            let _ = write!(text, " {} |", said(took));
        }
        text.push('\n');
    }
    text
}

/// Seconds as a person says them.
fn said(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} d", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_what_the_simulation_says() {
        let text = fs::read_to_string(root().join("crates/maxmargin-repro/scale/costs.toml")).expect("a file");
        let shown = table(&Costs::parse(&text).expect("costs"), &[1, 10, 100, 1000]);
        let page = fs::read_to_string(root().join("docs/scale.md")).expect("a page");
        assert!(page.contains(&shown), "docs/scale.md is to show this:\n{shown}");
    }

    #[test]
    fn times_are_said_in_units_that_fit() {
        assert_eq!([90.0, 600.0, 7200.0, 172_800.0].map(said), ["90 s", "10 min", "2.0 h", "2.0 d"]);
    }
}
