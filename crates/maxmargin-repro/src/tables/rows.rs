//! From records to the rows of a report: the newest run of every cell, medians, and the paper's
//! figures beside them.

use super::means::merge;
use crate::cells::record::{Measured, OURS, Record};
use crate::cells::row::{Figures, Printed, Row};
use crate::numbers::statistics::median;
use crate::specs::extent::{Extent, cells};
use crate::specs::papers::Paper;
use crate::specs::spec::Spec;
use crate::specs::table::{Peer, Table};
use crate::workspace::failure::Outcome;

/// Returns the rows of one table that have been measured, in the spec's order.
pub(crate) fn rows(spec: &Spec, table: &Table, records: &[Record]) -> Outcome<Vec<Row>> {
    let paper = Paper::of(table)?;
    let mut rows = Vec::new();
    for cell in cells(spec, table, Extent { full: true, ..Extent::default() }) {
        let Some(ours) = figures(records, |record| record.is_of(&cell) && record.program == OURS) else { continue };
        let theirs = |peer: &Peer| {
            let wanted = peer.arguments_for(&cell.settings).ok()?;
            figures(records, |record| {
                record.program == peer.name
                    && record.problem == cell.problem
                    && peer.arguments_for(&record.settings).is_ok_and(|arguments| arguments == wanted)
            })
        };
        let [peer, second] = [0, 1].map(|place| table.peers.get(place).and_then(theirs));
        let columns = table.variants.iter().find(|variant| variant.name == cell.variant).map(|variant| &variant.paper);
        let printed = match columns.zip(paper.as_ref()) {
            Some((columns, paper)) => {
                let named = spec.problem(&cell.problem)?.paper.as_ref().unwrap_or(&cell.problem);
                paper.printed(table, columns, named, &cell.settings)?
            }
            None => Printed::default(),
        };
        rows.push(Row { cell, printed, ours, peer, second });
    }
    Ok(rows)
}

/// Returns the measured rows of a table, with means where it has them.
pub(crate) fn measured(spec: &Spec, table: &Table, records: &[Record]) -> Outcome<Vec<Row>> {
    let rows = rows(spec, table, records)?;
    Ok(match &table.mean_over {
        Some(over) => merge(rows, over),
        None => rows,
    })
}

/// Returns the lines of the newest run of one program on one cell.
pub(crate) fn newest(records: &[Record], of: impl Fn(&Record) -> bool) -> Vec<&Record> {
    let run = records.iter().filter(|record| of(record)).map(|record| record.run).max();
    records.iter().filter(|record| Some(record.run) == run && of(record)).collect()
}

/// Returns the figures of the newest run of one program on one cell.
pub(crate) fn figures(records: &[Record], of: impl Fn(&Record) -> bool) -> Option<Figures> {
    let records = newest(records, of);
    if records.is_empty() {
        return None;
    }
    let mut seconds: Vec<f64> = records.iter().map(|record| record.wall_seconds).collect();
    let ours = records.iter().all(|record| record.program == OURS);
    let mut flaw = records.iter().find_map(|record| if ours { record.flaw() } else { record.error.clone() });
    let counts: Vec<_> = records.iter().map(|record| record.measured.as_ref().and_then(|m| m.iterations)).collect();
    // A time limit ends each run at another count.
    let cut = records.iter().any(|record| record.measured.as_ref().is_some_and(Measured::cut_off));
    if flaw.is_none() && ours && !cut && counts.iter().any(|count| *count != counts[0]) {
        flaw = Some("the repeats took different numbers of iterations".into());
    }
    let mut measured = records.last().and_then(|record| record.measured.clone()).unwrap_or_default();
    let middle = |of: fn(&Measured) -> Option<f64>| {
        let mut values: Vec<f64> = records.iter().filter_map(|record| of(record.measured.as_ref()?)).collect();
        (!values.is_empty()).then(|| median(&mut values))
    };
    measured.update_seconds = middle(|measured| measured.update_seconds);
    measured.train_seconds = middle(|measured| measured.train_seconds);
    measured.process_seconds = middle(|measured| measured.process_seconds);
    let settings = records.last().map(|record| record.settings.clone()).unwrap_or_default();
    let machine = records.last().map(|record| record.machine.clone()).unwrap_or_default();
    let revisions = records.iter().map(|record| (record.run, record.machine.revision.clone())).collect();
    Some(Figures { seconds: median(&mut seconds), measured, flaw, repeats: records.len(), settings, machine, revisions })
}
