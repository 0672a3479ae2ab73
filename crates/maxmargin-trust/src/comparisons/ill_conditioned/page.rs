//! The page of results.

use super::compare::Outcome;
use super::problems::Problem;
use super::{EXPECTED_TIME, GAP, TIME_LIMIT};
use std::fmt::Write;

fn short(value: f64) -> String {
    match value {
        v if v.is_nan() => "–".to_owned(),
        v if v.abs() < 1e-300 => "0".to_owned(),
        v => format!("{v:.0e}"),
    }
}

fn status(outcome: &Outcome) -> String {
    match &outcome.ended {
        Ok(status) => format!("{status:?}").to_lowercase(),
        Err(_) => "refused".to_owned(),
    }
}

/// Returns the report as Markdown.
pub fn page(rows: &[(Problem, Outcome)], libsvm: Option<&str>) -> String {
    let mut page = String::from("# Problems that nobody scaled\n\n");
    let command = "cargo xtask trust nasty";
    let count = |of: &dyn Fn(&Outcome) -> bool| rows.iter().filter(|row| of(&row.1)).count();
    let stalled = count(&|o| o.is_right() && o.impossible.is_none() && o.gap > GAP);
    let right = count(&|o| o.is_right() && o.impossible.is_none()) - stalled;
    let their = |of: &dyn Fn(&super::Theirs) -> bool| count(&|o| o.theirs.as_ref().is_some_and(of));
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "{} trainings on raw values, at values of C and with kernels that do not fit them: by maxmargin, asked for a relative duality gap of {GAP:e}, and by `svm-train` ({}) at its \
         usual tolerance. Both solutions are judged by one certificate, in double precision, from the data and the coefficients. `{command}` writes this page.\n\n\
         - Ours: {right} certified, {} impossible in double precision (said why), {stalled} stalled with a solver asked for by name, {} neither; {} took longer than {EXPECTED_TIME} s, the longest {:.1} s.\n\
         - LIBSVM's: {} with a gap of at most {GAP:e}; {} gave up after its ten million iterations; {} were ended after {TIME_LIMIT} s.\n",
        rows.len(),
        libsvm.unwrap_or("not installed"),
        count(&|o| o.impossible.is_some()),
        count(&|o| !o.is_right()),
        count(&Outcome::is_late),
        rows.iter().map(|row| row.1.seconds).fold(0.0, f64::max),
        their(&|t| t.certificate.is_some_and(|c| c.1 <= GAP)),
        their(&|t| t.gave_up),
        their(&|t| t.seconds >= TIME_LIMIT),
    );
    page += "A gap below 0 or one of 10⁻¹⁶ is rounding. KKT violations are in units of the margin.\n\n\
        | | data | rows | problem | kernel | solver | ended | KKT | gap | iterations | s | LIBSVM: KKT | gap | s |\n\
        |--:|---|--:|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (problem, o) in rows {
        write_row(&mut page, problem, o);
    }
    if rows.iter().any(|row| row.1.impossible.is_some()) {
        page += "\n## What is impossible\n\n";
        for (problem, o) in rows {
            if let Some(words) = &o.impossible {
                let _ = writeln!(page, "- {} ({}, {}): {words}.", problem.number, problem.data, problem.kernel_name());
            }
        }
    }
    page
}

/// Writes the row of a problem.
fn write_row(page: &mut String, problem: &Problem, o: &Outcome) {
    let _ = write!(
        page,
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} ",
        problem.number,
        problem.data,
        o.rows,
        problem.formulation_name(),
        problem.kernel_name(),
        problem.solver.name(),
        status(o),
        short(o.kkt),
        short(o.gap),
        o.iterations,
        o.seconds,
    );
    let _ = match &o.theirs {
        None => writeln!(page, "| | | |"),
        Some(t) => {
            let (kkt, gap) = t.certificate.unwrap_or((f64::NAN, f64::NAN));
            let more = if t.gave_up { ", gave up" } else { "" };
            let over = if t.seconds >= TIME_LIMIT { "> " } else { "" };
            writeln!(page, "| {} | {} | {over}{:.2}{more} |", short(kkt), short(gap), t.seconds)
        }
    };
}
