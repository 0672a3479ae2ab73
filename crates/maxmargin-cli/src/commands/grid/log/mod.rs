//! A folder with the finished cells of a search: one file per cell, and one for their common
//! settings.

mod lease;

use crate::args::{LogArgs, Shard};
use crate::console::failure::{Failure, reason};
use crate::console::format::hex;
use crate::console::notes::Notes;
use crate::files::output::write_whole;
use crate::report::Setup;
use lease::Leases;
use maxmargin::cv::{CellLog, ColumnState, Finished, FoldPlan, Unlogged};
use maxmargin::data::sealed::key_of;
use maxmargin::{ColumnKeys, Logs};
use serde_json::{Map, Value};
use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The file of the settings that all cells share.
const COMMON: &str = "search.json";

/// Keys of [`Setup`] that depend on the command and not on the search.
const OWN: [&str; 4] = ["schema", "command", "data", "kernel"];

/// The log of a search: a folder, or none.
#[derive(Debug)]
pub(super) enum Log {
    Nowhere,
    In(Box<Folder>),
}

/// A folder of cells.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    leases: Leases,
    /// The columns of this process; None for a process that only collects.
    share: Option<Shard>,
    /// The first failure to write a cell.
    failed: Mutex<Option<Failure>>,
    /// Messages about corrupted files.
    corrupted: Mutex<Vec<String>>,
}

impl Log {
    /// Opens the folder of the options, which must be empty or hold the same search.
    pub(super) fn open(args: &LogArgs, setup: &Setup, plan: &FoldPlan, settings: Value) -> Result<Self, Failure> {
        let (path, merge) = match (&args.log, &args.merge_logs) {
            (Some(path), _) => (path, false),
            (None, Some(path)) => (path, true),
            (None, None) => return Ok(Self::Nowhere),
        };
        let name = path.display().to_string();
        let common = common(setup, plan, settings);
        let file = path.join(COMMON);
        let there = file.exists();
        if !there && (merge || args.resume) {
            return Err(Failure::input(
                &name,
                format!("there is no search here ({COMMON} is missing); start one with --log alone"),
            ));
        }
        if !there {
            begin(path, &name, &common)?;
        }
        compare(&file, &name, &common)?;
        let share = (!merge).then_some(args.shard.unwrap_or(Shard { first: 0, of: 1 }));
        let folder = Folder {
            path: path.clone(),
            leases: Leases::new(),
            share,
            failed: Mutex::new(None),
            corrupted: Mutex::new(Vec::new()),
        };
        Ok(Self::In(Box::new(folder)))
    }

    /// Warns of files that were corrupted.
    ///
    /// # Errors
    ///
    /// If a cell could not be written.
    pub(super) fn settle(self, notes: &mut Notes) -> Result<(), Failure> {
        let Self::In(folder) = self else { return Ok(()) };
        let Folder { path, failed, corrupted, share, .. } = *folder;
        for what in corrupted.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let then = if share.is_some() { "; it was computed again" } else { "" };
            notes.warn(format!("{}: {what}{then}", path.display()));
        }
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Returns the settings that must agree before a search continues: everything that cells depend on
/// except the ranges, by name.
fn common(setup: &Setup, plan: &FoldPlan, settings: Value) -> Map<String, Value> {
    let mut common = Map::new();
    common.insert("format".to_owned(), 1.into());
    common.insert("maxmargin".to_owned(), env!("CARGO_PKG_VERSION").into());
    common.insert("data".to_owned(), setup.data.sha256.clone().into());
    common.insert("folds".to_owned(), hex(&key_of([format!("{plan:?}").as_bytes()])).into());
    let both = [serde_json::to_value(setup).unwrap_or_default(), settings];
    for (key, value) in both.into_iter().filter_map(|of| if let Value::Object(of) = of { Some(of) } else { None }).flatten() {
        if !OWN.contains(&&key[..]) {
            common.insert(key, value);
        }
    }
    common
}

/// Creates the folder if necessary, and writes the settings. Refuses a folder with other files.
fn begin(path: &Path, name: &str, common: &Map<String, Value>) -> Result<(), Failure> {
    let failed = |error: &std::io::Error| Failure::input(name, format!("cannot create a log here: {}", reason(error)));
    fs::create_dir_all(path).map_err(|e| failed(&e))?;
    let mut entries = fs::read_dir(path).map_err(|e| failed(&e))?.flatten();
    let ours = |name: &str| name == COMMON || name.starts_with(".maxmargin-");
    if let Some(other) = entries.find(|entry| !ours(&entry.file_name().to_string_lossy())) {
        // Another process may have started meanwhile.
        if path.join(COMMON).exists() {
            return Ok(());
        }
        let what = format!("the folder has other files in it ({}); name a new folder", other.file_name().display());
        return Err(Failure::input(name, what));
    }
    let text = serde_json::to_string_pretty(common).map_err(|e| Failure::input(name, e))?;
    write_whole(&path.join(COMMON), None, |out| writeln!(out, "{text}")).map_err(|e| Failure::write(name, &e))
}

/// Refuses a folder with another search.
fn compare(file: &Path, name: &str, ours: &Map<String, Value>) -> Result<(), Failure> {
    let place = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|e| Failure::input(&place, format!("cannot read: {}", reason(&e))))?;
    let theirs: Map<String, Value> = serde_json::from_str(&text)
        .map_err(|e| Failure::input(&place, format!("unreadable description of the search ({e}); name another folder")))?;
    let keys = ours.keys().chain(theirs.keys());
    // Numbers are compared as text, as they are written.
    let text = |of: &Map<String, Value>, key: &str| of.get(key).unwrap_or(&Value::Null).to_string();
    let other = keys.into_iter().find(|key| text(&theirs, key) != text(ours, key));
    let Some(key) = other else { return Ok(()) };
    let what = match &key[..] {
        "data" => "other data".to_owned(),
        "folds" => "other folds (-k, --folds, --seed)".to_owned(),
        key => format!("another {key}: {} there, {} here", text(&theirs, key), text(ours, key)),
    };
    Err(Failure::input(name, format!("this folder holds a search with {what}; name another folder")))
}

impl Logs for Log {
    fn stage(&self, keys: &dyn Fn() -> Vec<ColumnKeys>) -> Box<dyn CellLog + '_> {
        match self {
            Self::Nowhere => Box::new(Unlogged),
            Self::In(folder) => Box::new(Stage { folder, columns: keys() }),
        }
    }
}

/// One stage of a search: some of its columns.
struct Stage<'a> {
    folder: &'a Folder,
    columns: Vec<ColumnKeys>,
}

/// Returns enough digits of a key for a file name; the file holds the whole key.
fn short(key: &[u8; 32]) -> String {
    hex(&key[..12])
}

impl Stage<'_> {
    /// Removes the lease of a process that was killed after the last cell of a column.
    fn sweep(&self, column: usize) {
        let lease = self.lease(column);
        if self.folder.share.is_some() && lease.exists() && matches!(self.folder.leases.take(&lease), Ok(true)) {
            self.folder.leases.release(&lease);
        }
    }

    fn lease(&self, column: usize) -> PathBuf {
        self.folder.path.join(format!("{}.lease", short(&self.columns[column].column)))
    }

    fn cell(&self, key: &[u8; 32]) -> PathBuf {
        self.folder.path.join(format!("{}.cell", short(key)))
    }

    /// Returns the stored cells of a column, up to the first missing one.
    fn stored_cells(&self, column: usize) -> Vec<Finished> {
        let mut cells = Vec::new();
        for key in &self.columns[column].cells {
            let path = self.cell(key);
            let corrupted = match fs::read(&path) {
                Ok(bytes) => match Finished::decode(&bytes, key) {
                    Ok(cell) => {
                        cells.push(cell);
                        continue;
                    }
                    Err(error) => error.to_string(),
                },
                Err(error) if error.kind() == ErrorKind::NotFound => return cells,
                Err(error) => format!("cannot read: {}", reason(&error)),
            };
            let what = format!("{}: {corrupted}", path.file_name().unwrap_or_default().display());
            let mut known = self.folder.corrupted.lock().unwrap_or_else(PoisonError::into_inner);
            if !known.contains(&what) {
                known.push(what);
            }
            return cells;
        }
        cells
    }

    fn fail(&self, path: &Path, error: &std::io::Error) {
        let mut failed = self.folder.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert_with(|| Failure::write(path.display(), error));
    }
}

impl CellLog for Stage<'_> {
    fn open(&self, column: usize) -> ColumnState {
        if self.folder.share.is_some_and(|share| column % share.of != share.first) {
            return ColumnState::Theirs(Vec::new());
        }
        let keys = &self.columns[column].cells;
        // A waiting process asks often: files are read only once all cells exist.
        if self.folder.share.is_none() || keys.iter().all(|key| self.cell(key).exists()) {
            let cells = self.stored_cells(column);
            if cells.len() == keys.len() || self.folder.share.is_none() {
                self.sweep(column);
                return ColumnState::Theirs(cells);
            }
        }
        let lease = self.lease(column);
        match self.folder.leases.take(&lease) {
            Ok(false) => ColumnState::Busy,
            Ok(true) => ColumnState::Mine(self.stored_cells(column)),
            Err(error) => {
                self.fail(&lease, &error);
                ColumnState::Theirs(self.stored_cells(column))
            }
        }
    }

    fn keep(&self, column: usize, row: usize, cell: &Finished) -> ControlFlow<()> {
        let key = &self.columns[column].cells[row];
        let path = self.cell(key);
        let written = cell.encode(key).map_err(std::io::Error::other);
        match written.and_then(|bytes| write_whole(&path, None, |out| out.write_all(&bytes))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.fail(&path, &error);
                ControlFlow::Break(())
            }
        }
    }

    fn close(&self, column: usize) {
        self.folder.leases.release(&self.lease(column));
    }
}
