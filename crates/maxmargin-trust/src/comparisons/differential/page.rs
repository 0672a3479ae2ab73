//! The page of results.

use super::cases::{Case, all};
use super::compare::{Outcome, Verdict};
use super::peers::Version;
use super::{EPS, OBJECTIVE};
use std::fmt::Write;

/// A case and its figures; `None` if its data is missing.
pub type Row = (Case, Option<Outcome>);

/// Formats a small number with two digits.
fn short(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

fn verdict(outcome: &Outcome) -> String {
    match outcome.verdict {
        Verdict::Agree => "agree".to_owned(),
        Verdict::Better => "ours is better".to_owned(),
        Verdict::Fault(what) => format!("**{what}**"),
    }
}

/// Returns the report as Markdown.
pub fn page(rows: &[Row], version: &Version) -> String {
    let mut page = String::from("# Beside LIBSVM and LIBLINEAR\n\n");
    let named = |version: &Option<String>| version.clone().unwrap_or_else(|| "not installed".to_owned());
    let command = "cargo run --release -p maxmargin-trust -- differential --out docs/reproduction/differential.md";
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "{} of {} pinned trainings by maxmargin and by `svm-train` ({}) or `liblinear-train` ({}), everybody at a tolerance of {EPS:e} (without a kernel 10⁻⁹). \
         This page is written by `{command}`.\n",
        rows.iter().filter(|(_, outcome)| outcome.is_some()).count(),
        all().len(),
        named(&version.libsvm),
        named(&version.liblinear),
    );
    let _ = writeln!(
        page,
        "**What must hold.** Our certificate has the optimum between its dual and its primal objective: no objective of theirs may lie outside. \
         Objectives agree to {OBJECTIVE:e}, relatively; if not, ours must be the better. Solutions `δ₁` and `δ₂` from the optimum have decision values within \
         `(√(2 δ₁) + √(2 δ₂)) √max K(x, x)` without their bias, which samples on the margin fix to twice that and both KKT violations (*loose*: \
         no sample is there, every bias of an interval is optimal, and it is left out). Labels are those of `svm-predict` and `liblinear-predict`; they may \
         differ where those bounds leave the sign open. The sigmoid is not positive semidefinite, so that no such bound exists: 10⁻³ is asked of it. \
         All parameters are exact in `f32`, because this `svm-train` rounds C and gamma to that: with C = 0.1 it solves another problem (C = 0.10000000149), and \
         its objective then refutes the certificate of ours. Precomputed kernels have no value that is 0: LIBSVM reads them by position, and text of sparse rows leaves zeros out. LIBLINEAR ends after 1,000 iterations, converged or not. \
         Logistic regression, the L1 norm and all classes at once (`-s` 0, 4, 5, 6, 7) have a relative gap of 10⁻⁸ instead. The L1 norm gives weights no such bound; \
         it gives one to the losses, so that slacks are compared there (squared hinge, `√(δ₁ / C) + √(δ₂ / C)`), or probabilities (logistic, `√(δ₁ / 2C) + √(δ₂ / 2C)`).\n",
    );
    groups(&mut page, rows);
    page += "\n## Every case\n\n\
        `objective`: by how much theirs is worse than ours, relatively. `gap`, `KKT`: our certificate. `decisions`: the largest difference, `allowed`: what it may be.\n\n\
        | case | data | kernel | C | rows | machines | objective | gap | KKT | decisions | allowed | labels differ | loose | |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (case, outcome) in rows {
        let weights = case.weights.map_or_else(String::new, |[a, b]| format!(" × ({a}, {b})"));
        let _ = write!(page, "| {} | {} | {} | {}{weights} ", case.number, case.data_name(), case.kernel_name(), case.c);
        let _ = match outcome {
            None => writeln!(page, "| | | | | | | | | | skipped: no such data |"),
            Some(o) => writeln!(
                page,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                o.rows,
                o.machines,
                short(o.objective),
                short(o.gap),
                short(o.kkt),
                short(o.decisions),
                short(o.allowed),
                o.labels,
                o.loose,
                verdict(o)
            ),
        };
    }
    page
}

/// Returns a line for each group.
fn groups(page: &mut String, rows: &[Row]) {
    *page += "| group | cases | agree | ours is better | faults | skipped | largest difference of objectives | decision values, of what is allowed | labels that differ |\n\
        |---|---|---|---|---|---|---|---|---|\n";
    let mut names: Vec<&str> = Vec::new();
    rows.iter().for_each(|(case, _)| {
        if !names.contains(&case.group) {
            names.push(case.group);
        }
    });
    for name in names {
        let group: Vec<&Row> = rows.iter().filter(|(case, _)| case.group == name).collect();
        let tried: Vec<&Outcome> = group.iter().filter_map(|(_, outcome)| outcome.as_ref()).collect();
        let with = |wanted: fn(Verdict) -> bool| tried.iter().filter(|o| wanted(o.verdict)).count();
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {} | {} | {:.0} % | {} |",
            group.len(),
            with(|v| v == Verdict::Agree),
            with(|v| v == Verdict::Better),
            with(|v| matches!(v, Verdict::Fault(_))),
            group.len() - tried.len(),
            short(tried.iter().map(|o| o.objective.abs()).fold(0.0, f64::max)),
            100.0 * tried.iter().map(|o| o.decisions / o.allowed).fold(0.0, f64::max),
            tried.iter().map(|o| o.labels).sum::<usize>(),
        );
    }
}
