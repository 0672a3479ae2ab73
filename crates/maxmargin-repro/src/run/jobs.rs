//! The processes of a run: cells with their files, and other programs on the same files.

use super::arguments::Arguments;
use super::inputs::{Input, Inputs};
use super::peer;
use crate::cells::cell::Cell;
use crate::cells::settings::{LIBSVM_FOLDS, label};
use crate::datasets::locate::folders;
use crate::specs::extent::cells;
use crate::specs::problem::Problem;
use crate::specs::spec::Spec;
use crate::specs::table::{Limit, Peer, Table};
use crate::workspace::failure::Outcome;
use crate::workspace::tools::target_directory;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A problem and its files.
#[derive(Clone)]
pub(super) struct Material<'a> {
    pub(super) problem: &'a Problem,
    /// None where the measured program makes the data itself.
    pub(super) input: Option<Input>,
    pub(super) test: Option<PathBuf>,
}

/// One process to start.
pub(super) struct Job<'a> {
    pub(super) cell: Cell,
    pub(super) material: Material<'a>,
    /// The file of folds, where they are LIBSVM's.
    pub(super) folds: Option<PathBuf>,
    pub(super) peer: Option<(&'a Peer, String)>,
    pub(super) limit: Option<&'a Limit>,
    /// The program that the measured one runs.
    pub(super) program: Option<String>,
}

/// Returns every process of the run, in order. Problems without data are reported and left out.
pub(super) fn jobs<'a>(spec: &'a Spec, arguments: &Arguments, bench: Option<&Path>) -> Outcome<Vec<Job<'a>>> {
    // A figure needs the measurements of the tables that it draws.
    let named = spec.named(&arguments.table, &arguments.figure, arguments.statistics)?;
    let wanted = |table: &Table| named.iter().any(|named| std::ptr::eq(*named, table) || named.from.contains(&table.number));
    let tables: Vec<&Table> = spec.tables.iter().filter(|table| table.from.is_empty() && wanted(table)).collect();
    arguments.extent().check(&tables)?;
    let programs = arguments.named();
    let inputs = Inputs::new(folders(arguments.data.as_deref()), target_directory()?.join("bench/data"), bench)?;
    let mut materials: BTreeMap<&str, Option<Material>> = BTreeMap::new();
    let mut jobs: Vec<Job> = Vec::new();
    for table in tables {
        for cell in cells(spec, table, arguments.extent()) {
            let variant = table.variants.iter().find(|variant| variant.name == cell.variant);
            let runs = variant.and_then(|variant| variant.program.as_deref());
            let installed = |name: &str| peer::binary(name, &[]).filter(|_| arguments.peers);
            let program = runs.and_then(|name| peer::given(name, &programs).or_else(|| installed(name)));
            if runs.is_some() && program.is_none() {
                continue;
            }
            let problem = spec.problem(&cell.problem)?;
            if !materials.contains_key(problem.name.as_str()) {
                materials.insert(&problem.name, material(problem, &inputs)?);
            }
            let Some(Some(material)) = materials.get(problem.name.as_str()).cloned() else { continue };
            let libsvm_folds = cell.settings.get("folds").and_then(Value::as_str) == Some(LIBSVM_FOLDS);
            let folds = match &material.input {
                Some(input) if libsvm_folds => Some(inputs.folds(problem, input, &cell.settings)?),
                None if libsvm_folds => continue, // generated data has no file for LIBSVM
                _ => None,
            };
            let place = |cell: &Cell| (cell.problem.clone(), cell.vary.clone());
            let first = !jobs.iter().any(|job| job.peer.is_none() && place(&job.cell) == place(&cell));
            if first && arguments.peers && material.input.is_some() {
                jobs.extend(peers(table, &cell, &material, &programs, &jobs)?);
            }
            let limit = table
                .limits
                .iter()
                .find(|limit| limit.problem == cell.problem && limit.variant == cell.variant && label(&limit.vary) == cell.vary);
            jobs.push(Job { cell, material, folds, peer: None, limit, program });
        }
    }
    Ok(jobs)
}

/// Returns the files of a problem. Reports a missing one and returns none.
fn material<'a>(problem: &'a Problem, inputs: &Inputs) -> Outcome<Option<Material<'a>>> {
    let input = if problem.generated() { None } else { inputs.of(problem)? };
    if input.is_none() && !problem.generated() {
        println!("skipped: {} (no file; cargo xtask datasets {})", problem.name, problem.data);
        return Ok(None);
    }
    let test = problem.test.as_ref().map(|test| inputs.test_of(problem, test)).transpose()?;
    if test == Some(None) {
        println!("skipped: {} (no file of its test samples)", problem.name);
        return Ok(None);
    }
    Ok(Some(Material { problem, input, test: test.flatten() }))
}

/// Returns the runs of other programs on the files of a cell that are not among the earlier ones.
fn peers<'a>(table: &'a Table, cell: &Cell, material: &Material<'a>, named: &[String], earlier: &[Job]) -> Outcome<Vec<Job<'a>>> {
    let mut jobs = Vec::new();
    for peer in &table.peers {
        let Some(binary) = peer::binary(&peer.program, named) else {
            println!("skipped: {} ({} is not installed)", peer.name, peer.program);
            continue;
        };
        // Entries of `vary` with the same arguments of the peer are one run of the peer.
        let wanted = peer.arguments_for(&cell.settings)?;
        let same = |job: &Job| {
            job.cell.problem == cell.problem
                && job.peer.as_ref().is_some_and(|(other, _)| other.name == peer.name)
                && peer.arguments_for(&job.cell.settings).is_ok_and(|arguments| arguments == wanted)
        };
        if !earlier.iter().any(same) {
            let cell = Cell { variant: peer.name.clone(), ..cell.clone() };
            let (material, peer) = (material.clone(), Some((peer, binary)));
            jobs.push(Job { cell, material, folds: None, peer, limit: None, program: None });
        }
    }
    Ok(jobs)
}
