//! The scores of several quantiles or expectiles.

use super::formulation::FormulationDocument;
use super::table::{Align, columns};
use crate::console::format;
use maxmargin::metrics::LevelScores;

/// Returns the scores of each level, if there are several. `decisions` are row-major rows × levels.
pub(crate) fn level_scores(formulation: &FormulationDocument, truth: &[f64], decisions: &[f64]) -> Option<LevelScores> {
    let FormulationDocument { levels, purpose, .. } = formulation;
    (!levels.is_empty()).then(|| LevelScores::of(*purpose, levels, truth, decisions))
}

/// Returns how many rows have values that cross.
pub(crate) fn crossing_text(scores: &LevelScores) -> String {
    let (crossing, rows) = (format::count(scores.crossing as u64), format::count(scores.rows as u64));
    match scores.crossing {
        0 => format!("in none of {rows} rows"),
        _ => format!("in {crossing} of {rows} rows, whose values are sorted"),
    }
}

/// Returns the table of the levels.
pub(crate) fn levels_table(scores: &LevelScores) -> String {
    let header = [("tau", Align::Right), ("loss", Align::Right), ("coverage", Align::Right)];
    let row = |level: &maxmargin::metrics::LevelScore| {
        vec![format::exact(level.tau), format::short(level.loss), format::percent(level.coverage)]
    };
    columns(&header, &scores.levels.iter().map(row).collect::<Vec<_>>())
}

/// Returns the table of the levels and how many rows have values that cross, or nothing without
/// scored rows but the latter.
pub(crate) fn levels_text(scores: &LevelScores) -> String {
    let table = if scores.rows == 0 { String::new() } else { levels_table(scores) };
    format!("{table}levels cross {}\n", crossing_text(scores))
}
