//! From records to the rows of a report: the newest run of every cell, medians, and the paper's
//! figures beside them.

use super::cell::{Cell, Extent, cells};
use super::means::{median, merge};
use super::papers::{Paper, Printed};
use super::record::{Measured, Record};
use super::run::OURS;
use super::spec::{Peer, Settings, Spec, Table};
use crate::failure::Outcome;

/// One line of a report.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) cell: Cell,
    pub(crate) printed: Printed,
    pub(crate) ours: Figures,
    /// The first peer on the same problem and settings.
    pub(crate) peer: Option<Figures>,
    /// The second peer: the first program built another way.
    pub(crate) second: Option<Figures>,
}

/// One program's measurements of one cell.
#[derive(Clone, Default)]
pub(crate) struct Figures {
    /// Median over the repeats.
    pub(crate) seconds: f64,
    pub(crate) measured: Measured,
    /// Why it does not count.
    pub(crate) flaw: Option<String>,
    /// How often it was measured.
    pub(crate) repeats: usize,
    /// What the cell was told.
    pub(crate) settings: Settings,
    /// The processor that it was measured on.
    pub(crate) processor: String,
}

impl Figures {
    /// Only what meets its certificate counts.
    pub(crate) fn counted(&self) -> Option<&Measured> {
        self.flaw.is_none().then_some(&self.measured)
    }

    /// The seconds, where they count.
    pub(crate) fn counted_seconds(&self) -> Option<f64> {
        self.counted().map(|_| self.seconds)
    }
}

impl Row {
    pub(crate) fn counted(&self) -> Option<&Measured> {
        self.ours.counted()
    }

    /// Something that only some jobs say.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.counted()?.number(name)
    }

    /// A row as if these figures had been measured.
    #[cfg(test)]
    pub(crate) fn made(cell: Cell, printed: Printed, measured: serde_json::Value) -> Self {
        let measured = serde_json::from_value(measured).expect("figures");
        let settings = cell.settings.clone();
        Self {
            cell,
            printed,
            ours: Figures { seconds: 2.5, measured, repeats: 1, settings, ..Figures::default() },
            peer: None,
            second: None,
        }
    }
}

/// The rows of one table that have been measured, in the spec's order.
pub(crate) fn rows(spec: &Spec, table: &Table, records: &[Record]) -> Outcome<Vec<Row>> {
    let paper = Paper::of(table)?;
    let mut rows = Vec::new();
    for cell in cells(spec, table, Extent { full: true, ..Extent::default() }) {
        let Some(ours) = figures(records, |record| record.is_of(&cell) && record.program == OURS) else { continue };
        let theirs = |peer: &Peer| {
            let wanted = peer.told(&cell.settings).ok()?;
            figures(records, |record| {
                record.program == peer.name
                    && record.problem == cell.problem
                    && peer.told(&record.settings).is_ok_and(|told| told == wanted)
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

/// The rows that a table measured, means where it wants them.
pub(crate) fn measured(spec: &Spec, table: &Table, records: &[Record]) -> Outcome<Vec<Row>> {
    let rows = rows(spec, table, records)?;
    Ok(match &table.mean_over {
        Some(over) => merge(rows, over),
        None => rows,
    })
}

/// The newest run's records of one program on one cell, condensed.
pub(crate) fn figures(records: &[Record], of: impl Fn(&Record) -> bool) -> Option<Figures> {
    let run = records.iter().filter(|record| of(record)).map(|record| record.run).max()?;
    let records: Vec<&Record> = records.iter().filter(|record| of(record) && record.run == run).collect();
    let mut seconds: Vec<f64> = records.iter().map(|record| record.wall_seconds).collect();
    let ours = records.iter().all(|record| record.program == OURS);
    let mut flaw = records.iter().find_map(|record| if ours { record.flaw() } else { record.error.clone() });
    let counts: Vec<_> = records.iter().map(|record| record.measured.as_ref().and_then(|m| m.iterations)).collect();
    // A limit of time ends no two runs at the same count.
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
    let processor = records.last().map(|record| record.machine.cpu.clone()).unwrap_or_default();
    Some(Figures { seconds: median(&mut seconds), measured, flaw, repeats: records.len(), settings, processor })
}

/// What has the same key, together, in the order of the first of each.
pub(crate) fn grouped<T, K: PartialEq>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for one in all {
        let wanted = key(&one);
        match groups.iter_mut().find(|(key, _)| *key == wanted) {
            Some((_, group)) => group.push(one),
            None => groups.push((wanted, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
