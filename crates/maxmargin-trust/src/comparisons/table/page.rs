//! The page of the table.

use super::{EQUAL, Kind, OBJECTIVE, Row};
use crate::comparisons::differential::{EPS, Version};
use std::fmt::Write;

/// Returns the report as Markdown.
pub fn page(rows: &[Row], version: &Version) -> String {
    let mut page = String::from("# Every formulation beside LIBSVM and LIBLINEAR\n\n");
    let named = |version: &Option<String>| version.clone().unwrap_or_else(|| "not installed".to_owned());
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "Real sets of `MAXMARGIN_DATA`, at most 400 rows to train on and as many others to predict, values to four decimals; genuine programs ({}, {}) and \
         `maxmargin svm-train` and `train` in this process, one thread each. Regression takes labels for values; of one class the labels say nothing. This page is written by \
         `cargo run --release -p maxmargin-trust -- table --out docs/reproduction/formulations.md`.\n",
        named(&version.libsvm),
        named(&version.liblinear),
    );
    let _ = writeln!(
        page,
        "`objective`: by how much ours is the worse, relatively (below 0 it is the better; {OBJECTIVE:e} is allowed): with a kernel of the dual, computed for both from the \
         coefficients in the model file by the judge of `maxmargin verify`, without of the primal at the weights of the model file, summed over machines. `gap`: the relative \
         duality gap of ours. `equal`: share of equal predictions, of values within {EQUAL:e} of the range of the targets. `score`: accuracy, for one class the share \
         inside, for values the mean squared error. Seconds are from the text of the data to the text of the model, of a machine that had other work. With a kernel: C = 8, γ the \
         power of 2 next to 1/(features · variance), ε = 0.125, ν = 0.25 (of classes half of what all pairs allow, a power of 2), tolerance {EPS:e} on both sides. \
         Without: C = 1, ε = 0.125, a thousandth of LIBLINEAR's default tolerance, for us a relative gap of 10⁻⁹; LIBLINEAR ends after 1,000 iterations, converged or not.\n",
    );
    page +=
        "| formulation | sets | worst objective | best | least equal | our seconds | theirs |\n|---|--:|--:|--:|--:|--:|--:|\n";
    let of = |kind: Kind| rows.iter().filter(move |row| row.kind == kind);
    for kind in Kind::ALL {
        let worse = || of(kind).map(|row| row.worse);
        let _ = writeln!(
            page,
            "| {} | {} | {:.1e} | {:.1e} | {:.1} % | {:.2} | {:.2} |",
            kind.name(),
            of(kind).count(),
            worse().fold(f64::NEG_INFINITY, f64::max),
            worse().fold(f64::INFINITY, f64::min),
            100.0 * of(kind).map(|row| row.equal).fold(1.0, f64::min),
            of(kind).map(|row| row.seconds[0]).sum::<f64>(),
            of(kind).map(|row| row.seconds[1]).sum::<f64>(),
        );
    }
    for kind in Kind::ALL {
        let _ = writeln!(page, "\n## {}\n", kind.name());
        page += "| set | rows | objective | gap | equal | our score | theirs | our seconds | theirs |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
        for row in of(kind) {
            let [train, test] = row.rows;
            let worse = if row.worse > OBJECTIVE { format!("**{:.1e}**", row.worse) } else { format!("{:.1e}", row.worse) };
            let _ = writeln!(
                page,
                "| {} | {train} + {test} | {worse} | {:.1e} | {:.1} % | {:.4} | {:.4} | {:.3} | {:.3} |",
                row.set,
                row.gap,
                100.0 * row.equal,
                row.scores[0],
                row.scores[1],
                row.seconds[0],
                row.seconds[1],
            );
        }
    }
    page
}
